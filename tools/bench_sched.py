# SPDX-License-Identifier: Apache-2.0
"""Measure the cost of scheduler recorders: skein next to others, in one run."""
import contextlib
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import time

import bench_kernel
from bench_background import Metered
from bench_measure import ROOT, output_of
from bench_meter import BenchError, Spread
from bench_sched_load import Database, Messaging, Pipe, Redis, stat_of_machine

NEEDED = ("perf", "taskset", "clang-16", "bpftool", "bpftrace", "offcputime", "redis-server",
          "redis-benchmark")
TRACEFS = pathlib.Path("/sys/kernel/tracing")
SETTLE = 0.8  # s from attaching to the load
# least switches of the long messaging run, so that names have little weight in its bytes
LONG_SWITCHES = 1_000_000
LONG_MARGIN = 1.2  # factor by which to exceed that, because runs differ in their number of switches
LONG_TRIES = 3
PLAIN = "plain"
EMPTY, PAIR = "empty switch program", "empty switch and waking programs"
EMPTY_ALL = "empty switch, waking and switch-end programs"
SKEIN, SKEIN_CPU = "skein record -e sched", "skein record -e cpu,sched"
SKEIN_OFF, SKEIN_OFF_ALL = "skein record -e off-cpu", "skein record -e off-cpu --all-stacks"
# stacks of waits of four seconds and longer, and of hardly any others
SKEIN_OFF_FEW = "skein record -e off-cpu --off-cpu-period 4s"
PERF, OFFCPUTIME = "perf sched record", "offcputime (libbpf-tools)"


class Arm:
    """A recorder. hook, hooks: the descriptors that show that it has started."""

    def __init__(self, name, command, path=None, hook="bpf_link", hooks=1):
        self.name, self.command, self.path = name, command, path
        self.hook, self.hooks = hook, hooks

    @property
    def is_skein(self):
        return self.name.startswith("skein")

    def start(self, cpus):
        """Return a Metered; cpus are those that it is bound to, or None."""
        if self.path:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
        bound = ["taskset", "-c", cpus] if cpus is not None else []
        return Metered([*bound, *self.command], self.hook, self.hooks, SETTLE,
                       insist=self.command[0] == "bpftrace")


def skein_command(bench, name, path):
    """name: that of the arm, which is the command and its options."""
    return [bench.skein, *name.split()[1:], "-a", "-q", "--unwind-cache",
            bench.folder / "cache", "-o", path]


def empty_programs(bench):
    """Return [loader, object]."""
    program = bench.folder / "bench_empty.bpf.o"
    output_of(["clang-16", "-g", "-O2", "-mcpu=v3", "-target", "bpf",
               f"-I/usr/include/{os.uname().machine}-linux-gnu", "-c", "-o", program,
               ROOT / "tools" / "bench_empty.bpf.c"])
    return [bench.compile("bench_empty", "-O2", "bench_empty.c", "-lbpf"), program]


def arms_of(bench):
    empty, folder = empty_programs(bench), bench.folder
    perf = folder / "sched.perf"
    arms = [Arm(EMPTY, [*empty, "empty_switch"]),
            Arm(PAIR, [*empty, "empty_switch", "empty_waking"], hooks=2)]
    for name in (SKEIN, SKEIN_CPU, SKEIN_OFF, SKEIN_OFF_ALL):
        path = folder / f"{name.replace(' ', '-')}.skein"
        arms.append(Arm(name, skein_command(bench, name, path), path))
    arms += [Arm("bpftrace, counting switches",
                 ["bpftrace", "-e", "tracepoint:sched:sched_switch { @ = count(); }"],
                 hook="perf_event"),
             Arm(OFFCPUTIME, ["offcputime"]),
             Arm(PERF, ["perf", "sched", "record", "-q", "-o", perf], perf, "perf_event",
                 bench.cpus)]
    return arms


def storms_of(bench):
    first, last = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
    return [Pipe("pipe, pinned", (last,), first), Pipe("pipe, not pinned"),
            Pipe("two pipes, pinned", (first, last)), Messaging("messaging"),
            Redis("redis", bench.folder)]


@contextlib.contextmanager
def tracefs():
    """Mount tracefs for the recorders that need it."""
    mounted = (TRACEFS / "events").exists()
    if not mounted:
        output_of(["mount", "-t", "tracefs", "tracefs", TRACEFS])
    try:
        yield
    finally:
        if not mounted:
            subprocess.run(["umount", TRACEFS], check=False, capture_output=True)


class Stored:
    """A trace of skein's. lost: switches and wake-ups; records: bytes of slices and edges."""

    def __init__(self, bench, path):
        def ask(sql):
            return json.loads(output_of([bench.skein, "query", "--json", path, sql]))

        self.lost = ask("SELECT sum(count) AS n FROM loss WHERE reason = "
                        "(SELECT id FROM loss_reason WHERE word = 'switches lost')")[0]["n"] or 0
        self.records = ask("SELECT sum(length(data)) AS n FROM chunk "
                           "WHERE kind IN ('slice', 'edge')")[0]["n"] or 0


