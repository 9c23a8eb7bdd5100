# SPDX-License-Identifier: Apache-2.0
"""Test how `make bench` evaluates its runs under scheduler recorders, without running them."""
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import bench_sched  # noqa: E402
import bench_sched_page  # noqa: E402
from bench_meter import BenchError  # noqa: E402
from bench_sched_load import Done, Messaging, Pipe, Redis  # noqa: E402

NAMES = [bench_sched.EMPTY, bench_sched.PAIR, bench_sched.SKEIN, bench_sched.SKEIN_CPU,
         bench_sched.SKEIN_OFF, bench_sched.SKEIN_OFF_ALL, bench_sched.OFFCPUTIME,
         bench_sched.PERF]
TIME = dict(zip(NAMES, (1.06, 1.08, 1.09, 1.20, 1.14, 3.6, 2.3, 1.8)))
BYTES = dict(zip(NAMES, (0, 0, 30000, 40000, 50000, 60000, 0, 500000)))


class Twice:
    """Plain runs whose times are 1, 2, 1, 2, …, so that the mean around any other run is 1.5."""

    name, unit = "pipe, pinned", "operation"

    def __init__(self, name="pipe, pinned"):
        self.name, self.times = name, 0

    def once(self):
        self.times += 1
        return Done(1 + (self.times - 1) % 2, 10000, 0.5, 0.01)


def run_of(name, lost=0, resident=30.0):
    stored = types.SimpleNamespace(lost=lost, records=15000)
    return types.SimpleNamespace(
        done=Done(1.5 * TIME[name], 10000, 0.5, 0.02), share=0.1, cpu=0.2, rings=16.0,
        resident=resident, bytes=BYTES[name], stored=stored if "skein" in name else None)


class Page(unittest.TestCase):
    def matrix(self, name, **more):
        """Make two rounds, as bench_sched.matrices() does."""
        def start_and_run(_bench, _storm, arm):
            return run_of(arm.name, **more)

        run, bench_sched.Run = bench_sched.Run, start_and_run
        try:
            matrix = bench_sched.Matrix(Twice(name))
            arms = [bench_sched.Arm(n, []) for n in NAMES]
            bench = types.SimpleNamespace(say=lambda text: None)
            matrix.turn(bench, arms, arms)
            matrix.turn(bench, arms, arms[1:] + arms[:1])
        finally:
            bench_sched.Run = run
        return matrix

    @staticmethod
    def sized(size, stored):
        run = object.__new__(bench_sched.Sized)
        run.bytes, run.switches, run.seconds, run.share = size, 5000, 6.0, 0.03
        run.stored = stored
        return run

    def results(self, **more):
        names = [storm.name for storm in bench_sched.storms_of(
            types.SimpleNamespace(folder=pathlib.Path("/nowhere")))]
        stored = types.SimpleNamespace(lost=0, records=26000)
        lengths = types.SimpleNamespace(
            seconds=8.0, cpus=2, **{load: {n: self.sized(size, stored if "skein" in n else None)
                      for n in NAMES if BYTES[n]}
               for load, size in (("messaging", 20000), ("compiler", 90000), ("mixed", 40000),
                                  ("redis", 50000), ("database", 60000))})
        return {"scheduler": {"matrices": [self.matrix(n, **more) for n in names],
                              "lengths": lengths,
                              "programs": self.programs()}}

    @staticmethod
    def programs():
        """Make two rounds of one turn each."""
        def turn(slower):
            return {bench_sched.EMPTY_ALL: {"empty_exit": (1000, 60000 + slower)},
                    **{name: {"on_switch": (1000, 98700 + slower + more),
                              "on_waking": (500, 50000 + more / 2 + slower / 2),
                              "wait_ended": (1000, 60000 + slower + more)}
                       for name, more in ((bench_sched.SKEIN, 0), (bench_sched.SKEIN_OFF_FEW, 9000),
                                          (bench_sched.SKEIN_OFF, 20000))}}

        made = object.__new__(bench_sched.Programs)
        made.rounds = [[turn(0)], [turn(8000)]]
        return made

    def promises(self, **more):
        return {row[0].split(" (")[0]: row[1:]
                for row in bench_sched_page.promises(self.results(**more))}

    def test_ratio_is_by_the_plain_runs_around(self):
        matrix = self.matrix("pipe, pinned")
        for name in NAMES:
            self.assertAlmostEqual(matrix.ratio(name).median, TIME[name])
        self.assertAlmostEqual(
            matrix.above(bench_sched.SKEIN, bench_sched.EMPTY).median, 0.03)
        self.assertEqual(set(matrix.ratio(bench_sched.PLAIN).values), {0.5, 2.0})
        self.assertEqual(matrix.switches(bench_sched.SKEIN), 20000)
        self.assertEqual(matrix.per_switch(bench_sched.SKEIN).median, 3.0)

    def test_promises(self):
        found = self.promises()
        self.assertEqual(found["that, above an empty program's"][2], "kept")
        what = "bytes on disk per switch, wake-ups included: "
        self.assertEqual(found[what + "pipe, pinned"],
                         ("≤ 2", "3.00 (3.00–3.00)", "**not kept**"))
        self.assertEqual(found[what + "messaging, slices and edges"],
                         ("≤ 5", "5.20", "**not kept**"))
        self.assertEqual(found[what + "messaging, whole file"], ("≤ 7", "4.00", "kept"))
        self.assertEqual(found[what + "the machine at large"], ("≤ 5", "8.00", "**not kept**"))
        self.assertEqual(found["records lost under two pinned pipes"],
                         ("0", "0 of 20,000 switches", "kept"))

    def test_promises_of_waits(self):
        found = self.promises()
        what = ("stacks of waits, added to a switch with its waking, by the kernel's run-time "
                "statistics, ")
        self.assertEqual(found[what + "with hardly any stacks"],
                         ("≤ 30 ns", "27 (27–27) ns", "kept"))
        self.assertEqual(found[what + "stacks included"][2], "**not kept**")
        self.assertEqual(found[f"CPU of {bench_sched.SKEIN_OFF} itself beside pgbench, of the "
                               "machine's"], ("≤ 2 %", "1.5%", "kept"))
        self.assertEqual(found[f"{bench_sched.SKEIN_OFF}, pinned pipe: time by plain's"][2], "kept")
        self.assertEqual(found[f"{bench_sched.SKEIN_OFF_ALL}, pinned pipe: time by plain's"][2],
                         "**not kept**")
        self.assertEqual(found[f"resident, {bench_sched.SKEIN_OFF}, all its processes, more than "
                               f"{bench_sched.SKEIN}"], ("≤ 16 MiB", "0.0 MiB", "kept"))

    def test_promises_that_are_not_kept(self):
        found = self.promises(lost=1, resident=65.0)
        self.assertEqual(found["records lost under two pinned pipes"],
                         ("0", "2 of 20,000 switches", "**not kept**"))
        self.assertEqual(found[f"resident, {bench_sched.SKEIN}, all its processes, buffers apart"],
                         ("≤ 64 MiB", "65.0 MiB", "**not kept**"))

    def test_section_tells_everything(self):
        text = bench_sched_page.section(self.results())
        for name in NAMES:
            self.assertIn(f"| {name} | {TIME[name]:.3f}", text)
        self.assertIn("| skein record -e sched: file | 3.00 (3.00–3.00)", text)
        self.assertIn("| 4.00 | 18.00 | 8.00 |", text)
        self.assertIn("| skein record -e sched: on_switch | 2,000 | 103 (99–107) |", text)
        for line in text.splitlines():
            if not line.startswith("|"):
                self.assertLessEqual(len(line), 120, line)
                self.assertNotIn("{", line)


