# SPDX-License-Identifier: Apache-2.0
"""The compared profilers of Python: how each is started, and how its recording is read."""
import contextlib
import os
import pathlib
import shutil
import subprocess

import bench_python_stacks as stacks
from bench_background import Metered
from bench_meter import cost_of

SETTLE = 0.4  # s from the first sign of life to the work
SKEIN, PYSPY, CLOCK = "skein", "py-spy", "perf record, no stacks"
INTERRUPTED = 254  # status of austin when interrupted


class Arm:
    """
    A profiler of one process, which writes `path`. Its samples are known after read(). fold: the
    Cost of making stacks of its file, if that is another command, after read().
    """

    # it has started when it has printed the sign, or has this many perf events
    sign, events = "", 0
    # share of the work to run, for a profiler under which the work takes many times as long
    part = 1

    def __init__(self, name, program, folder, options=()):
        self.name, self.program, self.options = name, program, options
        self.path = folder / f"python.{name.replace(' ', '').replace(',', '')}"
        self.fold = None

    def command(self, pid, rate):
        raise NotImplementedError

    def stacks(self):
        """Return [Stack]."""
        raise NotImplementedError

    def samples(self, found):
        """Return the number of samples in the stacks."""
        return sum(stack.weight for stack in found)

    def start(self, pid, rate, cpus):
        """Return a Metered; cpus is a list of the CPUs that it is bound to, or None."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        bound = ["taskset", "-c", cpus] if cpus else []
        return Metered([*bound, *self.command(pid, rate)], self.sign or "perf_event", self.events,
                       SETTLE, fine=INTERRUPTED)


class Skein(Arm):
    def __init__(self, bench):
        super().__init__(SKEIN, bench.skein, bench.folder)
        self.bench, self.events = bench, bench.cpus

    def command(self, pid, rate):
        return [self.program, "record", "-q", "-p", pid, "-F", rate, "--unwind-cache",
                self.bench.folder / "cache", "-o", self.path]

    def stacks(self):
        text = self.path.with_suffix(".folded")
        self.fold = cost_of([self.program, "export", "-f", "folded", "-o", text, self.path])
        return stacks.folded(text.read_text(errors="replace"), above=1)  # the process's name


class Spy(Arm):
    sign = "Sampling process"

    def command(self, pid, rate):
        return [self.program, "record", "-p", pid, "-r", rate, "-f", "raw", *self.options,
                "-o", self.path]

    def stacks(self):
        return stacks.folded(self.path.read_text(errors="replace"))


class Austin(Arm):
    """Austin with -s, CPU time: its idle samples are left out, as in the others."""

    sign = "Python"

    def command(self, pid, rate):
        return [self.program, "-s", "-i", f"{1e6 / rate:.0f}us", "-p", pid, "-o", self.path]

    def stacks(self):
        return stacks.austin(self.path.read_text(errors="replace"))

    def samples(self, found):
        return len(found)


class Clock(Arm):
    """The same clock without stacks: the cost of its interrupts alone."""

    events = 1

    def __init__(self, bench):
        super().__init__(CLOCK, "perf", bench.folder)

    def command(self, pid, rate):
        return [self.program, "record", "-q", "-e", "cpu-clock", "-F", rate, "-p", pid, "-o",
                self.path]

    def stacks(self):
        return []


def installed(name):
    """Return a working program that tools/deps fetched or that is installed, or None."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    found = sorted(pathlib.Path(cache).glob(f"skein/profilers/*/bin/{name}"))
    for program in [*reversed(found), shutil.which(name)]:
        if program and version_of(program):
            return program
    return None


def version_of(program):
    """Return the version; empty if the program does not run here."""
    try:
        run = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return "" if run.returncode else run.stdout.strip()


PEERS = ((PYSPY, Spy, "py-spy", ()), ("py-spy --nonblocking", Spy, "py-spy", ("--nonblocking",)),
         ("py-spy --native", Spy, "py-spy", ("--native",)), ("austin", Austin, "austin", ()),
         ("austinp", Austin, "austinp", ()))
NATIVE, NATIVE_PART = ("py-spy --native", "austinp"), 0.4


def arms_of(bench):
    """Return ([Arm], [name of an unavailable profiler])."""
    arms, missing = [Skein(bench)], []
    for name, kind, program, options in PEERS:
        path = installed(program)
        if path:
            arm = kind(name, path, bench.folder, options)
            arm.part = NATIVE_PART if name in NATIVE else 1
            arms.append(arm)
        else:
            missing.append(name)
    return arms, missing
