# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 300
"""
Test that a function is shown by its qualified name, or by its code's name if the code was renamed.
numpy up to 1.24 makes all its functions from one whose qualified name ends in public_api.
"""

import live
import python_found
import python_stacks

SECONDS = 0.7  # of CPU, each program
FREQUENCY = 999
SOURCE = live.ROOT / "tests" / "workloads" / "python" / "renamed.py"
MAKER = "maker.<locals>.public_api"
# Functions that were not renamed; qualified in versions that have qualified names.
QUALIFIED = ("Private.__secret", "Private.open", "lambdas.<locals>.<lambda>",
             "generates.<locals>.<genexpr>", "generates", MAKER)
RENAMED = ("mean", "<cell line: 1>", "dotted.name")
NUMPY_FILE = "<__array_function__ internals>"
NUMPY = ("median", "mean", "argsort", "average")


class Renamed(live.LiveTest):
    def record_of(self, interpreters, *more, **environment):
        """Run the program with all interpreters at once; return {interpreter: samples}."""
        recording = self.begin("-a", "-F", FREQUENCY)
        started = {}
        for one in interpreters:
            started[one] = live.subprocess.Popen(
                [one.path, SOURCE, str(SECONDS), *more], stdin=live.subprocess.DEVNULL,
                env=live.clean_environment(PYTHONDONTWRITEBYTECODE="1", **environment))
            self.addCleanup(self.end, started[one])
        for process in started.values():
            self.assertEqual(process.wait(timeout=120), 0)
        self.trace = self.finish(recording)
        stacks = python_stacks.Stacks(self.trace)
        return {one: stacks.samples(process.pid) for one, process in started.items()}

    def test_every_version(self):
        every = self.record_of(python_found.supported())
        for one, samples in every.items():
            seen = {name for sample in samples for name in python_stacks.names(sample)}
            qualified = one.version >= (3, 11)
            for name in QUALIFIED:
                plain = name.rsplit(".", 1)[-1]
                self.assertIn(name if qualified else plain, seen, one)
            for name in RENAMED:
                self.assertIn(name, seen, one)
                spins = [s for s in samples if {name, "spin"} <= set(python_stacks.names(s))]
                self.assertFalse([s for s in spins if MAKER in python_stacks.names(s)], one)

    def test_numpy(self):
        folder = python_found.numpy_that_renames()
        found = [one for one in python_found.supported() if one.version == (3, 11)]
        if not folder or not found:
            self.skipTest("no numpy 1.24 for Python 3.11: tools/deps programs could not install "
                          "it" if found else "no Python 3.11 here")
        every = self.record_of(found, "numpy", PYTHONPATH=str(folder))
        for one, samples in every.items():
            frames = {(f.name, f.file) for s in samples for f in s.frames}
            theirs = {name for name, file in frames if file == NUMPY_FILE}
            self.assertLessEqual(set(NUMPY), theirs, one)
            self.assertFalse([name for name in theirs if "public_api" in name], one)
        report = live.subprocess.run([live.SKEIN, "report", "--by", "function", "--lines", "-n",
                                      "0", self.trace.path], capture_output=True, check=True)
        text = report.stdout.decode()
        self.assertIn("Hottest functions of Python, with the C that they call", text)
        self.assertRegex(text, r"(?m)^.* numpy_spins \(renamed\.py:\d+\)$")
        self.assertRegex(text, r"(?m)^.* median \(<__array_function__ internals>:\d+\)$")


if __name__ == "__main__":
    live.main()
