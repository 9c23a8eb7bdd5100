# SPDX-License-Identifier: Apache-2.0
"""
Store the results of long tests, which tools/evidence copies to docs/: rows of a table, with the
commit, the date and the machine, in BUILD/evidence/SECTION.json.
"""
import collections
import datetime
import json
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _git(*args):
    run = subprocess.run(["git", "-c", f"safe.directory={ROOT}", *args], cwd=ROOT, text=True,
                         capture_output=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else "unknown"


def circumstances():
    changed = _git("status", "--porcelain", "--untracked-files=no")
    now = datetime.datetime.now(datetime.timezone.utc)
    kernel = platform.uname()
    return {
        "commit": _git("rev-parse", "--short=12", "HEAD")
                  + (" with uncommitted changes" if changed else ""),
        "date": now.strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{kernel.system} {kernel.release} {kernel.machine}, "
                   f"{len(os.sched_getaffinity(0))} CPUs",
    }


def path_of(build, section):
    return pathlib.Path(build) / "evidence" / f"{section}.json"


def leave(build, section, row):
    """
    Add a row, {column: text} with the same columns in all rows. The row replaces one with the same
    first column; rows of another commit are deleted.
    """
    path = path_of(build, section)
    path.parent.mkdir(parents=True, exist_ok=True)
    measured_on = circumstances()
    rows = []
    if path.exists():
        older = json.loads(path.read_text())
        if older["commit"] == measured_on["commit"]:
            rows = [r for r in older["rows"] if next(iter(r.values())) != next(iter(row.values()))]
    path.write_text(json.dumps({**measured_on, "rows": [*rows, row]}, indent=1))


class Shares:
    """Complete stacks of several recordings or groups of processes, summed."""

    def __init__(self):
        self.samples = self.complete = 0
        self.reasons = collections.Counter()  # (reason, module) -> samples

    def add(self, found):
        """Add the result of completeness.py."""
        self.samples += found.samples
        self.complete += found.complete
        for reason, module, count in found.reasons:
            self.reasons[reason, module] += count

    def percent(self):
        """Return the share rounded down, so that the text never exceeds the share."""
        return f"{10000 * self.complete // max(self.samples, 1) / 100:.2f} %"

    def why(self, limit):
        return "; ".join(f"{reason}{' in ' if module else ''}{os.path.basename(module)} ({count})"
                         for (reason, module), count in self.reasons.most_common(limit))

    def __str__(self):
        return f"{self.percent()} of {self.samples} samples complete. {self.why(8)}"

    def row(self, program):
        return {"program": program, "samples": f"{self.samples:,}", "complete": self.percent(),
                "most frequent end of the others, where": self.why(1)}
