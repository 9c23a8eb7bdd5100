# SPDX-License-Identifier: Apache-2.0
"""
Test that every loss is reported: per CPU, the due samples are the written, filtered, idle and
(with a reason) lost ones, and each of these numbers agrees with an independent source.
"""

import math
import os
import re
import signal
import subprocess
import time

import live
from live import LOSS, workload


def idle_seconds():
    """Return the idle time of each CPU, by the kernel's own count."""
    ticks = os.sysconf("SC_CLK_TCK")
    ret = {}
    with open("/proc/stat", encoding="ascii") as file:
        for line in file:
            word = line.split()
            if word[0].startswith("cpu") and word[0] != "cpu":
                ret[int(word[0][3:])] = (int(word[4]) + int(word[5])) / ticks
    return ret


def sampled(part, whole):
    """
    Return by how many seconds the kernel's account may be off if the kernel only checks once per
    tick, as for short idle times: 6 sigma.
    """
    tick = 1 / os.sysconf("SC_CLK_TCK")
    share = min(max(part / whole, 0.01), 0.99)
    return 6 * math.sqrt(share * (1 - share) * whole * tick)


def runs_its_program(process):
    """Return whether taskset has executed its program."""
    with open(f"/proc/{process.pid}/comm", encoding="utf-8") as file:
        return file.read() != "taskset\n"


