# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test every option that selects targets: everything selected is recorded, and nothing else."""

import os
import pathlib
import subprocess
import tempfile
import threading
import time

import live
from live import FRAME, SKEIN, workload

V2 = pathlib.Path("/sys/fs/cgroup/unified")
V1 = pathlib.Path("/sys/fs/cgroup/cpu")


class Selection(live.LiveTest):
    def comms(self, trace):
        return {s.process["comm"] for s in trace.stacks()}

    def two(self, **more):
        """Start two loops of different names that run as long as the test."""
        return (self.start(workload("loop"), 100, **more),
                self.start(workload("execafter"), 100, **more))

    def test_all(self):
        self.two()
        trace = self.record("-a", "-F", 499, "-d", 0.7)
        self.assertLessEqual({"loop", "execafter"}, self.comms(trace))
        self.assertNotIn(0, {s.thread["tid"] for s in trace.stacks()})
        again = self.record("-F", 499, "-d", 0.5)  # all CPUs is also the default
        self.assertLessEqual({"loop", "execafter"}, self.comms(again))

    def test_pid_with_what_it_has(self):
        """-p PID: existing threads and children."""
        target = self.start(workload("threads"), 30)
        lines = [target.stdout.readline().split() for _ in range(4)]
        ids = {name.decode(): int(number) for name, number in lines}
        trace = self.record("-p", ids["main"], "-F", 499, "-d", 0.8)
        self.end(target)
        os.kill(ids["child"], 9)
        self.assertLessEqual({"main_work", "thread_work", "child_work"},
                             live.functions(trace.stacks()))
        self.assertEqual({s.process["pid"] for s in trace.stacks()},
                         {ids["main"], ids["child"]})
        self.assertEqual({s.thread["tid"] for s in trace.stacks()}, set(ids.values()))

    def test_pid_with_what_comes(self):
        """-p PID: threads and children created later, also after an exec."""
        target = self.start(workload("threads"), 1.5, wait=True)
        self.start(workload("loop"), 100)
        recording = self.begin("-p", target.pid, "-F", 499)
        self.go(target)
        target.wait()
        trace = self.finish(recording)
        threads = {s.thread["comm"] for s in trace.stacks()}
        self.assertLessEqual({"threads", "early-worker", "late-worker", "born-later"}, threads)
        self.assertEqual(self.comms(trace) - {"threads", "born-later", "sh"}, set())
        self.assertLessEqual({"main_work", "thread_work", "child_work"},
                             live.functions(trace.stacks()))

    def test_two_pids(self):
        loop, other = self.two()
        third = self.start(workload("sleeper"), 100)
        trace = self.record("-p", f"{loop.pid},{other.pid}", "-F", 499, "-d", 0.7)
        self.assertEqual([p.poll() for p in (loop, other, third)], [None] * 3)
        self.assertEqual(self.comms(trace), {"loop", "execafter"}, trace.query(
            "SELECT * FROM account"))

    def test_ends_with_its_processes(self):
        """When no target is left, the recording ends long before its time."""
        target = self.start("/bin/sleep", 0.7)
        began = time.monotonic()
        reaper = threading.Thread(target=target.wait)
        reaper.start()
        self.record("-p", target.pid, "-d", 60)
        reaper.join()
        self.assertLess(time.monotonic() - began, 30)

    def test_thread(self):
        target = self.start(workload("threads"), 30)
        lines = [target.stdout.readline().split() for _ in range(4)]
        ids = {name.decode(): int(number) for name, number in lines}
        trace = self.record("-t", ids["late-worker"], "-F", 499, "-d", 0.8)
        os.kill(ids["child"], 9)
        self.assertEqual({s.thread["tid"] for s in trace.stacks()}, {ids["late-worker"]})
        self.assertIn("thread_work", live.functions(trace.stacks()))

    def test_comm(self):
        self.two()
        trace = self.record("--comm", "lo*p", "-F", 499, "-d", 0.7)
        self.assertEqual(self.comms(trace), {"loop"})
        self.assertIn("loop_inner", live.functions(trace.stacks()))

    def test_comm_of_a_thread_that_comes(self):
        target = self.start(workload("threads"), 1.2, wait=True)
        recording = self.begin("--comm", "late-*", "-F", 499)
        self.go(target)
        target.wait()
        trace = self.finish(recording)
        self.assertEqual({s.thread["comm"] for s in trace.stacks()}, {"late-worker"})

    def cgroup(self, whole):
        """Make a control group, which is removed at the end."""
        whole.mkdir()
        self.addCleanup(self.remove_cgroup, whole)
        return whole

    @staticmethod
    def remove_cgroup(path):
        for attempt in range(50):
            try:
                return path.rmdir()
            except OSError:
                live.time.sleep(0.05)
        return None

    def check_cgroup(self, top, shown):
        # a number of the process would not do: in a pid namespace each run has the same ones
        outer = pathlib.Path(tempfile.mkdtemp(prefix="skein-test-", dir=top))
        self.addCleanup(self.remove_cgroup, outer)
        inner = self.cgroup(outer / "inner")
        other = self.cgroup(top / f"{outer.name}-other")  # a name with the same beginning
        loop, execafter = self.two()
        below = self.start(workload("cxxnames"), 100)
        for process, group in ((loop, outer), (below, inner), (execafter, other)):
            (group / "cgroup.procs").write_text(str(process.pid))
        for path in shown(outer):
            with self.subTest(path=path):
                trace = self.record("--cgroup", path, "-F", 499, "-d", 0.7)
                self.assertEqual(self.comms(trace), {"loop", "cxxnames"})
        for process in (loop, below, execafter):
            self.end(process)

    @live.unittest.skipUnless(V2.is_dir(), "no cgroup v2 tree beside v1 ones")
    def test_cgroup_v2(self):
        self.check_cgroup(V2, lambda path: (path, "/" + path.name))

    @live.unittest.skipUnless(V1.is_dir(), "no cgroup v1 hierarchy")
    def test_cgroup_v1(self):
        self.check_cgroup(V1, lambda path: (path,))

    def test_cpus(self):
        for cpu in live.CPUS:
            self.start(workload("loop"), 100, cpu=cpu)
        trace = self.record("-a", "-C", live.CPUS[-1], "-F", 499, "-d", 0.6)
        self.assertEqual({r["cpu"] for r in trace.query("SELECT DISTINCT cpu FROM sample")},
                         {live.CPUS[-1]})
        self.assertEqual([r["cpu"] for r in trace.query("SELECT cpu FROM account")],
                         [live.CPUS[-1]])

    def test_frequency_and_period(self):
        trace = self.record("-F", 499, "-d", 0.3)
        event = next(iter(trace.table("event").values()))
        self.assertEqual((event["name"], event["frequency"]), ("cpu-clock", 499))
        self.assertAlmostEqual(event["period"], 1e9 / 499, delta=1)
        trace = self.record("-c", "5M", "-d", 0.3)
        event = next(iter(trace.table("event").values()))
        self.assertEqual((event["frequency"], event["period"]), (0, 5000000))
        trace = self.record("-d", 0.3)
        self.assertEqual(next(iter(trace.table("event").values()))["frequency"], 99)

    def test_duration(self):
        trace = self.record("-d", "700ms")
        host = next(iter(trace.table("host").values()))
        self.assertGreaterEqual(host["end"] - host["start"], 690000000)
        self.assertLess(host["end"] - host["start"], 5700000000)

    def test_user_and_kernel(self):
        self.start(workload("syscalls"), 100)
        both = self.record("-F", 499, "-d", 0.7).stacks(comm="syscalls")
        mixed = [s for s in both if FRAME["KERNEL"] in s.kinds and "kernel_work" in s.names]
        self.assertGreater(live.count(mixed), 0.5 * live.count(both))
        user = self.record("-U", "-F", 499, "-d", 0.7).stacks(comm="syscalls")
        self.assertEqual({k for s in user for k in s.kinds}, {FRAME["NATIVE"]})
        self.assertIn("kernel_work", live.functions(user))
        kernel = self.record("-K", "-F", 499, "-d", 0.7).stacks(comm="syscalls")
        self.assertEqual({k for s in kernel for k in s.kinds}, {FRAME["KERNEL"]})

    def test_command(self):
        """-- CMD alone: the command and its children, with the command's output and exit status."""
        self.start(workload("execafter"), 100)
        trace = self.record("-F", 499, "--", "sh", "-c", '"$0" 0.3 3; exit 42',
                            workload("loop"), status=42)
        self.assertIn("cpu", trace.done.out)
        self.assertLessEqual(self.comms(trace), {"loop", "sh"})
        self.assertIn("loop_inner", live.functions(trace.stacks(comm="loop")))

    def test_command_killed(self):
        self.record("--", "sh", "-c", "kill -9 $$", status=128 + 9)

    def test_command_that_is_not_there(self):
        run = subprocess.run([SKEIN, "record", "-o", self.file(), "--", "/nowhere/to/be/found"],
                             capture_output=True, timeout=60)
        self.assertEqual(run.returncode, 127)
        self.assertIn(b"/nowhere/to/be/found", run.stderr)

    def test_command_from_its_first_instruction(self):
        """
        A program of 5 ms is recorded completely: at 9,999 Hz, 50 samples of its function (sampling
        error: one at each end and at each interruption), and its start before main(). A host that
        takes the CPU takes samples; then the test tries again.
        """
        for _ in range(3):
            trace = self.record("-F", 9999, "--", workload("brief"), 5)
            stacks = trace.stacks(comm="brief")
            life = [s for s in stacks if "brief_life" in s.names]
            if live.count(life) >= 47:
                break
        self.assertGreaterEqual(live.count(life), 47)
        before = [s for s in stacks if "main" not in s.names]
        self.assertGreater(live.count(before), 0)


if __name__ == "__main__":
    live.main()
