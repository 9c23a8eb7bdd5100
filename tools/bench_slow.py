# SPDX-License-Identifier: Apache-2.0
"""Measure the cost of a recorder of the whole machine for the recorded programs, and for itself."""
import os
import signal
import statistics

from bench_background import Metered
from bench_measure import FAST, SLOW, STUDENT, output_of
from bench_text import table

LOADS = {
    "fixed": "computes, 30 functions deep",
    "calls": "short system calls, 30 functions deep",
    "forks": "forks, 30 functions deep, and runs /bin/true",
}
NOTHING = ("nothing", 0)
ARMS = (NOTHING, *((tool, rate) for rate in (SLOW, FAST) for tool in ("skein", "perf")),
        ("bpftrace", SLOW))
SETTLE = 0.3 # s
STACKS = "profile:hz:{} {{ @[kstack, ustack, comm] = count(); }}"


def interval(values):
    """Return (mean, half of its 95 % interval)."""
    n = len(values)
    quantile = STUDENT[min(n - 2, len(STUDENT) - 1)]
    return statistics.mean(values), quantile * statistics.stdev(values) / n ** 0.5


class Work:
    """A fixed amount of work on the last CPU, in s: wall, and the program's own CPU time."""

    def __init__(self, bench, load, chunks):
        cpu = max(os.sched_getaffinity(0))
        out = output_of(["taskset", "-c", cpu, bench.load, load, chunks])
        rows = [[int(n) for n in line.split()] for line in out.splitlines()]
        self.wall, self.cpu = (sum(column) / 1e9 for column in zip(*rows))

    def over(self, *others):
        """Return (wall, CPU time) as ratios to the mean of the others."""
        return tuple(getattr(self, clock) / statistics.mean(getattr(o, clock) for o in others)
                     for clock in ("wall", "cpu"))


def recorder(bench, tool, rate):
    if tool == "bpftrace":
        command = ["bpftrace", "-q", "-o", bench.folder / "slow.bpftrace", "-e",
                   STACKS.format(rate)]
    else:
        command = bench.recording(tool, rate, 60, "slow")[0]
    events = bench.cpus if tool == "bpftrace" else bench.events(tool)
    # perf returns the status of its sleep, which it kills
    return Metered(command, "perf_event", events, SETTLE, insist=tool == "bpftrace",
                   fine=-signal.SIGTERM)


def under(bench, load, arm, chunks):
    """Return (the work, CPUs that the recorder used during it)."""
    if arm == NOTHING:
        return Work(bench, load, chunks), 0.0
    with recorder(bench, *arm) as running:
        before = running.cpu()
        work = Work(bench, load, chunks)
        used = running.cpu() - before
    return work, used / work.wall


class Slowdown:
    """One load: by arm, [(ratio of wall time, ratio of CPU time, the recorder's CPUs)]."""

    def __init__(self, bench, load, seconds, rounds):
        self.load, self.rows = load, {arm: [] for arm in ARMS}
        chunks = max(1, round(20 * seconds / Work(bench, load, 20).cpu))
        for turn in range(rounds):
            order = ARMS[turn % len(ARMS):] + ARMS[:turn % len(ARMS)]
            before = Work(bench, load, chunks)
            done = {arm: under(bench, load, arm, chunks) for arm in order}
            after = Work(bench, load, chunks)
            for arm, (work, cpus) in done.items():
                self.rows[arm].append((*work.over(before, after), cpus))
            bench.say(f"slow-down, {load}, round {turn + 1}, CPU time: " + ", ".join(
                f"{tool} {rate} Hz {self.rows[tool, rate][-1][1]:.4f}" for tool, rate in ARMS))


def slowdown(bench, seconds, rounds):
    return [Slowdown(bench, load, seconds, rounds) for load in LOADS]


def lines(found):
    for (tool, rate), rows in found.rows.items():
        wall, own, cpus = (interval(column) for column in zip(*rows))
        each = f"{(own[0] - 1) * 1e6 / rate:.1f} ± {own[1] * 1e6 / rate:.1f}" if rate else ""
        yield (f"{tool}, {rate:,} Hz" if rate else "nothing: the noise",
               f"{wall[0]:.3f} ± {wall[1]:.3f}", f"{own[0]:.3f} ± {own[1]:.3f}", each,
               f"{cpus[0] * 100:.2f} %" if rate else "")


def section(results):
    found = results["slowdown"]
    rounds = len(found[0].rows[NOTHING])
    text = (
        "\n## Slow-down\n\nWhat a program (`tools/bench_load.c`, bound to one CPU) takes under a "
        "recorder of the whole machine, by what it takes\nwithout one before and after: mean of "
        f"{rounds} rounds and the 95 % interval of the mean. Wall time holds all that disturbs\n"
        "it, also by others; the program's CPU time, its children's included, holds the "
        "interrupts in which samples are taken.\nA difference smaller than the row \"nothing\" "
        "spreads is none. **µs per sample** is what one sample costs the program, by\nits CPU "
        "time, timer interrupt included; at 99 Hz it is too little to be seen this way. The last "
        "column is the\nrecorder's own CPU meanwhile, in % of one, without its start and its "
        f"end. **bpftrace** is `{STACKS.format(SLOW)}`,\nwhich walks by frame pointers.\n")
    head = ("recorder", "wall time", "CPU time", "µs per sample", "its own CPU")
    for load in found:
        text += f"\n**{load.load}**: {LOADS[load.load]}.\n\n" + table(head, lines(load))
    return text