class Account(live.LiveTest):
    def check(self, trace):
        """Check the sum and its terms. Return the rows by CPU."""
        rows = trace.query("SELECT * FROM account ORDER BY cpu")
        self.assertEqual([r["cpu"] for r in rows], live.CPUS)
        streamed = {r["cpu"]: r["n"] for r in
                    trace.query("SELECT cpu, count(*) AS n FROM sample GROUP BY cpu")}
        for row in rows:
            lost = sum(r["count"] for r in trace.query("SELECT * FROM loss")
                       if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"])
            terms = row["written"] + row["filtered"] + row["idle"] + lost + row["cut_off"]
            with self.subTest(row=row, lost=lost):
                self.assertEqual(row["due"], terms)
                self.assertLessEqual(row["cut_off"], 1)
                self.assertEqual(row["written"], streamed.get(row["cpu"], 0))
                self.assertLessEqual(row["late"], row["written"])
        return {r["cpu"]: r for r in rows}

    def check_due(self, trace, rows):
        """
        Check the due samples. They are a clock's count: the length of the recording, whatever ran,
        and at least the time between two samples. The clock starts and ends within the recording,
        how early and late depends on how soon a busy machine lets the recorder run.
        """
        host = next(iter(trace.table("host").values()))
        period = next(iter(trace.table("event").values()))["period"] / 1e9
        length = (host["end"] - host["start"]) / 1e9
        spans = {r["cpu"]: r["ns"] / 1e9 for r in trace.query(
            "SELECT cpu, max(time) - min(time) AS ns FROM sample GROUP BY cpu")}
        for row in rows.values():
            due = row["due"] * period
            with self.subTest(row=row, length=length):
                # clocks differ by less than a thousandth
                self.assertLess(due, 1.001 * length + 2 * period)
                self.assertGreater(due, 0.999 * spans.get(row["cpu"], 0) - 2 * period)
                self.assertGreater(due, length - 0.25 - 0.2 * length)

    def test_idle_machine(self):
        """The idle time agrees with the kernel's, on CPUs that sleep much."""
        before, start = idle_seconds(), time.monotonic()
        trace = self.record("-a", "-F", 999, "--", workload("sleeper"), 2)
        after, elapsed = idle_seconds(), time.monotonic() - start
        rows = self.check(trace)
        self.check_due(trace, rows)
        for cpu, row in rows.items():
            around = elapsed - row["due"] / 999  # start and end of the recorder itself
            with self.subTest(cpu=cpu, around=around):
                idle = after[cpu] - before[cpu]
                error = sampled(idle, elapsed)
                self.assertLess(row["idle"] / 999, idle + 0.05 + error)
                self.assertGreater(row["idle"] / 999, idle - around - 0.1 - error)

    def test_high_rate_on_an_idle_machine(self):
        """
        The kernel throttles a clock that fires for long without a scheduler tick; all of that time
        still counts as due, and as idle.
        """
        trace = self.record("-a", "-F", 4999, "--", "sleep", 2)
        rows = self.check(trace)
        self.check_due(trace, rows)

    def test_busy_machine(self):
        """With a loop on every CPU nothing is idle, and (almost) everything is delivered."""
        loops = [self.start(workload("loop"), 100, cpu=cpu) for cpu in live.CPUS]
        trace = self.record("-a", "-F", 999, "-d", 3)
        for loop in loops:
            self.end(loop)
        rows = self.check(trace)
        self.check_due(trace, rows)
        for cpu, row in rows.items():
            with self.subTest(row=row):
                self.assertLess(row["idle"], 0.01 * row["due"])
                # only a host that takes the CPU is an excuse; a host may not report that
                self.assertLess(trace.unsampled(cpu), 0.05 * row["due"] + 999 * trace.stolen)

    def test_one_process(self):
        """With -p, other processes' samples are filtered, CPU by CPU."""
        cpu = live.CPUS[-1]
        loops = [self.start(workload("loop"), 100, cpu=cpu) for _ in range(2)]
        self.wait_for(lambda: all(map(runs_its_program, loops)))
        began = time.monotonic()
        before = [(live.cpu_seconds(p.pid), live.preemptions(p.pid)) for p in loops]
        trace = self.record("-F", 999, "-p", loops[0].pid, "-d", 2)
        after = [(live.cpu_seconds(p.pid), live.preemptions(p.pid)) for p in loops]
        elapsed = time.monotonic() - began
        for loop in loops:
            self.end(loop)
        row = self.check(trace)[cpu]
        lost = (trace.unsampled(cpu) + trace.losses("STOLEN", cpu)) / 999
        around = elapsed - row["due"] / 999  # start and end of the recorder itself
        (mine, turns), (other, others) = [(a[0] - b[0], a[1] - b[1])
                                          for a, b in zip(after, before)]
        with self.subTest(row=row, mine=mine, other=other, around=around, lost=lost):
            written, filtered = row["written"] / 999, row["filtered"] / 999
            self.assertLess(written, mine + live.chance(turns, 999) + 0.01)
            self.assertGreater(written, mine - around - lost - live.chance(turns, 999) - 0.01)
            self.assertGreater(filtered, other - around - lost - live.chance(others, 999) - 0.01)
            self.assertGreater(row["written"], 20)
            self.assertGreater(row["filtered"], 20)
        self.assertEqual({s.process["pid"] for s in trace.stacks()}, {loops[0].pid})

    def test_tiny_rings(self):
        """
        A recorder stopped for half a second cannot empty its rings of 8 KiB; the losses are
        reported.
        """
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
        """The same while programs start all the time."""
        trace = self.record("-a", "-F", 4999, "--buffer", "8K", "--", workload("storm"), 2, 500)
        self.check(trace)

    def test_map_calls_are_told(self):
        """
        The kernel skips samples inside bpf() map calls, unlike in an ordinary loop. All samples
        that this thread lacks are reported as losses of its CPU.
        """
        cpu = live.CPUS[-1]
        trace = self.record("-a", "-F", 999, "--", "taskset", "-c", cpu, workload("bpfmaps"), 3)
        rows = self.check(trace)
        self.check_due(trace, rows)
        given = live.json.loads(trace.done.out)
        # samples fall into stolen time, CPU clocks exclude it; other threads lose samples, too
        error = live.chance(given["turns"], 999) + trace.stolen
        lost = trace.unsampled(cpu) / 999
        stacks = trace.stacks(comm="bpfmaps")
        mine = live.weight(stacks)
        plain = live.weight([s for s in stacks if "plain_half" in s.names])
        with self.subTest(given=given, lost=lost, mine=mine, plain=plain, error=error):
            self.assertLess(mine, given["cpu"] + error)
            self.assertGreater(mine + lost, given["cpu"] - error)
            self.assertLess(mine + lost, given["cpu"] + error + 0.05 * rows[cpu]["due"] / 999)
            self.assertLess(plain, given["cpu"] - given["maps"] + error)
            self.assertGreater(plain, given["cpu"] - given["maps"] - error - 0.05 * given["cpu"])
        if lost < 0.05 * given["maps"]:
            self.skipTest(f"this kernel skipped hardly any sample in map calls: {lost:.3f} s "
                          f"were lost in {given['maps']:.3f} s of them")

    def terms(self, text):
        """Return the terms of an account's line, after checking their sum."""
        term = r"[\d,]+ (?:written|idle|filtered|stolen|lost|cut off)"
        line = re.search(rf"([\d,]+) samples due = ({term}(?: \+ {term})*)", " ".join(text.split()))
        terms = {word: int(number.replace(",", "")) for number, word in
                 re.findall(r"([\d,]+) (written|idle|filtered|stolen|lost|cut off)", line[2])}
        due = int(line[1].replace(",", ""))
        self.assertEqual(due, sum(terms.values()), line[0])
        return {"due": due, **terms}

    def test_summary_says_what_the_tables_say(self):
        """The printed sum is correct, after the recording and in the report."""
        trace = self.record("-a", "-F", 999, "--", workload("loop"), 1)
        rows = self.check(trace)
        report = subprocess.run([live.SKEIN, "report", trace.path], capture_output=True, text=True,
                                env=live.clean_environment(COLUMNS="200"), check=True).stdout
        for text in (trace.done.err, report):
            terms = self.terms(text)
            for word in ("due", "written", "idle", "filtered", "cut_off"):
                self.assertEqual(terms.get(word.replace("_", " "), 0),
                                 sum(r[word] for r in rows.values()))
        self.assertLessEqual(set(r["reason"] for r in trace.query("SELECT reason FROM loss")),
                             set(LOSS.values()))


if __name__ == "__main__":
    live.main()
