# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""
Test new executables, each with its own content, inode and build-id, and each alive for 5 ms of CPU
time: of the samples due by their own rusage, at least 99 % arrive, and at least 99.5 % of these
have a complete stack, although tables are made after the processes have ended.

The long form runs 1,000 of them without an allowance. The short form allows for chance: the start
and end of a life of 5 ms between two samples move its number of samples by one at most, so by half
a sample (sigma) or less, as does every interruption.
"""
import math
import os
import subprocess

import evidence
import live
from completeness import completeness

EXECUTABLES = 1000 if live.LONG else 150
MILLISECONDS = 5
FREQUENCY = 999
ARRIVE = 0.99
WHOLE = 0.995
BUILD_ID = bytes(range(0xa0, 0xb4))
NUMBER = b"number 00000000"


class Brief(live.LiveTest):
    def template(self):
        """Build the program in the usual way: optimized, without frame pointers or symbols."""
        program = self.tmp / "unseen"
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-O2", "-fomit-frame-pointer",
                        "-fno-optimize-sibling-calls", "-s", f"-Wl,--build-id=0x{BUILD_ID.hex()}",
                        "-o", program, live.ROOT / "tests/workloads/shapes/unseen.c"], check=True)
        content = program.read_bytes()
        self.assertEqual((content.count(BUILD_ID), content.count(NUMBER)), (1, 1))
        return content

    def executables(self):
        content, paths = self.template(), []
        for i in range(EXECUTABLES):
            # not even the other recording has seen these files
            ident = os.urandom(len(BUILD_ID))
            path = self.tmp / f"unseen-{i}"
            path.write_bytes(content.replace(BUILD_ID, ident)
                             .replace(NUMBER, b"number %08d" % i))
            path.chmod(0o755)
            paths.append(str(path))
        return paths

    @staticmethod
    def run_all(paths):
        """
        Run each program one after the other; return ({pid: seconds of CPU}, how often they got a
        CPU). The test uses its own CPU, because a child reaped from another CPU during its last
        steps may not have been charged for up to a tick.
        """
        used, turns, cpus = {}, 0, os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(cpus)})
        try:
            for path in paths:
                pid = os.posix_spawn(path, [path, str(MILLISECONDS)], os.environ)
                _, status, usage = os.wait4(pid, 0)
                if status:
                    raise AssertionError(f"{path}: status {status}")
                used[pid] = usage.ru_utime + usage.ru_stime
                turns += 1 + usage.ru_nvcsw + usage.ru_nivcsw
        finally:
            os.sched_setaffinity(0, cpus)
        return used, turns

    def record_all(self, paths):
        recording = self.begin("-a", "-F", FREQUENCY)
        used, turns = self.run_all(paths)
        return self.finish(recording), used, turns

    @staticmethod
    def arrived(trace, pids):
        """Return the samples of these pids, including those before their exec."""
        return trace.one("SELECT coalesce(sum(sum.count), 0) AS n FROM sum "
                         "JOIN thread ON thread.id = sum.thread "
                         "JOIN process ON process.id = thread.process "
                         f"WHERE process.pid IN ({pids})")

    def judge(self, trace, turns, arrived, due, found):
        print(f"{EXECUTABLES} executables: {arrived} samples of {due:.0f} due; {found}")
        chance = 0 if live.LONG else FREQUENCY * (live.chance(turns, FREQUENCY) + trace.excuse())
        self.assertGreaterEqual(arrived, ARRIVE * due - chance, trace.query("SELECT * FROM loss"))
        chance = 0 if live.LONG else 6 * math.sqrt(found.samples * (1 - WHOLE))
        self.assertLessEqual(found.samples - found.complete,
                             found.samples * (1 - WHOLE) + chance, str(found))

    def test_executables(self):
        trace, used, turns = self.record_all(self.executables())
        due = sum(used.values()) * FREQUENCY
        pids = ",".join(map(str, used))
        arrived, found = self.arrived(trace, pids), evidence.Shares()
        found.add(completeness(live.SKEIN, trace.path, more=("--pid", pids)))
        if live.LONG:
            evidence.leave(live.BUILD, "executables", {
                "executables": f"{EXECUTABLES:,} of {MILLISECONDS} ms, at {FREQUENCY} Hz",
                "samples due, by their rusage": f"{due:,.0f}",
                "arrived": f"{arrived:,} ({10000 * arrived // due / 100:.2f} %)",
                "complete": found.percent(),
                "most frequent end of the others, where": found.why(1)})
        self.judge(trace, turns, arrived, due, found)


if __name__ == "__main__":
    live.main()
