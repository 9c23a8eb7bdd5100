# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 300
"""
Test Python code that is made, run and freed repeatedly: the address of a code object has many
names in turn, and a sample has the name of its moment or none. The program's log says which code
ran when, and each sample is compared with it.

False alarms: samples near the border of two turns, by more than the difference of the clocks, are
left out. Two code objects share a 32-bit number once in 4 billion pairs, and there are about a
thousand pairs per address: one false alarm in a million runs.
"""
import bisect
import collections
import json
import re

import live
import python_found
import python_stacks

SECONDS = 20 if live.LONG else 2  # of CPU, each program
FREQUENCY = 1999
SOURCE = live.ROOT / "tests" / "workloads" / "python" / "reused.py"
CLOCKS = 20000  # ns, by which a sample's time may differ from the program's

# All names and files that the program has in its turns; a frame may also lack its name.
NAMES = re.compile(r"|<module>|main|turn|burn|(turn\.<locals>\.)?<lambda>|fn_\d|"
                   r"a_name_of_which_the_end_differs_\d|Class_\d(\.run)?|run")
FILES = re.compile(rf"|{re.escape(str(SOURCE))}|<names>|<classes>|f\d\.py|"
                   r"/made/by/nobody/and/long/enough/\d/module\.py")


class Reused(live.LiveTest):
    def shown(self, sample):
        """Return {(sort, number)} of the turns that the frames of a sample belong to."""
        found = set()
        for name, file, _ in python_stacks.python(sample):
            name, file = name or "", file or ""
            if not NAMES.fullmatch(name) or not FILES.fullmatch(file):
                found.add(("another object's text", (name, file)))
            elif name.startswith("fn_"):
                found.add(("name", int(name[3:])))
            elif name.startswith("a_name_of_which"):
                found.add(("long name", int(name.rsplit("_", 1)[1])))
            elif file.startswith("/made/by/nobody"):
                found.add(("file", int(file.split("/")[-2])))
            elif file.startswith("f") and name == "<module>":
                found.add(("short file", int(file[1:-3])))
            elif name.startswith("Class_"):
                found.add(("class", int(name.split(".")[0].split("_")[1])))
        return found

    def check(self, one, samples, log):
        begins = [begin for _, _, begin, _ in log]
        right, wrong, unnamed = collections.Counter(), collections.Counter(), 0
        for s in samples:
            i = bisect.bisect(begins, s.time) - 1
            if i < 0 or not log[i][2] + CLOCKS < s.time < log[i][3] - CLOCKS:
                continue
            truth, shown = tuple(log[i][:2]), self.shown(s)
            unnamed += not shown
            right[truth[0]] += truth in shown
            wrong[truth[0]] += bool(shown - {truth})
        print(f"{one}: right {dict(right)}, wrong {dict(wrong)}, {unnamed} without a name")
        return right, wrong, unnamed

    def test_every_version(self):
        recording = self.begin("-a", "-F", FREQUENCY)
        seed, started = live.time.time_ns() % 1000000, {}
        for one in python_found.supported() + python_found.fetched():
            log = self.tmp / f"{one.name}.json"
            started[one] = self.start(one.path, SOURCE, SECONDS, log, seed), log
        for process, _ in started.values():
            process.communicate(timeout=200)
            self.assertEqual(process.returncode, 0)
        stacks = python_stacks.Stacks(self.finish(recording))
        for one, (process, log) in started.items():
            with self.subTest(python=str(one), seed=seed):
                _, wrong, _ = self.check(one, stacks.samples(process.pid),
                                         json.loads(log.read_text()))
                self.assertFalse(+wrong)


if __name__ == "__main__":
    live.main()