class Run:
    """A load under a recorder. share: CPUs that the recorder used during the load."""

    def __init__(self, bench, storm, arm):
        with arm.start(storm.recorder) as recorder:
            before = recorder.cpu()
            self.done = storm.once()
            self.share = (recorder.cpu() - before) / self.done.seconds
        self.cpu = recorder.cost.cpu
        memory = recorder.cost.watch.memory.values()
        self.rings = sum(rings for *_, rings in memory) / 1024  # MiB, as self.resident
        self.resident = sum(peak - rings for _, peak, rings in memory) / 1024
        self.bytes = arm.path.stat().st_size if arm.path else 0
        self.stored = Stored(bench, arm.path) if arm.is_skein else None


class Matrix:
    """The runs of all recorders under one load, with plain runs before and after each."""

    def __init__(self, storm):
        self.storm = storm
        self.plain = []  # Done
        self.runs = {}  # arm's name: [Run]
        self.ratios = {PLAIN: []}  # arm's name: [time relative to the plain runs around it]

    def turn(self, bench, arms, order):
        around = [self.storm.once()]
        for arm in order:
            run = Run(bench, self.storm, arm)
            around.append(self.storm.once())
            self.runs.setdefault(arm.name, []).append(run)
            self.ratios.setdefault(arm.name, []).append(
                run.done.time / statistics.mean(d.time for d in around[-2:]))
        self.ratios[PLAIN] += [b.time / a.time for a, b in zip(around, around[1:])]
        self.plain += around
        bench.say(f"{self.storm.name}: " + ", ".join(
            f"{arm.name} {self.ratios[arm.name][-1]:.3f}" for arm in arms))

    def ratio(self, name):
        return Spread(self.ratios[name])

    def above(self, name, other):
        return Spread(a - b for a, b in zip(self.ratios[name], self.ratios[other]))

    def of(self, name, what):
        """Return the Spread of a number; what maps a Run to the number."""
        return Spread(what(run) for run in self.runs[name])

    def per_switch(self, name):
        """Return the bytes of the file per switch."""
        return self.of(name, lambda run: run.bytes / run.done.switches)

    def switches(self, name):
        return sum(run.done.switches for run in self.runs[name])

    def rate(self):
        """Return the switches per second of plain runs."""
        return Spread(done.switches / done.seconds for done in self.plain)

    def steal(self):
        return Spread(done.steal for done in self.plain + [r.done for r in self.all_runs()])

    def all_runs(self):
        return [run for runs in self.runs.values() for run in runs]


def matrices(bench):
    """Return [Matrix]; the pinned pipe, which decides, has more rounds."""
    found, arms = [], arms_of(bench)
    for storm in storms_of(bench):
        matrix = Matrix(storm)
        with storm:
            storm.scale(bench.seconds / 16)
            for turn in range(bench.rounds * (1 if found else 3)):
                matrix.turn(bench, arms, arms[turn % len(arms):] + arms[:turn % len(arms)])
        found.append(matrix)
    return found


class Sized:
    """A longer recording that measures its bytes. share: CPUs that the recorder used."""

    def __init__(self, bench, arm, load):
        with arm.start(None) as recorder:
            before, cpu, begun = stat_of_machine()[0], recorder.cpu(), time.monotonic()
            load()
            self.seconds = time.monotonic() - begun
            self.share = (recorder.cpu() - cpu) / self.seconds
            self.switches = max(stat_of_machine()[0] - before, 1)
        self.bytes = arm.path.stat().st_size
        self.stored = Stored(bench, arm.path) if arm.is_skein else None

    @property
    def per_switch(self):
        return self.bytes / self.switches

    @property
    def records_per_switch(self):
        """Return the bytes of slices and edges alone."""
        return self.stored.records / self.switches


def sized_by_switches(bench, arm, storm):
    """Return a Sized with at least LONG_SWITCHES; make storm longer until it has as many."""
    for _ in range(LONG_TRIES):
        sized = Sized(bench, arm, storm.once)
        if sized.switches >= LONG_SWITCHES:
            return sized
        storm.scale_to_switches(LONG_MARGIN * LONG_SWITCHES, sized.switches)
    raise BenchError(f"{storm.name}: {sized.switches:,} switches where {LONG_SWITCHES:,} were "
                     f"wanted, after {LONG_TRIES} tries")


