# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""
Test that every format agrees with the report, on real programs of several kinds, recorded with
scheduler records and inlined functions, once completely and once with so small a buffer that
scheduler records are lost. Where possible, a format is read by an independent reader: Perfetto's
trace processor, pprof, speedscope's own schema, SQLite.

The results do not depend on the machine: all compared data come from one file and must be equal.
Scheduler times may differ by the resolution of the time stamps, 64 ns, at both ends of each CPU.
"""
import collections
import gzip
import json
import os
import re
import signal
import shutil
import subprocess
import sys
import unittest

import live

sys.path.insert(0, str(live.ROOT / "tests" / "readers"))
import formats
import trace_processor
from test_formats import AJV, NODE, SPEEDSCOPE, VALIDATE, plain
from test_page_data import Page
from test_perfetto import SAMPLES, SITES, stacks_of
from test_pprof import GOS, pprof

SECONDS = 5 if live.LONG else 1
FREQUENCY = 499
TRIES = 5  # until records are lost
STAMP = 64  # ns, to which scheduler time stamps are rounded down
MADE_UP = 0x7ff00000  # Perfetto tids from here on are no threads
MARK = re.compile(r"\[truncated: .*\]|\[no stack\]|\[no address space\]|\[walked\]")
TOP = 10
PROGRAM = r"""
#include <algorithm>
#include <map>
#include <string>
#include <vector>
static inline __attribute__((always_inline)) unsigned turn(unsigned x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1664525 + 1013904223;
	return x;
}
static inline __attribute__((always_inline)) unsigned heavy(unsigned x) { return turn(x, 300000); }
__attribute__((noinline)) unsigned work(unsigned x) { return heavy(x) + turn(x, 100000); }
int main()
{
	std::map<std::string, unsigned> names;
	std::vector<unsigned> numbers(2000);
	for (unsigned x = 1;; x = work(x)) {
		for (unsigned &n : numbers)
			n = x = x * 5 + 1;
		std::sort(numbers.begin(), numbers.end());
		names[std::to_string(x % 1000)]++;
	}
}
"""
SCRIPT = """
import json, re
def pack(n):
    return json.dumps([{"key": i, "text": str(i)} for i in range(n)])
while True:
    re.sub("[0-9]+", lambda m: m.group() + "!", pack(500))
    sorted(range(5000), key=lambda x: -x)
