# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 900
"""
Test real PyPI programs in Python under load: at least 99.5 % of the stacks are complete, with
native and Python frames, and every Python stack starts at a valid root.

In the short form each program runs in one of the environments, and chance is allowed for as in
test_unwind_programs.py. The long form runs all programs in each environment without an allowance,
and writes its results for docs.
"""
import collections
import math
import re
import unittest

import evidence
import live
import python_programs
import python_stacks
from completeness import completeness
from programs import Loads

SECONDS = 15 if live.LONG else 1.5
ENOUGH = 10000 if live.LONG else 400  # samples
TRIES = 3
# The tables of running programs are made when a recording starts; the short form excludes that
# time.
FROM = 0 if live.LONG else 300  # ms
FREQUENCY = 999
TARGET = 0.995
# Roots of the stacks of main threads, other threads, and code before and after them: the start of
# importlib, and what is registered with atexit (the last is pytest's). A root without a name is
# counted among the frames without one.
ROOTS = {"<module>", "_run_module_as_main", "_bootstrap", "Thread._bootstrap", "_find_and_load",
         "_install", "_install_external_importers", "_shutdown", "_python_exit",
         "cleanup_numbered_dir", None}


def allowed(samples):
    mean = samples * (1 - TARGET)
    return mean if live.LONG else mean + 6 * math.sqrt(mean)


class Programs(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        cls.loads = Loads(live.BUILD)
        cls.addClassCleanup(cls.loads.close)

    def measure(self, program):
        found, samples = evidence.Shares(), []
        for _ in range(TRIES):
            with self.loads.running(program):
                live.time.sleep(0.2)
                trace = self.record("-a", "-F", FREQUENCY, "-d", f"{SECONDS * 1000:.0f}ms")
            found.add(completeness(live.SKEIN, trace.path, program.comms[0],
                                   more=("--from", f"{FROM}ms")))
            begin = trace.one("SELECT start FROM host") + FROM * 10**6
            samples += python_stacks.Stacks(trace).samples(begin=begin, comm=program.comms[0])
            if found.samples >= ENOUGH:
                break
        return found, samples

    def check(self, program):
        missing = program.missing()
        if missing:
            self.skipTest(f"{program.name}: not installed: {', '.join(missing)}")
        found, samples = self.measure(program)
        frames = collections.Counter((f.name is not None) for s in samples for f in s.frames
                                     if f.kind == python_stacks.PYTHON)
        print(f"{program.name}: {found}; Python frames without a name: {frames[False]} of "
              f"{frames.total()}")
        if live.LONG:
            evidence.leave(live.BUILD, "python", found.row(program.name))
        if found.samples < ENOUGH:
            self.skipTest(f"{program.name}: only {found.samples} samples in {TRIES} recordings")
        self.assertLessEqual(found.samples - found.complete, allowed(found.samples), str(found))
        self.check_samples(samples, frames)

    def check_samples(self, samples, frames):
        """Check that samples that count as complete are complete."""
        whole = [s for s in samples if s.end is None and not s.flags & python_stacks.UNREAD]
        roots = collections.Counter(python_stacks.names(s)[0] for s in whole
                                    if python_stacks.python(s))
        self.assertLessEqual(sum(count for root, count in roots.items() if root not in ROOTS),
                             allowed(len(whole)), roots.most_common(12))
        # an evaluation loop that has not started its frame, or has just finished it, has no Python
        # frame
        without = [s for s in whole if python_stacks.loops(s) and not python_stacks.python(s)]
        self.assertLessEqual(len(without), allowed(len(whole)))
        self.assertGreater(sum(roots.values()), 0.3 * len(whole))
        # short-lived code that is freed, on a busy machine
        self.assertLessEqual(frames[False], (0.01 if live.LONG else 0.05) * frames.total())


def chosen():
    """
    Return all programs in the long form; otherwise each kind once, in alternating environments.
    """
    every = python_programs.programs()
    if live.LONG or not every:
        return every
    kinds = len(python_programs.KINDS)
    environments = len(every) // kinds
    return [every[(number % environments) * kinds + number] for number in range(kinds)]


def case(program):
    return lambda self: self.check(program)


for each in chosen():
    setattr(Programs, "test_of_" + re.sub(r"\W+", "_", each.name).strip("_"), case(each))

if not chosen():
    raise unittest.SkipTest("no programs from PyPI: tools/deps programs could not install them")


if __name__ == "__main__":
    live.main()
