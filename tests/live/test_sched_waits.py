# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""
Test the classes of waits: each workload waits in one way only and logs how long. At most a
hundredth of its time may be in other classes, for waits that it does not control: the lock of an
address space, a page of its own program.
"""

import os
import pathlib
import subprocess

import evidence
import live
import sched_live
import scheduler
from live import workload

SECONDS = 1.5 if live.LONG else 0.4
LEAST = 0.99
ENOUGH = 20  # waits
CPU = live.CPUS[-1]


def modes():
    listed = subprocess.run([workload("waits"), "list"], capture_output=True, check=True, text=True)
    return [line.split(" ", 1) for line in listed.stdout.splitlines()]


class Quota:
    """
    A control group that may use a part of one CPU, of version 1 or 2. It gets the part however
    many other groups there are.
    """

    def __init__(self, microseconds, period):
        self.folder = None
        for root, limits in (("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": f"{period}",
                                                     "cpu.cfs_quota_us": f"{microseconds}",
                                                     "cpu.shares": "262144"}),
                             ("/sys/fs/cgroup", {"cpu.max": f"{microseconds} {period}",
                                                 "cpu.weight": "10000"}),
                             ("/sys/fs/cgroup/unified", {"cpu.max": f"{microseconds} {period}",
                                                         "cpu.weight": "10000"})):
            folder = pathlib.Path(root) / f"skein-test-{os.getpid()}"
            try:
                folder.mkdir()
                self.folder = folder
                for name, value in limits.items():
                    (folder / name).write_text(value)
                return
            except OSError:
                self.remove()
        raise live.unittest.SkipTest("no control group with a quota of CPU time can be made")

    def throttled(self):
        """Return the throttled time in ns."""
        facts = dict(line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())
        if "throttled_time" in facts:
            return int(facts["throttled_time"])
        return int(facts["throttled_usec"]) * 1000

    def remove(self):
        if self.folder:
            try:
                self.folder.rmdir()
            except OSError:
                pass
            self.folder = None


class Waits(sched_live.SchedTest):
    def skip_part(self, mode, why):
        with self.subTest(mode=mode):
            self.skipTest(f"{mode}: {why}")

    def run_mode(self, mode, disk):
        """Run a mode, longer on a machine so busy that there are few waits."""
        for factor in (1, 4, 16):
            before = sched_live.steal()
            said = self.output(self.start(workload("waits"), mode, factor * SECONDS, disk))
            said["stolen"] = sched_live.steal() - before
            if "skipped" in said or said["switches"] >= ENOUGH or said["waits"] > 1000 * ENOUGH:
                break
        return said

    def run_modes(self):
        """Run all modes; return the output of those that really waited."""
        facts = []
        disk = self.tmp / "disk"
        for mode, _ in modes():
            if mode == "quota":
                continue
            said = self.run_mode(mode, disk)
            if "skipped" in said:
                self.skip_part(mode, said["skipped"])
            elif said["switches"] < ENOUGH:
                self.skip_part(mode, f"does not wait on this machine ({said['waits']} times)")
            else:
                facts.append(said)
        return facts

    def check_mode(self, timeline, facts):
        lane = timeline.lane(facts["tid"])
        stretches = timeline.within(lane, facts["begin"], facts["end"])
        found = scheduler.waits(stretches)
        blocked = sum(found.values())
        in_class = found[sched_live.CLASS[facts["class"]]]
        wrong = {n: ns for n, ns in found.items() if n != sched_live.CLASS[facts["class"]]}
        if live.LONG:
            evidence.leave(live.BUILD, "sched-waits", {
                "workload": facts["mode"], "waits": f"{facts['switches']:,}",
                "blocked": f"{blocked / 1e9:.3f} s",
                "share": f"{10000 * in_class // blocked / 100:.2f} %",
                "class": facts["class"]})
        self.assertGreaterEqual(in_class / blocked, LEAST, wrong)
        # the time is complete, and was not spent otherwise
        length = facts["end"] - facts["begin"]
        self.assertEqual(sum(s.end - s.time for s in stretches), length)
        running = scheduler.total(stretches, "RUNNING")
        # the kernel's account of a thread ends a little before its switch, and excludes stolen
        # time, unlike a slice
        allowed = 0.02 * length + 10000 * facts["switches"] + 3e6
        self.assertGreater(running - facts["cpu"], -allowed)
        self.assertLess(running - facts["cpu"], allowed + facts["stolen"] + sched_live.STEAL_STEP)
        # the kernel counted as many voluntary switches
        left = [s for s in stretches if s.state not in scheduler.NOT_WAITING]
        self.assertLess(abs(len(left) - facts["switches"]),
                        0.01 * facts["switches"] + 3
                        + self.unknown_time(timeline, facts["begin"], facts["end"]))

    def test_classes(self):
        recording = self.watch("-a")
        facts = self.run_modes()
        timeline = self.timeline(recording)
        for said in facts:
            with self.subTest(mode=said["mode"]):
                self.check_mode(timeline, said)
        self.check_tiles(timeline, [timeline.lane(said["tid"]) for said in facts])

    def test_throttled(self):
        """
        A thread that always wants to run may do so for a fifth of the time. The quota has few long
        periods, because the wait for a CPU after a throttled period is not recorded as throttled.
        """
        quota = Quota(100000, 500000)
        self.addCleanup(quota.remove)
        recording = self.watch("-a")
        process = self.start("sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec taskset -c "$@"',
                             quota.folder, CPU, workload("waits"), "quota", 4 * SECONDS + 1.5)
        facts = self.output(process)
        truth = quota.throttled()
        timeline = self.timeline(recording)
        stretches = timeline.stretches(timeline.lane(facts["tid"]))
        mine = scheduler.total(stretches, "THROTTLED")
        found = scheduler.waits(stretches)
        if live.LONG:
            evidence.leave(live.BUILD, "sched-waits", {
                "workload": "quota", "waits": f"{facts['waits']:,}",
                "blocked": f"{sum(found.values()) / 1e9:.3f} s",
                "share": f"{10000 * found['THROTTLED'] // sum(found.values()) / 100:.2f} %",
                "class": f"throttled; cpu.stat says {truth / 1e9:.3f} s"})
        if truth < 5e8:
            self.skipTest(f"throttled for {truth / 1e9:.3f} s only: others left it too little CPU")
        self.assertAlmostEqual(mine, truth, delta=0.05 * truth)
        self.assertGreaterEqual(found["THROTTLED"], LEAST * sum(found.values()), found)


if __name__ == "__main__":
    live.main()
