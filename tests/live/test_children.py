# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 7200
"""
Test that programs that live for 1, 5 and 20 ms, and that the recorder does not know yet, get their
own time: their samples times the period equal the time in which they had a CPU.

The reference is sched_switch (tests/meters/slices). rusage is printed as well, but has an error of
its own: it charges the end of a thread's turn, from the moment at which the next thread was woken,
to the next thread. This is 10 us per preemption and 5 us per exit (docs/account.md), 1 % of a
child of 1 ms, more than the error that this test looks for.

There are two loads. "One CPU": children one after the other on one CPU, while everything else,
including the recorder, runs where the scheduler puts it. "Every CPU": the same on every CPU, so
that the recorder always takes its CPU from a child; a recorder in step with the sampling clock
would let children be sampled too often.

Error by chance: the samples of one stretch of a child's life are off by less than one, with a
variance of 1/4 at most, so the 95 % interval is 1.96 * sqrt(stretches / 4). The kernel counts the
stretches. 20,000 samples of children of 1 ms at 999 Hz are about 20,000 lives of 2.4 stretches:
sigma 110, 0.55 %; of all three lengths together about 30,000 stretches, sigma 85 of 20,000, 0.43
%, and less at higher rates. The short form allows 2 % and 4.5 sigma, so it fails by chance less
than once in 140,000 runs of one rate, whatever bias below 2 % exists.

Time taken by the host belongs to no thread in skein's account, but to the running thread in
sched_switch. The reference is therefore reduced by the share that was taken from the load's CPUs.
With a third of the time taken, the shares of children were off by 5 % of that share.
"""

import collections
import contextlib
import math
import os
import subprocess

import evidence
import live
from live import workload

LENGTHS = (1, 5, 20)  # ms
ALL_RATES = (99, 499, 999, 1999, 4999)  # Hz
RATES = ALL_RATES if live.LONG else (999, 4999)
SAMPLES = 154000 if live.LONG else 20000  # per rate, all lengths together
CONTROL = SAMPLES / 8  # samples of perf, the control, per rate
MOST = 0.005 if live.LONG else 0.02
SIGMAS = 1.96 if live.LONG else 4.5
STOLEN_UNCERTAIN = 0.05  # of the share of the stolen time
METER = live.BUILD / "tests" / "meters" / "slices"

Load = collections.namedtuple("Load", "name cpus rates")
ONE_CPU = Load("one CPU", live.CPUS[-1:], [rate for rate in RATES if rate > 99])
EVERY_CPU = Load("every CPU", live.CPUS, RATES)


class Measured:
    """Children of several recordings, summed."""

    def __init__(self):
        self.samples = self.due = self.stretches = self.stolen = self.all = 0
        self.charged = 0  # rusage, converted to samples

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def bias(self):
        return self.samples / self.due - 1

    @property
    def sigma(self):
        return math.sqrt(self.stretches / 4) / self.due

    @property
    def stolen_share(self):
        return self.stolen / self.all

    def text(self):
        return f"{100 * self.bias:+.2f} % ± {196 * self.sigma:.2f}"

    @property
    def beside_rusage(self):
        return f"{100 * (self.samples / self.charged - 1):+.2f} %"

    def __str__(self):
        return f"{self.text()}, {self.beside_rusage} beside rusage ({self.samples:,} samples, " \
               f"{100 * self.stolen_share:.1f} % stolen)"


