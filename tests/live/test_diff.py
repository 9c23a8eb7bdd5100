# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""
A program whose shares change by a known amount, and the same one twice.

Error to expect: as in test_truth.py, at most one sample for each border between slices: 200
cycles of 10 ms, and some 1,000 preemptions: sqrt(1200 / 6) = 14 of 6,000 samples are 0.25 points,
and 0.35 for a difference. Two points are more than 5 sigma.
"""

import json
import subprocess

import live
from live import SKEIN, workload

SECONDS, FREQUENCY = 2, 2999
POINTS = 2
OTHERS = {"burn_50": 30, "burn_30": 30, "burn_15": 15, "burn_5": 25}


class Diff(live.LiveTest):
    def run_shares(self, seed, *percents):
        trace = self.record("-F", FREQUENCY, "--", workload("shares"), SECONDS, seed, *percents)
        return trace.path, json.loads(trace.done.out)["shares"]

    def diff(self, *args):
        done = subprocess.run([SKEIN, "diff", "--json", "--exit-code", *args], timeout=60,
                              capture_output=True, check=False)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        changes = {row["name"]: row["total"] for row in json.loads(done.stdout)["changes"]}
        return done.returncode, {name: changes[name] for name in OTHERS}

    def test_change_of_known_size(self):
        one, shares = self.run_shares(1)
        two, again = self.run_shares(2)
        new, others = self.run_shares(3, *OTHERS.values())
        status, changes = self.diff(one, new)
        self.assertEqual(status, 3)
        for name, change in changes.items():
            truth = 100 * (others[name] - shares[name])
            with self.subTest(name, truth=truth, **change):
                self.assertAlmostEqual(change["change"], truth, delta=POINTS)
                # the interval is for independent samples, which these are better than
                self.assertLess(change["low"] - 1, truth)
                self.assertGreater(change["high"] + 1, truth)
                self.assertEqual(change["significant"], abs(truth) > 10)
        status, changes = self.diff("--min", str(POINTS), one, two, "--comm", "shares")
        for name, change in changes.items():
            truth = 100 * (again[name] - shares[name])
            with self.subTest(name, truth=truth, **change):
                self.assertAlmostEqual(change["change"], truth, delta=POINTS)


if __name__ == "__main__":
    live.main()
