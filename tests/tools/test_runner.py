# SPDX-License-Identifier: Apache-2.0
"""Test tests/run itself: every outcome of a test is counted and shown."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent

CASES = """
import unittest
class Cases(unittest.TestCase):
    def test_passes(self): pass
    @unittest.skip("no such hardware")
    def test_skips(self): pass
class Later(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("needs a whole moon")
    def test_never(self): pass
"""
FAILS = """
import unittest
class Cases(unittest.TestCase):
    def test_fails(self): self.assertEqual(1, 2)
    def test_passes(self): pass
    def test_parts(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(i, 1)
"""
# passes when it runs for the second time
ONCE = """
import os, pathlib
mark = pathlib.Path(os.environ["BUILD"]) / "mark"
if not mark.exists():
    mark.touch()
    raise SystemExit("a bad moment")
print("a better one")
"""
# passes if the file of the other number runs at the same time
MEETS = """# beside others
import os, pathlib, time
folder = pathlib.Path(os.environ["BUILD"])
(folder / "here-{0}").touch()
for _ in range(100):
    if (folder / "here-{1}").exists():
        raise SystemExit(0)
    time.sleep(0.05)
raise SystemExit("nobody came")
"""
CHECK = "print('50%: Checks: 4, Failures: 1, Errors: 1'); raise SystemExit(1)"


class Runner(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "tests").mkdir()
        shutil.copy(TESTS / "run", self.root / "tests/run")
        shutil.copytree(TESTS / "lib", self.root / "tests/lib",
                        ignore=shutil.ignore_patterns("__pycache__"))

    def add(self, name, text):
        path = self.root / "tests" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run_tests(self, *options):
        env = {k: v for k, v in os.environ.items() if k not in ("SKEIN", "BUILD", "SKEIN_LONG")}
        run = subprocess.run([sys.executable, self.root / "tests/run", "--build",
                              self.root / "build", *options], env=env, check=False,
                             capture_output=True, text=True, timeout=60)
        return run.returncode, run.stdout

    def last_line(self, *options):
        status, text = self.run_tests(*options)
        return status, text.splitlines()[-1]

    def test_counts_cases(self):
        self.add("golden/test_a.py", CASES)
        status, text = self.run_tests()
        self.assertEqual(status, 0)
        self.assertEqual(text.splitlines()[-1], "1 passed, 0 failed, 2 skipped")
        self.assertIn("no such hardware", text)
        self.assertIn("needs a whole moon", text)

    def test_failure_shows_its_output(self):
        self.add("golden/test_a.py", CASES)
        self.add("readers/test_b.py", FAILS)
        status, text = self.run_tests()
        self.assertEqual((status, text.splitlines()[-1]), (1, "2 passed, 2 failed, 2 skipped"))
        self.assertIn("AssertionError: 1 != 2", text)

    def test_scripts(self):
        self.add("live/test_skip.py", "print('only on Mondays'); raise SystemExit(77)")
        self.add("live/test_ok.py", "pass")
        self.add("live/test_check.py", CHECK)
        self.add("live/test_bad.py", "raise SystemExit(3)")
        status, text = self.run_tests()
        self.assertEqual((status, text.splitlines()[-1]), (1, "3 passed, 3 failed, 1 skipped"))
        self.assertIn("SKIPPED live/test_skip: only on Mondays", text)

    def test_time_limit_ends_children_too(self):
        self.add("vm/test_slow.py", "# timeout: 1\nimport subprocess\n"
                                    "subprocess.run(['sleep', '50'])\n")
        status, text = self.run_tests()
        self.assertEqual((status, text.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("no end after 1 s", text)

    def test_what_measures_has_a_second_chance(self):
        self.add("live/test_once.py", ONCE)
        self.add("live/test_ok.py", "pass")
        status, text = self.run_tests()
        lines = text.splitlines()
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 0 skipped, "
                                                  "1 of the files only when run again"))
        log = self.root / "build/tests/logs/live-test_once-first.log"
        self.assertEqual(lines[-2], "PASSED ONLY WHEN RUN AGAIN live/test_once "
                                    f"(output of the failure: {log})")
        self.assertIn("a bad moment", log.read_text())
        self.assertIn("a better one", log.with_name("live-test_once.log").read_text())

    def test_files_beside_others(self):
        """They run at once in the short form; one that fails has its second run by itself."""
        self.add("live/test_a.py", MEETS.format(1, 2))
        self.add("live/test_b.py", MEETS.format(2, 1))
        self.add("live/test_once.py", "# beside others\n" + ONCE)
        self.assertEqual(self.last_line("--jobs", "3"), (
            0, "3 passed, 0 failed, 0 skipped, 1 of the files only when run again"))
        for mark in (self.root / "build").glob("here-*"):
            mark.unlink()
        self.assertEqual(self.last_line("--long"), (1, "2 passed, 1 failed, 0 skipped"))

    def test_what_fails_twice_has_failed(self):
        self.add("vm/test_bad.py", "open('runs', 'a').write('x')\nraise SystemExit(3)")
        self.add("vm/test_cases.py", FAILS)
        status, text = self.run_tests()
        self.assertEqual((status, text.splitlines()[-1]), (1, "1 passed, 3 failed, 0 skipped"))
        self.assertNotIn("PASSED ONLY", text)
        self.assertEqual((self.root / "runs").read_text(), "xx")
        self.assertEqual(text.count("FAILED vm/"), 2)

    def test_no_second_chance(self):
        """There is no second run for tests that measure nothing, nor in the long form."""
        self.add("golden/test_once.py", ONCE)
        self.assertEqual(self.last_line(), (1, "0 passed, 1 failed, 0 skipped"))
        (self.root / "build/mark").unlink()
        (self.root / "tests/golden").rename(self.root / "tests/live")
        self.assertEqual(self.last_line("--long"), (1, "0 passed, 1 failed, 0 skipped"))

    def commit(self):
        for words in (["init", "-q"], ["add", "tests"],
                      ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "a state"]):
            subprocess.run(["git", *words], cwd=self.root, check=True)

    def test_long_forms_are_continued_at_the_same_commit(self):
        self.add("live/test_once.py", ONCE)
        self.add("live/test_ok.py", "open('runs', 'a').write('x')")
        self.commit()
        self.assertEqual(self.last_line("--long", "--resume"), (1, "1 passed, 1 failed, 0 skipped"))
        status, text = self.run_tests("--long", "--resume")
        self.assertEqual((status, text.splitlines()[-1]),
                         (0, "1 passed, 0 failed, 0 skipped, 1 of the files passed before"))
        self.assertIn("PASSED BEFORE, at this commit: live/test_ok", text)
        self.assertEqual((self.root / "runs").read_text(), "x")
        self.assertEqual(self.last_line("--long"), (0, "2 passed, 0 failed, 0 skipped"))
        self.add("live/test_ok.py", "open('runs', 'a').write('y')")
        self.commit()
        self.assertEqual(self.last_line("--long", "--resume"), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertEqual((self.root / "runs").read_text(), "xxy")
        self.assertEqual(self.last_line(), (0, "2 passed, 0 failed, 0 skipped"))

    def test_nothing_is_no_success(self):
        self.assertEqual(self.last_line(), (1, "0 passed, 0 failed, 0 skipped"))
        self.add("golden/test_empty.py", "import unittest\nclass A(unittest.TestCase): pass\n")
        self.assertEqual(self.last_line(), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertEqual(self.last_line("--only", "absent"), (1, "0 passed, 0 failed, 0 skipped"))

    def test_program_that_was_not_built(self):
        self.add("unit/test_thing.c", "int main(void) { return 0; }\n")
        self.assertEqual(self.last_line(), (1, "0 passed, 1 failed, 0 skipped"))

    def test_environment(self):
        self.add("golden/test_env.py", "import os\nassert os.environ['SKEIN'].startswith("
                                       "os.environ['BUILD'])\nprint(os.environ['SKEIN_LONG'])\n")
        self.assertEqual(self.last_line("--long"), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.last_line(), (1, "0 passed, 1 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
