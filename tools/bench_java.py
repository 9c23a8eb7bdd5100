# SPDX-License-Identifier: Apache-2.0
"""
Measure recorders of a Java program: how much longer its work takes under each, and what a stack of
Java frames takes in the kernel.
"""
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

import bench_kernel
from bench_background import Metered
from bench_measure import ROOT, output_of
from bench_meter import BenchError, Recorder

sys.path.append(str(ROOT / "tests" / "lib"))
import jdks # pylint: disable=wrong-import-position

SKEIN, ASYNC, NOTHING = "skein", "async-profiler", "nothing"
RATES = (99, 999)  # Hz
ARMS = ((NOTHING, 0), *((name, rate) for name in (SKEIN, ASYNC) for rate in RATES))
VERSIONS = (17, 25)
SETTLE = 1.0  # s until a recorder has the unwind tables, and the JVM's layout
HEAP = ("-XX:+UseSerialGC", "-Xms512m", "-Xmx512m")
METHODS, SITES = 4096, 16  # of NewCode
# (what is shown, KIND of BenchLoad, Java frames, options of the JVM, calls of a batch, batches)
INTERPRETED = ("-Xint",)
COMPILED = ("-XX:-TieredCompilation", "-XX:CompileCommand=dontinline,BenchLoad.*")
MIXED = (*COMPILED, "-XX:CompileCommand=exclude,BenchLoad.inner")
NEW = ("-XX:TieredStopAtLevel=1", "-Xcomp", "-XX:CompileCommand=compileonly,NewCode*::*")
STACKS = (("30 compiled", "plain", 30, COMPILED, 100, 40),
          ("30 interpreted", "plain", 30, INTERPRETED, 100, 40),
          ("100, compiled and interpreted in turn", "mixed", 100, MIXED, 100, 40),
          ("30 compiled, new pcs", "new", 30, NEW, 100, 40),
          ("30 compiled, cold", "cold", 30, NEW, 9, 9))


