# SPDX-License-Identifier: Apache-2.0
"""Make docs/performance.md from the measurements."""
import datetime
import os
import pathlib
import platform
import re
import subprocess

import bench_java_page
import bench_million
import bench_python_page
import bench_runtime_page
import bench_service_page
import bench_sched_page
import bench_slow
from bench_kernel import DEPTHS, MANY, USER_ARMS
from bench_measure import FAST, ROOT, SLOW, TOOLS, Versus
from bench_meter import Spread
from bench_text import table, verdict
from bench_unwind import CROWD

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

- **perf** is `perf record -e cpu-clock -a -g -F HZ` (by frame pointers) and
  `perf script --no-inline` into /dev/null. Not counted for perf: folding its text, which a
  script would have to do, and writing it to a disk. **perf-dwarf** is the same with
  `--call-graph dwarf`: 8 KiB of stack per sample, walked by `perf script`.
- **skein** is `skein record -a -F HZ` and `skein export -f folded` into a file. It walks every
  user stack by call frame information, in the kernel; its trace already holds all names. The
  first of its recordings here makes the unwind tables; later ones find them in its cache on disk.
- **CPU** is user and system time of every process of the command, helpers included, added up by
  the kernel when all have ended. The interrupts in which samples are taken are charged to whom
  they interrupt, for both tools: they are in "Slow-down", and skein's alone in "In the kernel".
- **Start-up** is the same command with a recording of 10 ms and its folding; "without start-up"
  subtracts the median of that.
- **interpreter** is `tools/bench_load.c`, one process per CPU: a recursive tree walker with
  frame pointers, so that perf can walk it, stacks of about 30 functions, some ten thousand
  different ones, 30 to 40 % of its time in system calls and page faults. **bare interpreter**
  is the same without frame pointers. **compiler** is `gcc -O2` over sources of this
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


def rows_of_costs(versus_list):
    for v in versus_list:
        for what, started in (("all", True), ("without start-up", False)):
            costs = [v.per_sample(tool, started) for tool in v.tools]
            yield (f"{v.load}, {v.rate:,} Hz, {what}",
                   *(cost.text("{:.2f}", 1e6) for cost in costs),
                   Versus.ratio(*costs).text("{:.3f}"))


def rows_of_parts(versus_list):
    """Yield the CPU time of each part in s, and the share of due samples that arrived."""
    for v in versus_list:
        for tool in v.tools:
            parts = (Spread(getattr(run, part).cpu for run in v.runs[tool]).median
                     for part in ("record", "fold"))
            got = min(r.samples / r.due for r in v.runs[tool])
            yield (f"{v.load}, {v.rate:,} Hz, {v.seconds:g} s: {tool}",
                   *(f"{part:.3f}" for part in parts), f"{v.start(tool):.3f}",
                   f"{v.runs[tool][-1].samples:,} (at least {got:.1%})")


def rows_of_bytes(versus_list):
    for v in versus_list:
        sizes = [v.bytes(tool) for tool in v.tools]
        yield (f"{v.load}, {v.rate:,} Hz", *(size.text("{:.1f}") for size in sizes),
               Versus.ratio(*sizes).text("{:.4f}"))


def folding_section(results):
    found = results["versus"]
    text = "\n## From recording to folded stacks\n\nCPU per sample, in µs.\n\n"
    text += table(("load, rate", "skein", "perf", "skein / perf"), rows_of_costs(found))
    text += "\nWhere it goes: CPU in s of one recording (median), of its folding, and of start-up"
    text += " with a folding of nothing;\nand the samples that were got of those that are due if"
    text += " no CPU is ever idle.\n\n"
    return text + table(("", "record", "fold", "start-up", "samples"), rows_of_parts(found))


def bytes_section(results):
    return ("\n## On disk\n\nBytes of the file per sample in it. skein's holds every name; "
            "perf.data holds\naddresses, and needs the machine's binaries to be read.\n\n"
            + table(("load, rate", "skein", "perf.data", "skein / perf"),
                    rows_of_bytes(results["versus"])))


def dwarf_section(results):
    found = [results["dwarf"]]
    text = ("\n## Without frame pointers: beside perf's DWARF unwinding\n\nCPU per sample from "
            "recording to folded stacks, in µs; where it goes, in s; bytes of the\nfile per "
            "sample.\n\n")
    head = ("skein", "perf-dwarf", "skein / perf-dwarf")
    text += table(("CPU: load, rate", *head), rows_of_costs(found)) + "\n"
    text += table(("", "record", "fold", "start-up", "samples"), rows_of_parts(found)) + "\n"
    return text + table(("bytes: load, rate", *head), rows_of_bytes(found))


def recorder_rows(results):
    for rate, recorders in results["recorders"].items():
        for tool, r in recorders.items():
            yield (f"{tool} record, {rate:,} Hz", r.whole.text("{:.2f} %", 100),
                   r.without_start.text("{:.2f} %", 100), r.steady.text("{:.2f} %", 100),
                   f"{r.start:.3f}")


