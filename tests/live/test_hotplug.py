# SPDX-License-Identifier: Apache-2.0
"""Test that a CPU may go offline and online during a recording."""

import time

import live
from live import ONLINE, workload

CPU = live.CPUS[-1]


@live.unittest.skipUnless(live.can_go_offline(), "no CPU of this machine can be taken offline")
class Hotplug(live.LiveTest):
    def offline(self):
        self.addCleanup(ONLINE.write_text, "1")
        ONLINE.write_text("0")

    def check(self, trace):
        for row in trace.query("SELECT * FROM account"):
            lost = sum(r["count"] for r in trace.query("SELECT * FROM loss")
                       if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"]
                       and r["reason"] != live.LOSS["CPU_GONE"])
            terms = row["written"] + row["filtered"] + row["idle"] + lost + row["cut_off"]
            with self.subTest(row=row, lost=lost):
                self.assertEqual(row["due"], terms)
                self.assertLessEqual(row["cut_off"], 2)  # it goes offline and online

    def test_goes_and_comes(self):
        target = self.start(workload("loop"), 100)
        recording = self.begin("-a", "-F", 999)
        self.offline()
        gone = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        time.sleep(0.7)
        back = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        ONLINE.write_text("1")
        pinned = self.start(workload("execafter"), 100, cpu=CPU)
        time.sleep(2.5)
        trace = self.finish(recording)
        self.end(target)
        self.end(pinned)
        self.check(trace)
        times = [t for t, cpu, _ in trace.samples() if cpu == CPU]
        self.assertFalse([t for t in times if gone < t < back])
        self.assertGreater(len([t for t in times if t > back]), 100)
        self.assertIn("after_exec", live.functions(trace.stacks(pid=pinned.pid)))
        self.assertGreater(live.share(trace.stacks(pid=target.pid), "loop_inner"), 0.9)
        rows = [r for r in trace.query("SELECT * FROM loss") if r["cpu"] == CPU + 1
                and r["reason"] == live.LOSS["CPU_GONE"]]
        self.assertTrue(rows, "the loss of the CPU is not reported")
        self.assertTrue(any(abs(r["time"] - gone) < 3e9 for r in rows), rows)

    def test_goes_and_stays_away(self):
        target = self.start(workload("loop"), 100)
        recording = self.begin("-a", "-F", 999)
        self.offline()
        time.sleep(0.6)
        trace = self.finish(recording)
        ONLINE.write_text("1")
        self.check(trace)
        self.assertGreater(live.count(trace.stacks(pid=target.pid)), 10)

    def test_is_away_at_the_start(self):
        """A CPU that comes online during the recording is sampled from then on."""
        self.offline()
        recording = self.begin("-a", "-F", 999)
        ONLINE.write_text("1")
        pinned = self.start(workload("execafter"), 100, cpu=CPU)
        time.sleep(2.5)
        trace = self.finish(recording)
        self.end(pinned)
        stacks = trace.stacks(pid=pinned.pid)
        self.assertGreater(live.count(stacks), 50)
        self.assertIn("after_exec", live.functions(stacks))


if __name__ == "__main__":
    live.main()
