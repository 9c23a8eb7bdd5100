# SPDX-License-Identifier: Apache-2.0
"""
Nothing is lost in silence: per CPU, the samples that were due are those
written, filtered, idle, and lost for a reason; and each of these numbers is
what something else says of it.
"""

import os
import signal
import time

import live
from live import LOSS, workload


def idle_seconds():
    """Idle time of each CPU, by the kernel's own count."""
    ticks = os.sysconf("SC_CLK_TCK")
    ret = {}
    with open("/proc/stat", encoding="ascii") as file:
        for line in file:
            word = line.split()
            if word[0].startswith("cpu") and word[0] != "cpu":
                ret[int(word[0][3:])] = (int(word[4]) + int(word[5])) / ticks
    return ret


class Account(live.LiveTest):
    def check(self, trace, intervals=1):
        """The identity, and what else can be counted. Returns the rows by CPU."""
        rows = trace.query("SELECT * FROM account ORDER BY cpu")
        self.assertEqual([r["cpu"] for r in rows], live.CPUS)
        streamed = {r["cpu"]: r["n"] for r in
                    trace.query("SELECT cpu, count(*) AS n FROM sample GROUP BY cpu")}
        for row in rows:
            lost = sum(r["count"] for r in trace.query("SELECT * FROM loss")
                       if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"])
            told = row["written"] + row["filtered"] + row["idle"] + lost
            with self.subTest(row=row, lost=lost):
                self.assertLessEqual(abs(row["due"] - told), intervals)
                self.assertEqual(row["written"], streamed.get(row["cpu"], 0))
                self.assertLessEqual(row["late"], row["written"])
        return {r["cpu"]: r for r in rows}

    def check_due(self, trace, rows):
        """Due is a clock's count: the length of the recording, whatever ran."""
        host = next(iter(trace.table("host").values()))
        period = next(iter(trace.table("event").values()))["period"]
        for row in rows.values():
            self.assertAlmostEqual(row["due"] * period / 1e9,
                                   (host["end"] - host["start"]) / 1e9, delta=0.25)

    def test_idle_machine(self):
        """Idle time as the kernel counts it, on CPUs that sleep much."""
        before, start = idle_seconds(), time.monotonic()
        trace = self.record("-a", "-F", 999, "--", workload("sleeper"), 2)
        after, elapsed = idle_seconds(), time.monotonic() - start
        rows = self.check(trace)
        self.check_due(trace, rows)
        for cpu, row in rows.items():
            around = elapsed - row["due"] / 999  # start and end of the recorder itself
            with self.subTest(cpu=cpu, around=around):
                idle = after[cpu] - before[cpu]
                self.assertLess(row["idle"] / 999, idle + 0.05)
                self.assertGreater(row["idle"] / 999, idle - around - 0.1)

    def test_busy_machine(self):
        """A loop on every CPU: nothing is idle, and (almost) everything is delivered."""
        loops = [self.start(workload("loop"), 100, cpu=cpu) for cpu in live.CPUS]
        trace = self.record("-a", "-F", 999, "-d", 3)
        for loop in loops:
            self.end(loop)
        rows = self.check(trace)
        self.check_due(trace, rows)
        for cpu, row in rows.items():
            with self.subTest(row=row):
                self.assertLess(row["idle"], 0.01 * row["due"])
                # a host that takes the CPU away is the only excuse
                self.assertLess(trace.losses("NOT_DELIVERED", cpu), 0.02 * row["due"])

    def test_one_process(self):
        """-p: what is not asked for is filtered, CPU by CPU."""
        cpu = live.CPUS[-1]
        mine = self.start(workload("loop"), 100, cpu=cpu)
        other = self.start(workload("loop"), 100, cpu=cpu)
        trace = self.record("-F", 999, "-p", mine.pid, "-d", 2)
        self.end(mine)
        self.end(other)
        row = self.check(trace)[cpu]
        # fair scheduling, and nobody else's doing: between a quarter and three quarters
        self.assertGreater(row["written"], 0.2 * row["due"])
        self.assertGreater(row["filtered"], 0.2 * row["due"])
        self.assertEqual({s.process["pid"] for s in trace.stacks()}, {mine.pid})

    def test_tiny_rings(self):
        """A recorder that is stopped for half a second cannot empty its rings of 8 KiB."""
        loops = [self.start(workload("loop"), 100, cpu=cpu) for cpu in live.CPUS]
        recording = self.begin("-a", "-F", 4999, "--buffer", "8K")
        for _ in range(3):
            os.kill(recording.pid, signal.SIGSTOP)
            time.sleep(0.5)
            os.kill(recording.pid, signal.SIGCONT)
            time.sleep(0.3)
        trace = self.finish(recording)
        for loop in loops:
            self.end(loop)
        rows = self.check(trace)
        for cpu, row in rows.items():
            with self.subTest(row=row):
                self.assertGreater(trace.losses("RING_FULL", cpu), 2000)
        self.assertGreater(live.share(trace.stacks(comm="loop"), "loop_inner"), 0.95)

    def test_tiny_rings_full_of_life(self):
        """The same with programs being started all the time."""
        trace = self.record("-a", "-F", 4999, "--buffer", "8K", "--", workload("storm"), 2, 500)
        self.check(trace)

    def test_map_calls_are_told(self):
        """
        The kernel skips samples inside bpf() map calls. In an ordinary loop it
        does not.
        """
        cpu = live.CPUS[-1]
        trace = self.record("-a", "-F", 999, "--", "taskset", "-c", cpu, workload("bpfmaps"), 3)
        rows = self.check(trace)
        self.check_due(trace, rows)
        told = live.json.loads(trace.done.out)
        lost = trace.losses("NOT_DELIVERED", cpu) / 999
        self.assertGreater(lost, 0.05 * told["maps"])
        # what this thread lacks is what this CPU lost, and it got no more than its own
        mine = live.weight(trace.stacks(comm="bpfmaps"))
        self.assertLess(mine, told["cpu"] * 1.02)
        self.assertAlmostEqual(mine + lost, told["cpu"], delta=0.05 * told["cpu"])
        plain = sum(s.weight for s in trace.stacks(comm="bpfmaps") if "plain_half" in s.names)
        self.assertAlmostEqual(plain / 1e9, told["cpu"] - told["maps"], delta=0.05 * told["cpu"])

    def test_summary_says_what_the_tables_say(self):
        trace = self.record("-a", "-F", 999, "--", workload("loop"), 1)
        rows = self.check(trace)
        written = sum(r["written"] for r in rows.values())
        self.assertIn(f"{written:,}", trace.done.err)
        for word in ("due", "written", "filtered", "idle", "lost"):
            self.assertIn(word, trace.done.err)
        self.assertLessEqual(set(r["reason"] for r in trace.query("SELECT reason FROM loss")),
                             set(LOSS.values()))


if __name__ == "__main__":
    live.main()