def new_code():
    """Return the source of methods with many call sites, so that hardly a pc is seen twice."""
    draw = random.Random(1)
    lines = ["public class NewCode {",
             "public static BenchLoad.Call of() { return NewCode0::m0; }", "}"]
    each = 64  # methods of a class
    for number in range(METHODS // each):
        lines.append(f"class NewCode{number} {{")
        for method in range(number * each, (number + 1) * each):
            lines.append(f"static int m{method}(int depth, long seed) {{ if (depth == 0) return "
                         "BenchLoad.leaf(); seed *= 0x5851f42d4c957f2dL; seed ^= seed >>> 31; "
                         "switch ((int) (seed >>> 60)) {")
            for site in range(SITES):
                callee = draw.randrange(METHODS)
                lines.append(f"case {site}: return NewCode{callee // each}.m{callee}"
                             f"(depth - 1, seed) + {site};")
            lines.append("default: return 0; } }")
        lines.append("}")
    return "\n".join(lines)


def compiled_classes(bench):
    folder = bench.folder / "java"
    folder.mkdir()
    (folder / "NewCode.java").write_text(new_code())
    javac = jdks.tool("javac", min(VERSIONS)) or jdks.tool("javac")
    if not javac:
        raise BenchError("no JDK with javac")
    output_of([javac, "-nowarn", "-d", folder, ROOT / "tools" / "BenchLoad.java",
               folder / "NewCode.java"])
    return folder


class Program:
    """A running BenchLoad, bound to the last CPU, or to none; its first line is in `first`."""

    def __init__(self, version, folder, options, words, bound=True, heap=HEAP):
        cpus = sorted(os.sched_getaffinity(0))
        split = bound and len(cpus) > 1
        # the CPUs for recorders
        self.others = ",".join(map(str, cpus[:-1])) if split else None
        command = ["taskset", "-c", str(cpus[-1])] if split else []
        java = jdks.home_of(version) / "bin" / "java"
        self.process = subprocess.Popen(
            [*command, java, *heap, "-XX:CompileCommand=quiet", *options, "-cp", folder,
             "BenchLoad", *map(str, words)],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        self.first = self.line()

    def line(self):
        """Return its next line; async-profiler prints there, too."""
        for line in self.process.stdout:
            if line.strip().isdigit():
                return line.strip()
        raise BenchError("BenchLoad ended")

    def work(self, rounds):
        """Return s."""
        self.process.stdin.write(f"{rounds}\n")
        self.process.stdin.flush()
        return int(self.line()) / 1e9

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class Attached:
    """async-profiler in the program, as a context."""

    def __init__(self, program, library, rate):
        self.command = [jdks.tool("jcmd"), program.pid, "JVMTI.agent_load", library]
        self._do(f"start,event=cpu,cstack=vm,interval={1000000000 // rate}")
        time.sleep(SETTLE)

    def _do(self, what):
        answer = output_of([*self.command, f'"{what}"'])  # jcmd splits words at "="
        if "return code: 0" not in answer:
            raise BenchError(f"async-profiler: {what}: {answer.strip()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._do("stop")


class Idle:
    """No recorder."""

    def __enter__(self):
        time.sleep(SETTLE)

    def __exit__(self, *_):
        pass


def recorder(bench, arm, program, library):
    name, rate = arm
    if name == NOTHING:
        return Idle()
    if name == ASYNC:
        return Attached(program, library, rate)
    command, _ = bench.recording("skein", rate, 600, "java")
    bound = ["taskset", "-c", program.others] if program.others else []
    return Metered([*bound, *command], "perf_event", bench.events("skein"), SETTLE)


class Slowdown:
    """By arm, the times of the work by those of plain runs before and after."""

    def __init__(self, bench, version, folder, library):
        self.version = version
        self.arms = [arm for arm in ARMS if arm[0] != ASYNC or library]
        self.ratios = {arm: [] for arm in self.arms}
        with Program(version, folder, (), ["plain"]) as program:
            rounds = max(1, round(100 * bench.seconds / 20 / program.work(100)))
            for turn in range(2 * bench.rounds):
                first = turn % len(self.arms)
                before = program.work(rounds)
                for arm in self.arms[first:] + self.arms[:first]:
                    with recorder(bench, arm, program, library):
                        took = program.work(rounds)
                    after = program.work(rounds)
                    self.ratios[arm].append(took / statistics.mean((before, after)))
                    before = after
                bench.say(f"Java {version}, round {turn + 1}: " + ", ".join(
                    f"{name} {rate} Hz {self.ratios[name, rate][-1]:.4f}"
                    for name, rate in self.arms))


class Stack:
    """What a sample of one stack takes in the kernel: ns above the breakpoint alone, by batch."""

    def __init__(self, bench, meter, version, folder, how):
        self.name, kind, depth, options, calls, batches = how
        self.version = version
        file = bench.folder / "java.times"
        words = ["deep", kind, depth, file]
        with Program(version, folder, options, words, bound=False) as program:
            command, _ = bench.recording("skein", 5, 600, "java-stacks")
            with Recorder(command, bench.events("skein")) as skein:
                time.sleep(3)  # the JVM's layout is known, and rare samples have filled no cache
                ids = [i for i, p in bench_kernel.programs(skein.pid).items()
                       if p[0] == bench_kernel.PERF_EVENT_PROGRAM]
                rows = output_of([meter, program.first, hex(innermost(program)), file, calls,
                                  batches, *ids])
        pairs = [tuple(map(int, row.split())) for row in rows.splitlines()]
        self.ns = sorted(with_program - alone for alone, with_program in pairs)
        bench.say(f"Java {version}, {self.name}: {statistics.median(self.ns):.0f} ns, least "
                  f"{self.ns[0]} ns")


def innermost(program):
    """Return the address of the function behind Thread.holdsLock()."""
    maps = pathlib.Path(f"/proc/{program.pid}/maps").read_text().splitlines()
    line = next(line.split() for line in maps if line.endswith("libjvm.so"))
    symbols = output_of(["nm", "-D", line[5]])
    offset = re.search(r"^([0-9a-f]+) T JVM_HoldsLock\b", symbols, re.M)
    if not offset:
        raise BenchError("libjvm has no JVM_HoldsLock")
    return int(line[0].split("-")[0], 16) - int(line[2], 16) + int(offset[1], 16)


def java(bench):
    """Return {"slowdown": [Slowdown], "stacks": [Stack], "async": version}."""
    folder = compiled_classes(bench)
    _, library = jdks.async_profiler() or (None, None)
    if not library:
        bench.say("async-profiler cannot be had: it is not compared")
    meter = bench.compile("bench_java_meter", "-O2", "bench_java_meter.c", "-lbpf")
    versions = [v for v in VERSIONS if jdks.home_of(v)]
    return {"stacks": [Stack(bench, meter, version, folder, how) for version in versions
                       for how in STACKS],
            "slowdown": [Slowdown(bench, max(versions), folder, library)],
            "library": library}
