# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md from what was measured."""
import datetime
import os
import pathlib
import platform
import re
import subprocess

from bench_measure import FAST, ROOT, SLOW, TOOLS, Versus, interval
from bench_meter import Spread

HEAD = """# Performance: skein beside perf

Written by `make bench`, which measures both tools in one run on one machine. Do not edit.

| | |
|---|---|
"""

HOW = """
## How to read this

Both tools record the same load in turns (skein first in one round, perf first in the next), so
that what disturbs the machine disturbs both. A figure is the **median of {rounds}, with the
lowest and the highest in brackets**; a ratio is taken round by round, before the median. Believe
ratios more than figures, and neither beyond its brackets: this machine has {cpus} CPUs, and its
load average was {loadavg} when the run began.

- **perf** is `perf record -e cpu-clock -a -g -F HZ` (frame pointers, as skein does now) and
  `perf script --no-inline` into /dev/null. Not counted for perf: folding its text, which a
  script would have to do, and writing it to a disk.
- **skein** is `skein record -a -F HZ` and `skein export -f folded` into a file. Its trace
  already holds all names.
- **CPU** is user and system time of every process of the command, helpers included, added up by
  the kernel when all have ended. The interrupts in which samples are taken are charged to whom
  they interrupt, for both tools: they are in "Slow-down", and skein's alone in "In the kernel".
- **Start-up** is the same command with a recording of 10 ms and its folding; "without start-up"
  subtracts the median of that.
- **interpreter** is `tools/bench_load.c`, one process per CPU: a recursive tree walker with
  frame pointers, stacks of about 30 functions, some ten thousand different ones, 30 to 40 % of
  its time in system calls and page faults. **compiler** is `gcc -O2` over sources of this
  repository, one such loop per CPU: short-lived processes without frame pointers.
"""


