# SPDX-License-Identifier: Apache-2.0
"""Measure skein next to perf, in turns, each on the same load."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import time

from bench_meter import BenchError, Load, Spread, cost_of

ROOT = pathlib.Path(__file__).resolve().parents[1]
SLOW, FAST = 99, 10000  # Hz
TOOLS = ("skein", "perf")
DWARF = ("skein", "perf-dwarf")
# The 97.5 % quantiles of Student's t by degrees of freedom.
STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def output_of(command):
    run = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    if run.returncode:
        raise BenchError(f"{command[0]}: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout.decode(errors="replace")


class Bench:
    """The parameters of all measurements: tools, loads, a folder, durations and rounds."""

    def __init__(self, skein, folder, seconds, rounds, say):
        self.skein, self.folder, self.say = skein, pathlib.Path(folder), say
        self.seconds, self.rounds = seconds, rounds
        self.cpus = len(os.sched_getaffinity(0))
        flags = ("-O2", "-fno-inline", "-fno-optimize-sibling-calls", "bench_load.c")
        self.load = self.compile("bench_load", "-fno-omit-frame-pointer", *flags)
        self.bare = self.compile("bench_load_bare", "-fomit-frame-pointer", *flags)
        self.loads = {"interpreter": [self.load, "mix", 3600],
                      "bare interpreter": [self.bare, "mix", 3600],
                      "compiler": self._compiling()}

    def compile(self, name, *words):
        """Compile a program of tools/; words are flags and sources."""
        program = self.folder / name
        output_of(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-o", program,
                   *(ROOT / "tools" / w if w.endswith(".c") else w for w in words)])
        return program

    def compile_with_library(self, name):
        """Compile a program that uses skein's library and is linked like skein."""
        libraries = re.search(r"^LDLIBS \+= (.*)$", (ROOT / "Makefile").read_text(), re.M).group(1)
        return self.compile(name, "-O2", f"-I{ROOT}", f"-I{ROOT / 'user'}", f"{name}.c",
                            str(self.skein.parent / "libskein.a"), *libraries.split())

    def _compiling(self):
        """Compile this repository's sources repeatedly, as `make` does."""
        copy = self.folder / "sources"
        for room in ("user", "bpf", "symbolizers"):
            shutil.copytree(ROOT / room, copy / room)
        flags = ["-std=gnu11", "-D_GNU_SOURCE", "-DXXH_INLINE_ALL", "-O2", "-g", "-I", copy,
                 "-I", copy / "user", "-c", "-o", os.devnull]
        files = sorted([*copy.glob("user/base/*.c"), *copy.glob("user/analyze/*.c")])
        loop = 'n=$1; shift; while :; do for f in "${@:n}"; do "${@:1:n-1}" "$f"; done; done'
        command = ["gcc", *flags]
        return ["bash", "-c", loop, "bash", len(command) + 1, *command, *files]

    def busy(self, load):
        return Load(self.loads[load], self.cpus)

    def recording(self, tool, rate, seconds, name="trace"):
        """Return (command, file)."""
        path = self.folder / f"{name}.{tool}"
        if tool == "skein":
            return [self.skein, "record", "-a", "-q", "-F", rate, "-d", f"{seconds * 1000:.0f}ms",
                    "--unwind-cache", self.folder / "cache", "-o", path], path
        stacks = ["--call-graph", "dwarf"] if tool == "perf-dwarf" else ["-g"]
        return ["perf", "record", "-q", "-e", "cpu-clock", "-a", *stacks, "-F", rate, "-o", path,
                "--", "sleep", f"{seconds}"], path

    def events(self, tool):
        """Return how many perf events a sampling tool has open; skein has side-band events, too."""
        return self.cpus * (2 if tool == "skein" else 1)

    def folding(self, tool, path):
        if tool == "skein":
            return [self.skein, "export", "-f", "folded", "-o", self.folder / "out.folded", path]
        return ["perf", "script", "--no-inline", "-i", path]

    def samples(self, tool, path):
        if tool == "skein":
            answer = output_of([self.skein, "query", "--json", path,
                                "SELECT sum(count) AS n FROM sum"])
            return json.loads(answer)[0]["n"] or 0
        answer = output_of(["perf", "report", "--stats", "-i", path])
        found = re.search(r"SAMPLE events: *(\d+)", answer)
        if not found:
            raise BenchError(f"perf shows nothing about its samples in {path}")
        return int(found.group(1))

    def turns(self, tools):
        """Yield (round, tool), each tool first in every other round."""
        for turn in range(self.rounds):
            for tool in tools if turn % 2 == 0 else tools[::-1]:
                yield turn, tool