class Long(unittest.TestCase):
    """The messaging run that measures bytes has LONG_SWITCHES, however it is scaled."""

    def sized(self, *switched):
        """Return the result of runs with these numbers of switches per operation, in order."""
        rates = iter(switched)

        def record(_bench, _arm, load):
            done = load()
            return types.SimpleNamespace(switches=done.switches)

        storm = Messaging("messaging")
        storm.once = lambda: Done(1, storm.operations * next(rates), 1, 0)
        sized, bench_sched.Sized = bench_sched.Sized, record
        try:
            storm.scale_to_switches(bench_sched.LONG_MARGIN * bench_sched.LONG_SWITCHES,
                                    storm.once().switches)
            return bench_sched.sized_by_switches(None, None, storm).switches
        finally:
            bench_sched.Sized = sized

    def test_an_even_load_takes_one_run(self):
        self.assertEqual(self.sized(80, 80), 1.2e6)

    def test_a_slower_run_is_taken_again_and_longer(self):
        self.assertAlmostEqual(self.sized(80, 40, 40), 1.2e6, delta=100)

    def test_fewer_switches_are_no_measurement(self):
        with self.assertRaisesRegex(BenchError, "1,000,000 were wanted, after 3 tries"):
            self.sized(80, 40, 20, 10)


class Said(unittest.TestCase):
    """The numbers that the loads print."""

    def test_perf(self):
        said = "     Total time: 0.908 [sec]\n\n      45.405650 usecs/op\n          22023 ops/sec\n"
        self.assertAlmostEqual(Pipe("pipe").per_operation(said), 45.40565e-6)
        messaging = Messaging("messaging")
        messaging.operations = 100
        self.assertAlmostEqual(messaging.per_operation(said), 0.00908)

    def test_redis(self):
        said = '"test","rps","avg_latency_ms"\n"GET","125000.00","0.203"\n'
        self.assertAlmostEqual(Redis("redis", pathlib.Path("/nowhere")).per_operation(said), 8e-6)

    def test_nothing(self):
        with self.assertRaises(BenchError):
            Pipe("pipe").per_operation("perf: not found")


if __name__ == "__main__":
    unittest.main()