"""
LOAD = """
./inliner & python3 script.py & yes | cat >/dev/null &
while :; do (echo; sleep 0.01) | cat >/dev/null; ls -lR /usr/include | gzip | head -c 99 >/dev/null
done
"""
ENDINGS = {"json": ".skein.json", "speedscope": ".speedscope.json", "firefox": ".firefox.json.gz",
           "perf-script": ".perf.txt", "folded": ".folded", "pprof": ".pb.gz", "html": ".html",
           "perfetto": ".pftrace", "chrome": ".json.gz", "svg": ".svg"}


def by_module(name):
    """Map functions without a name to one per module; perf script writes "_0x"."""
    return re.sub(r"^\[(.+)[+_]0x[0-9a-f]+\]$", r"[\1]", name)


def costs(stacks):
    """
    Compute {name: [own samples, own weight, samples of the stacks it is on, their weight]} of
    {(root, ..., leaf): (samples, weight)}, counting as a report does.
    """
    found = collections.defaultdict(lambda: [0, 0, 0, 0])
    for frames, (count, weight) in stacks.items():
        frames = [by_module(name) for name in frames if not MARK.fullmatch(name)]
        for name in set(frames):
            found[name][2] += count
            found[name][3] += weight
        if frames:
            found[frames[-1]][0] += count
            found[frames[-1]][1] += weight
    return dict(found)


def pairs(counts, weights=None):
    return {frames: (count, weights[frames] if weights else 0)
            for frames, count in counts.items()}


class Views:
    """A recording, its report, and its exports."""

    def __init__(self, folder, name, *options):
        self.trace = folder / f"{name}.skein"
        self.record(*options)
        self.report = self.said("--json", "--min", "0")
        self.files = {}
        for form, ending in ENDINGS.items():
            self.files[form] = folder / f"{name}{ending}"
            self.run("export", self.trace, "-o", self.files[form])
        self.functions = collections.defaultdict(lambda: [0, 0, 0, 0])
        self.modules = collections.Counter()
        for row in self.report["functions"]:
            name = by_module(row["name"])
            mine = self.functions[name]
            self.modules[name] += 1
            for i, key in enumerate(("self_samples", "self", "total_samples", "total")):
                mine[i] += row[key]

    def record(self, *options):
        self.run("record", "-a", "-e", "cpu,sched", "--inlines", "-F", FREQUENCY, "-d",
                 f"{SECONDS * 1000}ms", "-o", self.trace, *options)

    @staticmethod
    def run(*args):
        done = subprocess.run([live.SKEIN, *map(str, args)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=180,
                              check=False, env=live.clean_environment())
        if done.returncode:
            raise AssertionError(f"{args}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def said(self, *args):
        return json.loads(self.run("report", *args, self.trace))

    def read(self, form):
        data = self.files[form].read_bytes()
        return gzip.decompress(data) if self.files[form].suffix == ".gz" and form != "pprof" \
            else data

    def top(self, column):
        """Return the functions with the most weight that have more than any function left out."""
        order = sorted(self.functions.values(), key=lambda row: -row[column])
        least = order[min(TOP, len(order) - 1)][column]
        return {name: row[column] for name, row in self.functions.items() if row[column] > least}


class Exports(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        if os.geteuid():
            return
        folder = live.tempfile.TemporaryDirectory(prefix="live-")
        cls.addClassCleanup(folder.cleanup)
        cls.home = live.pathlib.Path(folder.name)
        (cls.home / "inliner.cc").write_text(PROGRAM)
        (cls.home / "script.py").write_text(SCRIPT)
        subprocess.run(["g++", "-O2", "-g", "-o", "inliner", "inliner.cc"], cwd=cls.home,
                       check=True)
        load = subprocess.Popen(["sh", "-c", LOAD], cwd=cls.home, start_new_session=True,
                                stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            live.time.sleep(0.3)
            whole = Views(cls.home, "whole")
            for _ in range(TRIES):
                lossy = Views(cls.home, "lossy", "--switch-buffer", "4K")
                if lossy.report["sched"]["unknown"]:
                    break
        finally:
            os.killpg(load.pid, signal.SIGKILL)
            load.wait()
        cls.views = {"whole": whole, "lossy": lossy}

    def each(self):
        return self.views.values()

    def equal(self, view, stacks, weights=True, counts=True, change=lambda name: name):
        """Check that totals, and each function's own and total share, equal the report's."""
        count, weight = (sum(row[i] for row in stacks.values()) for i in (0, 1))
        self.assertEqual((count * counts, weight * weights),
                         (view.report["samples"] * counts, view.report["weight"] * weights))
        found = costs(stacks)
        columns = [i for i in range(4) if (counts, weights)[i % 2]]
        own = collections.defaultdict(lambda: [0, 0])
        for name, row in view.functions.items():
            for i in (0, 1):
                own[change(name)][i] += row[i]
        for name, row in own.items():
            self.assertEqual([found.get(name, [0] * 4)[i] for i in columns if i < 2],
                             [row[i] for i in columns if i < 2], name)
        self.assertEqual(set(found) - set(own), set())
        names = [name for name in view.functions
                 if view.modules[name] == 1 and change(name) == name]
        self.assertGreater(len(names), 50)
        for name in names:
            self.assertEqual([found[name][i] for i in columns],
                             [view.functions[name][i] for i in columns], name)

    def test_recordings_are_what_they_should_be(self):
        """
        The recordings have inlined functions, Python, the kernel and losses; otherwise equality
        proves little.
        """
        for view in self.each():
            for name in ("turn", "heavy", "work", "main"):
                self.assertTrue({name, f"{name}(unsigned int)"} & set(view.functions), name)
            self.assertTrue([name for name in view.functions if name.startswith("pack (script.py")])
            self.assertGreater(view.report["samples"], 0.5 * SECONDS * FREQUENCY)
            self.assertGreater(view.report["sched"]["busy"], 0)
        self.assertGreater(self.views["lossy"].report["sched"]["unknown"], 0)

    def test_json(self):
        for view in self.each():
            self.equal(view, self.by_frames(formats.read_json(view.read("json"))))

    @staticmethod
    def by_frames(sums):
        return pairs(sums.by_frames(0), sums.by_frames(1))

    def test_firefox(self):
        for view in self.each():
            self.equal(view, self.by_frames(formats.read_firefox(view.read("firefox"))))

    def test_perf_script(self):
        for view in self.each():
            self.equal(view, self.by_frames(formats.read_perf_script(view.read("perf-script"))),
                       change=lambda name: plain((name,))[0])

    def test_folded(self):
        """The first frame of a folded stack is the program."""
        for view in self.each():
            folded = formats.read_folded(view.read("folded")).by_frames(0)
            stacks = collections.Counter()
            for frames, count in folded.items():
                stacks[frames[1:]] += count
            self.equal(view, pairs(stacks), weights=False,
                       change=lambda name: name.replace(";", ":"))

    def test_speedscope(self):
        for view in self.each():
            weights = formats.read_speedscope(view.read("speedscope")).by_frames(1)
            self.equal(view, {frames: (0, weight) for frames, weight in weights.items()},
                       counts=False)
            if not (NODE and AJV.exists() and SPEEDSCOPE.exists()):
                self.skipTest("no ajv or no schema of speedscope: tools/deps readers, and Node")
            done = subprocess.run([NODE, "-e", VALIDATE, AJV, SPEEDSCOPE,
                                   view.files["speedscope"]], capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_html(self):
        for view in self.each():
            page = Page(view.read("html"))
            stacks = collections.Counter()
            for node, _, _, count, _ in page.sums:
                stacks[page.paths[node]] += count
            self.equal(view, pairs(stacks), weights=False)
            self.assertEqual(sum(map(page.weight, page.events)), view.report["weight"])

    def test_svg(self):
        for view in self.each():
            said = re.search(r"<title>all: ([\d,]+) samples", view.read("svg").decode())[1]
            self.assertEqual(int(said.replace(",", "")), view.report["samples"])

    @unittest.skipUnless(shutil.which("sqlite3"), "no sqlite3 is installed")
    def test_sqlite(self):
        """SQLite itself reads the view hottest."""
        for view in self.each():
            done = subprocess.run(
                ["sqlite3", "-readonly", "-json", "-cmd", f".load {live.BUILD / 'skein'}",
                 view.trace, "SELECT function, samples, weight FROM hottest"],
                capture_output=True, check=True)
            found = collections.defaultdict(lambda: [0, 0])
            for row in json.loads(done.stdout.decode(errors="replace")):
                found[by_module(row["function"])][0] += row["samples"]
                found[by_module(row["function"])][1] += row["weight"]
            for i, key in enumerate(("samples", "weight")):
                self.assertEqual(sum(row[i] for row in found.values()), view.report[key])
            own = {name: row[:2] for name, row in view.functions.items() if row[0]}
            self.assertEqual({name: row for name, row in found.items() if not MARK.fullmatch(name)},
                             own)

    @unittest.skipUnless(GOS, "no Go with pprof is installed")
    def test_pprof(self):
        for view in self.each():
            raw = pprof(GOS[0], self.home, "-raw", "-symbolize=none", view.files["pprof"])
            rows = re.findall(r"^ +(\d+) +(\d+): [\d ]+$", raw.stdout.decode(), re.M)
            self.assertEqual([sum(map(int, column)) for column in zip(*rows)],
                             [view.report["samples"], view.report["weight"]])
            said = re.search(r"\nMappings\n1: \S+ (\S+)", raw.stdout.decode())[1]
            self.assertEqual(said, self.heaviest_file(view))
            for column, order in ((1, "-flat"), (3, "-cum")):
                self.check_top(view, column, order)

    def heaviest_file(self, view):
        """Return the file of which processes have the most samples, several of which may run it."""
        row, = live.Trace(view.trace).query(f"""
            SELECT exe FROM sample JOIN thread ON thread.id = sample.thread
                JOIN process ON process.id = thread.process
            WHERE {live.OF_CPU_TIME} AND exe IN (SELECT path FROM mapping)
            GROUP BY exe ORDER BY sum(weight) DESC LIMIT 1""")
        return row["exe"]

    def check_top(self, view, column, order):
        text = pprof(GOS[0], self.home, "-top", order, "-nodecount=0", "-nodefraction=0",
                     "-unit=nanoseconds", "-symbolize=none", view.files["pprof"]).stdout.decode()
        found = collections.Counter()
        for flat, cum, name in re.findall(r"^ *(\d+)(?:ns)? +\S+% +\S+% +(\d+)(?:ns)? +\S+% +(.*)$",
                                          text, re.M):
            name = re.sub(r" \((partial-)?inline\)$", "", name)
            # pprof puts the mapping of a nameless function in brackets, even if it has brackets
            # already
            name = re.sub(r"^\[(\[.*\])\]$", r"\1", name)
            found[by_module(name)] += int(cum if column == 3 else flat)
        for name, weight in view.top(column).items():
            if view.modules[name] == 1:
                self.assertEqual(found[name], weight, (name, order))

    @unittest.skipIf(trace_processor.MISSING, trace_processor.MISSING)
    def test_perfetto_samples(self):
        for view in self.each():
            samples, sites, counters = trace_processor.ask(
                view.files["perfetto"], SAMPLES, SITES,
                "select max(c.value) weight from counter c join track t on c.track_id = t.id "
                "where t.name = 'cpu-clock' group by t.id")
            names, stacks = stacks_of(sites), collections.Counter()
            for row in samples:
                stacks[names[row["site"]]] += 1
            self.equal(view, pairs(stacks), weights=False)
            self.assertEqual(sum(row["weight"] for row in counters), view.report["weight"])

    @unittest.skipIf(trace_processor.MISSING, trace_processor.MISSING)
    def test_perfetto_time(self):
        """The sum of running time in Perfetto equals the busy time of the CPUs."""
        rounding = 2 * STAMP * len(live.CPUS)
        for view in self.each():
            states, slices = trace_processor.ask(
                view.files["perfetto"],
                "select sum(dur) ns from thread_state where state = 'Running'",
                "select iif(t.tid >= 0x7ff00000, t.name, iif(t.tid = 0, 'idle', 'busy')) what, "
                "sum(max(s.dur, 0)) ns, count(*) n from sched_slice s join thread t using (utid) "
                "group by 1")
            found = {row["what"]: row["ns"] for row in slices}
            # pseudo threads leave Running 1 ns after they got a CPU
            held = sum(row["n"] for row in slices if row["what"] not in ("idle", "busy"))
            sched = view.report["sched"]
            self.assertAlmostEqual(states[0]["ns"], sched["busy"], delta=rounding + held)
            self.assertAlmostEqual(found["busy"], sched["busy"], delta=rounding)
            self.assertAlmostEqual(found.get("idle", 0), sched["idle"], delta=rounding)
            self.assertAlmostEqual(found.get("[records lost]", 0), sched["unknown"],
                                   delta=rounding)

    def test_chrome_time(self):
        rounding = 2 * STAMP * len(live.CPUS)
        for view in self.each():
            shown, sched = formats.strict_json(view.read("chrome")), view.report["sched"]
            found = collections.Counter()
            for event in shown["traceEvents"]:
                if event["ph"] == "X":
                    state = event["name"] if event["cat"] == "state" else "[CPU]"
                    found[state] += round(event["dur"] * 1000)
            self.assertAlmostEqual(found["running"], sched["busy"], delta=rounding)
            self.assertAlmostEqual(found["[CPU]"],
                                   sched["busy"] + sched["unknown"],  # idle time is empty
                                   delta=2 * rounding)


if __name__ == "__main__":
    live.main()