class AtLength:
    """
    For each recorder that writes a file, by the name of its Arm: Sized of messaging for
    LONG_SWITCHES, and, for some time, of a machine that compiles, and of one that compiles and
    serves; and of servers alone.
    """

    def __init__(self, bench):
        self.seconds, self.cpus = bench.seconds / 2, bench.cpus
        self.arms = [arm for arm in arms_of(bench) if arm.path]
        messaging, redis = Messaging("messaging"), Redis("redis", bench.folder)
        messaging.scale_to_switches(LONG_MARGIN * LONG_SWITCHES, messaging.once().switches)
        self.messaging = self._sizes(
            bench, messaging.name, lambda arm: sized_by_switches(bench, arm, messaging))
        with bench.busy("compiler"):
            self.compiler = self._sizes(bench, "gcc", lambda arm: Sized(bench, arm, self._wait))
            with redis, redis.for_ever():
                self.mixed = self._sizes(bench, "gcc and redis",
                                         lambda arm: Sized(bench, arm, self._wait))
        with redis, redis.for_ever():
            self.redis = self._sizes(bench, "redis", lambda arm: Sized(bench, arm, self._wait))
        with Database("pgbench", bench.folder) as database, database.for_ever():
            self.database = self._sizes(bench, "pgbench",
                                        lambda arm: Sized(bench, arm, self._wait))

    def _wait(self):
        time.sleep(self.seconds)

    def _sizes(self, bench, what, record):
        """Measure all arms; record maps an Arm to a Sized."""
        sizes = {arm.name: record(arm) for arm in self.arms}
        bench.say(f"bytes per switch, {what}: " + ", ".join(
            f"{name} {sized.per_switch:.2f}" for name, sized in sizes.items()))
        return sizes


def program_name(ident):
    program = json.loads(output_of(["bpftool", "-j", "prog", "show", "id", ident]))
    return program.get("name", str(ident))


def costs(before, after):
    """Return {program: (runs, ns)} of what ran between two readings of bench_kernel.programs()."""
    found = {}
    for ident in before.keys() & after.keys():
        runs = after[ident][1] - before[ident][1]
        if runs:
            found[program_name(ident)] = (runs, after[ident][2] - before[ident][2])
    return found


class Programs:
    """
    What the BPF programs of several recorders take by the kernel's run-time statistics, all at
    once on one load, so that they can be compared. The first program at a hook also reads for the
    others what is not in the cache; so in a round, the recorders begin in every order. rounds:
    for each round, [{arm's name: {program: (runs, ns)}}].
    """

    def __init__(self, bench, rounds):
        empty = Arm(EMPTY_ALL, [*empty_programs(bench), "empty_switch", "empty_waking",
                                "empty_exit"], hooks=3)
        arms = [Arm(name, skein_command(bench, name, bench.folder / f"programs-{i}.skein"))
                for i, name in enumerate((SKEIN, SKEIN_OFF_FEW, SKEIN_OFF))]
        storm = storms_of(bench)[0]
        storm.scale(bench.seconds / 16)
        self.rounds = [[self._turn(storm, [*order, empty])
                        for order in itertools.permutations(arms)] for _ in range(rounds)]

    @staticmethod
    def _turn(storm, arms):
        with contextlib.ExitStack() as stack:
            running = {arm.name: stack.enter_context(arm.start(storm.recorder)) for arm in arms}
            stack.enter_context(bench_kernel.bpf_statistics())
            before = {name: bench_kernel.programs(r.pid) for name, r in running.items()}
            storm.once()
            return {name: costs(before[name], bench_kernel.programs(r.pid))
                    for name, r in running.items()}

    def per_run(self, arm, program):
        """Return the Spread of the ns that a program takes, over the rounds."""
        return Spread(sum(turn[arm][program][1] for turn in turns)
                      / sum(turn[arm][program][0] for turn in turns) for turns in self.rounds)

    def rows(self):
        """Yield (arm's name, program, runs, Spread of ns per run)."""
        turns = [turn for turns in self.rounds for turn in turns]
        for arm in turns[0]:
            for program in sorted(turns[0][arm]):
                if all(program in turn[arm] for turn in turns):
                    yield (arm, program, sum(turn[arm][program][0] for turn in turns),
                           self.per_run(arm, program))

    def added(self, name):
        """
        Return the Spread of the ns that an arm's programs add to those of SKEIN for a switch with
        its waking. Of the hook at the end of a switch, which SKEIN does not have, what an empty
        program takes is left out: it is the statistics' own reading of the clock.
        """
        parts = [(name, "on_switch", 1), (SKEIN, "on_switch", -1), (name, "on_waking", 1),
                 (SKEIN, "on_waking", -1), (name, "wait_ended", 1), (EMPTY_ALL, "empty_exit", -1)]
        found = [[sign * value for value in self.per_run(arm, program).values]
                 for arm, program, sign in parts]
        return Spread(map(sum, zip(*found)))


def scheduler(bench):
    """Return {"matrices": matrices(), "lengths": AtLength, "programs": programs()}."""
    if bench.cpus < 2:
        raise BenchError("a CPU for the pipe and one for the recorder: this machine has one")
    with tracefs():
        return {"matrices": matrices(bench), "lengths": AtLength(bench),
                "programs": Programs(bench, bench.rounds)}
