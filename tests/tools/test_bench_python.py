# SPDX-License-Identifier: Apache-2.0
"""Test how `make bench` evaluates profilers of Python, without running them."""
import json
import pathlib
import subprocess
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import bench_page  # noqa: E402
import bench_python  # noqa: E402
import bench_python_page  # noqa: E402
from bench_meter import BenchError  # noqa: E402
from bench_python_arms import CLOCK  # noqa: E402
from bench_python_load import CREW, MIX  # noqa: E402
from bench_python_stacks import Accuracy, Possible, Profile, austin, folded  # noqa: E402

NAMES = ("skein", "py-spy", "austin")
ALL = (*NAMES, CLOCK)
FILE = "bench_python_load.py"
BEGIN = ((FILE, "<module>"), (FILE, "run"))
TRUTH = {"own": {"nbody": 600, "sorting": 400}, "total": 1000, "wall": 2.0, "cpu": 1.0}


class Formats(unittest.TestCase):
    def test_py_spy(self):
        plain, native = folded(
            f"<module> ({FILE}:3);Clocked.run ({FILE}:7);f.<locals>.<lambda> (json/x y.py:9) 12\n"
            f"0x7f12 (libc.so.6);<module> ({FILE}:3);<genexpr> (<frozen os>:2);f (a.c:7);"
            "clock (libc.so.6) 3\n")
        self.assertEqual(plain.python, (*BEGIN, ("x y.py", "<lambda>")))
        self.assertEqual((plain.weight, plain.named, plain.unnamed), (12, 3, 0))
        self.assertEqual(native.python, ((FILE, "<module>"), ("<frozen os>", "<genexpr>")))
        self.assertEqual((native.weight, native.named, native.unnamed), (3, 4, 1))

    def test_skein(self):
        (stack,) = folded(f"python3;_start;<module> (/a b/{FILE}:1);[unknown];[libx.so];"
                          "libx.so+0x12;run(int) const;std::vector<int [3]> 5\n", above=1)
        self.assertEqual(stack.python, BEGIN[:1])
        self.assertEqual((stack.named, stack.unnamed), (4, 3))

    def test_austin(self):
        text = ("# austin: 3.7.0\n# mode: cpu\n\n"
                f"P7;T0:7;/a;b:c/{FILE}:<module>:3;/a/{FILE}:Clocked.run:-1 1012\n"
                f"P7;T0:8;native@7f12ab:_start:33;/a/{FILE}:<module>:3 900\n"
                "P7;T0:7;:INVALID: 20\nP7;T0:7 30\n\n# duration: 2006384\n")
        good, native, bad, empty = austin(text.replace("a;b", "ab"))
        self.assertEqual((good.python, good.weight), (BEGIN, 1012))
        self.assertEqual((native.python, native.named), (BEGIN[:1], 2))
        self.assertEqual((bad.python, bad.weight, empty.python, empty.weight), ((), 20, (), 30))


class Judging(unittest.TestCase):
    possible = Possible("1\n" + json.dumps([[*BEGIN, [FILE, "nbody"]], [*BEGIN, [FILE, "sorting"],
                                                                       [FILE, "f.<lambda>"]]]))

    def profile(self, lines):
        stacks = folded("\n".join(lines))
        return Profile(stacks, TRUTH["own"], self.possible, len(stacks))

    def line(self, *names):
        return ";".join(f"{name} ({FILE}:1)" for name in ("<module>", "run", *names))

    def test_possible(self):
        for names in ((), ("nbody",), ("sorting",), ("sorting", "<lambda>")):
            self.assertEqual(self.profile([f"{self.line(*names)} 1"]).possible, 1.0, names)
        for names in (("nbody", "<lambda>"), ("sorting", "nbody"), ("<lambda>",)):
            self.assertEqual(self.profile([f"{self.line(*names)} 1"]).possible, 0.0, names)
        self.assertEqual(self.profile([f"run ({FILE}:1) 3", f"{self.line()} 1"]).possible, 0.25)
        self.assertNotIn((), self.possible)

    def test_a_thread_that_begins(self):
        begun = (("threading.py", "_bootstrap"), ("threading.py", "_bootstrap_inner"))
        self.assertIn((*begun, ("threading.py", "set")), self.possible)
        self.assertNotIn((*begun, (FILE, "nbody")), self.possible)

    def test_errors(self):
        first = self.profile([f"{self.line('nbody')} 70", f"{self.line('sorting')} 10",
                              f"{self.line('sorting', '<lambda>')} 10", f"{self.line()} 10"])
        accuracy = Accuracy([first], [TRUTH])
        self.assertAlmostEqual(accuracy.mean, 15)
        self.assertAlmostEqual(accuracy.worst[0], 20)
        self.assertEqual(accuracy.worst[1], "sorting")
        second = self.profile([f"{self.line('nbody')} 50", f"{self.line('sorting')} 50"])
        self.assertAlmostEqual(Accuracy([first, second], [TRUTH, TRUTH]).mean, 2.5)

    def test_named(self):
        profile = self.profile(["_start;0x12 (x);main 2", "main 4"])
        self.assertAlmostEqual(profile.named, 8 / 10)
        self.assertEqual(self.profile([]).possible, 0.0)


