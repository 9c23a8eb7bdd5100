# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test that the report's scheduler sums equal sums computed from the records by another method."""

import collections
import json
import subprocess

import live
import sched_live
import scheduler
from live import SKEIN, workload

SECONDS = 3 if live.LONG else 0.7
CLOSE = 1000  # ns: a recording starts and ends between two time stamps


class Report(sched_live.SchedTest):
    def report(self, timeline, *args):
        made = subprocess.run([SKEIN, "report", "--json", *args, timeline.trace.path],
                              capture_output=True, timeout=120, check=True)
        return json.loads(made.stdout)["sched"]

    def record(self, mode, cpu=None):
        recording = self.watch("-a")
        facts = self.output(self.start(workload("wakers"), mode, SECONDS, cpu=cpu))
        return facts, self.timeline(recording)

    def check_whole(self, report):
        for cpu in report["cpus"]:
            self.assertEqual(cpu["busy"] + cpu["idle"] + cpu["unknown"] + cpu["absent"],
                             report["elapsed"])
            self.assertLess(cpu["absent"], CLOSE)
        for key in ("programs", "processes", "threads", "services", "cgroups", "containers"):
            self.assertEqual(sum(row["running"] for row in report[key]), report["busy"], key)
        self.assertEqual(sum(report["at_once"]), report["elapsed"])
        self.assertEqual(sum(k * ns for k, ns in enumerate(report["at_once"])), report["busy"])
        self.assertEqual(report["disorder"], 0)

    def check_thread(self, timeline, report, tid):
        """Compare one thread with its states as computed by the tests."""
        row, = (t for t in report["threads"] if t["tid"] == tid and t["name"] != "wakers")
        begin = min(s.time for s in timeline.stretches(timeline.lane(tid)))
        renamed = [t for t in timeline.threads.values() if t["tid"] == tid]
        begin = max(begin, max(t["start"] for t in renamed))
        found = timeline.within(timeline.lane(tid), begin, timeline.host["end"])
        states = {
            "running": scheduler.total(found, "RUNNING"),
            "runnable": scheduler.total(found, "RUNNABLE", "PREEMPTED"),
            "unknown": scheduler.total(found, "UNKNOWN"),
        }
        row["runnable"] = row["runnable_woken"] + row["runnable_preempted"]
        for state, ns in states.items():
            self.assertAlmostEqual(row[state], ns, delta=CLOSE, msg=(tid, state))
        blocked = scheduler.waits(found)
        for wait, (word, ns) in enumerate(row["blocked"].items(), 1):
            self.assertAlmostEqual(ns, blocked[scheduler.WAIT_NAME[wait]], delta=CLOSE,
                                   msg=(tid, word))
        return row

    @staticmethod
    def cut_waits(timeline, tid):
        """Return the ns of waits for a CPU that no run ended: a switch was not reported."""
        found = timeline.stretches(timeline.lane(tid))
        return sum(a.end - a.time for a, b in zip(found, found[1:])
                   if a.waker and a.state == scheduler.STATE["RUNNABLE"]
                   and b.state == scheduler.STATE["UNKNOWN"])

    def check_all(self, timeline, report):
        """Compare every thread of the machine that had one name and one tid of its own."""
        named = collections.Counter(t["tid"] for t in timeline.threads.values())
        checked = 0
        for row in report["threads"]:
            if named[row["tid"]] != 1 or not row["tid"]:
                continue
            checked += 1
            row["runnable"] = row["runnable_woken"] + row["runnable_preempted"]
            found = timeline.stretches(timeline.lane(row["tid"]))
            for state, names in (("running", ["RUNNING"]), ("unknown", ["UNKNOWN"]),
                                 ("runnable", ["RUNNABLE", "PREEMPTED"])):
                self.assertAlmostEqual(row[state], scheduler.total(found, *names), delta=CLOSE,
                                       msg=(row["tid"], row["name"], state))
        self.assertGreater(checked, 3)

    def test_sleeper_beside_spinner(self):
        facts, timeline = self.record("spin", live.CPUS[-1])
        report = self.report(timeline)
        self.check_whole(report)
        sleeper, spinner = (self.check_thread(timeline, report, t["tid"])
                            for t in facts["threads"])
        # its exit is one, and its start may be another
        self.assertAlmostEqual(spinner["voluntary"], facts["threads"][1]["switches"] + 1, delta=2)
        woken = sum(w["count"] for w in report["wakes"]
                    if w["of"].get("tid") == sleeper["tid"] and w["by"]["name"] == "[timer]")
        self.assertGreater(woken, 0.95 * facts["threads"][0]["rounds"] - 50)
        self.assertGreater(sleeper["blocked"]["sleep"], 0)

    def test_ping_and_pong(self):
        facts, timeline = self.record("pipe")
        report = self.report(timeline)
        self.check_whole(report)
        for thread in facts["threads"]:
            row = self.check_thread(timeline, report, thread["tid"])
            self.assertAlmostEqual(row["voluntary"], thread["switches"],
                                   delta=0.01 * thread["switches"] + 20)
            waits = row["waits_woken"]
            self.assertAlmostEqual(waits["sum"], row["runnable_woken"],
                                   delta=0.01 * waits["sum"] + waits["max"]
                                   + self.cut_waits(timeline, thread["tid"]))
        self.check_all(timeline, report)

    def test_parts_add_up_to_the_whole(self):
        _, timeline = self.record("pipe")
        whole = self.report(timeline)
        middle = (timeline.host["end"] - timeline.host["start"]) // 2000000
        parts = [self.report(timeline, "--to", f"{middle}ms"),
                 self.report(timeline, "--from", f"{middle}ms")]
        for key in ("elapsed", "busy", "idle", "switches", "wakeups", "waiting"):
            self.assertAlmostEqual(sum(p[key] for p in parts), whole[key], delta=2, msg=key)
        for part in parts:
            self.assertEqual(sum(part["at_once"]), part["elapsed"])


if __name__ == "__main__":
    live.main()
