# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
Test overfull buffers: lost records are counted exactly, by CPU, and appear as UNKNOWN at their
time; and the trace of a killed recorder can be read.
"""

import bisect
import json
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import time

import live
import sched_live
import scheduler
from live import workload
from scheduler import STATE

CPU = live.CPUS[-1]
ROUNDS = 300000 if live.LONG else 60000
TINY = "32K"  # a few milliseconds of a storm, or a second of an otherwise quiet machine
HOOKS = ("on_switch", "on_waking", "on_new", "on_migrate")
STATISTICS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")


def pipe_bench(rounds, cpu=CPU):
    return ["taskset", "-c", str(cpu), "perf", "bench", "sched", "pipe", "-l", str(rounds)]


def set_statistics(value):
    """Set whether the kernel counts the runs of BPF programs; return the previous value."""
    before = STATISTICS.read_text()
    STATISTICS.write_text(value)
    return before


def read_if_there(path):
    try:
        return path.read_text()
    except OSError:  # a file that has been closed in the meantime
        return ""


def programs(pid):
    """Return {name: its file in fdinfo} of a process's BPF programs."""
    found = {}
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        text = read_if_there(info)
        number = re.search(r"^prog_id:\s+(\d+)", text, re.M)
        if number and "run_cnt:" in text:  # links have a prog_id, too
            shown = subprocess.run(["bpftool", "-j", "prog", "show", "id", number[1]],
                                   capture_output=True)
            if shown.returncode == 0:  # otherwise it is gone
                found[json.loads(shown.stdout)["name"]] = info
    return found


class Counts:
    """The kernel's count of runs of each of the recorder's programs."""

    def __init__(self, infos):
        self.before = sched_live.boot_ns()
        self.runs = {kind: int(re.search(r"^run_cnt:\s+(\d+)", info.read_text(), re.M)[1])
                     for kind, info in infos.items()}
        self.after = sched_live.boot_ns()