class Pipeline:
    """One recording and its folding, with their results."""

    def __init__(self, bench, load, tool, rate, seconds, name="trace"):
        command, path = bench.recording(tool, rate, seconds, name)
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        with bench.busy(load):
            self.record = cost_of(command)
        self.bytes = path.stat().st_size
        self.fold = cost_of(bench.folding(tool, path))
        self.samples = bench.samples(tool, path)
        self.due = rate * seconds * bench.cpus

    @property
    def cpu(self):
        return self.record.cpu + self.fold.cpu


def pipeline(bench, *how):
    """
    Return a Pipeline, and try again if it fails: perf 6.1 cannot read its own recording if other
    BPF programs came and went during it.
    """
    for _ in range(3):
        try:
            return Pipeline(bench, *how)
        except BenchError as e:
            bench.say(f"once more, since it failed: {e}")
    return Pipeline(bench, *how)


class Versus:
    """
    The same recordings by both tools. start: CPU time of recording and folding almost nothing.
    """

    def __init__(self, load, rate, seconds, tools):
        self.load, self.rate, self.seconds, self.tools = load, rate, seconds, tools
        self.runs = {tool: [] for tool in tools}
        self.starts = {tool: [] for tool in tools}

    def start(self, tool, part="cpu"):
        values = [s.record.cpu if part == "record" else s.cpu for s in self.starts[tool]]
        return statistics.median(values)

    def per_sample(self, tool, started=True):
        """Return CPU seconds per sample."""
        return Spread((r.cpu - (0 if started else self.start(tool))) / max(r.samples, 1)
                      for r in self.runs[tool])

    def bytes(self, tool):
        return Spread(r.bytes / max(r.samples, 1) for r in self.runs[tool])

    @staticmethod
    def ratio(ours, theirs):
        return Spread(a / b for a, b in zip(ours.values, theirs.values) if b > 0)


def versus(bench, load, rate, seconds, tools=TOOLS):
    v = Versus(load, rate, seconds, tools)
    for _, tool in bench.turns(tools):
        v.starts[tool].append(pipeline(bench, load, tool, rate, 0.01, "start"))
    for turn, tool in bench.turns(tools):
        run = pipeline(bench, load, tool, rate, seconds, f"{load}-{rate}")
        v.runs[tool].append(run)
        bench.say(f"{load} {rate} Hz round {turn + 1}: {tool} {run.cpu:.3f} s of CPU for "
                  f"{run.samples} samples, {run.bytes / max(run.samples, 1):.1f} bytes each")
    return v


class Recording:
    """A recorder's own cost, from the recordings of a Versus."""

    def __init__(self, v, tool):
        runs = v.runs[tool]
        start = v.start(tool, "record")
        self.whole = Spread(r.record.cpu / v.seconds for r in runs)
        self.without_start = Spread((r.record.cpu - start) / v.seconds for r in runs)
        self.start = start
        lead = min(2, v.seconds / 4)
        self.steady = Spread(
            r.record.watch.steady(r.record.begun + lead, r.record.begun + v.seconds)
            for r in runs)
        self.memory = self._memory(runs)

    @staticmethod
    def _memory(runs):
        """
        Return [(process name, its ordinal, peak KiB, KiB of rings in it)], the largest of the
        runs.
        """
        rows = {}
        for run in runs:
            seen = {}
            for name, peak, rings in run.record.watch.memory.values():
                seen[name] = seen.get(name, 0) + 1
                key = (name, seen[name])
                rows[key] = max(rows.get(key, (0, 0)), (peak, rings))
        return [(name, order, *sizes) for (name, order), sizes in rows.items()]
