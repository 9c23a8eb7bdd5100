# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""
Compare shares and times with workloads that measure themselves.

Expected error: the sampling clock is a grid that crosses a run of slices at a random phase, so
each border between slices moves at most one sample: variance at most 1/4 (1/6 on average) per
border. 12 s of `shares` have 1,200 cycles of 10 ms and, on a busy machine, about 4,000
preemptions; half of these borders touch burn_50. sqrt(2600 / 6) = 21 samples of 12,000 are 0.17
percentage points, so one point is 5.8 sigma: the test fails by chance less than once in 10^7 runs.
The long form has 60,000 samples, where even independent ones (binomial) would deviate by 0.2
points.
"""

import re
import subprocess
import time

import live
from live import workload

SECONDS = 60 if live.LONG else 12
PARTS = ("burn_50", "burn_30", "burn_15", "burn_5")
POINT = 0.01


def shares_of_perf(path):
    """Return the shares of the four functions among perf's samples of `shares`, by whole stacks."""
    text = subprocess.run(["perf", "script", "-i", path, "-F", "comm,ip,sym"],
                          capture_output=True, check=True).stdout.decode(errors="replace")
    found = dict.fromkeys(PARTS, 0)
    total = 0
    for block in text.split("\n\n"):
        if not block.split() or block.split()[0] != "shares":
            continue
        total += 1
        for part in PARTS:
            found[part] += bool(re.search(rf"\b{part}\b", block))
    return {part: n / total for part, n in found.items()}


class Truth(live.LiveTest):
    def test_shares_and_perf(self):
        data = str(self.tmp / "perf.data")
        recording = self.begin("-a", "-F", 999)
        perf = subprocess.run(
            ["perf", "record", "-q", "-F", "999", "-e", "cpu-clock", "-g", "-o", data, "--",
             workload("shares"), str(SECONDS)], capture_output=True, check=True)
        truth = live.json.loads(perf.stdout)
        trace = self.finish(recording)
        stacks = trace.stacks(comm="shares")
        peer = shares_of_perf(data)
        # 1 point between the two samplers in the long form; in the short form each has its own
        # error
        agree = POINT if live.LONG else 1.5 * POINT
        for part in PARTS:
            mine = live.share(stacks, part)
            with self.subTest(part=part, truth=truth["shares"][part], skein=mine, perf=peer[part]):
                self.assertAlmostEqual(mine, truth["shares"][part], delta=POINT)
                self.assertAlmostEqual(mine, peer[part], delta=agree)
        # undelivered time is missing here and is in the account; no time may be added
        self.assertLess(live.weight(stacks), truth["seconds"] * 1.01 + 0.05 + trace.stolen)
        self.assertGreater(live.weight(stacks), truth["seconds"] * 0.97 - trace.excuse())

    def test_sleeper_gets_its_own_time(self):
        """
        160 wake-ups of about 5 ms: at most sqrt(160 / 4) = 6.3 of 800 samples, 0.8 %; 5 % are 6
        sigma. Other threads interrupt the workload more often.
        """
        trace = self.record("-a", "-F", 999, "--", workload("sleeper"), 8)
        reported = live.json.loads(trace.done.out)
        mine = live.weight(trace.stacks(comm="sleeper"))
        self.assertAlmostEqual(mine, reported["cpu"],
                               delta=live.chance(reported["turns"], 999) + trace.excuse())

    def test_weight_is_one_period(self):
        for option, period in ((["-F", 999], 1e9 / 999), (["-c", "2012345"], 2012345),
                               (["-F", 4999], 1e9 / 4999)):
            with self.subTest(option=option):
                trace = self.record(*option, "--", workload("loop"), 1)
                reported = live.json.loads(trace.done.out)
                event = next(iter(trace.table("event").values()))
                self.assertEqual(event["unit"], "ns")
                self.assertAlmostEqual(event["period"], period, delta=1)
                weights = trace.query("SELECT weight, count(*) AS n FROM sample GROUP BY weight")
                self.assertEqual([w["weight"] for w in weights], [event["period"]])
                # borders only where other threads ran (except for round periods, which run in step
                # with the scheduler's tick); 20 ms for the time before main()
                self.assertAlmostEqual(
                    live.weight(trace.stacks(comm="loop")), reported["cpu"],
                    delta=live.chance(reported["turns"], 1e9 / period) + 0.02 + trace.excuse())

    def test_sums_are_the_samples(self):
        trace = self.record("-a", "-F", 999, "--", workload("storm"), 1, 200)
        sums = trace.query("SELECT event, thread, stack, sum(count) AS n, sum(weight) AS w "
                           "FROM sum GROUP BY event, thread, stack ORDER BY 1, 2, 3")
        samples = trace.query("SELECT event, thread, stack, count(*) AS n, sum(weight) AS w "
                              "FROM sample GROUP BY event, thread, stack ORDER BY 1, 2, 3")
        self.assertGreater(len(sums), 10)
        self.assertEqual(sums, samples)

    def test_stamps_are_boottime(self):
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        trace = self.record("-a", "-F", 499, "--", workload("loop"), 0.5)
        after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        host = next(iter(trace.table("host").values()))
        times = [t for t, _, _ in trace.samples()]
        # both clocks differ by the time asleep only; take the smallest of several differences,
        # because they are read one after the other
        asleep = min(-time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                     + time.clock_gettime_ns(time.CLOCK_BOOTTIME) for _ in range(16))
        self.assertAlmostEqual(-host["monotonic_offset"], asleep, delta=10000)
        self.assertTrue(before <= host["start"] <= times[0] <= times[-1] <= host["end"] <= after)


if __name__ == "__main__":
    live.main()
