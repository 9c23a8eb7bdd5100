# SPDX-License-Identifier: Apache-2.0
"""
Measure what recording runtime events costs a Java program: how much longer its work takes under
each recorder, beside runs without one.
"""
import math
import re
import statistics
import time

import bench_java
from bench_background import Metered
from bench_java import ASYNC, NOTHING, Idle, Program, compiled_classes, jdks
from bench_measure import output_of
from bench_meter import BenchError

SETTLE = 1.5 # s, until the probes are attached and the JVM is known
BATCH, BATCHES = 0.05, 40 # s of work between two looks at the clock; batches of a recording
FEWEST_ROUNDS, MOST_ROUNDS = 9, 24
# (kind of work, as BenchLoad knows it; options of the JVM; what -e jvm may cost)
LOADS = (("plain", bench_java.HEAP, 1.02),
         ("garbage", ("-XX:+UseG1GC", "-Xms96m", "-Xmx96m"), 1.02),
         ("park", bench_java.HEAP, 1.05),
         ("monitors", bench_java.HEAP, 1.05))
EVENTS = ("gc", "jvm", "runtime", "sched", "sched,jvm")
PEERS = ("wall", "lock") # events of async-profiler


class Peer:
    """async-profiler in the program, as a context."""

    def __init__(self, program, library, event):
        self.command = [jdks.tool("jcmd"), program.pid, "JVMTI.agent_load", library]
        how = "event=wall,interval=10ms" if event == "wall" else "event=lock,lock=10us"
        output_of([*self.command, f'"start,{how}"'])
        time.sleep(SETTLE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        output_of([*self.command, '"stop"'])


class Slowdown:
    """By arm, times of the work by those of runs without a recorder before and after."""

    def __init__(self, bench, version, folder, load, library):
        self.version, (self.name, options, self.most) = version, load
        self.arms = [NOTHING, *EVENTS, *(f"{ASYNC} {p}" for p in PEERS if library)]
        self.ratios = {arm: [] for arm in self.arms}
        self.hits = {arm: [] for arm in self.arms} # per second
        with Program(version, folder, (), [self.name], heap=options) as program:
            rounds = max(1, round(10 * BATCH / program.work(10)))
            program.work(20 * rounds) # until all of it is compiled
            while not self.is_enough(bench):
                self.turn(bench, program, rounds, library)
                bench.say(f"Java {version}, {self.name}, {len(self.ratios[NOTHING])}: " + ", ".join(
                    f"{arm} {found[-1]:.4f}" for arm, found in self.ratios.items()))

    def is_enough(self, bench):
        """Whether half of the control's interval is a third of what is claimed."""
        done = len(self.ratios[NOTHING])
        if done < max(FEWEST_ROUNDS, 2 * bench.rounds):
            return False
        _, low, high = median_interval(self.ratios[NOTHING])
        return done >= MOST_ROUNDS or (high - low) / 2 <= (self.most - 1) / 3

    def turn(self, bench, program, rounds, library):
        first = len(self.ratios[NOTHING]) % len(self.arms)
        before = quartile(program, rounds)
        for arm in self.arms[first:] + self.arms[:first]:
            with self.recorder(bench, arm, program, library) as recorder:
                took = quartile(program, rounds)
            after = quartile(program, rounds)
            self.ratios[arm].append(took / statistics.mean((before, after)))
            if arm in EVENTS:
                self.hits[arm].append(hits_of(recorder))
            before = after

    def recorder(self, bench, arm, program, library):
        if arm == NOTHING:
            return Idle()
        if arm not in EVENTS:
            return Peer(program, library, arm.split()[1])
        bound = ["taskset", "-c", program.others] if program.others else []
        return Metered([*bound, bench.skein, "record", "-a", "-e", arm, "-d", "600s",
                        "-o", bench.folder / "runtime.skein"], "bpf_link", 1, SETTLE)


def median_interval(values):
    """
    Return the median and the bounds of its 95 % interval by order statistics, which hold for any
    distribution, and which single disturbed rounds do not move. Six values at least.
    """
    values, n = sorted(values), len(values)
    below, chance = 0, 2 * 0.5 ** n # that the median is outside of values[below:n - below]
    while chance + 2 * math.comb(n, below + 1) * 0.5 ** n <= 0.05:
        below += 1
        chance += 2 * math.comb(n, below) * 0.5 ** n
    return statistics.median(values), values[below], values[n - 1 - below]


def quartile(program, rounds):
    """
    Return the lower quartile of the times of equal batches: what others do to the machine comes
    in bursts, which a mean over seconds would have in it.
    """
    return statistics.quantiles([program.work(rounds) for _ in range(BATCHES)])[0]


def hits_of(recorder):
    """Return how many events of probes a recording had per second."""
    said = recorder.cost.said
    hits = re.search(r"([\d,]+) probe events", said)
    seconds = re.search(r"in ([\d.]+) s", said)
    if not seconds:
        raise BenchError(f"what did it record? {said}")
    return int(hits[1].replace(",", "")) / float(seconds[1]) if hits else 0


def runtime(bench):
    """Return the Slowdown of each kind of work."""
    folder = compiled_classes(bench)
    _, library = jdks.async_profiler() or (None, None)
    if not library:
        bench.say("async-profiler cannot be had: it is not compared")
    version = max(v for v in bench_java.VERSIONS if jdks.home_of(v))
    return [Slowdown(bench, version, folder, load, library) for load in LOADS]
