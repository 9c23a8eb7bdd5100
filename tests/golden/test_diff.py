#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What skein diff says of two made recordings, byte by byte, and how it ends.

A change that is meant: SKEIN_GOLDEN=update tests/golden/test_diff.py, and read the diff.
"""
import json
import os
import pathlib
import sys
import unittest

GOLDEN = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(GOLDEN.parent / "lib"))
from traces import Home, make_scene, output, skein

PAIR = ["before.skein", "after.skein"]
CASES = {
    "diff.txt": PAIR,
    "diff-all.txt": [*PAIR, "--all", "--normalize", "none"],
    "diff-colour.txt": [*PAIR, "--color", "always", "--min", "12", "-n", "1"],
    "diff-process.txt": [*PAIR, "--by", "process"],
    "diff-scene.txt": ["scene.skein", "mixed.skein", "--all", "--event", "cpu-clock"],
    "diff-runs.txt": [*PAIR, "--before", "before.skein", "--after", "after.skein"],
    "diff-min.txt": [*PAIR, "--min", "40", "--all"],
    "diff-same.txt": ["scene.skein", "scene.skein", "--all"],
}


class Diff(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(cls.home)
        for name in ("before", "after", "scene", "mixed", "empty"):
            make_scene(pathlib.Path(f"{name}.skein"), name)

    def test_outputs(self):
        for name, args in CASES.items():
            with self.subTest(name):
                made = output("diff", *args)
                if os.environ.get("SKEIN_GOLDEN") == "update":
                    (GOLDEN / name).write_bytes(made)
                self.assertEqual(made.decode(), (GOLDEN / name).read_text())
                if "--color" not in args:
                    self.assertFalse([byte for byte in made if byte < 32 and byte != 10])

    def test_json(self):
        made = json.loads(output("diff", *PAIR, "--json"))
        rows = {row["name"]: row for row in made["changes"]}
        self.assertEqual((made["by"], made["normalize"], len(rows)), ("function", "share", 8))
        self.assertEqual(made["differences"], ["kernels: 6.1.0 x86_64 and 6.12.0 x86_64"])
        self.assertEqual(rows["read"]["self"]["samples_before"], 100)
        self.assertAlmostEqual(rows["read"]["self"]["change"], 15)
        self.assertTrue(rows["read"]["self"]["significant"])
        self.assertFalse(rows["render (a.py)"]["self"]["significant"])
        self.assertEqual(sum(row["self"]["before"] for row in rows.values()), 100)

    def test_kernel_and_weakness(self):
        made = json.loads(output("diff", "scene.skein", "before.skein", "--json"))
        rows = {row["name"]: row["kernel"] for row in made["changes"]}
        self.assertFalse(rows["parse"])
        self.assertEqual(made["runs_differ_by"], 0.1)
        kernel = [row for row in made["changes"] if row["more"] == "[kernel]"]
        self.assertTrue(kernel)
        self.assertTrue(all(row["kernel"] for row in kernel))
        made = json.loads(output("diff", "--json", "before.skein", "before.skein", "--",
                                 "after.skein"))
        self.assertIsNone(made["runs_differ_by"])

    def test_several_of_each_side(self):
        old = output("diff", *PAIR, "--before", "before.skein", "--after", "after.skein")
        self.assertEqual(output("diff", PAIR[0], PAIR[0], "--", PAIR[1], PAIR[1]), old)
        self.assertEqual(output("diff", PAIR[0], "--before", PAIR[0], "--", PAIR[1], PAIR[1]), old)
        for same in (["--", *PAIR], [PAIR[0], "--", PAIR[1]], [*PAIR, "--"]):
            self.assertEqual(output("diff", *same), output("diff", *PAIR))

    def test_turned_round(self):
        rows = [json.loads(output("diff", *pair, "--json"))["changes"]
                for pair in (PAIR, PAIR[::-1])]
        for row, other in zip(*rows, strict=True):
            self.assertEqual(row["name"], other["name"])
            for cost in ("self", "total"):
                self.assertAlmostEqual(row[cost]["change"], -other[cost]["change"])
                self.assertAlmostEqual(row[cost]["low"], -other[cost]["high"])
                self.assertAlmostEqual(row[cost]["p"], other[cost]["p"])

    def test_exit_status(self):
        for status, args in ((0, PAIR), (3, [*PAIR, "--exit-code"]),
                             (3, [*PAIR, "--exit-code", "--json"]),
                             (3, ["--exit-code", PAIR[0], PAIR[0], "--", PAIR[1], PAIR[1]]),
                             (0, ["before.skein", "before.skein", "--exit-code"]),
                             (0, [*PAIR, "--exit-code", "--min", "20"]),
                             (3, [*PAIR, "--exit-code", "--min", "14.9"]),
                             (0, ["empty.skein", "empty.skein", "--exit-code"]),
                             (0, ["empty.skein", "before.skein", "--exit-code"])):
            with self.subTest(args):
                self.assertEqual(skein("diff", *args, check=False).returncode, status)

    def test_pictures_as_files(self):
        for ending in ("svg", "html", "folded"):
            skein("diff", *PAIR, "-o", f"out.{ending}")
            self.assertEqual(pathlib.Path(f"out.{ending}").read_bytes(),
                             output("diff", *PAIR, "-f", ending))

    def test_failures_are_failures(self):
        for status, words, args in [
                (2, "which two traces", []), (2, "which two traces", PAIR[:1]),
                (2, "'x' is too many", [*PAIR, "x"]),
                (2, "'x' is too many", [*PAIR, "x", "--"]),
                (2, "'x' is too many", ["--", *PAIR, "x"]),
                (2, "which two traces", [PAIR[0], "--"]),
                (2, "'size' is not one of", [*PAIR, "--by", "size"]),
                (2, "'rate' is not one of share", [*PAIR, "--normalize", "rate"]),
                (2, "'pprof' is not one of html", [*PAIR, "-f", "pprof"]),
                (2, "'bar' is not one of html", [*PAIR, "-o", "x.bar"]),
                (2, "which format", [*PAIR, "-o", "x"]),
                (2, "'-1' is not a size of a change", [*PAIR, "--min=-1"]),
                (2, "'sometimes' is not one", [*PAIR, "--color", "sometimes"]),
                (2, "cannot be combined with", [*PAIR, "--json", "-f", "svg"]),
                (1, "one trace of each side", [*PAIR, "--after", PAIR[0], "-f", "svg"]),
                (1, "'nobody'", [*PAIR, "--comm", "nobody"]),
                (1, "nowhere.skein", ["nowhere.skein", PAIR[0]]),
                (1, "/nowhere/x.svg", [*PAIR, "-o", "/nowhere/x.svg"])]:
            with self.subTest(args):
                done = skein("diff", *args, check=False)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(words, done.stderr.decode())
                self.assertEqual(done.stderr.count(b"\n"), 1)
                self.assertEqual(done.stdout, b"")


if __name__ == "__main__":
    unittest.main()