def command_output(*command):
    try:
        return subprocess.run(command, capture_output=True, check=True, cwd=ROOT,
                              text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def commit():
    changed = command_output("git", "status", "--porcelain", "--untracked-files=no")
    return command_output("git", "rev-parse", "--short=12", "HEAD") + (
        " with uncommitted changes" if changed else "")


def cpu_model():
    match = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return match.group(1) if match else platform.machine()


def machine():
    kernel = platform.uname()
    return [
        ("commit", commit()),
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("kernel", f"{kernel.system} {kernel.release} {kernel.machine}"),
        ("CPU", f"{cpu_model()}, {len(os.sched_getaffinity(0))} CPUs"
                f"{', virtual machine' if 'hypervisor' in cpu_flags() else ''}"),
        ("perf", command_output("perf", "--version").removeprefix("perf version ")),
    ]


def cpu_flags():
    match = re.search(r"flags\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return match.group(1).split() if match else []


def table(head, rows):
    """The first column is text, the others are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def verdict(value, target):
    return "kept" if value <= target else "**not kept**"


def rows_of_costs(versus_list):
    for v in versus_list:
        for what, started in (("all", True), ("without start-up", False)):
            costs = {tool: v.per_sample(tool, started) for tool in TOOLS}
            yield (f"{v.load}, {v.rate:,} Hz, {what}",
                   *(costs[tool].text("{:.2f}", 1e6) for tool in TOOLS),
                   Versus.ratio(costs["skein"], costs["perf"]).text("{:.2f}"))


def part_costs(v, part):
    """CPU seconds of one half of the way, by tool."""
    return {tool: f"{Spread(getattr(r, part).cpu for r in v.runs[tool]).median:.3f}"
            for tool in TOOLS}


def folding_section(results):
    found = results["versus"]
    text = "\n## From recording to folded stacks\n\nCPU per sample, in µs.\n\n"
    text += table(("load, rate", "skein", "perf", "skein / perf"), rows_of_costs(found))
    text += "\nWhere it goes: CPU in s of one recording (median), of its folding, and of start-up"
    text += " with a folding of nothing;\nand the samples that were got of those that are due if"
    text += " no CPU is ever idle.\n\n"
    rows = []
    for v in found:
        for tool in TOOLS:
            got = min(r.samples / r.due for r in v.runs[tool])
            rows.append((f"{v.load}, {v.rate:,} Hz, {v.seconds:g} s: {tool}",
                         part_costs(v, "record")[tool], part_costs(v, "fold")[tool],
                         f"{v.start(tool):.3f}",
                         f"{v.runs[tool][-1].samples:,} (at least {got:.1%})"))
    return text + table(("", "record", "fold", "start-up", "samples"), rows)


def bytes_section(results):
    rows = []
    for v in results["versus"]:
        size = {tool: v.bytes(tool) for tool in TOOLS}
        rows.append((f"{v.load}, {v.rate:,} Hz", *(size[tool].text("{:.1f}") for tool in TOOLS),
                     Versus.ratio(size["skein"], size["perf"]).text("{:.3f}")))
    return ("\n## On disk\n\nBytes of the file per sample in it. skein's holds every name; "
            "perf.data holds\naddresses, and needs the machine's binaries to be "
            "read.\n\n" + table(("load, rate", "skein", "perf.data", "skein / perf"), rows))


def recorder_section(results):
    rows, memory = [], []
    for tool in TOOLS:
        r = results["recorders"][tool]
        rows.append((f"{tool} record", r.whole.text("{:.2f} %", 100),
                     r.without_start.text("{:.2f} %", 100), r.steady.text("{:.2f} %", 100),
                     f"{r.start:.3f}"))
        memory += [(f"{tool} record: {name}{f' ({order})' if order > 1 else ''}",
                    f"{peak / 1024:.1f}", f"{rings / 1024:.1f}")
                   for name, order, peak, rings in r.memory if name != "sleep"]
    seconds = results["versus_slow"].seconds
    return (f"\n## The recorder itself at {SLOW} Hz\n\nCPU of all its processes in % of one CPU "
            f"over {seconds:g} s, all CPUs busy (interpreter). Steady: from the second second\n"
            "to the end of the time, by the scheduler's own account of each thread: what a "
            "longer recording\ncosts for every second more.\n\n"
            + table(("", "whole", "without start-up", "steady", "start-up, s"), rows)
            + "\nPeak resident memory in MiB (VmHWM, seen four times a second), and how much of it "
              "are rings that it shares\nwith the kernel. Pages that processes share are counted "
              "in each.\n\n"
            + table(("process", "peak", "of which rings"), memory))


def kernel_section(results):
    rows = [(name, f"{cost.ns / 1000:.2f}", f"{cost.runs:,}",
             f"{cost.share * 100:.2f} %") for name, cost in results["in_kernel"]]
    return ("\n## In the kernel\n\nµs per run of skein's sampling program, by the kernel's own "
            "run-time statistics (`kernel.bpf_stats_enabled`, whose\nreading of the clock is "
            "included), every CPU running the same `bench_load`. The last column is all of skein's "
            "BPF\nprograms in % of one CPU.\n\n"
            + table(("load", "µs per sample", "runs", "of one CPU"), rows))


def slowdown_section(results):
    rows = []
    for (tool, rate), ratios in results["slowdown"].items():
        wall, own = (interval(column) for column in zip(*ratios))
        cost = f"{(own[0] - 1) * 1e6 / rate:.1f} ± {own[1] * 1e6 / rate:.1f}" if rate else ""
        rows.append((f"{tool}, {rate:,} Hz" if rate else "nothing: the noise",
                     f"{wall[0]:.4f} ± {wall[1]:.4f}", f"{own[0]:.4f} ± {own[1]:.4f}", cost))
    rounds = len(results["slowdown"]["nothing", 0])
    return ("\n## Slow-down\n\nWhat a CPU-bound program (`bench_load fixed`, 30 functions deep, "
            "bound to one CPU) takes under a recorder of the whole\nmachine, by what it takes "
            f"without one before and after: mean of {rounds} rounds and the 95 % interval of the "
            "mean. Wall time\nholds all that disturbs it, also by others; the program's CPU time "
            "holds the interrupts in which samples are taken.\nA difference smaller than the "
            "row \"nothing\" spreads is none. The last column is what one sample costs the "
            "program, by its\nCPU time, timer interrupt included; at 99 Hz it is too little to "
            "be seen this way.\n\n"
            + table(("recorder", "wall time", "CPU time", "µs per sample"), rows))


def readings_section(results):
    rows = [(what, f"{samples:,}", wall.text("{:.3f}"), cpu.text("{:.3f}"), f"{peak / 1048576:.1f}")
            for what, samples, wall, cpu, peak in results["readings"]]
    return (f"\n## Reading a trace of {FAST:,} Hz\n\nThe interpreter's, on the otherwise idle "
            "machine.\n\n"
            + table(("command", "samples", "wall, s", "CPU, s", "peak memory, MiB"), rows))


def promise_rows(results):
    """(promise, target, measured, verdict), of those that were measured"""
    for v in results.get("versus", []):
        if v.rate == FAST:
            ratio = Versus.ratio(v.per_sample("skein"), v.per_sample("perf"))
            yield (f"CPU from recording to folded stacks at {FAST:,} Hz, of perf's ({v.load})",
                   "≤ 0.50", ratio.text(), verdict(ratio.median, 0.5))
    if "recorders" in results:
        r = results["recorders"]["skein"]
        yield (f"recorder's CPU at {SLOW} Hz, all CPUs busy, start-up apart", "≤ 0.30 %",
               r.without_start.text("{:.2f} %", 100), verdict(r.without_start.median, 0.003))
        own = sum(peak - rings for _, _, peak, rings in r.memory) / 1024
        yield ("resident, all its processes, rings apart", "≤ 64 MiB", f"{own:.1f} MiB",
               verdict(own, 64))
    for name, cost in results.get("in_kernel", [])[1:2]:
        yield (f"a sample in the kernel, warm: {name}", "≤ 3 µs", f"{cost.ns / 1000:.2f} µs",
               verdict(cost.ns, 3000))


SECTIONS = (("versus", folding_section), ("versus", bytes_section),
            ("recorders", recorder_section), ("in_kernel", kernel_section),
            ("slowdown", slowdown_section), ("readings", readings_section))


def page(results, rounds, loadavg):
    cpus = len(os.sched_getaffinity(0))
    text = HEAD + "".join(f"| {key} | {value} |\n" for key, value in machine())
    text += HOW.format(rounds=f"{rounds} round{'s' * (rounds != 1)}", cpus=cpus,
                       loadavg=f"{loadavg:.2f}")
    text += "\n## What is promised\n\n"
    text += table(("promise (docs/design.md, section 7)", "target", "measured", ""),
                  promise_rows(results))
    text += ("\nThe comparison with perf's DWARF unwinding is not made yet: skein walks frame "
             "pointers so far.\n")
    return text + "".join(section(results) for key, section in SECTIONS if key in results)
