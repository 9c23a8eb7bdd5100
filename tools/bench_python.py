# SPDX-License-Identifier: Apache-2.0
"""
Measure profilers of a Python program: their cost for the program, their own cost, and their
accuracy.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import bench_kernel
from bench_measure import FAST, ROOT
from bench_meter import BenchError, Load, Recorder, Spread
from bench_python_arms import PYSPY, SKEIN, Clock, arms_of, version_of
from bench_python_stacks import Accuracy, Possible, Profile

LOAD = ROOT / "tools" / "bench_python_load.py"
RATES = (99, 999)  # Hz
KINDS = ("single", "threads")
DEPTHS = (10, 30, 100)
WITHOUT = {"SKEIN_DEBUG_WALK": "no-python"}


class Done:
    """
    The load's work and its true shares. wall, cpu: s for one round, cpu of its threads; seconds:
    of all rounds.
    """

    def __init__(self, result, rounds):
        self.truth, self.seconds, self.spent = result, result["wall"], result["total"] / 1e9
        self.wall, self.cpu = result["wall"] / rounds, self.spent / rounds


class Target:
    """The profiled program, which stays alive for all profilers. kind: of KINDS."""

    def __init__(self, kind):
        self.kind = kind
        # the CPUs to which profilers are bound, if the program has one of its own
        self.recorders = None
        bound = []
        cpus = sorted(os.sched_getaffinity(0))
        if kind == "single" and len(cpus) > 1:
            bound = ["taskset", "-c", str(cpus[-1])]
            self.recorders = ",".join(str(cpu) for cpu in cpus[:-1])
        self.process = subprocess.Popen([*bound, sys.executable, LOAD, kind], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = int(self._line())

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise BenchError(f"{LOAD.name} {self.kind} ended")
        return line

    def work(self, rounds):
        self.process.stdin.write(f"{rounds}\n")
        self.process.stdin.flush()
        return Done(json.loads(self._line()), rounds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def possible_stacks(kind):
    run = subprocess.run([sys.executable, LOAD, "stacks", kind], input="1\n2\n", text=True,
                         capture_output=True, check=False)
    if run.returncode:
        raise BenchError(f"{LOAD.name} stacks {kind}: {run.stderr.strip()}")
    return Possible(run.stdout)


class Run:
    """
    Work under a profiler. share: CPUs that the profiler used during the work; cpu: its s in all;
    fold: CPU s until there are stacks; due: samples, by the program's CPU time.
    """

    def __init__(self, target, arm, rate, rounds, possible):
        with arm.start(target.pid, rate, target.recorders) as recorder:
            before = recorder.cpu()
            self.done = target.work(rounds)
            self.share = (recorder.cpu() - before) / self.done.seconds
            if recorder.ended():
                raise BenchError("it has ended by itself")
        self.cpu = recorder.cost.cpu
        found = arm.stacks()
        self.fold = arm.fold.cpu if arm.fold else 0.0
        self.due = self.done.spent * rate
        self.profile = Profile(found, self.done.truth["own"], possible, arm.samples(found))


class Matrix:
    """The runs of all profilers on one kind of load, with plain runs before and after each."""

    def __init__(self, kind):
        self.kind, self.possible = kind, possible_stacks(kind)
        self.rounds = {}  # of the work, of a run under a profiler and of a plain one
        self.runs = {}  # (profiler's name, Hz): [Run]
        # (profiler's name, Hz): [(wall, CPU) relative to the plain runs around it]
        self.ratios = {}
        self.noise = []  # the same of a plain run relative to the previous one
        self.failed = {}  # (profiler's name, Hz): the last reason

    def scale(self, seconds):
        with Target(self.kind) as target:
            each = target.work(4).wall
        self.rounds = {"run": max(2, round(seconds / each)),
                       "plain": max(1, round(seconds / 2.5 / each))}

    def turn(self, bench, order, whole=True):
        """
        Run one turn. order: [(Arm, Hz)]; not whole: only the ratios count, so that all have as
        many runs.
        """
        with Target(self.kind) as target:
            plain = target.work(self.rounds["plain"])
            for arm, rate in order:
                run = self._run(bench, target, arm, rate)
                after = target.work(self.rounds["plain"])
                self.noise.append((after.wall / plain.wall, after.cpu / plain.cpu))
                if run:
                    self._note(run, arm.name, rate, plain, after)
                if run and whole:
                    self.runs.setdefault((arm.name, rate), []).append(run)
                plain = after

    def _run(self, bench, target, arm, rate):
        rounds = max(1, round(self.rounds["run"] * arm.part))
        try:
            return Run(target, arm, rate, rounds, self.possible)
        except (BenchError, OSError, ValueError) as e:
            self.failed[arm.name, rate] = str(e)
            bench.say(f"{self.kind}, {rate} Hz: {arm.name} failed: {e}")
            return None

    def _note(self, run, name, rate, *around):
        self.ratios.setdefault((name, rate), []).append(tuple(
            getattr(run.done, clock) / statistics.mean(getattr(p, clock) for p in around)
            for clock in ("wall", "cpu")))

    def say(self, bench, rate):
        for (name, hz), runs in self.runs.items():
            if hz == rate:
                accuracy = Accuracy([runs[-1].profile], [runs[-1].done.truth])
                wall, cpu = self.ratios[name, hz][-1]
                bench.say(f"{self.kind}, {rate} Hz, {name}: wall {wall:.3f}, CPU {cpu:.3f}, itself "
                          f"{runs[-1].share:.2%}, errors {accuracy.mean:.2f}, "
                          f"{accuracy.worst[0]:.2f}")

    def names(self):
        """Return the profilers that were compared in everything."""
        return list(dict.fromkeys(name for name, _ in self.runs))

    def of(self, key, what):
        """Return the Spread of a number; what maps a Run to the number."""
        return Spread(what(run) for run in self.runs[key])

    def ratio(self, key, clock):
        """Return the Spread of ratios. clock: 0 wall, 1 CPU; key None means the noise."""
        return Spread(r[clock] for r in (self.ratios[key] if key else self.noise))

    def by(self, name, other, rate, what):
        """Return the Spread of one profiler's numbers relative to another's, round by round."""
        return Spread(what(a) / what(b) for a, b in zip(
            self.runs[name, rate], self.runs[other, rate]) if what(b) > 0)

    def accuracy(self, key):
        """Return the accuracy over all rounds."""
        runs = self.runs[key]
        return Accuracy([run.profile for run in runs], [run.done.truth for run in runs])

    def errors(self, key):
        """Return the mean error of each round."""
        return Spread(Accuracy([run.profile], [run.done.truth]).mean for run in self.runs[key])


def matrices(bench, arms):
    """
    Return [Matrix]. As far as the rounds suffice, each profiler comes first in one of them. The
    cost of skein, the first of arms, for the single thread is small, so it is measured three times
    as often, next to the cost of its clock alone.
    """
    found = []
    for kind in KINDS:
        matrix = Matrix(kind)
        matrix.scale(bench.seconds / 14)
        for turn in range(bench.rounds):
            first = turn % len(arms)
            order = arms[first:] + arms[:first]
            for rate in RATES:
                matrix.turn(bench, [(arm, rate) for arm in order])
                matrix.say(bench, rate)
        if kind == KINDS[0]:
            for _ in range(2 * bench.rounds):
                matrix.turn(bench, [(arms[0], rate) for rate in RATES] +
                            [(Clock(bench), max(RATES))], whole=False)
        found.append(matrix)
    return found


def wait_for_samples(pid):
    """Wait until a recorder samples; it opens its events before it enables them."""
    end = time.monotonic() + 20
    while not any(kind == bench_kernel.PERF_EVENT_PROGRAM and runs
                  for kind, runs, _ in bench_kernel.programs(pid).values()):
        if time.monotonic() > end:
            raise BenchError("a recorder takes no samples")
        time.sleep(0.05)


class InKernel:
    """
    The cost of a sample in the kernel. depths: {N: (ProgramCost, the same without Python)}, the
    smaller of two measurements each, because disturbances only make a walk slower.
    """

    def __init__(self, bench):
        self.depths = {depth: self._pair(bench, [sys.executable, LOAD, "deep", depth], FAST)
                       for depth in DEPTHS}
        for depth, (python, native) in self.depths.items():
            bench.say(f"in the kernel: {depth} Python functions: {python.ns:.0f} ns, without "
                      f"Python's {native.ns:.0f} ns")

    @classmethod
    def _pair(cls, bench, command, rate):
        with Load(command, bench.cpus):
            costs = [[cls._cost(bench, rate, environment) for environment in ({}, WITHOUT)]
                     for _ in range(2)]
        return tuple(min(column, key=lambda cost: cost.ns) for column in zip(*costs))

    @staticmethod
    def _cost(bench, rate, environment):
        command, _ = bench.recording("skein", rate, 60, "python-programs")
        words = [f"{key}={value}" for key, value in environment.items()]
        with bench_kernel.bpf_statistics(), Recorder(["env", *words, *command],
                                                     bench.events("skein")) as recorder:
            wait_for_samples(recorder.pid)
            time.sleep(0.5)  # its tables and the interpreter are known
            begun, first = time.monotonic(), bench_kernel.programs(recorder.pid)
            time.sleep(1.5)
            last = bench_kernel.programs(recorder.pid)
            return bench_kernel.ProgramCost(first, last, time.monotonic() - begun)

    def per_frame(self):
        """Return the ns per additional Python frame, without the growth of the native stack."""
        low, high = min(DEPTHS), max(DEPTHS)
        growth = [self.depths[high][i].ns - self.depths[low][i].ns for i in (0, 1)]
        return (growth[0] - growth[1]) / (high - low)


class OfTheMix:
    """
    The cost in ns of a sample of the load in the kernel at the faster rate, including the samples
    of other programs that are left out.
    """

    def __init__(self, bench, arm):
        rate = max(RATES)
        with Target(KINDS[0]) as target, bench_kernel.bpf_statistics():
            with Recorder(arm.command(target.pid, rate), arm.events) as recorder:
                wait_for_samples(recorder.pid)
                first = bench_kernel.programs(recorder.pid)
                begun = time.monotonic()
                done = target.work(8)
                last = bench_kernel.programs(recorder.pid)
                cost = bench_kernel.ProgramCost(first, last, time.monotonic() - begun)
        self.ns = cost.ns * cost.runs / (done.spent * rate)


def python(bench):
    """
    Return {"matrices": matrices(), "missing": [name], "versions": [text], "kernel": InKernel, …}.
    """
    arms, missing = arms_of(bench)
    for name in missing:
        bench.say(f"{name} cannot be had: it is not compared")
    versions = [f"Python {sys.version.split()[0]}"]
    versions += [version_of(arm.program) for arm in arms if arm.name in (PYSPY, "austin")]
    found = {"missing": missing, "versions": versions, "kernel": InKernel(bench),
             "mix": OfTheMix(bench, arms[0])}
    return {**found, "matrices": matrices(bench, arms)}


