# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test a recording that keeps only its last part: the kept part is complete, older parts are gone,
however the recording ends; a copy on SIGUSR2; and a recording that ends before its trace is too
large.
"""

import os
import pathlib
import re
import signal
import subprocess
import time

import live

KEEP = 2  # s
RUNS = 6  # s
CPU = live.CPUS[-1]
OLD = re.compile(r"^(.*)-(\d{8}T\d{6}Z)\.skein$")


# processes that start, sleep, wake each other and end
BUSY = ["sh", "-c", "while :; do sleep 0.01 | cat; done"]
STORM = ["taskset", "-c", str(CPU), "perf", "bench", "sched", "pipe", "-l", "100000000"]


LONGEST = (KEEP + 3.5) * 1e9  # ns: older parts are removed about once a second if nothing delays it


def threads():
    """Return the tids of the whole machine."""
    return {tid for _, tid in live.threads()}


class KeepTest(live.LiveTest):

    def setUp(self):
        super().setUp()
        self.alive = threads()

    def load(self, command):
        """Run a workload with all its children until the test ends."""
        process = self.start(*command, start_new_session=True, stderr=subprocess.DEVNULL)
        self.addCleanup(os.killpg, process.pid, signal.SIGKILL)

    def check_whole(self, trace):
        """
        Check that the kept part lacks nothing, and that no reference in it leads to a removed
        record.
        """
        start, end = trace.query("SELECT start, \"end\" FROM host")[0].values()
        self.assertEqual(trace.losses("UNREADABLE_CHUNK"), 0)
        self.assertEqual(trace.one("SELECT count(*) FROM slice JOIN lane ON lane.id = lane "
                                   "WHERE kind = 1 AND \"end\" < " + str(start)), 0)
        for table, column, to in (("sample", "stack", "stack"), ("stack", "parent", "stack"),
                                  ("stack", "frame", "frame"), ("frame", "function", "function"),
                                  ("sample", "thread", "thread"), ("thread", "lane", "lane")):
            missing = trace.one(f"SELECT count(*) FROM {table} WHERE {column} > 0 AND {column} "
                                f"NOT IN (SELECT id FROM {to})")
            self.assertEqual(missing, 0, f"{table}.{column}")
        self.check_tiles(trace, start)
        return start, end

    def check_tiles(self, trace, start):
        """Check that every CPU's slices follow each other from the start on."""
        slices = trace.query("SELECT slice.lane, time, slice.\"end\" FROM slice JOIN lane "
                             "ON lane.id = slice.lane WHERE kind = 1 "
                             "ORDER BY slice.lane, slice.\"end\", time")
        cpus = {s["lane"] for s in slices}
        self.assertEqual(len(cpus), len(live.CPUS))
        for cpu in cpus:
            own = [s for s in slices if s["lane"] == cpu]
            self.assertLessEqual(own[0]["time"], start)
            for one, other in zip(own, own[1:]):
                self.assertEqual(one["end"], other["time"])

    def check_threads(self, trace):
        """
        Check that every thread that lived throughout is in the trace, by a snapshot or by its
        records.
        """
        silent = trace.query("SELECT DISTINCT tid, comm FROM thread WHERE lane > 0 AND tid > 0 AND "
                             "lane NOT IN (SELECT lane FROM slice) AND "
                             "lane NOT IN (SELECT \"to\" FROM edge) AND "
                             "id NOT IN (SELECT value FROM slice)")
        alive = self.alive & threads()
        self.assertEqual([t for t in silent if t["tid"] in alive], [])

    def test_ctrl_c(self):
        self.load(BUSY)
        recording = self.begin("-a", "-e", "all", "--keep", f"{KEEP}s")
        time.sleep(RUNS)
        trace = self.finish(recording)
        start, end = self.check_whole(trace)
        self.assertGreater(end - start, KEEP * 1e9 / 2)
        self.assertLess(end - start, LONGEST)
        self.assertGreater(trace.one("SELECT count(*) FROM slice"), 100)
        self.assertGreater(trace.one("SELECT count(*) FROM sample"), 10)
        self.check_threads(trace)

    def test_copy(self):
        self.load(BUSY)
        recording = self.begin("-a", "-e", "all", "--keep", f"{KEEP}s")
        time.sleep(KEEP + 2)
        os.kill(recording.pid, signal.SIGUSR2)
        time.sleep(KEEP + 1)
        copies = self.wait_for(lambda: [p for p in pathlib.Path(recording.path).parent.iterdir()
                                        if OLD.match(str(p))])
        self.assertEqual(len(copies), 1)
        self.assertEqual(copies[0].stat().st_mode & 0o777, 0o600)
        copy = live.Trace(copies[0])
        start, end = self.check_whole(copy)
        self.assertLess(end - start, LONGEST)
        self.check_threads(copy)
        trace = self.finish(recording)
        self.assertIn(str(copies[0]), trace.done.err)
        later, last = self.check_whole(trace)
        self.assertGreater(later, start)
        self.assertGreater(last, end)

    def test_killed(self):
        self.load(BUSY)
        recording = self.begin("-a", "-e", "all", "--keep", f"{KEEP}s")
        time.sleep(RUNS)
        self.assertEqual(recording.stop(signal.SIGKILL).status, -signal.SIGKILL)
        trace = live.Trace(recording.path)
        start, end = self.check_whole(trace)
        self.assertEqual(end, 0)
        last = trace.one("SELECT max(\"end\") FROM slice")
        self.assertLess(last - start, LONGEST)
        self.check_threads(trace)

    def test_max_size(self):
        self.load(STORM)
        limit = 1 << 20
        trace = self.record("-a", "-e", "all", "--max-size", "1M", "-d", "80s")
        self.assertIn("(--max-size)", trace.done.err)
        size = pathlib.Path(trace.path).stat().st_size
        self.assertGreater(size, limit // 3)
        self.assertLess(size, 2 * limit)
        self.assertGreater(trace.one("SELECT \"end\" FROM host"), 0)


if __name__ == "__main__":
    live.main()
