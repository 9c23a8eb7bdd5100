#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test the short form of tools/bench_timeline.py: the promised sizes, not the times."""
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import bench_timeline # pylint: disable=wrong-import-position

BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
SLICES = 1_000_000
MIB = 1024
FINEST_STORED = 1 << 22 # ns; shorter cells have any power of two as their length


class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.result = bench_timeline.measure(BUILD, pathlib.Path(folder) / "a.skein", SLICES, 40)

    def test_memory_is_bounded(self):
        self.assertLess(self.result["writer"]["peak_kib"], 96 * MIB)
        for reader in self.result["readers"]:
            self.assertLess(reader["peak_kib"], 96 * MIB)

    def test_file_is_little_more_than_its_chunks(self):
        writer = self.result["writer"]
        self.assertGreaterEqual(writer["slices"], SLICES)
        self.assertLess(writer["file_bytes"], 1.4 * writer["chunk_bytes"])

    def test_windows_are_as_wide_as_asked(self):
        for reader in self.result["readers"]:
            self.assertEqual(len(reader["windows"]), 40)
            for window in reader["windows"]:
                wide = window["length"] // bench_timeline.WIDTH
                self.assertTrue(window["cell"] <= max(wide, 1024))
                factor = 4 if window["cell"] >= FINEST_STORED else 2
                self.assertTrue(window["cell"] * factor >= wide)

    def test_table(self):
        self.assertGreater(len(list(bench_timeline.rows(self.result))), 10)


if __name__ == "__main__":
    unittest.main()