class Loss(sched_live.SchedTest):
    @staticmethod
    def hooks(pid):
        """Return {name: its file in fdinfo} of the recorder's hooks; None while it is loading."""
        before = {kind: info for kind, info in programs(pid).items() if kind in HOOKS}
        time.sleep(0.2)
        after = {kind: info for kind, info in programs(pid).items() if kind in HOOKS}
        return after if before == after and set(after) == set(HOOKS) else None

    @staticmethod
    def count_often(infos):
        """Count 20 times in 2 s: the recorder empties its buffers every 0.1 s, or later if busy."""
        found = []
        for _ in range(20):
            found.append(Counts(infos))
            time.sleep(0.1)
        return found

    def outside_of_losses(self, timeline, counts):
        """
        Return the counts that were read while nothing was being lost: a loss that begins in the
        storm and ends after the count includes records that were not counted.
        """
        found = [c for c in counts if not any(r["time"] <= c.after and r["end"] >= c.before
                                              for r in self.lost(timeline))]
        self.assertTrue(found, "records were lost during all of the 2 s before or after the storm")
        return found

    def count_with(self, *args):
        """Return (timeline, counts before, counts after) of a storm on one CPU."""
        recording = self.watch("-a", *args)
        time.sleep(0.7)  # programs loaded on trial are gone by then
        self.addCleanup(set_statistics, set_statistics("1"))
        infos = self.wait_for(lambda: self.hooks(recording.pid))
        time.sleep(0.2)
        first = self.count_often(infos)
        subprocess.run(pipe_bench(ROUNDS), check=True, capture_output=True)
        last = self.count_often(infos)
        timeline = self.timeline(recording, whole=False)
        return (timeline, self.outside_of_losses(timeline, first)[-1],
                self.outside_of_losses(timeline, last)[0])

    @staticmethod
    def kept(timeline, begin, end):
        """
        Count the records in the file of a time range. A switch ends a slice, also one without a
        known thread; a loss lasts until a switch, too. A thread's new name is no switch, and the
        slice that the beginning of a loss cuts off has no state in which its thread left.
        """
        slices = sum(begin < r["end"] <= end for rows in timeline.cpu_slices.values()
                     for r in rows if r["left"] != STATE["RUNNING"]
                     and (r["left"] or r["state"] != STATE["RUNNING"] or not r["value"]))
        edges = sum(begin < e["time"] <= end for e in timeline.edges
                    if e["kind"] in (scheduler.EDGE["WAKEUP"], scheduler.EDGE["FORK"]))
        return slices + edges

    @staticmethod
    def lost(timeline):
        return [r for r in timeline.trace.query("SELECT * FROM loss")
                if r["reason"] == scheduler.LOSS["SWITCHES_LOST"]]

    def check_count(self, timeline, first, last):
        """
        Check the counts. Each was read between two time stamps: there are at least the records
        between the inner ones, and at most those between the outer ones. A migration that belongs
        to a wake-up is a record without a row of its own.
        """
        runs = {kind: last.runs[kind] - first.runs[kind] for kind in HOOKS}
        migrations = runs.pop("on_migrate")
        lost = sum(r["count"] for r in self.lost(timeline)
                   if r["end"] >= first.before and r["time"] <= last.after)
        inner = self.kept(timeline, first.after, last.before - 16)
        outer = self.kept(timeline, first.before - 16, last.after)
        print(f"kernel: {runs}, {migrations} migrations; {inner} to {outer} rows, {lost} lost; "
              f"{sum(runs.values()) - outer} to {sum(runs.values()) + migrations - inner} missing")
        self.assertGreater(sum(runs.values()), 2 * ROUNDS)
        self.assertGreaterEqual(lost, sum(runs.values()) - outer)
        self.assertLessEqual(lost, sum(runs.values()) + migrations - inner)
        return lost

    def check_unknown(self, timeline):
        """
        Each loss has its UNKNOWN slice on its CPU, and no thread runs on the CPU during the slice.
        """
        for row in self.lost(timeline):
            slices = timeline.cpu_slices[row["cpu"] - 1]
            at = bisect.bisect_right([s["time"] for s in slices], row["time"]) - 1
            self.assertGreaterEqual(at, 0)
            self.assertEqual(slices[at]["state"], STATE["UNKNOWN"], (row, slices[at]))
        unknown = sum(r["end"] - r["time"] for rows in timeline.cpu_slices.values() for r in rows
                      if r["state"] == STATE["UNKNOWN"])
        self.assertGreater(unknown, 0)
        self.assertEqual({c: w[:3] for c, w in timeline.tiling().items() if w}, {})

    def test_forced(self):
        timeline, *counts = self.count_with("--switch-buffer", TINY)
        self.assertGreater(self.check_count(timeline, *counts), 1000, "nothing was lost")
        self.check_unknown(timeline)

    def test_none_lost_by_default(self):
        for _ in range(3):  # a host may stop the recorder for any time
            timeline, *counts = self.count_with()
            lost = self.check_count(timeline, *counts)
            if not lost:
                break
        self.assertEqual(lost, 0)
        self.assertEqual([r for rows in timeline.cpu_slices.values() for r in rows
                          if r["state"] == STATE["UNKNOWN"] and not r["value"]][:3], [])
        self.check_tiles(timeline)

    def test_killed_in_a_storm(self):
        for _ in range(5 if live.LONG else 2):
            storm = self.start(workload("wakers"), "pipe", 100, cpu=CPU)
            recording = self.watch("-a")
            begin = sched_live.boot_ns()
            time.sleep(1.7 + random.random())
            killed = sched_live.boot_ns()
            recording.stop(signal.SIGKILL)
            self.end(storm)
            trace = live.Trace(recording.path)
            facts = trace.query("SELECT min(time) AS first, max(end) AS last, count(*) AS n "
                                "FROM slice WHERE state <> %d" % STATE["UNKNOWN"])[0]
            self.assertGreater(facts["n"], 5000)
            self.assertLess(facts["first"], begin)
            self.assertGreater(facts["last"], killed - 2.5e9)
            rows = sqlite3.connect(f"file:{recording.path}?mode=ro", uri=True).execute(
                "PRAGMA integrity_check").fetchall()
            self.assertEqual(rows, [("ok",)])

    @live.unittest.skipUnless(live.LONG and len(live.CPUS) > 1, "the long form, on two CPUs")
    def test_two_storms(self):
        """One storm per CPU with the default buffers."""
        recording = self.watch("-a")
        storms = [self.start(*pipe_bench(1500000, cpu)) for cpu in live.CPUS[-2:]]
        for storm in storms:
            storm.communicate(timeout=120)
        trace = self.finish(recording)
        facts = trace.query("SELECT count(*) AS n, (max(end) - min(time)) / 1e9 AS s FROM slice")[0]
        print(f"{facts['n']} slices in {facts['s']:.1f} s")
        self.assertEqual(trace.losses("SWITCHES_LOST"), 0)
        self.assertGreater(facts["n"], 5000000)


if __name__ == "__main__":
    live.main()
