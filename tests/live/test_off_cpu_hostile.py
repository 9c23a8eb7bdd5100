# SPDX-License-Identifier: Apache-2.0
# timeout: 400
"""
Stacks of waits where they are hard to take: threads that end, execute a program or are killed as
they wake, stacks that are not in memory or have no end, full rings, ten thousand threads at once,
numbers that collide, hooks that are interrupted. Each stack is right or ends with a reason, and
what was not taken is counted.
"""

import collections
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import live
from live import LONG, workload
from off_cpu import account_of, end_of, stacks_of_waits, unaccounted, user_part

HOOKS = {"the kernel's own": {}, "an interrupt": {"SKEIN_DEBUG_WALK": "irq-work"}}
LOCK, IO, SLEEP = 1, 2, 3  # of enum wait_class
NESTED = 40  # calls, see hostile_waits.c
# Functions that wait in threads that then end or execute a program, and how often in each turn.
ENDS = {"wait_to_be_killed": 1, "wait_in_group": 5, "wait_to_exit": 1, "wait_to_exec": 1,
        "wait_for_exec": 1, "wait_after_exec": 1}
CIRCLE_ENDS = ("NO_TABLE", "UNKNOWN_ROOT", "UNMAPPED")
WAIT_STACKS = ("-e", "off-cpu", "--all-stacks")
PID_MAX = pathlib.Path("/proc/sys/kernel/pid_max")
LAST_PID = pathlib.Path("/proc/sys/kernel/ns_last_pid")
V2 = pathlib.Path("/sys/fs/cgroup/unified")

REALTIME = """
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
int uname(struct utsname *name)
{
	long ret = syscall(SYS_uname, name);
	strcpy(name->version, "#1 SMP PREEMPT_RT");
	return (int)ret;
}
"""