class Children(live.LiveTest):
    @staticmethod
    def command(length, samples, frequency, cpus):
        """
        Return a shell command that runs as many children per CPU as give the number of samples in
        all.
        """
        count = max(10, round(samples / len(cpus) * 1000 / frequency / (length + 0.3)))
        starts = [f"taskset -c {cpu} {workload('brief')} {length} {count} &" for cpu in cpus]
        return ["sh", "-c", " ".join([*starts, "wait"])]

    @staticmethod
    def outputs(text):
        return [live.json.loads(line) for line in text.splitlines() if line.startswith("{")]

    @contextlib.contextmanager
    def truth(self, found, frequency):
        """Measure the children that run in the context: how long and how often they had a CPU."""
        meter = self.start(METER, "brief", stdin=subprocess.PIPE)
        self.assertEqual(meter.stdout.readline(), b"measures\n")
        yield
        parents = self.outputs(meter.communicate()[0].decode())
        self.assertEqual(meter.returncode, 0)
        found.due = sum(p["ns"] for p in parents) / 1e9 * frequency
        found.stretches = sum(p["turns"] for p in parents)

    def measure(self, length, samples, frequency, cpus):
        found = Measured()
        with self.truth(found, frequency):
            trace = self.record("-a", "-F", frequency, "--",
                                *self.command(length, samples, frequency, cpus), timeout=3600)
        reported = self.outputs(trace.done.out)
        parents = ",".join(str(t["pid"]) for t in reported)
        found.samples = trace.one(
            "SELECT coalesce(sum(sum.count), 0) FROM sum "
            "JOIN thread ON thread.id = sum.thread JOIN process ON process.id = thread.process "
            f"WHERE process.parent IN ({parents})")
        found.charged = sum(t["cpu"] for t in reported) * frequency
        found.stolen = sum(trace.losses("STOLEN", cpu) for cpu in cpus)
        found.all = trace.one("SELECT sum(due - idle) FROM account "
                              f"WHERE cpu IN ({','.join(map(str, cpus))})")
        found.due *= 1 - found.stolen_share
        return found

    def perf(self, length, samples, frequency, cpus):
        """Measure the same by perf as a control, which has the same clock."""
        found = Measured()
        data = self.tmp / "perf.data"
        with self.truth(found, frequency):
            run = subprocess.run(
                ["perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", str(frequency), "-o", data,
                 "--", *self.command(length, samples, frequency, cpus)],
                capture_output=True, text=True, check=True)
        reported = self.outputs(run.stdout)
        parents = {str(t["pid"]) for t in reported}
        text = subprocess.run(["perf", "script", "-i", data, "-F", "comm,pid"],
                              capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            words = line.split()
            found.samples += words[0] in ("brief", "exe") and words[1] not in parents
        found.charged = sum(t["cpu"] for t in reported) * frequency
        found.all = 1
        return found

    @staticmethod
    def measure_all(load, frequency, how, samples=SAMPLES):
        """Measure each length, and all lengths together."""
        cells = {length: how(length, samples / len(LENGTHS), frequency, load.cpus)
                 for length in LENGTHS}
        found = Measured()
        for cell in cells.values():
            found.add(cell)
        return cells, found

    def check(self, load, frequency):
        cells, found = self.measure_all(load, frequency, self.measure)
        for length, cell in cells.items():
            print(f"{load.name}, {frequency} Hz, {length} ms: {cell}")
        print(f"{load.name}, {frequency} Hz: {found}")
        if live.LONG:
            control = self.measure_all(load, frequency, self.perf, CONTROL)[1]
            evidence.leave(live.BUILD, "children", {
                "load, rate": f"{load.name}, {frequency:,} Hz",
                **{f"{length} ms": cell.text() for length, cell in cells.items()},
                "all": found.text(), "perf, all": control.text(),
                "all, beside rusage": found.beside_rusage,
                "stolen": f"{100 * found.stolen_share:.1f} %"})
        allowed = MOST + SIGMAS * found.sigma + STOLEN_UNCERTAIN * found.stolen_share
        with self.subTest(load=load.name, frequency=frequency, found=str(found)):
            self.assertLess(abs(found.bias), allowed)

    def test_recorder_beside_them(self):
        for frequency in ONE_CPU.rates:
            self.check(ONE_CPU, frequency)

    def test_recorder_among_them(self):
        for frequency in EVERY_CPU.rates:
            self.check(EVERY_CPU, frequency)


if __name__ == "__main__":
    live.main()