def memory_rows(results):
    for rate, recorders in results["recorders"].items():
        for tool, r in recorders.items():
            for name, order, peak, rings in r.memory:
                shown = f"{name} ({order})" if order > 1 else name
                if name != "sleep":
                    yield f"{tool} record, {rate:,} Hz: {shown}", mib(peak), mib(rings)


def recorder_section(results):
    seconds = results["versus_slow"].seconds
    return ("\n## The recorder itself\n\nCPU of all its processes in % of one CPU over "
            f"{seconds:g} s ({FAST:,} Hz: {seconds / 6:g} s), all CPUs busy (interpreter).\n"
            "Steady: from the second second to the end of the time, by the scheduler's own "
            "account of each thread: what a longer\nrecording costs for every second more.\n\n"
            + table(("", "whole", "without start-up", "steady", "start-up, s"),
                    recorder_rows(results))
            + "\nPeak resident memory in MiB (VmHWM, seen four times a second), and how much of it "
              "are rings that it shares\nwith the kernel. Pages that processes share are counted "
              "in each.\n\n"
            + table(("process", "peak", "of which rings"), memory_rows(results)))


def kernel_section(results):
    head = [name for name, *_ in USER_ARMS]
    rows = [(depth, *(f"{results['user_stacks'][depth][name].ns / 1000:.2f}" for name in head))
            for depth in DEPTHS]
    calls = [(name, f"{cost.ns / 1000:.2f}", f"{cost.runs:,}", f"{cost.share * 100:.2f} %")
             for name, cost in results["in_calls"]]
    return ("\n## In the kernel\n\nµs per run of the program that takes a sample, by the "
            "kernel's own run-time statistics (`kernel.bpf_stats_enabled`,\nwhose reading of the "
            "clock is included), every CPU running `tools/bench_stacks.c`: a chain of functions "
            "drawn at\nrandom, 64 of them in all where it is warm. skein walks a build without "
            "frame pointers by call frame information;\n**bpf_get_stack** is what the kernel "
            "offers: a build with frame pointers, walked by `tools/bench_peer.bpf.c`, which\n"
            "does nothing else.\n\n"
            f"**New pcs**: the functions are {MANY:,}, so that nearly no return address is in "
            "skein's cache of 65,536 rules and most are\nsearched for in the tables, which are as "
            "large as LLVM's; the CPU's caches are as warm as the rate makes them. **Cold**:\n"
            f"that, at {SLOW} Hz, and between two samples the program reads all over 64 MiB, so "
            "that neither tables nor stack nor skein's\nown data are in the CPU's nearer "
            f"caches. All others are at {FAST:,} Hz.\n\n"
            + table(("user stack, functions", *head), rows)
            + "\nIn a system call below 30 functions; the last column is all of the recorder's "
              "BPF programs in % of one CPU.\n\n"
            + table(("", "µs per sample", "runs", "of one CPU"), calls))


def mib(kib):
    return f"{kib / 1024:.1f}"


def unwinding_section(results):
    crowds = []
    for what, before, after in results["crowds"]:
        growth = (after.own + after.maps + after.arena - before.own - before.maps - before.arena)
        crowds.append((what, *(f"{mib(getattr(before, part))} → {mib(getattr(after, part))}"
                               for part in ("own", "maps", "arena")),
                       f"{growth / CROWD:.1f}"))
    starts = [(what, wall.text("{:.2f}"), cpu.text("{:.2f}"), last.files,
               f"{last.bytes} in {last.memory}", f"{last.made} / {last.cached}")
              for what, wall, cpu, last in results["starts"]]
    tables = [(path, mib(size / 1024), f"{seconds * 1000:.1f}", f"{bytes_ / 1024:,.0f}")
              for path, size, seconds, bytes_ in results["tables"]]
    libraries = results["libraries"]
    return ("\n## Unwind tables\n\n"
            f"**Memory** in MiB before and after {CROWD:,} processes have come that sleep: "
            "resident in skein's processes, apart\nfrom what they share with the kernel; its BPF "
            "maps but the arena; the arena, in which tables and mappings lie.\n\n"
            + table((f"{CROWD:,} processes", "resident", "maps", "arena", "KiB for each"), crowds)
            + f"\n**Start-up** while a process has mapped the {len(libraries)} largest shared "
              f"libraries of this machine ({sum(b for b, *_ in libraries) / 1048576:,.0f} MiB of "
              "files):\ntime until skein samples (for want of tables it waits 3 s at most), and "
              "CPU of a whole recording of 10 ms.\n\n"
            + table(("cache on disk", "until it samples, s", "CPU, s", "files",
                     "tables in kernel memory", "made / from the cache"), starts)
            + "\n**Making a table**, as the worker does, the file in the page cache.\n\n"
            + table(("file", "file, MiB", "ms", "table, KiB"), tables))


# Promised CPU from recording to folded stacks, of perf's, by load, and whether start-up counts. A
# compiler's stacks are new, and five times as deep as perf's (docs/cost.md).
OF_PERF = {"interpreter": (0.5, True), "compiler": (1.5, False)}


