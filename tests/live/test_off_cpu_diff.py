# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""
Test diff of waits on a program that waits in known functions: a change is found where it is, times
are those of the report, and runs of the same make no alarm.

Equal runs: of the 15 pairs of six runs, k runs that are odd by themselves spoil at most 5, 9, 12
(k = 1, 2, 3), so more than 9 alarms take three odd runs. Less than 1 % of pairs alarm (0 of 28 in
each of five ways of comparing, and of 400 in unit/test_diff_waits), so a run is odd with less than
0.5 %, and three of six with 20 * 0.005**3 = 2.5e-6.
"""

import itertools
import json
import re
import subprocess

import live
from live import SKEIN

# Every 10 ms, one thread waits in fetch() with a lock for which the other one waits.
PROGRAM = """
import random, sys, threading, time
end, mean = time.monotonic() + float(sys.argv[1]), float(sys.argv[2])
lock = threading.Lock()

def fetch():
    time.sleep(min(0.009, random.expovariate(1 / mean)))

def pause(since):
    time.sleep(max(0, since + 0.01 - time.monotonic()))

def serve():
    while (begun := time.monotonic()) < end:
        with lock:
            fetch()
        pause(begun)

def follow():
    while (begun := time.monotonic()) < end:
        with lock:
            pass
        pause(begun)

threads = [threading.Thread(target=f) for f in (serve, follow)]
for t in threads:
    t.start()
for t in threads:
    t.join()
"""
FETCH = "fetch (program.py)"


class DiffOfWaits(live.LiveTest):
    @classmethod
    def diff(cls, *args):
        return subprocess.run([SKEIN, "diff", *map(str, args)], timeout=60, capture_output=True,
                              text=True, check=False)

    def changes(self, *args):
        """Return the exit status, and the changes of self by name."""
        done = self.diff("--off-cpu", "--json", "--exit-code", *args)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["before"][0]["event"], "off-cpu")
        key = "self" if found["by"] == "function" else "total"
        return done.returncode, {row["name"]: row[key] for row in found["changes"]}

    @staticmethod
    def reported(path):
        """Return the ns of waiting in fetch() by the report."""
        done = subprocess.run([SKEIN, "report", "--off-cpu", "--json", path], timeout=60,
                              capture_output=True, check=True)
        return sum(row["own"]["waited"] for row in json.loads(done.stdout)["off_cpu"]["functions"]
                   if row["name"].startswith("fetch "))

    def run_program(self, mean, events="cpu,off-cpu"):
        """Return the path of a recording."""
        program = self.tmp / "program.py"
        program.write_text(PROGRAM)
        return self.record("-e", events, "--", "/usr/bin/python3", program, 1.2, mean).path

    def run_in_turns(self, many, few):
        same, slower = [], []
        for number in range(many):
            same.append(self.run_program(0.001))
            if number < few:
                slower.append(self.run_program(0.004))
        return same, slower

    def check_change(self, same, slower):
        paths = same, slower
        status, changes = self.changes(*paths[0], "--", *paths[1])
        self.assertEqual(status, 3)
        self.assertTrue(changes[FETCH]["significant"], changes[FETCH])
        self.assertGreater(changes[FETCH]["low"], 0)
        _, changes = self.changes("--normalize", "none", *paths[0], "--", *paths[1])
        for side, runs in zip(("before", "after"), paths, strict=True):
            reported = sum(self.reported(path) for path in runs) / 1e9
            self.assertAlmostEqual(changes[FETCH][side] * len(runs), reported, places=6)
        status, changes = self.changes("--by", "class", "--min", 1e6, *paths[0], "--", *paths[1])
        self.assertEqual(status, 0)
        self.assertLessEqual({"sleep", "lock"}, set(changes))

    def check_equal(self, paths):
        for how in ((), ("--by", "class"), ("--by", "program"), ("--normalize", "share")):
            pairs = list(itertools.combinations(paths, 2))
            alarms = sum(self.changes(*how, *pair)[0] == 3 for pair in pairs)
            print(f"{alarms} of {len(pairs)} pairs of runs of one program alarm {how}")
            self.assertLessEqual(alarms, 9, how)

    def check_output(self, one, two):
        """Units are named; the default is CPU time; pictures have the waits."""
        done = self.diff(one, two, "--json")
        self.assertEqual(json.loads(done.stdout)["before"][0]["event"], "cpu-clock")
        done = self.diff("--off-cpu", one, two, "--all")
        self.assertIn("ms of waiting per second", done.stdout)
        self.assertRegex(done.stdout, r"stacks of waits, [\d.]+ m?s of waiting")
        done = self.diff("-e", "off-cpu", "--by", "class", "--all", one, two)
        self.assertRegex(done.stdout, r"\n *[+-].* sleep\b")
        for name in ("diff.svg", "diff.html"):
            out = self.tmp / name
            done = self.diff("--off-cpu", one, two, "-o", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("fetch (program.py", out.read_text())
        done = self.diff("--off-cpu", "-f", "folded", one, two)
        self.assertRegex(done.stdout, r"(?m)^python3;.*;fetch \(program.py.* \d+ \d+$")

    def test_known_change(self):
        same, slower = self.run_in_turns(6, 3)
        self.check_change(same[:3], slower)
        self.check_equal(same)
        self.check_output(same[0], slower[0])

    def test_refused(self):
        waits = self.run_program(0.001, events="off-cpu")
        cpu = self.record("--", "true").path
        for args, status, text in (
                (("--off-cpu", cpu, waits), 1, "-e off-cpu"),
                ((waits, cpu), 1, "-e off-cpu"),
                (("--by", "class", cpu, cpu), 1, "--off-cpu"),
                (("--by", "module", waits, waits), 1, "module"),
                (("--event", "wall", waits, waits), 2, "wall"),
                (("--off-cpu", "--event", "off-cpu", waits, waits), 2, "exclude")):
            done = self.diff(*args)
            self.assertEqual(done.returncode, status, (args, done.stderr))
            self.assertTrue(re.search(re.escape(text), done.stderr), (args, done.stderr))
        # where nothing else was recorded, waits are the default
        self.assertIn("ms of waiting", self.diff(waits, waits).stdout)


if __name__ == "__main__":
    live.main()
