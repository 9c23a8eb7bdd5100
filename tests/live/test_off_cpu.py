# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""
Stacks of waits belong to the wait: threads that wait for 50 us, 100 ms and 1 s, each in a function
of its own, by both hooks. What was asked for is taken or counted, and the weights are those of a
fair draw.
"""

import collections
import subprocess

import evidence
import live
from live import LONG, workload

HOOKS = {"the kernel's own": {}, "an interrupt": {"SKEIN_DEBUG_WALK": "irq-work"}}
PERIOD = 2e6  # ns, the default
# Lengths of waits that only one of the functions can have, ns.
LENGTHS = {"wait_short": 50e-6, "wait_middle": 0.1, "wait_long": 1}  # s
BOUNDS = {"wait_short": (0, 50e6), "wait_middle": (90e6, 700e6), "wait_long": (990e6, 1e12)}

WAITS = ("", "lock", "I/O", "sleep", "poll", "page fault", "pipe or socket", "child", "throttled",
         "other", "Java monitor", "Object.wait", "park", "safepoint",
         "GIL")  # by enum wait_class
# Functions of the modes of the workload `waits` that are not called as the mode.
FUNCTIONS = {"inheriting": ("wait_mutex",), "pipe": ("take",), "socketpair": ("take",),
             "tcp": ("take",)}
PYTHON = """
import queue, socket, sys, threading, time
end = time.monotonic() + float(sys.argv[1])
q, (here, there) = queue.Queue(), socket.socketpair()

def wait_for_gil():
    while time.monotonic() < end:
        sum(range(20000))

def wait_for_queue():
    while q.get():
        pass

def wait_for_socket():
    while here.recv(1) == b"x":
        pass

def feed():
    while time.monotonic() < end:
        q.put(1)
        there.send(b"x")
        time.sleep(0.004)
    q.put(0)
    there.send(b"y")

threads = [threading.Thread(target=f) for f in
           (wait_for_gil, wait_for_gil, wait_for_queue, wait_for_socket, feed)]
for t in threads:
    t.start()
for t in threads:
    t.join()
