# SPDX-License-Identifier: Apache-2.0
"""What reading a trace of a million samples takes: reports, exports, the page in a browser."""
from bench_measure import FAST, output_of
from bench_meter import Spread, cost_of
from bench_text import table, verdict

SAMPLES = 1_000_000
LOADS = ("interpreter", "compiler")
FORMATS = {"folded": ".folded", "pprof": ".pb.gz", "html": ".html"}
REPORT_S = 0.2 # what is promised


class Reading:
    """What a command took to read one trace. what: as it is shown; costs: of each round"""

    def __init__(self, load, what, samples, costs):
        self.load, self.what, self.samples = load, what, samples
        self.wall = Spread(c.wall for c in costs)
        self.cpu = Spread(c.cpu for c in costs)
        self.peak = max(c.peak for c in costs)


def record(bench, load):
    """{tool: path} of the same load, one after the other."""
    seconds = SAMPLES / FAST / bench.cpus
    paths = {}
    for tool in ("skein", "perf"):
        command, paths[tool] = bench.recording(tool, FAST, seconds, f"million-{load}")
        with bench.busy(load):
            cost_of(command)
    return paths


def commands(bench, paths):
    """(what, tool, command)"""
    yield "skein report", "skein", [bench.skein, "report", paths["skein"]]
    for name, suffix in FORMATS.items():
        yield (f"skein export -f {name}", "skein",
               [bench.skein, "export", "-f", name, "-o", bench.folder / f"million{suffix}",
                paths["skein"]])
    yield ("perf report --stdio --no-inline", "perf",
           ["perf", "report", "--stdio", "--no-inline", "-i", paths["perf"]])
    yield "perf script --no-inline", "perf", bench.folding("perf", paths["perf"])


class Trace:
    """Of one load: what is in it, and what reading it takes."""

    def __init__(self, bench, load, rounds):
        paths = record(bench, load)
        self.load = load
        self.samples = {tool: bench.samples(tool, path) for tool, path in paths.items()}
        self.stacks = int(output_of([bench.skein, "query", "--json", paths["skein"],
                                     "SELECT count(DISTINCT stack) AS n FROM sum"])
                          .split(":")[1].strip(" }]\n"))
        self.bytes = {tool: path.stat().st_size for tool, path in paths.items()}
        self.readings = []
        for what, tool, command in commands(bench, paths):
            costs = [cost_of(command, interval=0.005, tree=False)
                     for _ in range(rounds if tool == "skein" else 1)]
            self.readings.append(Reading(load, what, self.samples[tool], costs))
            bench.say(f"{load}, {what}: {self.readings[-1].wall.median:.3f} s, "
                      f"{self.readings[-1].peak / 1048576:.1f} MiB")
        for path in paths.values():
            path.unlink()


def million(bench, rounds):
    return [Trace(bench, load, rounds) for load in LOADS]


def section(results):
    found = results["million"]
    text = (f"\n## Reading a million samples\n\nOf recordings at {FAST:,} Hz with all CPUs busy, "
            "read on the otherwise idle machine. The compiler's has about as many\ndifferent "
            "stacks as a machine can have; most traces of a million samples, which at 99 Hz and "
            "with 8 CPUs are\n21 minutes, have far fewer.\n\n")
    text += table(("trace", "samples", "different stacks", "MiB", "perf.data, samples", "MiB"),
                  ((t.load, f"{t.samples['skein']:,}", f"{t.stacks:,}",
                    f"{t.bytes['skein'] / 1048576:.1f}", f"{t.samples['perf']:,}",
                    f"{t.bytes['perf'] / 1048576:.1f}") for t in found))
    rows = ((f"{r.load}: {r.what}", r.wall.text("{:.2f}"), r.cpu.text("{:.2f}"),
             f"{r.peak / 1048576:.0f}") for t in found for r in t.readings)
    return text + "\n" + table(("command", "wall, s", "CPU, s", "peak memory, MiB"), rows)


def promises(results):
    for trace in results.get("million", ()):
        took = trace.readings[0].wall
        yield (f"report of a million samples ({trace.load})", f"≤ {REPORT_S} s",
               took.text("{:.2f} s"), verdict(took.median, REPORT_S))
