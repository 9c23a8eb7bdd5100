# SPDX-License-Identifier: Apache-2.0
"""Measure reading a trace of a million samples: reports, exports, the page in a browser."""
import os
import statistics
import sys

from bench_measure import FAST, ROOT, TOOLS, output_of
from bench_meter import BenchError, Spread, cost_of
from bench_text import table, verdict

SAMPLES = 1_000_000
LOADS = ("interpreter", "compiler")
FORMATS = {"folded": ".folded", "pprof": ".pb.gz", "html": ".html"}
REPORT_S, PAGE_S = 0.2, 2.0 # promised limits in s
DRAWS = """(() => {
    const { graph } = skeinPage, times = [];
    for (let i = 0; i < 60; i++) {
        const begin = performance.now();
        graph.draw();
        times.push(performance.now() - begin);
    }
    return times;
})()"""


class Reading:
    """The cost of a command that reads one trace. what: its shown name; costs: of each round."""

    def __init__(self, load, what, samples, costs):
        self.load, self.what, self.samples = load, what, samples
        self.wall = Spread(c.wall for c in costs)
        self.cpu = Spread(c.cpu for c in costs)
        self.peak = max(c.peak for c in costs)


class Page:
    """The time in s in which a browser opens a page, and draws it again."""

    def __init__(self, browser, what, path, rounds):
        self.what, self.bytes = what, path.stat().st_size
        opened = []
        for _ in range(rounds):
            browser.open(f"file://{path}", {"viewport": {"width": 1400, "height": 900}})
            browser.wait("window.skeinPage && skeinPage.opened")
            opened.append(browser.evaluate("skeinPage.opened") / 1000)
        self.opened = Spread(opened)
        self.draw = statistics.median(browser.evaluate(DRAWS)) / 1000
        self.stacks = browser.evaluate("new Set(skeinPage.data.now.sums.node).size")


def pages(bench, rounds):
    """
    Measure the pages of a generated trace of 100,000 stacks and of the two recordings; none
    without a browser.
    """
    os.environ["BUILD"] = str(bench.skein.parent)
    os.environ["SKEIN"] = str(bench.skein)
    sys.path.insert(0, str(ROOT / "tests" / "lib"))
    import browser # pylint: disable=import-outside-toplevel,import-error
    from traces import make_scene # pylint: disable=import-outside-toplevel,import-error
    if browser.MISSING:
        bench.say(f"pages are not measured: {browser.MISSING}")
        return []
    made = bench.folder / "made.html"
    trace = make_scene(bench.folder / "made.skein", "flames")
    output_of([bench.skein, "export", trace, "-o", made])
    paths = {"made, every stack another": made}
    paths |= {load: bench.folder / f"million-{load}.html" for load in LOADS}
    running = browser.Browser()
    try:
        return [Page(running, what, path, rounds) for what, path in paths.items()]
    finally:
        running.end()


def record(bench, load, tool):
    """
    Return (path, samples) of a recording. Repeat the recording if it cannot be read: perf 6.1
    fails if other BPF programs came and went during it.
    """
    command, path = bench.recording(tool, FAST, SAMPLES / FAST / bench.cpus, f"million-{load}")
    for turn in range(3):
        with bench.busy(load):
            cost_of(command)
        try:
            return path, bench.samples(tool, path)
        except BenchError as e:
            bench.say(f"once more ({turn + 1}), since it failed: {e}")
    raise BenchError(f"{tool} cannot read what it has recorded")


def commands(bench, load, paths):
    """Yield (what, tool, command)."""
    yield "skein report", "skein", [bench.skein, "report", paths["skein"]]
    for name, suffix in FORMATS.items():
        yield (f"skein export -f {name}", "skein",
               [bench.skein, "export", "-f", name, "-o", bench.folder / f"million-{load}{suffix}",
                paths["skein"]])
    yield ("perf report --stdio --no-inline", "perf",
           ["perf", "report", "--stdio", "--no-inline", "-i", paths["perf"]])
    yield "perf script --no-inline", "perf", bench.folding("perf", paths["perf"])


class Trace:
    """The recording of one load: its contents, and the cost of reading it."""

    def __init__(self, bench, load, rounds):
        made = {tool: record(bench, load, tool) for tool in TOOLS}
        paths = {tool: path for tool, (path, _) in made.items()}
        self.load = load
        self.samples = {tool: count for tool, (_, count) in made.items()}
        self.stacks = int(output_of([bench.skein, "query", "--json", paths["skein"],
                                     "SELECT count(DISTINCT stack) AS n FROM sum"])
                          .split(":")[1].strip(" }]\n"))
        self.bytes = {tool: path.stat().st_size for tool, path in paths.items()}
        self.readings = []
        for what, tool, command in commands(bench, load, paths):
            costs = [cost_of(command, interval=0.005, tree=False)
                     for _ in range(rounds if tool == "skein" else 1)]
            self.readings.append(Reading(load, what, self.samples[tool], costs))
            bench.say(f"{load}, {what}: {self.readings[-1].wall.median:.3f} s, "
                      f"{self.readings[-1].peak / 1048576:.1f} MiB")
        for path in paths.values():
            path.unlink()


def million(bench, rounds):
    """Return ([Trace], [Page])."""
    return [Trace(bench, load, rounds) for load in LOADS], pages(bench, rounds)


def section(results):
    found, opened = results["million"]
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
    text += "\n" + table(("command", "wall, s", "CPU, s", "peak memory, MiB"), rows)
    if not opened:
        return text
    text += ("\nThe page (`export -f html`) in Chromium without a window: from the click to the "
             "first picture, and drawing it again,\nmedian of 60 times; at 60 pictures a second "
             "there are 16.7 ms for each.\n\n")
    return text + table(("page of", "different stacks", "MiB", "opens in, s", "drawn again in, ms"),
                        ((p.what, f"{p.stacks:,}", f"{p.bytes / 1048576:.1f}",
                          p.opened.text("{:.2f}"), f"{p.draw * 1000:.1f}") for p in opened))


def promises(results):
    traces, opened = results.get("million", ((), ()))
    for trace in traces:
        took = trace.readings[0].wall
        yield (f"report of a million samples ({trace.load})", f"≤ {REPORT_S} s",
               took.text("{:.2f} s"), verdict(took.median, REPORT_S))
    for page in opened[:1]:
        yield (f"page of {page.stacks:,} different stacks opens in", f"≤ {PAGE_S:g} s",
               page.opened.text("{:.2f} s"), verdict(page.opened.median, PAGE_S))
        yield ("that page is drawn again in", "≤ 16.7 ms", f"{page.draw * 1000:.1f} ms",
               verdict(page.draw, 1 / 60))
