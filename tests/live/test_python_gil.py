# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 300
"""
Who held the lock of a Python interpreter (GIL) while others waited: the lane "GIL" beside what a
program knows of itself, and beside the waits that the records of switches have. Further, a program
that collects garbage from its first moment on has no begins without ends.
"""
import collections
import unittest

import live
import python_found
import sched_live

HOGS = 40 if live.LONG else 12 # long calls that hold the lock
LEAST = 5_000_000 # ns of CPU time of such a call that is looked at
COVERED = 0.9 # of its CPU time, that the lane says it held the lock: the other one waits meanwhile
PROGRAM = """
import json, sys, threading, time
ends, calls = False, []
def clock():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
def compute():
    while not ends:
        sum(range(100))
def hog():
    for _ in range(int(sys.argv[1])):
        begin, cpu = clock(), time.thread_time_ns()
        sum(range(3_000_000)) # holds the lock from its beginning to its end
        cpu = time.thread_time_ns() - cpu
        calls.append((begin, clock(), cpu)) # and may lose it before it looks at the clock
        time.sleep(0.01)
sys.stdin.readline()
threads = [threading.Thread(target=compute), threading.Thread(target=hog)]
for t in threads:
    t.start()
threads[1].join()
ends = True
threads[0].join()
json.dump({"compute": threads[0].native_id, "hog": threads[1].native_id, "calls": calls},
          sys.stdout)
"""
HELD = """
SELECT s.time, s."end" AS "end", s.args ->> 'tid' AS tid, s.args ->> 'given_to' AS given_to,
       s.origin FROM spans s WHERE s.kind = 'GIL' AND s.lane = 'GIL' ORDER BY s.time
"""
# When threads ran, and what they waited for then.
RUNS = """
SELECT t.tid, s.time, s."end" AS "end", w.word AS wait FROM slice s
JOIN lane l ON l.id = s.lane AND l.kind = (SELECT id FROM lane_kind WHERE word = 'cpu')
JOIN thread t ON t.id = s.value JOIN process p ON p.id = t.process
LEFT JOIN wait_class w ON w.id = s.wait WHERE p.pid = {} ORDER BY t.tid, s.time
"""


def waits(trace, pid):
    """Return {tid: [(begin, end of a wait for the lock, when it ran again)]}."""
    rows, found = trace.query(RUNS.format(pid)), collections.defaultdict(list)
    for row, after in zip(rows, rows[1:]):
        if row["wait"] == "GIL" and row["tid"] == after["tid"]:
            found[row["tid"]].append((row["end"], after["time"]))
    return found


def covered(spans, begin, end):
    return sum(max(0, min(s["end"], end) - max(s["time"], begin)) for s in spans)


class Held(live.LiveTest):
    def record_program(self, one):
        program = self.tmp / "hog.py"
        program.write_text(PROGRAM)
        process = self.start(one.path, program, HOGS, stdin=-1)
        recording = self.begin("-e", "all,python", "-p", process.pid)
        self.go(process)
        told = self.output(process)
        return self.finish(recording), told, process.pid

    def check(self, trace, told, pid):
        held = trace.query(HELD)
        for row in held:
            row["tid"] = int(row["tid"])
            self.assertEqual(row["origin"], "scheduler")
            self.assertNotEqual(str(row["tid"]), str(row["given_to"]))
        for one, after in zip(held, held[1:]):
            self.assertLessEqual(one["end"], after["time"], "two threads hold the lock at once")
        of = {tid: [row for row in held if row["tid"] == tid]
              for tid in (told["hog"], told["compute"])}
        self.assertTrue(of[told["compute"]], held)
        # Nobody holds the lock while it waits for it.
        for tid, some in waits(trace, pid).items():
            for wait in some:
                held_then = covered(of.get(tid, ()), *wait)
                self.assertLessEqual(held_then, sched_live.RESOLUTION, (tid, wait, trace.path))
        long = [call for call in told["calls"] if call[2] >= LEAST]
        self.assertGreaterEqual(len(long), HOGS // 2, told["calls"])
        share = sum(covered(of[told["hog"]], begin, end) for begin, end, _ in long) / \
            sum(cpu for _, _, cpu in long)
        self.assertGreaterEqual(share, COVERED, (told, held))

    def test_long_calls_hold_the_lock(self):
        """While one thread is in a call that does not give the lock up, the lane says so."""
        pythons = python_found.supported() if live.LONG else python_found.some()
        # threads know their own numbers from 3.8 on
        pythons = [one for one in pythons if one.version >= (3, 8)]
        if not pythons:
            self.skipTest("no Python")
        for one in pythons:
            with self.subTest(python=one.path):
                self.check(*self.record_program(one))


class Early(live.LiveTest):
    @unittest.skipUnless(python_found.supported(), "no Python")
    def test_nothing_is_unpaired(self):
        """Probes are attached while the program collects already."""
        one = python_found.supported()[0]
        for _ in range(8 if live.LONG else 3):
            trace = self.record("-e", "python", "--", one.path, "-c",
                                "import gc\nfor i in range(2000): gc.collect(i % 3)")
            spans = trace.query("SELECT count(*) AS n FROM spans WHERE kind = 'collection'")
            self.assertGreater(spans[0]["n"], 0)
            self.assertEqual(trace.losses("UNPAIRED"), 0)


if __name__ == "__main__":
    live.main()
