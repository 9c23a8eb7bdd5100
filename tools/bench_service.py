# SPDX-License-Identifier: Apache-2.0
"""
Measure what a profiler that always runs costs: skein serve beside OpenTelemetry's eBPF profiler,
in turns, on the same load.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

from bench_background import Metered
from bench_kernel import bpf_statistics, programs
from bench_meter import BenchError, Spread, proc_text, processes_below
from bench_unwind import Footprint

RATE = 19 # Hz, the default of skein serve; that of the peer is 20
SETTLE, SECONDS = 22, 40 # s: files of running programs are read at first; then it is measured
SUMS, PLAIN, PEER = "skein serve", "skein serve --no-sums", "OpenTelemetry"
ARMS = (("interpreter", (SUMS, PLAIN, PEER)), ("compiler", (SUMS, PEER)))
ADDRESS = "127.0.0.1:43917" # of the receiver that the peer sends to
BUILT = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"),
                     "skein/profilers/opentelemetry")


def peer_version():
    text = pathlib.Path(__file__).with_name("otel").joinpath("go.mod").read_text()
    return re.search(r"^\tgo.opentelemetry.io/ebpf-profiler (\S+)", text, re.M)[1]


def pss(pid):
    """Return the KiB of a process: what it shares in parts, and no rings of the kernel."""
    total, ring = 0, False
    for line in proc_text(pid, "smaps").splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            ring = "bpf-map" in line or "perf_event" in line
        elif line.startswith("Pss:") and not ring:
            total += int(line.split()[1])
    return total


def of_tree(pid, look):
    """Yield what a function finds out about each process of a tree; some end meanwhile."""
    for process in processes_below(pid):
        try:
            yield look(process)
        except (OSError, ValueError):
            pass


def kernel_ns(pid):
    """Return the ns that the BPF programs of a process tree have run."""
    found = {}
    for held in of_tree(pid, programs):
        found.update(held)
    return sum(ns for _, _, ns in found.values())


class Skein:
    """skein serve, in a folder of its own."""

    def __init__(self, bench, arm):
        self.bench, self.folder = bench, pathlib.Path(tempfile.mkdtemp(dir=bench.folder))
        self.command = [bench.skein, *arm.split()[1:], "--folder", self.folder, "--listen",
                        f"unix:{self.folder}/socket", "--unwind-cache", bench.folder / "cache"]

    def samples(self):
        return sum(self.bench.samples("skein", window) for window in self.folder.glob("*.skein"))

    def end(self):
        shutil.rmtree(self.folder)


class Peer:
    """OpenTelemetry's profiler, and what it sends to."""

    def __init__(self, _bench, _arm):
        self.receiver = subprocess.Popen([BUILT / "receiver", ADDRESS], text=True,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        if self.receiver.stdout.readline() != "listening\n":
            self.receiver.wait()
            raise BenchError(f"the receiver of profiles cannot listen on {ADDRESS}")
        self.command = [BUILT / "profiler", "-samples-per-second", RATE, "-collection-agent",
                        ADDRESS, "-disable-tls"]

    def samples(self):
        self.receiver.terminate()
        return sum(int(line) for line in self.receiver.stdout.read().split())

    def end(self):
        self.receiver.kill()
        self.receiver.wait()


class Run:
    """One run. own, kernel: shares of a CPU; memory, maps: MiB; samples: per second."""

    def __init__(self, bench, load, arm):
        tool = (Peer if arm == PEER else Skein)(bench, arm)
        try:
            begun = time.monotonic()
            with bench.busy(load), bpf_statistics():
                with Metered(tool.command, "perf_event", bench.cpus, SETTLE) as metered:
                    self._measure(metered)
                seconds = time.monotonic() - begun
            self.samples = tool.samples() / seconds
        finally:
            tool.end()

    def _measure(self, metered):
        begun, cpu, kernel = time.monotonic(), metered.cpu(), kernel_ns(metered.pid)
        while time.monotonic() < begun + SECONDS:
            time.sleep(0.5)
            used = metered.cpu() # often, for the sake of processes that end
        took = time.monotonic() - begun
        self.own = (used - cpu) / took
        self.kernel = (kernel_ns(metered.pid) - kernel) / 1e9 / took
        self.memory = sum(of_tree(metered.pid, pss)) / 1024
        held = Footprint(metered.pid)
        self.maps = (held.maps + held.arena) / 1024

    @property
    def cost(self):
        return self.own + self.kernel


class Runs:
    """All runs of one arm beside one load."""

    def __init__(self, load, arm):
        self.load, self.arm, self.runs = load, arm, []

    def of(self, what):
        return Spread(getattr(run, what) for run in self.runs)


def service(bench):
    """Return the Runs of each load and arm."""
    found = []
    for load, arms in ARMS:
        if not (BUILT / "profiler").exists():
            bench.say("OpenTelemetry's profiler is not there (tools/deps profilers builds it): "
                      "it is not compared")
            arms = tuple(arm for arm in arms if arm != PEER)
        runs = {arm: Runs(load, arm) for arm in arms}
        for turn, arm in bench.turns(arms):
            run = Run(bench, load, arm)
            runs[arm].runs.append(run)
            bench.say(f"service, {load}, round {turn + 1}: {arm} {100 * run.own:.3f} % + "
                      f"{100 * run.kernel:.3f} % in the kernel, {run.memory:.1f} MiB + "
                      f"{run.maps:.1f} MiB of maps, {run.samples:.1f} samples/s")
        found += runs.values()
    return found

