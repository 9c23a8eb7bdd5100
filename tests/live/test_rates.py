# SPDX-License-Identifier: Apache-2.0
"""
Test a recording whose rate changes a thousand times, through the library (change_rates.c): the
accounts, how long each rate was used, and the CPU time of programs by the weights of samples.
"""
import json
import math
import os
import subprocess

import live

RATES = (1999, 997, 499, 199)
CHANGES = 20000 if os.environ.get("SKEIN_LONG") else 1000
CPUS = os.cpu_count()
BUSY, IDLE = 4, 8 # s of CPU; s


class RatesTest(live.LiveTest):

    def change_rates(self, *workloads):
        """
        Record beside workloads. Return the path of the trace, what was done, and what the workloads
        printed.
        """
        path = self.file()
        program = os.path.join(os.path.dirname(live.SKEIN), "tests", "live", "change_rates")
        run = subprocess.Popen(
            [program, path, str(CHANGES), *map(str, RATES)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=live.clean_environment())
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), b"begun\n")
        truths = [self.output(p) for p in [self.start(*w) for w in workloads]]
        out, err = run.communicate(timeout=240)
        self.assertEqual(run.returncode, 0, err)
        return path, json.loads(out), truths

    def check_accounts(self, trace, changes):
        """
        due = written + filtered + idle + cut off + lost for each rate and CPU. A disabled event
        keeps its place within its period, so a change cuts no period off, but only some us in
        which the kernel counts time and the clock stands still (sampler.c). What remains
        is counted as not delivered: nothing, as a rule.
        """
        rows = trace.query(
            "SELECT event, cpu, due, written, cut_off, due - written - filtered - idle - cut_off - "
            "(SELECT coalesce(sum(count), 0) FROM loss WHERE loss.event = account.event AND "
            "loss.cpu = account.cpu + 1) AS balance FROM account")
        self.assertEqual(len(rows), len(RATES) * CPUS)
        for row in rows:
            self.assertEqual(row["balance"], 0, row)
            self.assertLessEqual(row["cut_off"], 1 + changes * 25e-6 * max(RATES), row)
            self.assertEqual(row["written"], trace.one(
                f"SELECT count(*) FROM sample WHERE event = {row['event']} AND "
                f"cpu = {row['cpu']}"), row)
        due = sum(r["due"] for r in rows)
        # Where the host takes the CPU away in the middle of a change, the clock stands still for
        # longer: 0.1 to 1.2 % of 1,000 changes were seen. An event whose period is changed, in
        # place of two events, loses 3.5 to 33 % of them.
        self.assertLessEqual(trace.losses("NOT_DELIVERED"), due / 40)
        return rows

    def check_times(self, trace, rows, elapsed):
        """
        Each rate was used for as long as the program meant it to be: a change is late by what the
        recorder waits for a CPU, and so is the next. A tenth of the whole is far more than that,
        and far less than what an account under a wrong rate would have.
        """
        events = {e["id"]: e for e in trace.query("SELECT * FROM event")}
        self.assertEqual(sorted(e["frequency"] for e in events.values()), sorted(RATES))
        for row in rows:
            event = events[row["event"]]
            self.assertAlmostEqual(row["due"] * event["period"],
                                   elapsed[RATES.index(event["frequency"])],
                                   delta=sum(elapsed) / 10)
        weights = trace.query("SELECT DISTINCT event, weight FROM sample ORDER BY event")
        self.assertEqual(weights, [{"event": e, "weight": events[e]["period"]}
                                   for e in sorted(events)])

    def check_time(self, trace, comm, burnt, stretches, changes):
        """
        The CPU time of a program by the weights of its samples. A stretch of running, from the
        moment when a thread gets a CPU or the rate changes to the next such moment, is off by a
        part of a period, f (1 - f) of whose square is the variance, at most a quarter. The rates
        share the stretches by chance. 4.5 standard deviations fail in 7 of a million runs; 50 us
        for each turn are for timers, which begin turns right after ticks.
        """
        variance = (stretches + changes) * sum(1 / r ** 2 for r in RATES) / len(RATES) / 4
        delta = 4.5 * math.sqrt(variance) + stretches * 50e-6
        weight = live.weight(trace.stacks(comm=comm))
        lost = trace.one("SELECT coalesce(sum(weight), 0) FROM loss WHERE event") / 1e9
        self.assertLess(weight, burnt + delta)
        self.assertGreater(weight + lost, burnt - delta)

    def test_thousand_changes(self):
        """Beside a busy program and one that mostly idles, so that idle time is due, too."""
        path, did, (busy, idle) = self.change_rates(
            (live.workload("shares"), BUSY), (live.workload("sleeper"), IDLE))
        trace = live.Trace(path)
        self.assertGreaterEqual(did["changes"], CHANGES)
        rows = self.check_accounts(trace, did["changes"])
        self.check_times(trace, rows, did["elapsed"])
        self.check_time(trace, "shares", busy["seconds"], 100 * BUSY, did["changes"])
        self.check_time(trace, "sleeper", idle["cpu"], idle["turns"], did["changes"])
        report = json.loads(subprocess.run(
            [live.SKEIN, "report", "--json", path], check=True, capture_output=True,
            env=live.clean_environment()).stdout)
        self.assertEqual([r["frequency"] for r in report["rates"]], list(RATES))
        self.assertEqual(report["weight"], trace.one("SELECT sum(weight) FROM sample"))


if __name__ == "__main__":
    live.main()