class Hostile(live.LiveTest):
    def record_mode(self, mode, count, *more, options=WAIT_STACKS, **env):
        trace = self.record(*options, "--", workload("hostile_waits"), mode, count, *more,
                            env=live.clean_environment(**env))
        self.assertEqual(unaccounted(trace), [])
        return trace

    def right_stacks(self, trace, *functions, ends=()):
        """
        Check that each stack has one of the functions at most, and that those that wait in one are
        whole or end with a reason. Return {function: [(row, stack)]}.
        """
        found = collections.defaultdict(list)
        for row, stack in stacks_of_waits(trace, comm="hostile_waits"):
            waits = {n for n in stack.names if n.startswith("wait_")}
            self.assertLessEqual(len(waits), 1, stack.names)
            self.assertLessEqual(waits, set(functions), stack.names)
            self.assertIn(end_of(trace, row["stack"]), (None, "NO_MEMORY_MAP", *ends), stack.names)
            if row["wait"] == SLEEP and "rest_for" not in stack.names:
                self.assertEqual(len(waits), 1, stack.names)
            for function in waits:
                found[function].append((row, stack))
        return found

    def check_ends(self, found, count):
        """
        A thread that is killed, ends or executes a program as it wakes has the stack of its wait.
        """
        threads = [s for _, s in found["wait_in_group"] if "stay_in_group" in s.names]
        self.assertAlmostEqual(len(threads), 4 * count, delta=0.4 * count + 10)
        for function, waits in ENDS.items():
            rows = found[function]
            # but for switches that the kernel does not report
            self.assertAlmostEqual(len(rows), waits * count, delta=waits * (0.1 * count + 5))
            for row, stack in rows:
                self.assertTrue(0 < row["length"] <= 10e9, (row, stack.names))
                self.assertEqual(row["weight"], row["length"])
        for _, stack in found["wait_after_exec"]:
            self.assertIn("run_executed", stack.names)
            self.assertNotIn("run_execs", stack.names)

    def check_depth(self, trace, found, count):
        """A recursion of 100,000 calls, and frames that lead to each other, end with a reason."""
        self.assertGreaterEqual(len(found["wait_deep"]), 0.9 * count - 5)
        for row, stack in found["wait_deep"]:
            self.assertEqual(end_of(trace, row["stack"]), "DEPTH")
            self.assertEqual(len(user_part(stack)), 1024)
            self.assertEqual(stack.names.count("descend_deep"), 1024 - 3)
        self.assertGreaterEqual(len(found["wait_in_circle"]), 0.9 * count - 5)
        for row, stack in found["wait_in_circle"]:
            self.assertIn(end_of(trace, row["stack"]), CIRCLE_ENDS)
            self.assertEqual(set(user_part(stack)), {"wait_in_circle"})
            self.assertLess(len(stack.names), 1024)

    def test_last_moments(self):
        count = 200 if LONG else 20
        script = "; ".join(f"{workload('hostile_waits')} {mode} {count}"
                           for mode in ("killed", "group", "exits", "execs", "deep", "circle"))
        for name, env in HOOKS.items():
            with self.subTest(name):
                trace = self.record(*WAIT_STACKS, "--", "sh", "-c", script,
                                    env=live.clean_environment(**env))
                self.assertEqual(unaccounted(trace), [])
                found = self.right_stacks(trace, *ENDS, "wait_deep", "wait_in_circle",
                                          ends=("DEPTH", *CIRCLE_ENDS))
                self.check_ends(found, count)
                self.check_depth(trace, found, count)

    def check_away(self, path):
        trace = self.record_mode("away", 12 if LONG else 4, path)
        said = live.json.loads(trace.done.out)
        if said["gone"] != said["waits"]:
            self.skipTest(f"the kernel took the stack away in {said['gone']} of {said['waits']}")
        ended = [(row, s) for row, s in stacks_of_waits(trace, comm="hostile_waits")
                 if end_of(trace, row["stack"]) == "UNREADABLE"]
        # the registers are the thread's own, so the innermost frame is known, and no other
        # the second wait is for the page itself, on the way back to user mode
        self.assertLessEqual({row["wait"] for row, _ in ended}, {SLEEP, IO})
        self.assertGreaterEqual(sum(row["wait"] == SLEEP for row, _ in ended), said["waits"] - 1)
        for _, stack in ended:
            self.assertTrue(user_part(stack)[0].startswith("clock_nanosleep"), stack.names)
            self.assertEqual(len(user_part(stack)), 1, stack.names)
        report = subprocess.run([live.SKEIN, "report", "--event", "off-cpu", "--json", trace.path],
                                capture_output=True, check=True).stdout
        reasons = {b["reason"]: b["samples"] for b in live.json.loads(report)["stacks"]["broken"]}
        self.assertEqual(reasons, {"unreadable stack": len(ended)})

    def test_stack_in_a_file(self):
        self.check_away(self.tmp / "stack")

    def test_stack_swapped_out(self):
        swap = self.tmp / "swap"
        swap.write_bytes(bytes(32 << 20))  # no holes
        swap.chmod(0o600)
        subprocess.run(["mkswap", "-q", swap], check=True)
        done = subprocess.run(["swapon", swap], capture_output=True, text=True)
        if done.returncode:
            self.skipTest(f"swapon: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["swapoff", swap], check=True)
        self.check_away("anonymous")

    def test_depth(self):
        """A recursion of 100,000 calls, and frames that lead to each other, end with a reason."""
        for name, env in HOOKS.items():
            with self.subTest(name):
                trace = self.record_mode("deep", 30, **env)
                rows = self.right_stacks(trace, "wait_deep", ends=("DEPTH",))["wait_deep"]
                self.assertGreaterEqual(len(rows), 25)
                for row, stack in rows:
                    self.assertEqual(end_of(trace, row["stack"]), "DEPTH")
                    self.assertEqual(len(user_part(stack)), 1024)
                    self.assertEqual(stack.names.count("descend_deep"), 1024 - 3)
                trace = self.record_mode("circle", 30, **env)
                ends = ("NO_TABLE", "UNKNOWN_ROOT", "UNMAPPED")
                rows = self.right_stacks(trace, "wait_in_circle", ends=ends)["wait_in_circle"]
                self.assertGreaterEqual(len(rows), 25)
                for row, stack in rows:
                    self.assertIn(end_of(trace, row["stack"]), ends)
                    self.assertEqual(set(user_part(stack)), {"wait_in_circle"})
                    self.assertLess(len(stack.names), 1024)

    def test_herd(self):
        """Ten thousand threads that one call wakes: each has its stack, and the same waker."""
        threads = 10000 if LONG else 4000
        for name, env in HOOKS.items() if LONG else [("the kernel's own", {})]:
            with self.subTest(name):
                trace = self.record_mode("herd", threads, **env)
                rows = self.right_stacks(trace, "wait_in_herd")["wait_in_herd"]
                asked, lost = account_of(trace)
                self.assertGreaterEqual(asked, threads)
                self.assertGreaterEqual(len(rows) + sum(lost.values()), 0.999 * threads)
                self.assertGreater(len(rows), 0.9 * threads)
                self.assertEqual(len({s.thread["tid"] for _, s in rows}), len(rows))
                self.assertEqual({r["wait"] for r, _ in rows}, {LOCK})
                self.assertEqual(len({r["address"] for r, _ in rows}), 1)
                wakers = collections.Counter(
                    "run_herd" in s.names
                    for _, s in stacks_of_waits(trace, "off-cpu-wakers", comm="hostile_waits"))
                self.assertGreater(wakers[True], 0.9 * threads)

    def test_colliding_numbers(self):
        """
        Two threads that share a slot, because their numbers differ by 2^19: no stack is the other
        thread's, and each wait has its stack or is counted as displaced.
        """
        before = PID_MAX.read_text(), LAST_PID.read_text()
        try:
            PID_MAX.write_text("4194304")
        except OSError as error:
            self.skipTest(f"kernel.pid_max cannot be 4194304: {error.strerror}")
        try:
            trace = self.record_mode("twins", 3000 if LONG else 1000)
        finally:
            LAST_PID.write_text(before[1])
            PID_MAX.write_text(before[0])
        said = live.json.loads(trace.done.out)
        if not said["wait_first"]["count"]:
            self.skipTest("the kernel did not give the threads the numbers that were asked for")
        rows = self.right_stacks(trace, *said)
        for function, log in said.items():
            self.assertGreater(len(rows[function]), 0.2 * log["count"])
            self.assertEqual({s.thread["tid"] for _, s in rows[function]}, {log["tid"]})
            # a thread that is preempted before it sleeps sleeps for a shorter time
            least = {"wait_first": 300e3, "wait_second": 700e3}[function]
            long = [row for row, _ in rows[function] if row["length"] > 0.9 * least]
            self.assertGreater(len(long), 0.8 * len(rows[function]))
        asked, lost = account_of(trace)
        self.assertGreater(lost.get("wait displaced", 0), 0)
        waits = sum(log["count"] for log in said.values())
        self.assertAlmostEqual(asked, waits, delta=0.02 * waits + 20)

    def stop_consumer(self, more_time, command, *options, **env):
        """
        Record a command while the recorder is stopped for 1.5 s. more_time: s for its start. Return
        the trace, and when the recorder went on (ns).
        """
        recording = self.begin(*WAIT_STACKS, *options, "-a",
                               env=live.clean_environment(**env))
        time.sleep(more_time)
        recording.process.send_signal(signal.SIGSTOP)
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1.5)
        went_on = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        recording.process.send_signal(signal.SIGCONT)
        running.wait(120)
        return self.finish(recording), went_on

    def test_stopped_consumer(self):
        """
        Rings that are full, also those of discarded records, by which a CPU interrupts itself:
        what they had no room for is counted, and stacks are taken again when there is room.
        """
        waits = 120000 if LONG else 40000
        crowd = (f"for i in 1 2 3 4; do {workload('hostile_waits')} nested {waits // 4} & done; "
                 f"wait; {workload('bimodal')} 2.5")
        for name, env in HOOKS.items():
            with self.subTest(name):
                for more_time in (0.5, 2, 8):  # a busy machine may begin to record late
                    trace, went_on = self.stop_consumer(
                        more_time, ["sh", "-c", crowd], "--buffer", "256K", **env)
                    # threads of the whole machine begin to wait while the last stacks are read
                    self.assertEqual(unaccounted(trace, cut_off=1000), [])
                    asked, lost = account_of(trace)
                    if asked > waits:
                        break
                print(name, asked, lost)
                self.assertGreater(asked, waits)
                self.assertGreater(lost["ring full"] if not env else sum(lost.values()), 100)
                late = [r for r, _ in stacks_of_waits(trace) if r["time"] > went_on + 1e9]
                self.assertGreater(len(late), 20)

    def test_interrupted_hook(self):
        """
        The hook is long and runs with interrupts on: samples of the CPU come in the middle of it,
        and neither stack is damaged.
        """
        for name, env in HOOKS.items():
            with self.subTest(name):
                self.check_interrupted_hook(name, env)

    def check_interrupted_hook(self, name, env):
        # how often the clock comes in the hook is chance: more waits, if that was too rarely
        for waits in [20000] if LONG else [5000, 20000, 80000]:
            with self.subTest(waits=waits):
                trace = self.record_mode("nested", waits,
                                         options=("-F", 9999, "-e", "cpu,off-cpu", "--all-stacks"),
                                         **env)
                rows = self.right_stacks(trace, "wait_nested")["wait_nested"]
                self.assertGreater(len(rows), 3000)
                samples = [s for _, s in stacks_of_waits(trace, "cpu-clock", comm="hostile_waits")
                           if "wait_nested" in s.names]
                inside = [s for s in samples if any("wait_ended" in n or "bpf_prog" in n
                                                    for n in s.names)]
                print(name, len(rows), len(samples), len(inside))
                for stack in [s for _, s in rows] + samples:
                    self.assertEqual(stack.names.count("descend_nested"), NESTED, stack.names)
                    self.assertIn("main", stack.names)
            # the other hook is an interrupt itself, in which no other one comes
            if env or len(inside) >= 10:
                break
        self.assertGreaterEqual(len(inside), 0 if env else 10)

    def ask_a_stranger(self):
        """Start a program that waits for another one; return the processes of both."""
        question, answer = os.pipe(), os.pipe()
        folder = tempfile.mkdtemp(dir=self.tmp)
        asker = self.start(self.copy("hostile_waits", f"{folder}/asker"), "asks", 1000000,
                           stdin=answer[0], pipe=question[1])
        stranger = self.start(self.copy("hostile_waits", f"{folder}/stranger"), "answers", 1,
                              stdin=question[0], pipe=answer[1])
        for fd in (*question, *answer):
            os.close(fd)
        return asker, stranger

    def start(self, *args, pipe=None, **more):  # pylint: disable=arguments-differ
        if pipe is None:
            return super().start(*args, **more)
        process = subprocess.Popen([str(a) for a in args], stdout=pipe, **more)
        self.addCleanup(self.end, process)
        return process

    def check_stranger(self, trace, asker, stranger):
        """Only waits of the asker; the stranger that wakes it is named, without its user frames."""
        self.assertEqual(unaccounted(trace), [])
        waits = stacks_of_waits(trace)
        self.assertEqual({s.process["pid"] for _, s in waits}, {asker.pid})
        answered = [row for row, s in waits if "wait_for_byte" in s.names]
        self.assertGreater(len(answered), 50)
        by_id = trace.table("thread")
        self.assertEqual({by_id[r["other"]]["tid"] for r in answered if r["other"]},
                         {stranger.pid})
        self.assertGreater(sum(bool(r["other"]) for r in answered), 0.95 * len(answered))
        names = subprocess.run([live.SKEIN, "report", "--off-cpu", trace.path],
                               capture_output=True, check=True, text=True).stdout
        self.assertIn("stranger", names)
        self.assertNotIn("wait_foreign", names)
        for _, stack in stacks_of_waits(trace, "off-cpu-wakers"):
            if stack.process["pid"] != asker.pid:
                self.assertEqual(user_part(stack), [])

    def test_selected_process(self):
        for name, env in HOOKS.items():
            with self.subTest(name):
                asker, stranger = self.ask_a_stranger()
                trace = self.record(*WAIT_STACKS, "-p", asker.pid, "-d", 1,
                                    env=live.clean_environment(**env))
                self.check_stranger(trace, asker, stranger)

    @live.unittest.skipUnless(V2.is_dir(), "no cgroup v2 tree beside v1 ones")
    def test_selected_cgroup(self):
        group = V2 / f"skein-waits-{os.getpid()}"
        group.mkdir()
        self.addCleanup(group.rmdir)
        asker, stranger = self.ask_a_stranger()  # ended before the group is removed
        (group / "cgroup.procs").write_text(str(asker.pid))
        trace = self.record(*WAIT_STACKS, "--cgroup", group, "-d", 1)
        self.check_stranger(trace, asker, stranger)

    def test_realtime_kernel(self):
        """Without sched_exit_tp, a kernel whose interrupts are threads is refused by name."""
        source, library = self.tmp / "realtime.c", self.tmp / "realtime.so"
        source.write_text(REALTIME)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        done = subprocess.run(
            [live.SKEIN, "record", "-o", self.file(), "-e", "off-cpu", "--", "true"],
            env=live.clean_environment(LD_PRELOAD=str(library), SKEIN_DEBUG_WALK="irq-work"),
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("PREEMPT_RT", done.stderr)
        self.assertIn("sched_exit_tp", done.stderr)


if __name__ == "__main__":
    live.main()
