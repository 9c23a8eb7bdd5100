# SPDX-License-Identifier: Apache-2.0
"""
Test tools/run: it records, reports, writes the page, and shows how to continue; failures are
passed on.
"""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parents[2] / "tools/run"

SKEIN = """#!/bin/sh
echo "skein $*" >>calls
[ "$1" != "$(cat fails 2>/dev/null)" ] || exit 3
echo "output of $1"
"""


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in (("skein", SKEIN), ("sudo", '#!/bin/sh\nexec "$@"\n')):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def run_it(self, fails=""):
        (self.folder / "fails").write_text(fails)
        path = f"{self.folder}:/usr/bin:/bin"
        run = subprocess.run([RUN, "./skein"], cwd=self.folder, env={"PATH": path},
                             capture_output=True, text=True, check=False)
        return run, (self.folder / "calls").read_text().splitlines()

    def test_records_and_reports(self):
        run, calls = self.run_it()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(calls, ["skein record -e all -d 10s -o skein.skein",
                                 "skein report skein.skein",
                                 f"skein export skein.skein -o {self.folder}/skein.html"])
        self.assertIn("output of report", run.stdout)
        for word in ("report --tree", "export", "query", "--help"):
            self.assertIn(f"./skein {word}", run.stdout)
        self.assertEqual(run.stdout.split()[-1], f"file://{self.folder}/skein.html")

    def test_failures_are_passed_on(self):
        run, calls = self.run_it("record")
        self.assertEqual((run.returncode, len(calls)), (3, 1))
        run, calls = self.run_it("report")
        self.assertEqual(run.returncode, 3)
        self.assertNotIn("How to go on", run.stdout)


if __name__ == "__main__":
    unittest.main()
