# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""
Test the share of complete stacks of real programs under load, at 999 Hz: at least 99.5 % of each
program, and of the whole machine when all run at once.

The short form records each program for 1.5 s. In order to fail only for real defects, it allows
for chance beyond 99.5 %: six sigma of a Poisson count. The long form has ten thousand samples
where possible and no allowance, and writes its results for docs/unwinding.md.
"""
import math
import re

import evidence
import live
from completeness import completeness
from programs import PROGRAMS, Loads

SECONDS = 15 if live.LONG else 1.5
ENOUGH = 10000 if live.LONG else 400  # samples
TRIES = 3  # recordings until there are enough samples
TARGET = 0.995
WHOLE = "the whole machine, all of them at once"


def allowed(samples):
    """Return how many stacks may be incomplete."""
    mean = samples * (1 - TARGET)
    return mean if live.LONG else mean + 6 * math.sqrt(mean)


class Programs(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        cls.loads = Loads(live.BUILD)
        cls.addClassCleanup(cls.loads.close)

    def add(self, found, trace, program):
        """Add the whole recording, or only the program's processes."""
        if not program:
            found.add(completeness(live.SKEIN, trace.path))
            return
        for row in trace.query("SELECT DISTINCT comm FROM process"):
            if program.counts(row["comm"]):
                found.add(completeness(live.SKEIN, trace.path, row["comm"]))

    def measure(self, *programs):
        """
        Measure one program, or the whole machine for several, in as many recordings as needed.
        """
        found = evidence.Shares()
        for _ in range(TRIES):
            with self.loads.running(*programs):
                live.time.sleep(0.2)
                trace = self.record("-a", "-F", 999, "--wait-names", "60s",
                                    "-d", f"{SECONDS * 1000:.0f}ms")
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
