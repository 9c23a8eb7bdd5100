# SPDX-License-Identifier: Apache-2.0
"""
Measure the cost of a sample in the kernel: skein's walk, and the kernel's own by frame pointers.
"""
import contextlib
import os
import pathlib
import time

from bench_measure import FAST, ROOT, SLOW, output_of
from bench_meter import BenchError, Load, Recorder

STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
PERF_EVENT_PROGRAM = 7  # BPF_PROG_TYPE_PERF_EVENT of the kernel's interface
DEPTHS = (10, 30, 100)
FEW, MANY = 64, 262144  # functions on the path: all caches hold them, or none does
# Arm of a row, its build, functions, where it works, Hz.
USER_ARMS = (
    ("skein", "bare", FEW, "user", FAST),
    ("skein, new pcs", "bare", MANY, "user", FAST),
    ("skein, cold", "bare", MANY, "cold", SLOW),
    ("bpf_get_stack", "frames", FEW, "user", FAST),
    ("bpf_get_stack, cold", "frames", FEW, "cold", SLOW),
)
# Name, options of skein record or the peer's program.
CALL_ARMS = (
    ("skein, both stacks", "bare", FAST, ()),
    ("skein, user stack only (-U)", "bare", FAST, ("-U",)),
    ("skein, kernel stack only (-K)", "bare", FAST, ("-K",)),
    ("skein, both stacks, cold", "bare", SLOW, ()),
    ("bpf_get_stack, both stacks", "frames", FAST, "both_stacks"),
    ("bpf_get_stack, user stack only", "frames", FAST, "user_stack"),
)


def programs(pid):
    """
    Return {id: (type, runs, ns)} of the BPF programs that a process holds, from its descriptors.
    """
    found = {}
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            fields = dict(line.split(":", 1) for line in info.read_text().splitlines())
        except OSError:
            continue
        if "prog_type" in fields:  # links have a prog_id, too
            found[int(fields["prog_id"])] = tuple(
                int(fields.get(key, 0)) for key in ("prog_type", "run_cnt", "run_time_ns"))
    return found


@contextlib.contextmanager
def bpf_statistics():
    before = STATS.read_text()
    STATS.write_text("1")
    try:
        yield
    finally:
        STATS.write_text(before)


class ProgramCost:
    """runs and ns of the sampling program between two readings; share: of a CPU, all programs."""

    def __init__(self, first, last, seconds):
        sampling = [i for i, p in last.items() if p[0] == PERF_EVENT_PROGRAM and i in first]
        if not sampling:
            raise BenchError("the sampling program is not among the recorder's descriptors")
        self.runs = sum(last[i][1] - first[i][1] for i in sampling)
        self.ns = sum(last[i][2] - first[i][2] for i in sampling) / max(self.runs, 1)
        self.share = sum(last[i][2] - first[i][2] for i in last if i in first) / 1e9 / seconds


class Workshop:
    """The loads of bench_stacks.c in both builds, and the peer."""

    def __init__(self, bench):
        self.bench = bench
        self.tools = ROOT / "tools"
        self.builds = {
            "bare": self._stacks("bare", "-fomit-frame-pointer", f"-DFUNCTIONS={MANY}"),
            "frames": self._stacks("frames", "-fno-omit-frame-pointer", f"-DFUNCTIONS={FEW}",
                                   "-DWITH_FRAME_POINTERS"),
        }
        self.program = bench.folder / "bench_peer.bpf.o"
        output_of(["clang-16", "-g", "-O2", "-mcpu=v3", "-target", "bpf",
                   f"-I/usr/include/{os.uname().machine}-linux-gnu", "-c", "-o", self.program,
                   self.tools / "bench_peer.bpf.c"])
        self.peer = bench.compile("bench_peer", "-O2", "bench_peer.c", "-lbpf")

    def _stacks(self, build, *flags):
        return self.bench.compile(f"stacks_{build}", "-O2", "-fno-optimize-sibling-calls", *flags,
                                  "bench_stacks.c")

    def load(self, build, depth, functions, where):
        command = [self.builds[build], depth, functions, where]
        return Load(command, self.bench.cpus)

    def recorder(self, rate, how):
        """Start a recorder; how is options of skein record, or the name of the peer's program."""
        if isinstance(how, str):
            command = [self.peer, self.program, how, rate]
            return Recorder(command, self.bench.cpus)
        command, _ = self.bench.recording("skein", rate, 60, "programs")
        return Recorder([*command, *how], self.bench.events("skein"))

    def cost(self, load, rate, how):
        seconds = 3 if rate == SLOW else 1.5
        with load, bpf_statistics(), self.recorder(rate, how) as recorder:
            time.sleep(0.5)
            begun, first = time.monotonic(), programs(recorder.pid)
            time.sleep(seconds)
            last = programs(recorder.pid)
            return ProgramCost(first, last, time.monotonic() - begun)


def user_stacks(bench, shop):
    """Return {depth: {arm: ProgramCost}}."""
    found = {}
    for depth in DEPTHS:
        found[depth] = {}
        for name, build, functions, where, rate in USER_ARMS:
            how = "user_stack" if name.startswith("bpf") else ()
            load = shop.load(build, depth, functions, where)
            found[depth][name] = cost = shop.cost(load, rate, how)
            bench.say(f"in the kernel: {depth} functions, {name}: {cost.ns:.0f} ns, "
                      f"{cost.runs} runs")
    return found


def in_calls(bench, shop):
    """Return [(name, ProgramCost)] in a system call below 30 functions."""
    rows = []
    for name, build, rate, how in CALL_ARMS:
        where = ("kernel", MANY) if rate == SLOW else ("kernel", FEW)
        cost = shop.cost(shop.load(build, 30, where[1], where[0]), rate, how)
        bench.say(f"in the kernel: in a system call, {name}: {cost.ns:.0f} ns, {cost.runs} runs")
        rows.append((name, cost))
    return rows


def in_kernel(bench):
    """Return (user_stacks(), in_calls())."""
    shop = Workshop(bench)
    return user_stacks(bench, shop), in_calls(bench, shop)
