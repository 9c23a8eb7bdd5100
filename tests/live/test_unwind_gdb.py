# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 400
"""
Compare the stacks of samples, frame by frame, with gdb's stacks of the same moment: they are
equal, or differ for one of a few reasons that the frames themselves must prove (stops.py).

The short form stops a program that has all shapes of frames and two of Debian's programs. The long
form also stops every program of tests/lib/programs.py, and writes its results for
docs/unwinding.md.
"""
import collections
import re
import shutil
import subprocess
import unittest
from dataclasses import replace

import evidence
import live
import stops
from programs import GO, NODE, OPENSSL, PROGRAMS, Loads

FREQUENCY = 199  # Hz
SECONDS = 60  # of one process
ONE = 30  # stops of one process
LIMIT = 300  # s, of one program
EACH = 150 if live.LONG else 60  # stops of a program under load
MIX = 500 if live.LONG else 100
ALL = "all"
CHANGES = {
    # gdb cannot walk stripped Go programs; skein reads .gopclntab
    GO: replace(GO, comms=("work-go", "work-go-n")),
    # so that processes live long enough to be stopped
    OPENSSL: replace(OPENSSL, load=OPENSSL.load.replace("-seconds 1 ", "-seconds 600 ")),
}
LOADS = [CHANGES.get(p, p) for p in PROGRAMS if p is not NODE]  # gdb cannot walk generated code


class Tally:
    """The results of many stops."""

    def __init__(self):
        self.stops = collections.Counter()  # by place
        self.same = collections.Counter()
        self.causes = collections.Counter()
        self.frames = 0
        self.unexplained = []

    def add(self, pair):
        self.stops[pair.place()] += 1
        self.frames += len(pair.gdb)
        if pair.same():
            self.same[pair.place()] += 1
            return
        causes = pair.why()
        if causes is None:
            self.unexplained.append(str(pair))
        self.causes.update(causes or ["not explained"])

    def merge(self, other):
        for mine, more in ((self.stops, other.stops), (self.same, other.same),
                           (self.causes, other.causes)):
            mine.update(more)
        self.frames += other.frames

    def __str__(self):
        return (f"{self.stops.total()} stops, {self.same.total()} the same, {self.frames} frames; "
                + self.why())

    def why(self):
        return "; ".join(f"{cause} ({count})" for cause, count in self.causes.most_common())

    def row(self, program):
        same = {f"the same {place}": f"{self.same[place]:,} of {self.stops[place]:,}"
                for place in stops.PLACES}
        return {"program": program, **same, "frames": f"{self.frames:,}",
                "differences and their causes": self.why() or "none"}


@unittest.skipUnless(shutil.which("gdb"), "no gdb")
class BesideGdb(live.LiveTest):
    every = Tally()

    def judge(self, name, tally, enough):
        print("\n".join([f"{name}: {tally}", *tally.unexplained]))
        if live.LONG:
            self.every.merge(tally)
            evidence.leave(live.BUILD, "gdb", tally.row(name))
            evidence.leave(live.BUILD, "gdb", self.every.row(ALL))
        self.assertEqual(tally.unexplained, [])
        self.assertGreaterEqual(tally.stops.total(), enough, name)

    def begin_quietly(self, *command):
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   env=live.clean_environment())
        self.addCleanup(self.end_quietly, process)
        return process

    @staticmethod
    def end_quietly(process):
        process.kill()
        process.wait()

    def check(self, name, count, *command):
        tally = Tally()
        process = self.begin_quietly(*command)
        for pair in stops.stop_often(self, process.pid, count, FREQUENCY, SECONDS):
            tally.add(pair)
        self.judge(name, tally, count)

    def test_all_shapes_of_frames(self):
        self.check("unwindmix", MIX, live.workload("unwindmix"), "600")

    def test_all_shapes_of_frames_in_threads(self):
        self.check("unwindmix, 3 threads", MIX, live.workload("unwindmix"), "600", "3")

    def check_load(self, program):
        missing = program.missing()
        if missing:
            self.skipTest(f"{program.name}: not installed: {', '.join(missing)}")
        loads, tally, tried = Loads(live.BUILD), Tally(), set()
        self.addCleanup(loads.close)
        with loads.running(program):
            end = live.time.monotonic() + LIMIT
            while tally.stops.total() < EACH and live.time.monotonic() < end:
                busy = stops.busiest(program.comms)
                for pid in ([p for p in busy if p not in tried] or busy)[:1]:
                    tried.add(pid)
                    for pair in stops.stop_often(self, pid, ONE, FREQUENCY, SECONDS):
                        tally.add(pair)
        self.judge(program.name, tally, EACH)


def case(program):
    return lambda self: self.check_load(program)


for each in LOADS:
    if live.LONG or each.name in ("xz", "sqlite3", "python3 (native frames)"):
        setattr(BesideGdb, "test_load_" + re.sub(r"\W+", "_", each.name).strip("_"), case(each))


if __name__ == "__main__":
    live.main()
