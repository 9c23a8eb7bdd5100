# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""
The share of complete stacks of real programs under load, at 999 Hz: at least 99.5 % of each, and
of the whole machine when they all run at once.

The short form records each for 1.5 s. So that it fails only when something is broken, it allows
what chance may add to 99.5 %: six sigma of a Poisson count. The long form has ten thousand
samples where it can, allows nothing, and leaves what it measured for docs/unwinding.md.
"""
import math
import re

import evidence
import live
from completeness import completeness
from programs import PROGRAMS, Loads

SECONDS = 15 if live.LONG else 1.5
ENOUGH = 10000 if live.LONG else 400  # samples
TRIES = 3  # recordings, until there are enough
TARGET = 0.995
WHOLE = "the whole machine, all of them at once"


def allowed(samples):
    """How many stacks may be incomplete."""
    mean = samples * (1 - TARGET)
    return mean if live.LONG else mean + 6 * math.sqrt(mean)


class Programs(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        cls.loads = Loads(live.BUILD)
        cls.addClassCleanup(cls.loads.close)

    def add(self, found, trace, program):
        """The whole recording, or those processes in it that count."""
        if not program:
            found.add(completeness(live.SKEIN, trace.path))
            return
        for row in trace.query("SELECT DISTINCT comm FROM process"):
            if program.counts(row["comm"]):
                found.add(completeness(live.SKEIN, trace.path, row["comm"]))

    def measure(self, *programs):
        """One program, or all that runs beside several, in as many recordings as it takes."""
        found = evidence.Shares()
        for _ in range(TRIES):
            with self.loads.running(*programs):
                live.time.sleep(0.2)
                trace = self.record("-a", "-F", 999, "-d", f"{SECONDS * 1000:.0f}ms")
            self.add(found, trace, programs[0] if len(programs) == 1 else None)
            if found.samples >= ENOUGH:
                break
        return found

    def judge(self, name, found):
        if live.LONG:
            evidence.leave(live.BUILD, "programs", found.row(name))
        print(f"{name}: {found}")
        if found.samples < ENOUGH:
            self.skipTest(f"{name}: only {found.samples} samples in {TRIES} recordings")
        self.assertLessEqual(found.samples - found.complete, allowed(found.samples), str(found))

    def check(self, program):
        missing = program.missing()
        if missing:
            self.skipTest(f"{program.name}: not installed: {', '.join(missing)}")
        self.judge(program.name, self.measure(program))

    def test_whole_machine(self):
        present = [p for p in PROGRAMS if not p.missing()]
        self.judge(WHOLE, self.measure(*present))


def case(program):
    return lambda self: self.check(program)


for each in PROGRAMS:
    setattr(Programs, "test_of_" + re.sub(r"\W+", "_", each.name).strip("_"), case(each))


if __name__ == "__main__":
    live.main()