class Work(unittest.TestCase):
    """The profiled program."""

    @staticmethod
    def said(*words):
        run = subprocess.run([sys.executable, bench_python.LOAD, *words], input="1\n2\n", text=True,
                             capture_output=True, check=True)
        return run.stdout.splitlines()

    def test_truth(self):
        for kind, threads in (("single", 1), ("threads", len(CREW))):
            lines = self.said("stacks", kind)
            self.assertEqual(len(lines), 4)
            reported = json.loads(lines[2])
            self.assertEqual(set(reported["own"]), {work.__name__ for work, _ in MIX})
            self.assertGreater(min(reported["own"].values()), 0)
            self.assertLessEqual(sum(reported["own"].values()), reported["total"])
            self.assertLessEqual(reported["total"] / 1e9, reported["wall"] * threads + 0.1)
            self.stacks(kind, Possible(lines[-1]))

    def stacks(self, kind, possible):
        outer = ("<module>", "main", "serve", "work_result", f"run_{kind}")
        begin = tuple((FILE, name) for name in outer)
        self.assertIn(begin, possible)
        if kind == "threads":
            begin = (*(("threading.py", n) for n in ("_bootstrap", "_bootstrap_inner", "run")),)
        for work, _ in MIX:
            self.assertIn((*begin, (FILE, "run"), (FILE, work.__name__)), possible)
            self.assertNotIn((*begin, (FILE, work.__name__)), possible)


def done(seconds, rounds):
    """Return work of a number of seconds, of which nbody has taken 60 %."""
    ns = seconds * 1e9
    return bench_python.Done({"wall": seconds, "cpu": seconds, "total": ns,
                              "own": {"nbody": 0.6 * ns, "sorting": 0.4 * ns}}, rounds)


