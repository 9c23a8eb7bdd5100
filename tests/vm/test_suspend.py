# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
Suspend a virtual machine while skein records it: the time is known as such, no sample is due in it,
no CPU and no control group gets it, and the recording goes on.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "live"), str(TESTS / "lib")]
import live # noqa: E402
import vm # noqa: E402

SKEIN = os.environ.get("SKEIN", str(vm.BUILD / "skein"))
HZ = 99
LONG = os.environ.get("SKEIN_LONG") == "1"
ASLEEP = 20 if LONG else 10 # s until the real-time clock wakes the machine, which has whole seconds
SECOND = 1_000_000_000

JOB = f"""
shares 60 >/dev/null &
skein record -a -F {HZ} --wait-names 60s -o /out/recording.skein 2>/out/said &
recorder=$!
skein serve --folder /out/windows --window 1h 2>/out/served &
service=$!
until ls /out/windows/open-* /out/recording.skein >/dev/null 2>&1; do sleep 0.1; done
sleep 2
before=$(cut -d ' ' -f 1 /proc/uptime)
echo +{ASLEEP} >/sys/class/rtc/rtc0/wakealarm
echo mem >/sys/power/state
status=$?
echo $before $(cut -d ' ' -f 1 /proc/uptime) >/out/times
sleep 3
kill -INT $recorder $service
wait $recorder || status=$?
wait $service || status=$?
kill %1
exit $status
"""


class Suspended(unittest.TestCase):
    """
    Suspended to memory: the kernel takes all CPUs but one offline. A machine whose CPUs only idle
    (suspend-to-idle) is not tested: the emulated one's clock does not wake it then.
    """

    @classmethod
    def setUpClass(cls):
        kernel = vm.kernel_or_skip("bookworm-backports")
        files = {"/bin/skein": SKEIN, "/bin/shares": live.workload("shares")}
        cls.machine = vm.Run(kernel, JOB, files)
        cls.addClassCleanup(cls.machine.close)
        print(cls.machine, cls.machine.printed)
        cls.trace = live.Trace(cls.machine.out / "recording.skein")
        cls.window = live.Trace(next((cls.machine.out / "windows").glob("*.skein")))
        cls.times = [float(text) for text in (cls.machine.out / "times").read_text().split()]

    def test_succeeds(self):
        self.assertEqual(self.machine.status, 0)
        self.assertGreater(self.times[1] - self.times[0], ASLEEP - 2)

    def suspend(self, trace):
        """The one time in which the machine was suspended, as (begin, end), ns."""
        row, = trace.query(f"SELECT * FROM loss WHERE reason = {live.LOSS['SUSPENDED']}")
        return row["time"], row["end"]

    def awake(self, trace):
        """s for which the machine was awake while it was recorded."""
        host, = trace.query("SELECT * FROM host")
        begin, end = self.suspend(trace)
        return (host["end"] - host["start"] - (end - begin)) / SECOND

    def test_is_known(self):
        """The time is in the trace, as long as it was."""
        for trace in (self.trace, self.window):
            begin, end = self.suspend(trace)
            self.assertGreater((end - begin) / SECOND, ASLEEP - 2)
            self.assertLessEqual((end - begin) / SECOND, self.times[1] - self.times[0])
        served = (self.machine.out / "served").read_text()
        self.assertRegex(served, r"the machine was suspended for \d+(\.\d+)? s")
        report = subprocess.run([SKEIN, "report", self.machine.out / "recording.skein"],
                                capture_output=True, text=True, check=True).stdout
        self.assertRegex(report, r"Suspended +\d+(\.\d+)? s: the machine was suspended")
        # how many CPUs were busy is of the time awake; of the whole recording it would be less
        took, busy = re.search(r"([0-9.]+) s of CPU: ([0-9.]+) of\s+2 CPUs", report).groups()
        self.assertAlmostEqual(float(busy), float(took) / self.awake(self.trace),
                               delta=0.05 * float(busy))

    def test_accounts(self):
        """No sample is due in that time: the accounts of all CPUs are of the time awake."""
        for trace in (self.trace, self.window):
            periods = {row["id"]: row["period"] for row in trace.query("SELECT * FROM event")}
            due = collections.Counter()  # s by CPU
            for row in trace.query("SELECT * FROM account"):
                lost = sum(r["count"] for r in trace.query("SELECT * FROM loss")
                           if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"])
                given = row["written"] + row["filtered"] + row["idle"] + lost + row["cut_off"]
                due[row["cpu"]] += row["due"] * periods[row["event"]] / SECOND
                with self.subTest(row=row, lost=lost):
                    self.assertLessEqual(abs(row["due"] - given), 1)
            self.assertEqual(set(due), {0, 1})
            for time in due.values():
                self.assertLessEqual(time, self.awake(trace) + 0.2)
            self.assertGreater(max(due.values()), self.awake(trace) / 2)

    def test_goes_on(self):
        """The program that runs all the time is sampled after it, too."""
        _, end = self.suspend(self.trace)
        after = self.trace.one("SELECT count(*) FROM sample JOIN thread ON thread.id = "
                               f"sample.thread WHERE comm = 'shares' AND time > {end}")
        self.assertGreater(after, HZ / 2)

    def test_sums(self):
        """No control group ran for longer than the machine was awake."""
        rows = self.window.query("SELECT * FROM group_time WHERE state = 1")
        self.assertTrue(rows)
        for row in rows:
            self.assertLessEqual(row["ns"], 2 * SECOND * self.awake(self.window), row)


if __name__ == "__main__":
    unittest.main()