def promise_rows(results):
    """Yield (promise, target, measured, verdict) of the measured promises."""
    for v in results.get("versus", []):
        if v.rate == FAST:
            most, started = OF_PERF[v.load]
            ratio = Versus.ratio(v.per_sample("skein", started), v.per_sample("perf", started))
            what = v.load + ("" if started else ", without start-up")
            yield (f"CPU from recording to folded stacks at {FAST:,} Hz, of perf's ({what})",
                   f"≤ {most:.2f}", ratio.text(), verdict(ratio.median, most))
    if "recorders" in results:
        r = results["recorders"][SLOW]["skein"]
        yield (f"recorder's CPU at {SLOW} Hz, all CPUs busy, start-up apart", "≤ 0.30 %",
               r.without_start.text("{:.2f} %", 100), verdict(r.without_start.median, 0.003))
        own = sum(peak - rings for _, _, peak, rings in r.memory) / 1024
        yield ("resident, all its processes, rings apart", "≤ 64 MiB", f"{own:.1f} MiB",
               verdict(own, 64))
    yield from promises_of_unwinding(results)
    yield from bench_million.promises(results)
    yield from bench_sched_page.promises(results)
    yield from bench_python_page.promises(results)
    yield from bench_java_page.promises(results)
    yield from bench_runtime_page.promises(results)
    yield from bench_service_page.promises(results)


def promises_of_unwinding(results):
    if "user_stacks" in results:
        cost = results["user_stacks"][30]["skein"]
        yield ("a sample in the kernel, warm: user stack of 30 functions, no frame pointers",
               "≤ 3 µs", f"{cost.ns / 1000:.2f} µs", verdict(cost.ns, 3000))
    if "dwarf" in results:
        v = results["dwarf"]
        cpu = Versus.ratio(*(v.per_sample(tool) for tool in v.tools))
        size = Versus.ratio(*(v.bytes(tool) for tool in v.tools))
        yield (f"CPU from recording to folded stacks at {FAST:,} Hz, of perf-dwarf's", "≤ 0.05",
               cpu.text("{:.4f}"), verdict(cpu.median, 1 / 20))
        yield ("bytes of the recording, of perf-dwarf's", "≤ 0.02", size.text("{:.4f}"),
               verdict(size.median, 1 / 50))
    for path, _, seconds, _ in results.get("tables", []):
        most = {"libjvm.so": 0.15, "libc.so.6": 0.02}.get(path.name)
        if most:
            yield (f"making the table of {path}", f"≤ {most * 1000:.0f} ms",
                   f"{seconds * 1000:.1f} ms", verdict(seconds, most))


SECTIONS = (("versus", folding_section), ("versus", bytes_section), ("dwarf", dwarf_section),
            ("recorders", recorder_section), ("user_stacks", kernel_section),
            ("scheduler", bench_sched_page.section), ("python", bench_python_page.section),
            ("java", bench_java_page.section), ("runtime", bench_runtime_page.section),
            ("service", bench_service_page.section),
            ("tables", unwinding_section), ("slowdown", bench_slow.section),
            ("million", bench_million.section))


def page(results, rounds, loadavg):
    cpus = len(os.sched_getaffinity(0))
    text = HEAD + "".join(f"| {key} | {value} |\n" for key, value in machine())
    text += HOW.format(rounds=f"{rounds} round{'s' * (rounds != 1)}", cpus=cpus,
                       loadavg=f"{loadavg:.2f}")
    text += "\n## What is promised\n\n"
    text += table(("promise (docs/design.md, section 7)", "target", "measured", ""),
                  promise_rows(results))
    return text + "".join(section(results) for key, section in SECTIONS if key in results)


PROMISED = "## What is promised\n"
SECTION = re.compile(r"^(?=## )", re.M)


def spliced(old, new, loadavg):
    """
    Return the page with its sections and promises replaced by those of another page, or extended
    by them.
    """
    head, *parts = SECTION.split(old)
    sections = {part.splitlines(True)[0]: part for part in parts}
    note = (f"\nMeasured apart from the rest, at commit {commit()}, "
            f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, when the load "
            f"average had been {loadavg:.2f}.\n")
    for part in SECTION.split(new)[1:]:
        title = part.splitlines(True)[0]
        if title == PROMISED:
            sections[title] = promises_spliced(sections.get(title, title), part)
        elif not title.startswith("## How to read"):
            sections[title] = title + note + part[len(title):]
    return "\n\n".join(part.rstrip("\n") for part in (head, *sections.values())) + "\n"


def promises_spliced(old, new):
    rows = {promise_of(line): line for text in (old, new) for line in text.splitlines()
            if line.startswith("|")}
    return PROMISED + "\n" + "\n".join(rows.values())


def promise_of(line):
    """Return the first cell of a row without the figures in its brackets, which are measured."""
    return re.sub(r"\([^)]*\)", lambda m: re.sub(r"[\d.,]+", "", m[0]), line.split(" | ")[0])
