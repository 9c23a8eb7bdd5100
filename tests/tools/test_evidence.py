# SPDX-License-Identifier: Apache-2.0
"""
Test that results of long tests are inserted in their page of docs/, and nothing else of the page
changes.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import evidence

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "unwinding.md").read_text()


class Evidence(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)

    def page(self, *args):
        run = subprocess.run([sys.executable, ROOT / "tools/evidence", "--build", self.build,
                              *args], capture_output=True, text=True, check=True)
        return run.stdout, run.stderr

    def test_nothing_measured(self):
        page, said = self.page()
        self.assertEqual(page, PAGE)
        self.assertIn("gdb: not measured, stays as it is", said)

    def test_pages(self):
        """Each row is inserted in the page of its section, and both pages have their markers."""
        evidence.leave(self.build, "sched-perf", {"thread": "one", "runs": "2", "delay": "3"})
        self.assertEqual(self.page()[0], PAGE)
        self.assertIn("| one | 2 | 3 |", self.page("--page", "scheduler.md")[0])

    def test_rows(self):
        shares = evidence.Shares()
        shares.samples, shares.complete = 20000, 19999
        shares.reasons["unknown root", "/lib/strange|file"] = 1
        evidence.leave(self.build, "programs", shares.row("one"))
        evidence.leave(self.build, "programs", shares.row("two"))
        shares.complete = 20000
        shares.reasons.clear()
        evidence.leave(self.build, "programs", shares.row("one"))
        page, _ = self.page()
        self.assertIn("| two | 20,000 | 99.99 % | unknown root in strange\\|file (1) |\n"
                      "| one | 20,000 | 100.00 % |  |\n<!-- programs: end -->", page)
        self.assertEqual(page.count("| one |"), 1)
        before, after = (PAGE.index(f"<!-- programs: {w}") for w in ("written", "end"))
        self.assertEqual(page[:before], PAGE[:before])
        self.assertTrue(page.endswith(PAGE[after:]))

    def test_rows_of_another_commit_go(self):
        evidence.leave(self.build, "programs", {"program": "old", "samples": "1"})
        path = evidence.path_of(self.build, "programs")
        path.write_text(path.read_text().replace('"commit": "', '"commit": "other '))
        evidence.leave(self.build, "programs", {"program": "new", "samples": "1"})
        self.assertNotIn("old", path.read_text())

    def test_percent_is_not_rounded_up(self):
        shares = evidence.Shares()
        shares.samples, shares.complete = 100000, 99499
        self.assertEqual(shares.percent(), "99.49 %")


if __name__ == "__main__":
    unittest.main()