"""


class Waits(live.LiveTest):
    def record_waits(self, seconds, *args, env=None):
        return self.record("-e", "off-cpu", *args, "--", workload("bimodal"), seconds,
                           env=live.clean_environment(**(env or {})))

    @staticmethod
    def stacks(trace, event="off-cpu"):
        """Return (row, stack) of the stacks of waits."""
        rows = trace.query("SELECT s.* FROM sample s JOIN event e ON e.id = s.event "
                           f"WHERE e.name = '{event}'")
        return [(r, trace.stack(r["thread"], r["stack"], 1, r["weight"])) for r in rows]

    @classmethod
    def waits(cls, trace, comm="bimodal"):
        """Return (row, names) of the stacks of waits of a program."""
        return [(r, s.names) for r, s in cls.stacks(trace) if s.process["comm"] == comm]

    @staticmethod
    def command(*args):
        return subprocess.run([live.SKEIN, *args], capture_output=True, text=True, timeout=60)

    def skein(self, *args):
        done = self.command(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_account(self, trace):
        for row in trace.query("SELECT a.* FROM account a JOIN event e ON e.id = a.event "
                               "WHERE e.name LIKE 'off-cpu%'"):
            lost = sum(r["count"] for r in trace.query("SELECT * FROM loss")
                       if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"])
            self.assertEqual(row["due"], row["written"] + row["filtered"] + lost + row["cut_off"],
                             row)
            self.assertLessEqual(row["cut_off"], 1)

    def test_right_function(self):
        for name, env in HOOKS.items():
            with self.subTest(name):
                trace = self.record_waits(45 if LONG else 5, env=env)
                self.check_account(trace)
                found = self.waits(trace)
                self.assertGreater(len(found), 2000 if LONG else 300)
                for row, names in found:
                    self.assertFalse([n for n in names if "bpf" in n or "irq_work" in n], names)
                    functions = set(names) & set(BOUNDS)
                    if not functions:  # main() waits for its threads
                        self.assertIn("main", names)
                        continue
                    function, = functions
                    low, high = BOUNDS[function]
                    self.assertTrue(low <= row["length"] <= high, (function, row))
                    self.assertGreaterEqual(row["weight"], min(row["length"], PERIOD))
                    if row["length"] >= row["weight"]:
                        self.assertEqual(row["weight"], row["length"])
                if LONG:
                    self.leave_functions(name, found)

    @staticmethod
    def leave_functions(hook, found):
        numbers = [sum(function in names for _, names in found) for function in BOUNDS]
        evidence.leave(live.BUILD, "off-cpu-functions", {
            "hook": hook,
            "stacks": f"{len(found):,}",
            **{f"`{function}`": f"{n:,}" for function, n in zip(BOUNDS, numbers)},
            "with another function than the length's": "0"})

    @staticmethod
    def missing(trace, function):
        """
        Return the seconds of waits that may be missing: on some kernels a thread leaves the CPU
        without a switch that is reported, and its wait is unknown.
        """
        return LENGTHS[function] * sum(r["count"] for r in trace.query("SELECT * FROM loss"))

    def test_beside_another(self):
        """
        Where several programs use the tracepoints, the kernel calls them from a function of its
        own, which is in no stack.
        """
        other = self.begin("-a", "-e", "cpu,off-cpu", "--all-stacks")
        trace = self.record_waits(2, "--all-stacks")
        self.finish(other)
        for event in ("off-cpu", "off-cpu-wakers"):
            found = [s.names for _, s in self.stacks(trace, event)]
            self.assertGreater(len(found), 0)
            self.assertFalse([n for names in found for n in names if "__traceiter" in n])

    def test_classes(self):
        """
        A thread that waits in one way only: each stack has the class, and the function. A wait
        between two modes is the thread's start or end.
        """
        listed = subprocess.run([workload("waits"), "list"], capture_output=True, check=True,
                                text=True).stdout
        modes = [line.split(" ", 1) for line in listed.splitlines() if "throttled" not in line]
        disk = self.tmp / "disk"
        script = ";".join(f"{workload('waits')} {mode} {1 if LONG else 0.4} {disk}"
                          for mode, _ in modes)
        trace = self.record("-e", "off-cpu", "--all-stacks", "--", "sh", "-c", script)
        self.check_account(trace)
        said = [live.json.loads(line) for line in trace.done.out.splitlines()]
        by_thread = collections.defaultdict(list)
        for row, stack in self.stacks(trace):
            by_thread[stack.thread["tid"]].append((row, stack.names))
        for mode in said:
            with self.subTest(mode=mode["mode"]):
                if "skipped" in mode:
                    self.skipTest(f"{mode['mode']}: {mode['skipped']}")
                self.check_class(mode, by_thread[mode["tid"]])

    def check_class(self, mode, rows):
        inside = [(r, names) for r, names in rows
                  if mode["begin"] < r["time"] - r["length"] and r["time"] < mode["end"]]
        functions = FUNCTIONS.get(mode["mode"], ("wait_" + mode["mode"].replace("-", "_"),))
        # a child's parent sleeps, and what the disk caches is not waited for
        right = [names for r, names in inside if WAITS[r["wait"]] == mode["class"]]
        self.assertGreaterEqual(len(right), 1, mode)
        for names in right:
            self.assertTrue(set(functions) & set(names), (mode, names))
        if mode["mode"] not in ("child", "childid", "read", "major", "direct", "fsync"):
            self.assertEqual(len(right), len(inside), mode)

    def test_python(self):
        """Threads that wait for the GIL, a queue or a socket have their Python frames."""
        program = self.tmp / "waiting.py"
        program.write_text(PYTHON)
        trace = self.record("-e", "off-cpu", "--all-stacks", "--", "/usr/bin/python3", program,
                            10 if LONG else 3)
        rows = [names for _, names in self.waits(trace, comm="python3")]
        mine = {"wait_for_gil", "wait_for_queue", "wait_for_socket", "feed", "<module>"}
        for function in mine - {"<module>"}:
            self.assertGreater(sum(function in n for n in rows), 20, function)
        # beside threads that start or end, which have no Python frames yet or any more
        without = [n for n in rows if not mine & set(n)]
        self.assertLessEqual(len(without), 0.01 * len(rows) + 10, without[:3])

    def test_report(self):
        """
        Exact times by class are those of the records; each function's interval holds the time of
        the program's own log; by stack, class, group and function, sums are the same.
        """
        trace = self.record_waits(5)
        said = live.json.loads(trace.done.out)
        report = live.json.loads(self.skein("report", "--off-cpu", "--json", trace.path))
        waits = report["off_cpu"]
        for table in ("sites", "classes", "groups", "wakers"):
            self.assertEqual(sum(row["waited"] for row in waits[table]), waits["waited"], table)
            self.assertEqual(sum(row["stacks"] for row in waits[table]), waits["stacks"], table)
        blocked = report["sched"]["programs"][0]["blocked"]
        for row in waits["classes"]:
            self.assertEqual(row["exact"], blocked[row["class"]])
        self.assertEqual(waits["exact"], sum(blocked.values()))
        totals = {f["name"]: f["total"] for f in waits["functions"]}
        for function, log in said.items():
            # the program's clock counts the time in the run queue, too: 1 ms a wait, and 5 %
            slack = log["count"] * 1e6 + 0.05 * log["seconds"] * 1e9 + \
                1e9 * self.missing(trace, function)
            # five times as far as the ends of the 95 % interval: about 10 standard errors
            low, high = (totals[function]["waited"] + 5 * (totals[function][end]
                                                           - totals[function]["waited"])
                         for end in ("low", "high"))
            self.assertTrue(low - slack <= log["seconds"] * 1e9 <= high + slack,
                            (function, totals[function], log))
        own = {f["name"]: f["own"]["waited"] for f in waits["functions"]}
        self.assertGreater(own["wait_for"], 0.99 * totals["wait_long"]["waited"])

    def test_locks(self):
        """A lock has its address, those who wait, where, and who gives it back."""
        trace = self.record("-e", "off-cpu", "-d", 3, "--", workload("waits"), "mutex", 2)
        report = live.json.loads(self.skein("report", "--off-cpu", "--json", trace.path))
        lock = max(report["off_cpu"]["locks"], key=lambda row: row["waited"])
        self.assertGreater(lock["address"], 0)
        self.assertEqual(lock["program"], lock["main_waker"])
        text = self.skein("report", "--off-cpu", trace.path)
        self.assertIn(f"0x{lock['address']:x} of {lock['program']}", text)
        self.assertIn(" ± ", text)

    def test_without_stacks(self):
        trace = self.record("-e", "sched", "--", "true")
        done = self.command("report", "--off-cpu", trace.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-e off-cpu", done.stderr)

    def test_scheduler_by_function(self):
        """
        Functions have the waits of their classes and their time on CPUs: together those of the
        report by stack, with what has no function and what has no stack.
        """
        trace = self.record("-e", "all", "-F", 999, "--", workload("bimodal"), 3)
        args = ("report", "--sched", "--by", "function")
        report = live.json.loads(self.skein(*args, "--json", trace.path))
        sched = report["sched"]
        every = sched["functions"] + [sched["no_function"]]
        classes = live.json.loads(self.skein("report", "--off-cpu", "--json", trace.path))
        for row in classes["off_cpu"]["classes"]:
            mine = [f["blocked"][row["class"]] for f in every if row["class"] in f["blocked"]]
            self.assertEqual(sum(f["stacks"] for f in mine), row["stacks"])
            self.assertEqual(sum(f["waited"] for f in mine), row["waited"])
            self.assertEqual(sched["no_stack_taken"].get(row["class"], 0), row["no_stack_taken"])
        self.assertEqual(sum(f["running"] for f in every), report["weight"])
        waiting = next(f for f in sched["functions"] if f["name"] == "wait_for")
        self.assertGreater(waiting["blocked"]["sleep"]["waited"], 3e9)
        text = self.skein(*args, trace.path)
        self.assertRegex(text, r"on CPU +waited +± +sleep")
        self.assertIn("wait_for", text)

    def test_scheduler_by_function_needs_stacks(self):
        trace = self.record("-e", "cpu,sched", "--", "true")
        done = self.command("report", "--sched", "--by", "function", trace.path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-e all", done.stderr)

    def test_all_without_a_way(self):
        """Where the kernel has no way to take stacks of waits, -e all records the rest."""
        env = live.clean_environment(SKEIN_DEBUG_WALK="no-waits")
        trace = self.record("-e", "all", "--", "sleep", "0.1", env=env)
        self.assertIn("recorded without them", trace.done.err)
        self.assertEqual({row["name"] for row in trace.query("SELECT name FROM event")},
                         {"cpu-clock"})
        self.assertGreater(trace.one("SELECT count(*) FROM slice"), 0)


if __name__ == "__main__":
    live.main()
