# SPDX-License-Identifier: Apache-2.0
"""Profilers of Python as they are compared: how each is started, and what it has recorded."""
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
INTERRUPTED = 254  # austin's status then


class Arm:
    """
    A profiler of one process, which writes `path`. Before read(), nothing is known of its samples;
    fold: the Cost of making stacks of its file, if that is another command, once read
    """

    sign, events = "", 0  # it has begun when it said that, or has so many perf events
    part = 1  # of the work, for one under which that takes many times as long

    def __init__(self, name, program, folder, options=()):
        self.name, self.program, self.options = name, program, options
        self.path = folder / f"python.{name.replace(' ', '').replace(',', '')}"
        self.fold = None

    def command(self, pid, rate):
        raise NotImplementedError

    def stacks(self):
        """[Stack]"""
        raise NotImplementedError

    def samples(self, found):
        """How many samples the stacks are of."""
        return sum(stack.weight for stack in found)

    def start(self, pid, rate, cpus):
        """A Metered; cpus: a list of those that it is bound to, or None"""
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
    """With -s, CPU time: its idle samples are left out, as the others do."""

    sign = "Python"

    def command(self, pid, rate):
        return [self.program, "-s", "-i", f"{1e6 / rate:.0f}us", "-p", pid, "-o", self.path]

    def stacks(self):
        return stacks.austin(self.path.read_text(errors="replace"))

    def samples(self, found):
        return len(found)


class Clock(Arm):
    """The same clock without stacks: what its interrupts cost by themselves."""

    events = 1

    def __init__(self, bench):
        super().__init__(CLOCK, "perf", bench.folder)

    def command(self, pid, rate):
        return [self.program, "record", "-q", "-e", "cpu-clock", "-F", rate, "-p", pid, "-o",
                self.path]

    def stacks(self):
        return []


def installed(name):
    """A program that tools/deps has fetched, or that is installed, and that runs; or None"""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    found = sorted(pathlib.Path(cache).glob(f"skein/profilers/*/bin/{name}"))
    for program in [*reversed(found), shutil.which(name)]:
        if program and version_of(program):
            return program
    return None


def version_of(program):
    """Empty if it does not run here."""
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
    """([Arm], [name of one that cannot be had])"""
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
