# SPDX-License-Identifier: Apache-2.0
"""Read from `skein report --json` how complete the user stacks of a recording are."""
import dataclasses
import json
import re
import subprocess

LIMIT = 300  # s, for one report


@dataclasses.dataclass(frozen=True)
class Completeness:
    """Numbers of samples; `samples` are those that have or should have a user stack."""
    samples: int
    complete: int
    # (reason, path of the module or "", samples) of incomplete stacks, most frequent first
    reasons: tuple
    no_user: dict  # samples that have no user stack by nature, by reason
    weight: int  # of all samples, in the unit of the event

    @property
    def share(self):
        """
        Return the complete share; 0 without samples, because an empty recording is no success.
        """
        return self.complete / self.samples if self.samples else 0.0

    def __str__(self):
        rest = [f"{count} {reason}" + (f" in {module}" if module else "")
                for reason, module, count in self.reasons]
        return "; ".join([f"{self.share:.2%} complete ({self.complete} of {self.samples})", *rest])


def completeness(skein, path, comm=None, more=()):
    """
    Return the completeness of the processes named comm, or of all but the idle threads. skein is
    the program, more are further options of `skein report`, such as --pid. A comm that does not
    occur in the recording raises AssertionError, as does any other failure.
    """
    names = ["--comm", re.sub(r"([][*?\\])", r"\\\1", comm)] if comm is not None else []
    done = subprocess.run([skein, "report", "--json", *names, *map(str, more), str(path)],
                          capture_output=True, timeout=LIMIT)
    if done.returncode:
        raise AssertionError(f"skein report {path}: {done.stderr.decode(errors='replace')}")
    said = json.loads(done.stdout)
    stacks = said["stacks"]
    made = Completeness(stacks["due"], stacks["complete"],
                        tuple((b["reason"], b["module"], b["samples"]) for b in stacks["broken"]),
                        stacks["no_user"], said["weight"])
    if (made.complete + sum(count for _, _, count in made.reasons) != made.samples
            or made.samples + sum(made.no_user.values()) != said["samples"]):
        raise AssertionError(f"the numbers of stacks do not add up: {stacks}")
    return made