class Steady:
    """Plain work takes 1 s and 2 s in turns."""

    pid, recorders = 1, None

    def __init__(self, _kind="single"):
        self.times = 0

    def work(self, rounds):
        self.times += 1
        return done(rounds * (1 + (self.times - 1) % 2), rounds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def profile_of(error, possible):
    profile = object.__new__(Profile)
    profile.weights = {"nbody": 60 + error, "sorting": 40 - error}
    profile.total = profile.samples = 100
    profile.possible, profile.named = possible, 1.0
    return profile


class Page(unittest.TestCase):
    slow = dict(zip(ALL, (1.005, 1.2, 1.0, 1.003)))
    cpu = dict(zip(ALL, (0.001, 0.1, 0.02, 0.0)))
    error = dict(zip(ALL, (0.1, 1.0, 3.0, 0.0)))

    def run_of(self, _target, arm, _rate, _rounds, _possible):
        if arm.name == "austin" and self.broken:
            raise BenchError("it did not begin")
        return types.SimpleNamespace(done=done(1.5 * self.slow[arm.name], 1),
                                     share=self.cpu[arm.name], cpu=0.5, fold=0.1, due=200.0,
                                     profile=profile_of(self.error[arm.name], 0.99))

    def matrix(self, kind):
        replaced = {"Run": self.run_of, "Target": Steady, "possible_stacks": lambda kind: set()}
        kept = {name: getattr(bench_python, name) for name in replaced}
        for name, value in replaced.items():
            setattr(bench_python, name, value)
        try:
            matrix = bench_python.Matrix(kind)
            matrix.scale(3)
            bench = types.SimpleNamespace(say=lambda text: None)
            arms = [types.SimpleNamespace(name=name, part=1) for name in NAMES]
            for _ in range(2):
                for rate in bench_python.RATES:
                    matrix.turn(bench, [(arm, rate) for arm in arms])
                    matrix.say(bench, rate)
            more = types.SimpleNamespace(name=CLOCK, part=1)
            matrix.turn(bench, [(arms[0], rate) for rate in bench_python.RATES] + [(more, 999)],
                        whole=False)
        finally:
            for name, value in kept.items():
                setattr(bench_python, name, value)
        return matrix

    def results(self, broken=False):
        self.broken = broken
        kernel = object.__new__(bench_python.InKernel)
        kernel.depths = {depth: (types.SimpleNamespace(ns=2000 + 30 * depth),
                                 types.SimpleNamespace(ns=1000 + 10 * depth))
                         for depth in bench_python.DEPTHS}
        return {"python": {"matrices": [self.matrix(kind) for kind in bench_python.KINDS],
                           "missing": ["austinp"], "versions": ["Python 3.99"], "kernel": kernel,
                           "mix": types.SimpleNamespace(ns=5000)}}

    def promises(self):
        return {row[0].removeprefix("Python, single: "): row[1:]
                for row in bench_python_page.promises(self.results()) if "single" in row[0]}

    def test_ratio_is_by_the_plain_runs_around(self):
        matrix = self.matrix_of_results()
        for name in NAMES:
            for rate in bench_python.RATES:
                self.assertAlmostEqual(matrix.ratio((name, rate), 0).median, self.slow[name])
                self.assertAlmostEqual(matrix.ratio((name, rate), 1).median, self.slow[name])
        self.assertEqual(set(matrix.ratio(None, 1).values), {0.5, 2.0})
        self.assertEqual([len(matrix.ratios[name, 99]) for name in NAMES], [3, 2, 2])
        self.assertEqual([len(matrix.runs[name, 99]) for name in NAMES], [2, 2, 2])

    def matrix_of_results(self):
        return self.results()["python"]["matrices"][0]

    def test_promises(self):
        found = self.promises()
        self.assertEqual(found["CPU time by plain's at 999 Hz (its clock alone: 1.003)"],
                         ("≤ 1.010", "1.005 (1.005–1.005)", "kept"))
        self.assertEqual(found["profiler's CPU at 99 Hz, start-up apart, of py-spy's"],
                         ("≤ 0.05", "0.010 (0.010–0.010)", "kept"))
        self.assertEqual(found["mean error of 14 functions at 999 Hz, points"],
                         ("< 1.00 (py-spy)", "0.10", "kept"))

    def test_promises_that_are_not_kept(self):
        for what, value in (("slow", {"skein": 1.02}), ("cpu", {"skein": 0.006}),
                            ("error", {"skein": 1.5})):
            setattr(self, what, {**getattr(type(self), what), **value})
        found = self.promises()
        self.assertEqual(found["wall time by plain's at 999 Hz (its clock alone: 1.003)"][2],
                         "**not kept**")
        self.assertEqual(found["profiler's CPU at 999 Hz, start-up apart, of py-spy's"][2],
                         "**not kept**")
        self.assertEqual(found["worst error of 14 functions at 99 Hz, points"][1:],
                         ("1.50", "**not kept**"))

    def test_section_tells_everything(self):
        text = bench_python_page.section(self.results())
        self.assertIn("austinp could not be had", text)
        self.assertIn("| 30 | 2.90 | 1.30 | 1.60 | 53 |", text)
        self.assertIn("one more takes 20 ns", text)
        self.assertIn("less than py-spy after\n2 s (single, 99 Hz), ", text)
        self.assertIn("| CPU: py-spy | 1.200 (1.200–1.200) |", text)
        self.assertIn(f"| CPU: {CLOCK} |  | 1.003 |  | 1.003 |", text)
        self.assertIn("| skein | 0.10 (0.10–0.10) |", text)
        self.assertIn("| single, 99 Hz: austin | 3.00 | 2.76 | 3.00 (sorting) | 3.00 (3.00–3.00) "
                      "| 99.00 (99.00–99.00) | 100.00 (100.00–100.00) | 50.0% |", text)
        self.assertIn("| single, 99 Hz: wall time by plain's | 1.005 | austin 1.000 |", text)
        for line in text.splitlines():
            if not line.startswith("|"):
                self.assertLessEqual(len(line), 125, line)
                self.assertNotIn("{", line)

    def test_one_that_fails_is_told(self):
        text = bench_python_page.section(self.results(broken=True))
        self.assertIn("austin failed on single at 99 Hz", text)
        self.assertNotIn("| CPU: austin", text)


class Spliced(unittest.TestCase):
    """A page in which some sections are replaced."""

    def test_sections_and_promises(self):
        rows = "## What is promised\n\n| promise | target |\n|---|---|\n"
        old = (f"# Page\n\n{rows}| a (b 1.2) | 1 |\n| a (c) | 2 |\n\n## One\n\nold\n\n## Two\n\n"
               "kept\n")
        new = ("# Page\n\n## How to read\n\nx\n\n"
               f"{rows}| a (b 3) | 9 |\n| d | 4 |\n\n## One\n\nnew\n")
        text = bench_page.spliced(old, new, 0.5)
        self.assertIn("|---|---|\n| a (b 3) | 9 |\n| a (c) | 2 |\n| d | 4 |\n\n## One\n\nMeasured",
                      text)
        self.assertTrue(text.endswith("\n\nnew\n\n## Two\n\nkept\n"), text)
        self.assertNotIn("How to read", text)
        again = bench_page.spliced(text, new.replace("## One", "## Three"), 0.5)
        self.assertTrue(again.endswith("\n\nnew\n"), again)
        self.assertIn("## Three", again)


if __name__ == "__main__":
    unittest.main()
