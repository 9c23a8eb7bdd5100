#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every text that skein makes of the scenes, byte by byte.

A change that is meant: SKEIN_GOLDEN=update tests/golden/test_export.py, and read the diff.
"""
import json
import os
import pathlib
import sys
import unittest

GOLDEN = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(GOLDEN.parent / "lib"))
from traces import Home, make_scene, output, skein

CASES = {
    "scene.folded": ["export", "-f", "folded"],
    "scene-options.folded": ["export", "-f", "folded", "--idle", "--threads", "--pids",
                             "--containers", "--services", "--annotate"],
    "scene-report.txt": ["report"],
    "scene-tree.txt": ["report", "--tree", "--min", "2%"],
    "scene-threads.txt": ["report", "--by", "thread", "--idle"],
    "scene-colour.txt": ["report", "--by", "function", "--color", "always", "-n", "3"],
    "scene-range.folded": ["export", "-f", "folded", "--from", "400ms", "--to", "600ms"],
}

# Of the scene with Python.
PYTHON_CASES = {
    "python-report.txt": ["report"],
    "python-lines.txt": ["report", "--by", "function", "--lines"],
    "python-native.txt": ["report", "--by", "function", "--native"],
    "python-tree.txt": ["report", "--tree"],
    "python-tree-limit.txt": ["report", "--tree", "-n", "5"],
    "python.folded": ["export", "-f", "folded"],
    "python-lines.folded": ["export", "-f", "folded", "--lines", "--pids", "--annotate"],
    "python-native.folded": ["export", "-f", "folded", "--native"],
    "python-alone.txt": ["report", "--by", "function", "--no-native"],
    "python-alone.folded": ["export", "-f", "folded", "--no-native"],
}

# Of the scheduler's scene.
SCHED_CASES = {
    "sched-report.txt": ["report"],
    "sched-detail.txt": ["report", "--sched"],
    "sched-threads.txt": ["report", "--sched", "--by", "thread"],
    "sched-range.txt": ["report", "--sched", "--from", "20ms", "--to", "60ms", "--comm", "db*"],
    "sched-wide.txt": ["report", "--sched", "--color", "always"],
}

# Of the scene of runtimes.
RUNTIME_CASES = {
    "runtime-summary.txt": ["report"],
    "runtime-report.txt": ["report", "--runtime"],
    "runtime-wide.txt": ["report", "--runtime", "--by", "thread", "--color", "always"],
    "runtime-timeline.txt": ["report", "--timeline"],
    "runtime-lanes.txt": ["report", "--timeline", "--lanes", "name"],
    "runtime-closer.txt": ["report", "--timeline", "--from", "690ms", "--to", "750ms"],
    "runtime-range.txt": ["report", "--runtime", "--from", "200ms", "--to", "305ms"],
    "runtime-no-collections.folded": ["export", "-f", "folded", "--no-collections"],
}


class Golden(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = make_scene(cls.home / "scene.skein")
        cls.sched = make_scene(cls.home / "sched.skein", "sched")
        cls.python = make_scene(cls.home / "python.skein", "python")
        cls.runtime = make_scene(cls.home / "runtime.skein", "runtime")
        cls.cases = [(name, cls.trace, args) for name, args in CASES.items()]
        cls.cases += [(name, cls.sched, args) for name, args in SCHED_CASES.items()]
        cls.cases += [(name, cls.python, args) for name, args in PYTHON_CASES.items()]
        cls.cases += [(name, cls.runtime, args) for name, args in RUNTIME_CASES.items()]

    def same(self, name, made):
        if os.environ.get("SKEIN_GOLDEN") == "update":
            (GOLDEN / name).write_bytes(made)
        self.assertEqual(made.decode(), (GOLDEN / name).read_text())

    def test_outputs(self):
        for name, trace, args in self.cases:
            with self.subTest(name):
                columns = "100" if "wide" in name else "80"
                self.same(name, output(args[0], trace, *args[1:], COLUMNS=columns,
                                       LC_ALL="C.UTF-8"))

    def test_names_are_whole_where_there_is_no_terminal(self):
        for how in ["--by", "function"], ["--tree"]:
            text = output("report", self.python, *how, COLUMNS="").decode()
            self.assertNotIn("\N{HORIZONTAL ELLIPSIS}", text)
            self.assertRegex(text, r" x{200,}.*\.py:4294967295\)")

    def test_full_names(self):
        full = "std::vector<int, std::allocator<int> >::push_back(int&&)"
        self.assertIn(full, output("report", self.trace, "--full-names", COLUMNS="120").decode())
        self.assertNotIn(full, output("report", self.trace, COLUMNS="120").decode())
        self.assertIn(full, output("export", self.trace, "-f", "folded").decode())
        functions = json.loads(output("report", self.trace, "--json"))["functions"]
        self.assertIn(full, [function["name"] for function in functions])

    def test_json_of_the_scheduler(self):
        made = json.loads(output("report", self.sched, "--json"))["sched"]
        for cpu in made["cpus"]:
            # what lies in half of a bucket is a matter of taste
            self.assertAlmostEqual(sum(cpu.pop("busy_over_time")), cpu["busy"], delta=240)
            self.assertAlmostEqual(sum(cpu.pop("unknown_over_time")), cpu["unknown"], delta=240)
        self.assertAlmostEqual(sum(made.pop("waiting_over_time")), made["waiting"], delta=240)
        self.same("sched.json", (json.dumps(made, indent=1) + "\n").encode())

    def test_json_of_runtimes(self):
        made = json.loads(output("report", self.runtime, "--json"))["runtime"]
        java = next(p for p in made["processes"] if p["pid"] == 4711)
        young = next(s for s in java["spans"] if s["name"] == "G1 Young Generation")
        self.assertEqual((young["kind"], young["count"], young["sum"], young["known_by"]),
                         ("collection", 3, 14_900_000, ["note"]))
        self.assertEqual(java["longest_stops"][3]["requester"], "main")
        heap = java["counters"][0]
        self.assertEqual((heap["name"], heap["most"]), ("heap used", 100 << 20))

    def test_no_escape_reaches_a_terminal(self):
        for name, trace, args in self.cases:
            if "--color" in args:
                continue
            with self.subTest(name):
                made = output(args[0], trace, *args[1:])
                self.assertFalse([byte for byte in made if byte < 32 and byte != 10])

    def test_file_and_stdout_are_the_same(self):
        for ending in ("folded", "pb.gz"):
            out = self.home / f"out.{ending}"
            skein("export", self.trace, "-o", out)
            form = {"folded": "folded", "pb.gz": "pprof"}[ending]
            self.assertEqual(out.read_bytes(), output("export", self.trace, "-f", form))

    def test_failures_are_failures(self):
        for status, words, args in [
                (2, "which format", ["export", self.trace]),
                (2, "no format for 'x.bar'", ["export", self.trace, "-o", "x.bar"]),
                (2, "no format for 'svg2'", ["export", self.trace, "-f", "svg2"]),
                (2, "'1x'", ["report", self.trace, "-p", "1x"]),
                (2, "'lock'", ["report", self.python, "--python", "lock"]),
                (2, "'size'", ["report", self.trace, "--by", "size"]),
                (2, "exclude", ["report", self.trace, "--by", "thread", "--tree"]),
                (2, "by module", ["report", self.sched, "--sched", "--by", "module"]),
                (2, "by module", ["report", self.sched, "--sched", "--tree"]),
                (1, "-e sched", ["report", self.trace, "--sched"]),
                (1, "-e runtime", ["report", self.trace, "--runtime"]),
                (1, "pass the filters", ["report", self.runtime, "--runtime", "--comm",
                                            "python3", "--to", "100ms"]),
                (2, "other than thread", ["report", self.runtime, "--runtime", "--by", "cgroup"]),
                (1, "'nobody'", ["report", self.sched, "--sched", "--comm", "nobody"]),
                (1, "'4711'", ["report", self.trace, "-p", "4711"]),
                (1, "'nobody'", ["export", self.trace, "-f", "folded", "--comm", "nobody"]),
                (1, "/nowhere/x.folded", ["export", self.trace, "-o", "/nowhere/x.folded"]),
                (1, "/nowhere/y.skein", ["report", "/nowhere/y.skein"])]:
            with self.subTest(args):
                done = skein(*args, check=False)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(words, done.stderr.decode())
                self.assertEqual(done.stderr.count(b"\n"), 1)
                self.assertEqual(done.stdout, b"")

    def test_where_names_for_sql_are_listed(self):
        for words in ("count(*) FROM samples", "size FROM sample"):
            done = skein("query", self.trace, f"SELECT {words}", check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"their columns: skein query {self.trace}", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
