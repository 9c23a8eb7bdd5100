# SPDX-License-Identifier: Apache-2.0
"""
Exports of a recording with samples of CPU time and stacks of waits never mix the two unless asked
to, and show waits by their time, not by the number of their samples.
"""

import json
import re
import shutil
import subprocess

import live
import trace_processor
from live import workload

SECONDS = 4
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}


class Exports(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kept = None

    def trace(self):
        """Return the trace that all tests share, and the seconds of each function in it."""
        if not Exports.kept:
            trace = self.record("-e", "cpu,off-cpu", "-F", 999, "--", workload("bimodal"), SECONDS)
            shutil.copy(trace.path, "/tmp/skein-test-exports.skein")
            self.addClassCleanup(subprocess.run, ["rm", "-f", "/tmp/skein-test-exports.skein"],
                                 check=False)
            Exports.kept = live.Trace("/tmp/skein-test-exports.skein"), self.seconds(trace)
        return Exports.kept

    @staticmethod
    def seconds(trace):
        found = dict.fromkeys(("wait_short", "wait_middle", "wait_long"), 0)
        for row in trace.query("SELECT s.stack, s.weight FROM sample s JOIN event e ON "
                               "e.id = s.event WHERE e.name = 'off-cpu'"):
            for name in set(trace.names(row["stack"])[0]) & set(found):
                found[name] += row["weight"] / 1e9
        return found

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

    def check_functions(self, found, what):
        """Compare seconds by function with the samples; formats show three digits at least."""
        every = self.trace()[1]
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
        self.assertAlmostEqual(sum(n for _, n in lines) / 1e6, self.weight("off-cpu"), delta=0.01)

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
        self.assertAlmostEqual(waiting, self.weight("off-cpu"), delta=0.01)
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
