# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Exports of a recording with samples of CPU time and stacks of waits never mix the two unless asked
to, and show waits by their time, not by the number of their samples.
"""

import collections
import json
import re
import shutil
import subprocess

import live
import trace_processor
from live import workload
from test_off_cpu import WAITS

SECONDS = 4
NOT_TAKEN = "[no stack taken]"
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


class Exports(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kept = None

    def trace(self):
        """
        Return the trace that all tests share, the seconds of each function in its samples, and
        those of its parts of the exact time.
        """
        if not Exports.kept:
            trace = self.record("-e", "all", "-F", 999, "--", workload("bimodal"), SECONDS)
            shutil.copy(trace.path, "/tmp/skein-test-exports.skein")
            self.addClassCleanup(subprocess.run, ["rm", "-f", "/tmp/skein-test-exports.skein"],
                                 check=False)
            Exports.kept = (live.Trace("/tmp/skein-test-exports.skein"),
                            self.seconds(trace, {}),
                            self.seconds(trace, self.factors(trace)))
        return Exports.kept

    @staticmethod
    def report(trace, *args):
        done = subprocess.run([live.SKEIN, "report", "--json", *args, trace.path],
                              capture_output=True, timeout=60, check=True)
        return json.loads(done.stdout)

    @staticmethod
    def waits(trace):
        return trace.query("SELECT s.* FROM sample s JOIN event e ON e.id = s.event "
                           "WHERE e.name = 'off-cpu'")

    @classmethod
    def factors(cls, trace):
        """
        Return, by the number of each class of wait, the factor of weights of waits that were chosen
        by chance, so that they and the certain ones add up to the exact time.
        """
        found = {}
        for row in cls.report(trace, "--off-cpu")["off_cpu"]["classes"]:
            number = WAITS.index(row["class"])
            mine = [w for w in cls.waits(trace) if w["wait"] == number]
            certain = sum(w["weight"] for w in mine if w["weight"] <= w["length"])
            chance = sum(w["weight"] for w in mine if w["weight"] > w["length"])
            if chance and not row["no_stack_taken"]:
                found[number] = (row["exact"] - certain) / chance
        return found

    @classmethod
    def seconds(cls, trace, factors):
        found = dict.fromkeys(("wait_short", "wait_middle", "wait_long"), 0)
        for row in cls.waits(trace):
            factor = factors.get(row["wait"], 1) if row["weight"] > row["length"] else 1
            for name in set(trace.names(row["stack"])[0]) & set(found):
                found[name] += row["weight"] * factor / 1e9
        return found

    def exact(self, trace=None, *args):
        """Return the seconds that threads were blocked, by program."""
        report = self.report(trace or self.trace()[0], "--sched", *args)
        found = collections.Counter()
        for row in report["sched"]["programs"]:
            found[row["name"]] += sum(row["blocked"].values()) / 1e9
        return +found

    def exported(self, form, *args, status=0):
        done = subprocess.run([live.SKEIN, "export", "-f", form, *args, self.trace()[0].path],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        return (done.stderr if status else done.stdout).decode()

    def weight(self, event):
        """Return the seconds of all samples of an event."""
        found = self.trace()[0].one("SELECT sum(s.weight) FROM sample s JOIN event e "
                                    f"ON e.id = s.event WHERE e.name = '{event}'")
        return (found or 0) / 1e9

    def folded(self, *args):
        lines = [line.rsplit(" ", 1) for line in self.exported("folded", *args).splitlines()]
        return [(frames.split(";"), int(number)) for frames, number in lines]

    def check_functions(self, found, what, divided=True):
        """
        Compare seconds by function with the samples, or with their parts of the exact time; formats
        show three digits at least.
        """
        every = self.trace()[1 + divided]
        for name, seconds in every.items():
            if what == "svg" and seconds < 0.05 * sum(every.values()):
                continue  # perhaps too narrow to be drawn
            self.assertGreater(seconds, 0)
            self.assertAlmostEqual(found[name], seconds, delta=0.01 * seconds + 0.001,
                                   msg=f"{what}: {name}")

    def test_folded(self):
        lines = self.folded("--event", "off-cpu")
        found = {name: sum(n for frames, n in lines if name in frames) / 1e6
                 for name in self.trace()[1]}
        self.check_functions(found, "folded")
        self.check_exact(lines, self.exact())

    def check_exact(self, lines, exact):
        """Lines are rounded to 1 us, and those of less than that count as 1 us."""
        found = collections.Counter()
        for frames, number in lines:
            found[frames[0]] += number / 1e6
        for name in set(found) | set(exact):
            count = sum(frames[0] == name for frames, _ in lines)
            self.assertAlmostEqual(found[name], exact[name], delta=1e-6 * (count + 1), msg=name)

    def test_no_stack_taken(self):
        """
        In every range, for each program, stacks and what has none add up to the exact time. A wait
        that has not ended when the range does has no stack.
        """
        trace = self.trace()[0]
        for args in (("--from", "500ms", "--to", "1500ms"), ("--to", "700ms"),
                     ("--comm", "bimodal"), ("--from", "2s")):
            with self.subTest(args=args):
                self.check_exact(self.folded("--event", "off-cpu", *args),
                                 self.exact(trace, *args))
        lines = self.folded("--event", "off-cpu", "--to", "700ms")
        self.assertGreater(sum(n for frames, n in lines if frames[-1] == NOT_TAKEN), 300e3)
        threads = self.folded("--event", "off-cpu", "--to", "700ms", "--threads", "--pids")
        self.assertGreater(len({f[1] for f, _ in threads if f[-1] == NOT_TAKEN}), 1)
        self.assertIn(NOT_TAKEN, self.exported("svg", "--event", "off-cpu", "--to", "700ms"))
        self.assertIn(NOT_TAKEN, self.exported("html", "--to", "700ms"))

    def test_folded_of_the_main_event(self):
        lines = self.folded()
        samples = self.trace()[0].one("SELECT count(*) FROM sample s JOIN event e ON "
                                      "e.id = s.event WHERE e.name = 'cpu-clock'")
        self.assertEqual(sum(n for _, n in lines), samples)
        self.assertFalse([f for f, _ in lines if f[0].startswith("off-cpu")])

    def test_wall(self):
        lines = self.folded("--event", "wall")
        waiting = sum(n for frames, n in lines if "[waiting]" in frames) / 1e6
        running = sum(n for frames, n in lines if "[waiting]" not in frames) / 1e6
        self.assertAlmostEqual(waiting, sum(self.exact().values()), delta=0.001)
        self.assertAlmostEqual(running, self.weight("cpu-clock"), delta=0.01)

    def test_wall_needs_both(self):
        trace = self.record("-e", "off-cpu", "--", "sleep", "0.1")
        done = subprocess.run([live.SKEIN, "export", "--event", "wall", "-f", "folded",
                               trace.path], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("-e cpu,off-cpu", done.stderr)

    def test_svg(self):
        text = self.exported("svg", "--event", "off-cpu")
        found = {}
        for name, number, unit in re.findall(r"<title>(wait_\w+)[^:<]*: ([\d.]+) (\w+),", text):
            found[name] = found.get(name, 0) + float(number) * UNITS[unit]
        self.check_functions(found, "svg")
        self.assertIn("of off-cpu", text)

    def test_firefox(self):
        """Threads of each event are apart; one that waits uses no CPU."""
        threads = json.loads(self.exported("firefox"))["threads"]
        waiting = [t for t in threads if t["name"].endswith("[off-cpu]")]
        self.assertAlmostEqual(sum(sum(t["samples"]["weight"]) for t in waiting) / 1000,
                               self.weight("off-cpu"), delta=0.01)
        self.assertFalse([t for t in waiting if "threadCPUDelta" in t["samples"]])

    def test_firefox_of_both(self):
        """Time on the CPU and of waiting together are that of both events."""
        threads = json.loads(self.exported("firefox", "--event", "wall"))["threads"]
        samples = [t["samples"] for t in threads if t["name"].endswith("[wall]")]
        both = self.weight("cpu-clock") + self.weight("off-cpu")
        self.assertAlmostEqual(sum(sum(s["weight"]) for s in samples) / 1000, both, delta=0.01)
        self.assertAlmostEqual(sum(sum(s["threadCPUDelta"]) for s in samples) / 1e6,
                               self.weight("cpu-clock"), delta=0.01)

    def test_firefox_markers(self):
        p = json.loads(self.exported("firefox"))
        categories = [c["name"] for c in p["meta"]["categories"]]
        markers = [(data["class"], categories[category]) for t in p["threads"]
                   for data, category in zip(t["markers"]["data"], t["markers"]["category"])
                   if data["type"] == "Wait"]
        stacks = self.trace()[0].one("SELECT count(*) FROM sample s JOIN event e ON "
                                     "e.id = s.event WHERE e.name = 'off-cpu'")
        self.assertEqual(len(markers), stacks)
        self.assertFalse([m for m in markers if m[1] != f"Wait: {m[0]}"])

    def test_perfetto(self):
        """
        The slices of waits have the stacks that were taken of them, but for waits that the kernel
        did not report.
        """
        if trace_processor.MISSING:
            self.skipTest(trace_processor.MISSING)
        path = self.tmp / "waits.pftrace"
        self.exported("perfetto", "-o", path)
        rows, = trace_processor.ask(path, '''
            select s.name, s.dur, extract_arg(s.arg_set_id, 'debug.length_ns') length, f.name leaf
            from slice s join __intrinsic_track_event_callstacks c on c.slice_id = s.id
            join stack_profile_callsite k on k.id = c.callsite_id
            join stack_profile_frame f on f.id = k.frame_id''')
        stacks = self.trace()[0].one("SELECT count(*) FROM sample s JOIN event e ON "
                                     "e.id = s.event WHERE e.name = 'off-cpu'")
        self.assertGreaterEqual(len(rows), 0.99 * stacks)
        self.assertLessEqual(len(rows), stacks)
        self.assertFalse([r for r in rows if abs(r["dur"] - r["length"]) > 200])
        self.assertFalse([r for r in rows if (r["name"] == "sleep") != ("nanosleep" in r["leaf"])])

    def test_speedscope(self):
        profiles = json.loads(self.exported("speedscope"))["profiles"]
        found = {p["name"].rsplit(", ", 1)[-1]: sum(p["weights"]) / 1e9 for p in profiles}
        for event in ("cpu-clock", "off-cpu"):
            self.assertAlmostEqual(found[event], self.weight(event), delta=0.01)

    def test_pprof(self):
        if not shutil.which("go"):
            self.skipTest("there is no go")
        path = self.tmp / "profile.pb.gz"
        self.exported("pprof", "-o", path)
        done = subprocess.run(["go", "tool", "pprof", "-sample_index=off_cpu", "-top", "-unit=ms",
                               "-nodefraction=0", path],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {name: float(ms) / 1000 for ms, name in
                 re.findall(r"([\d.]+)ms\s+[\d.]+%\s+(wait_\w+)", done.stdout)}
        self.check_functions(found, "pprof")
        raw = subprocess.run(["go", "tool", "pprof", "-raw", path], capture_output=True,
                             text=True, timeout=120).stdout
        self.assertIn("cpu/nanoseconds[dflt]", raw)


if __name__ == "__main__":
    live.main()
