# SPDX-License-Identifier: Apache-2.0
"""Make the section of docs/performance.md about profilers that always run."""
import bench_service
from bench_measure import Versus
from bench_service import PEER, PLAIN, RATE, SECONDS, SETTLE, SUMS
from bench_text import table, verdict

HOW = """
## The service

What it costs to sample a whole machine always, at {rate} Hz: `skein serve` as it is configured by
default, with windows, metrics and the sums of control groups; without these sums; and
OpenTelemetry's eBPF profiler (module {version}, built from its published source with its own
BPF programs; only its raising of RLIMIT_MEMLOCK is left out, which this machine forbids). It
sends its samples to a receiver that counts and drops them; that one's cost is not in the figures.
Loads are those of above, one per CPU, so all CPUs are busy. The tools take turns; each figure is of
{seconds} s after the first {settle} s.

- **Own** is the CPU time of all its processes, in % of one CPU; **in the kernel** is that of its
  BPF programs, by the kernel's statistics, in programs that others run.
- **Memory** is Pss of all its processes without rings and maps; **maps** are its BPF maps in the
  kernel.
- **Samples** are those that arrived, of {due} due each second, from the start on: beside a compiler
  most of the CPU time is that of processes which live some ten milliseconds.

"""


def row(runs):
    return (f"{runs.arm}, {runs.load}", runs.of("own").text("{:.3f}", 100),
            runs.of("kernel").text("{:.3f}", 100), runs.of("memory").text("{:.1f}"),
            runs.of("maps").text("{:.1f}"), runs.of("samples").text("{:.1f}"))


def ratios(found):
    """Return a sentence for each load on skein's CPU time by the peer's, or ""."""
    text = ""
    for peer in (runs for runs in found if runs.arm == PEER):
        ours = next(runs for runs in found if runs.arm == SUMS and runs.load == peer.load)
        ratio = Versus.ratio(ours.of("cost"), peer.of("cost"))
        text += f"\n`{SUMS}` takes {ratio.text()} of {PEER}'s CPU time beside the {peer.load}.\n"
    return text


def section(results):
    found = results["service"]
    return (HOW.format(rate=RATE, version=bench_service.peer_version(), seconds=SECONDS,
                       settle=SETTLE, due=RATE * results["service_cpus"]) +
            table(("", "own, %", "in the kernel, %", "memory, MiB", "maps, MiB", "samples/s"),
                  [row(runs) for runs in found]) + ratios(found))


def promises(results):
    """Yield (promise, target, measured, verdict)."""
    for runs in results.get("service", ()):
        if runs.arm == PEER:
            continue
        memory = runs.of("memory")
        yield (f"`{runs.arm}`, {runs.load}: memory of all its processes", "≤ 64 MiB",
               memory.text("{:.1f} MiB"), verdict(memory.median, 64))
        if runs.load == "interpreter":
            most = {SUMS: 0.003, PLAIN: 0.0015}[runs.arm]
            cost = runs.of("cost")
            yield (f"`{runs.arm}`, {runs.load}: CPU, BPF programs included",
                   f"≤ {100 * most:.2f} %", cost.text("{:.3f} %", 100),
                   verdict(cost.median, most))
