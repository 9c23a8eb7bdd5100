#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""Test that Perfetto's trace processor reads skein's export and agrees with skein."""
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from trace_processor import COMPLAINTS, MISSING, ask, complaints
from traces import Home, make_scene, make_timeline, output, skein

MADE_UP = 0x7ff00000 # tids from here on are no threads
UNIT = 10_000_000 # ns, of the scene's times
SEEDS = 4 if os.environ.get("SKEIN_LONG") else 2 # of made-up machines that lose the same amount
LOSSES = {"ftrace_cpu_has_data_loss", "task_state_invalid"}

SLICES = """select s.ts, s.dur, s.cpu, s.end_state, t.tid, t.name
    from sched_slice s join thread t using (utid) order by s.cpu, s.ts, s.id"""
STATES = """select s.ts, iif(s.dur < 0, trace_end() - s.ts, s.dur) dur, s.state, s.cpu, t.tid,
    t.name, w.name waker, iif(w.tid < 0x7ff00000, w.tid, null) waker_tid
    from thread_state s join thread t using (utid)
    left join thread w on w.utid = s.waker_utid order by t.utid, s.ts, s.id"""
SAMPLES = """select p.ts, p.cpu, p.cpu_mode mode, p.callsite_id site, t.tid
    from perf_sample p join thread t using (utid) order by p.ts"""
SITES = """select c.id, c.parent_id parent, f.name, m.name mapping, m.build_id
    from stack_profile_callsite c join stack_profile_frame f on c.frame_id = f.id
    join stack_profile_mapping m on f.mapping = m.id"""
SLICES_OF_TRACKS = """select s.ts, s.dur, s.name, s.category, t.name track, th.tid, p.name process
    from slice s join track t on s.track_id = t.id left join thread_track tt on tt.id = t.id
    left join thread th using (utid) left join process p using (upid) order by s.ts, s.id"""
COUNTERS = """select t.name, c.ts, c.value from counter c join track t on c.track_id = t.id
    order by t.id, c.ts"""
BOUNDS = "select trace_start() start, trace_end() end"


def stacks_of(sites):
    """Return the names of each site's frames from the root on."""
    by_id = {site["id"]: site for site in sites}

    def names(number):
        if number is None:
            return ()
        return (*names(by_id[number]["parent"]), by_id[number]["name"])
    return {number: names(number) for number in by_id}


def sums(rows, key, value="dur"):
    total = collections.Counter()
    for row in rows:
        total[key(row)] += row[value]
    return total


class Traces(Home):
    maxDiff = None

    @classmethod
    def export(cls, trace, ending="pftrace"):
        out = cls.home / f"{trace.stem}.{ending}"
        skein("export", trace, "-o", out, "--idle")
        return out


PYTHON = """select f.name, m.name mapping, s.source_file file, s.line_number line
    from stack_profile_frame f join stack_profile_mapping m on f.mapping = m.id
    left join stack_profile_symbol s using (symbol_set_id)"""


@unittest.skipIf(MISSING, MISSING)
class Python(Traces):
    """Python frames: their names, files and lines, and the frames between them."""
    def said(self, *args):
        trace, out = self.home / "python.skein", self.home / "python.pftrace"
        make_scene(trace, "python")
        skein("export", trace, "-o", out, *args)
        sites, frames, wrong = ask(out, SITES, PYTHON, COMPLAINTS)
        self.assertEqual(wrong, [])
        return set(stacks_of(sites).values()), frames

    def test_functions(self):
        stacks, frames = self.said()
        main = ("_start", "main", "<module> (main.py:1)", "Handler.get (main.py:10)")
        self.assertIn((*main, "helper (/srv/app/a/util.py:5)"), stacks)
        self.assertIn((*main, "list_sort_impl", "<lambda> (<string>)"), stacks)
        named = {row["name"]: (row["file"], row["line"]) for row in frames}
        self.assertEqual(named[main[-1]], ("/srv/app/main.py", 10))
        self.assertFalse([c for name in named for c in name if ord(c) < 32])

    def test_lines(self):
        stacks, frames = self.said("--lines")
        main = ("_start", "main", "<module> (main.py:40)", "Handler.get (main.py:14)")
        self.assertIn((*main, "scanner_call"), stacks)
        named = {row["name"]: (row["file"], row["line"]) for row in frames}
        self.assertEqual(named["Handler.get (main.py:14)"], ("/srv/app/main.py", 14))
        self.assertEqual(named["Handler.get (main.py:12)"], ("/srv/app/main.py", 12))

    def test_native(self):
        stacks, _ = self.said("--native")
        self.assertIn(("_start", "main", "PyEval_EvalCode", "_PyEval_Vector.lto_priv.0",
                       "_PyEval_EvalFrameDefault", "<module> (main.py:1)"), stacks)


@unittest.skipIf(MISSING, MISSING)
class Scene(Traces):
    """The scene of the timeline, in which everything is known."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = make_scene(cls.home / "timeline.skein", "timeline")
        cls.said = cls.export(cls.trace)
        (cls.complaints, cls.slices, cls.states, cls.samples, sites, cls.tracks, cls.counters,
         cls.bounds) = ask(cls.said, COMPLAINTS, SLICES, STATES, SAMPLES, SITES,
                           SLICES_OF_TRACKS, COUNTERS, BOUNDS)
        cls.sites, cls.stacks = sites, stacks_of(sites)

    def states_of(self, name):
        """Return the states that take time, in the scene's units, rounded."""
        rows = [(round(row["ts"] / UNIT - 100, 3), round(row["dur"] / UNIT, 3), row["state"],
                 row["waker"]) for row in self.states if row["name"] == name]
        return [row for row in rows if row[1]]

    def test_bounds(self):
        self.assertEqual(self.bounds, [{"start": 100 * UNIT, "end": 200 * UNIT}])

    def test_nothing_is_complained_of_when_nothing_is_lost(self):
        whole = self.export(make_scene(self.home / "whole.skein", "whole"))
        samples = self.export(make_scene(self.home / "scene.skein"))
        for said in (whole, samples):
            self.assertEqual(ask(said, COMPLAINTS), [[]])

    def test_losses_are_complained_of(self):
        self.assertEqual(set(complaints(self.complaints)), LOSSES)

    def test_slices_of_cpus(self):
        rows = json.loads(output("query", "--json", self.trace, """
            select s.time, s.end, l.number cpu, t.tid, s.state, s.left from slice s
            join lane l on l.id = s.lane and l.kind = 1 left join thread t on t.id = s.value
            order by l.number, s.time"""))
        ours, goes_on = [], False
        for row in rows:
            tid = MADE_UP if row["state"] == 9 else row["tid"] or 0
            one = [row["time"], row["end"], row["cpu"], tid]
            # a new name is no switch here
            if goes_on:
                ours[-1][1] = one[1]
            else:
                ours.append(one)
            goes_on = row["left"] == 1
        theirs = [[row["ts"], row["ts"] + row["dur"], row["cpu"], min(row["tid"], MADE_UP)]
                  for row in self.slices if row["dur"] > 1]
        # the reader splits lost time, within a ns, where threads become unknown
        theirs = [[row[0] // 10 * 10, *row[1:]] for row in theirs]
        self.assertEqual(theirs, ours)

    def test_states_of_threads(self):
        self.assertEqual(self.states_of("once more"), [
            (0, 8, "Running", None), (8, 10, "S", None), (18, 2, "R", "pool"),
            (20, 4, "Running", None), (24, 11, "D", None), (35, 18, "R", "interrupt: timer"),
            (53, 2, None, None), (55, 15, "Running", None), (70, 20, "T", None),
            (90, 5, "R", "again"), (95, 5, "Running", None)])
        self.assertEqual(self.states_of("pool"), [
            (0, 5, "S", None), (5, 5, "R", "once more"), (10, 10, "Running", None),
            (20, 4, "R+", None), (24, 4, "Running", None), (28, 20, "S", None),
            (48, 2, "Running", None), (50, 2, "R", "once more"),
            (52, 6, "Running", None), (58, 42, "S", None)])

    def test_a_thread_that_slept_from_the_start(self):
        self.assertEqual(self.states_of("kthreadd"), [(0, 53, "S", None), (53, 47, None, None)])

    def test_one_number_used_twice(self):
        self.assertEqual(self.states_of("child"), [
            (30, 1, "R", "evil?[2J</script>?"), (31, 17, "Running", None), (48, 52, "X", None)])
        self.assertEqual(self.states_of("again"), [
            (60, 5, "R", "once more"), (65, 15, "Running", None), (80, 20, "S", None)])

    def test_who_dies_first(self):
        """The leader of a process dies first, and the other threads are still there."""
        self.assertEqual(self.states_of("leader"), [
            (81, 1, "R", "again"), (82, 1, "Running", None), (83, 17, "X", None)])
        self.assertEqual(self.states_of("member"), [
            (81, 2, "R", "leader"), (83, 5, "Running", None), (88, 12, "X", None)])

    def test_who_died_unseen(self):
        self.assertEqual(self.states_of("unseen"), [
            (0, 53, "S", None), (53, 1, None, None), (54, 46, "X", None)])

    def test_interrupts_wake_and_never_run(self):
        """The thread that an interrupt interrupts is not the waker."""
        self.assertEqual(self.states_of("evil?[2J</script>?"), [
            (12, 8, "R", "interrupt: network"), (20, 10, "Running", None),
            (30, 23, "Running", None), (53, 2, None, None), (55, 45, "S", None)])
        self.assertFalse([row for row in self.states if row["name"].startswith("interrupt")])

    def test_what_is_lost_shows(self):
        lost = [row for row in self.slices if row["name"] == "[records lost]"]
        self.assertEqual({row["cpu"] for row in lost}, {1})
        self.assertEqual(sum(row["dur"] for row in lost), 2 * UNIT)
        said = [(row["name"], row["ts"]) for row in self.tracks if row["track"] == "losses"]
        self.assertEqual(said, [("ring full: 2 lost on CPU 0", 103 * UNIT),
                                ("switches lost: 17 lost on CPU 1", 153 * UNIT)])
        counts = [row["value"] for row in self.counters if row["name"] == "lost records"]
        self.assertEqual(counts, [0, 2, 19])

    def test_waits(self):
        said = [(row["name"], row["ts"] // UNIT - 100, row["dur"] // UNIT, row["tid"])
                for row in self.tracks if row["track"] == "waits for"]
        self.assertEqual(sorted(said, key=lambda row: (row[1], row[3])), [
            ("poll", 0, 5, 101), ("lock", 0, 53, 102), ("lock", 8, 10, 100), ("I/O", 24, 11, 100),
            ("poll", 28, 20, 101), ("pipe or socket", 55, 45, 200),
            ("sleep", 58, 42, 101), ("other", 70, 20, 100), ("child", 80, 20, 300)])

    def test_how_many_at_once(self):
        """A counter times its steps equals the time of its threads."""
        for name, expected in (("running threads", 125), ("CPUs with lost records", 2)):
            rows = [row for row in self.counters if row["name"] == name]
            area = sum(row["value"] * (after["ts"] - row["ts"])
                       for row, after in zip(rows, rows[1:]))
            self.assertAlmostEqual(area / UNIT, expected, 6)
            self.assertEqual(rows[-1]["value"], 0)

    def test_samples(self):
        deep = ("[truncated: too deep]", "[server+0x2340]", "[unknown]")
        self.assertEqual(
            [(row["ts"] // UNIT - 100, row["cpu"], row["mode"], row["tid"],
              self.stacks[row["site"]]) for row in self.samples],
            [(2, 0, "user", 100, ("main",)), (5, 0, "kernel", 100, ("main", "do_syscall_64")),
             (12, 1, "user", 200, deep), (15, 1, "user", 200, ("[no stack]",)),
             (25, 0, "user", 101, ("main",)), (26, 0, "kernel", 101, ("main", "do_syscall_64"))])
        self.assertIn(("main", "/usr/bin/server", "aabb"),
                      {(s["name"], s["mapping"], s["build_id"]) for s in self.sites})
        weights = [row["value"] for row in self.counters if row["name"] == "cpu-clock"]
        self.assertEqual(weights, [UNIT, 2 * UNIT, 3 * UNIT, UNIT, 2 * UNIT])
        weights = [row["value"] for row in self.counters if row["name"] == "cycles"]
        self.assertEqual(weights, [UNIT / 2])

    def test_a_part(self):
        part = self.home / "part.pftrace"
        skein("export", self.trace, "-o", part, "--from", "150ms", "--to", "400ms")
        states, slices, bounds, samples = ask(part, STATES, SLICES, BOUNDS, SAMPLES)
        self.assertEqual(bounds, [{"start": 115 * UNIT, "end": 140 * UNIT}])
        self.assertEqual(sum(row["dur"] for row in slices if row["dur"] > 0), 2 * 25 * UNIT)
        self.assertEqual([(row["ts"] / UNIT - 100, row["dur"] / UNIT, row["state"])
                          for row in states if row["tid"] == 100 and row["dur"]],
                         [(15, 3, "S"), (18, 2, "R"), (20, 4, "Running"), (24, 11, "D"),
                          (35, 5, "R")])
        self.assertEqual(len(samples), 3)

    def test_names_stay_text(self):
        (names,) = ask(self.said, "select name from thread union select name from process")
        for row in names:
            self.assertFalse([c for c in row["name"] or "" if ord(c) < 32], row)


@unittest.skipIf(MISSING, MISSING)
class Samples(Traces):
    """The scene of all formats: the stacks equal those of folded lines."""
    def test_totals(self):
        trace = make_scene(self.home / "scene.skein")
        samples, sites, weights = ask(
            self.export(trace), SAMPLES, SITES, """select max(c.value) w from counter c
            join track t on c.track_id = t.id where t.name = 'cpu-clock' group by t.id""")
        self.assertEqual(sum(row["w"] for row in weights), 100 * UNIT)
        theirs = collections.Counter(len(stacks_of(sites)[row["site"]]) for row in samples)
        ours = collections.Counter()
        for line in output("export", trace, "-f", "folded", "--idle").decode().splitlines():
            stack, _, count = line.rpartition(" ")
            ours[stack.count(";")] += int(count)
        self.assertEqual(theirs, ours)


@unittest.skipIf(MISSING, MISSING)
class Chrome(Traces):
    def test_it_is_read_whole(self):
        trace = make_scene(self.home / "timeline.skein", "timeline")
        for ending in ("json", "json.gz"):
            wrong, slices, counters, flows = ask(
                self.export(trace, ending), COMPLAINTS, SLICES_OF_TRACKS, COUNTERS,
                "select count(*) n from flow")
            self.assertEqual(wrong, [])
            states = sums((row for row in slices if row["category"] == "state"),
                          lambda row: row["name"])
            self.assertEqual({name: ns / UNIT for name, ns in states.items()}, {
                "running": 125, "runnable": 49, "preempted": 4, "unknown": 52,
                "unused": 53, "disk: I/O": 11, "stopped: other": 20, "sleeping: lock": 63,
                "sleeping: poll": 25, "sleeping: sleep": 42, "sleeping: child": 20,
                "sleeping: pipe or socket": 45})
            cpus = [row for row in slices if row["category"] == "cpu"]
            self.assertEqual({row["process"] for row in cpus}, {"CPUs"})
            self.assertEqual(sum(row["dur"] for row in cpus), 127 * UNIT)
            self.assertEqual(len(flows), 1)
            self.assertGreater(flows[0]["n"], 4)
            self.assertIn("running threads value", {row["name"] for row in counters})


def states_told(report):
    """Return for each tid its times in each state, by the report."""
    reported = collections.defaultdict(collections.Counter)
    for row in report["sched"]["threads"]:
        states = reported[row["tid"]]
        states["running"] += row["running"]
        # a thread whose slice has expired is R or R+, depending on how it left
        states["queued"] += row["runnable_woken"] + row["runnable_preempted"]
        states["blocked"] += sum(row["blocked"].values()) + row["stopped"] + row["unused"]
    return reported


RESOLUTION = 64  # ns of time stamps: SCHEDULE_RESOLUTION in user/capture/schedule.h
STATE_WORDS = {"Running": "running", "R": "queued", "R+": "queued"} | dict.fromkeys(
    "SDTIP", "blocked")


def check_states(case, rows, report):
    """
    Compare states within the shift that orders a time stamp after another, a ns per state, and the
    rounding of time stamps: the start and end of the recording, which cut the first and the last
    state, are not rounded.
    """
    theirs = collections.defaultdict(collections.Counter)
    count = collections.Counter()
    for row in rows:
        count[row["tid"]] += 1
        theirs[row["tid"]][STATE_WORDS.get(row["state"])] += row["dur"]
    for tid, states in states_told(report).items():
        for state, ns in states.items():
            case.assertAlmostEqual(theirs[tid][state], ns, msg=(tid, state),
                                   delta=2 * count[tid] + 2 + RESOLUTION)


@unittest.skipIf(MISSING, MISSING)
class MadeUp(Traces):
    """
    An artificial machine that loses records, wakes threads that are about to sleep, and whose
    threads die.
    """
    def check(self, seed, losses, early, deaths):
        trace = self.home / f"made-up-{seed}.skein"
        make_timeline(trace, 3000, 2, 12, seed, losses, early, deaths)
        states, wrong = ask(self.export(trace), STATES, COMPLAINTS)
        real = [row for row in states if 0 < row["tid"] < MADE_UP]
        self.assertGreater(len(real), 1000)
        check_states(self, real, json.loads(output("report", "--json", "--idle", trace)))
        self.assertEqual(set(complaints(wrong)) - (LOSSES if losses else set()), set())

    def test_nothing_is_lost(self):
        self.check(1, 0, 50000, 20000)

    def test_some_is_lost(self):
        for seed in range(2, 2 + SEEDS):
            self.check(seed, 20000, 50000, 20000)

    def test_much_is_lost(self):
        for seed in range(6, 6 + SEEDS):
            self.check(seed, 300000, 50000, 20000)


WORK = "while :; do (echo; sleep 0.05) | cat >/dev/null; done"
STORM = "yes | cat >/dev/null & yes | cat >/dev/null & while :; do sleep 0.05; done"


@unittest.skipIf(MISSING, MISSING)
class Live(Traces):
    """Two seconds of this machine."""
    work, options = WORK, ()
    # largest share of wake-ups that hit a running thread; seen were 2.3 %, beside other tests
    overlooked = 0.1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if os.geteuid() != 0:
            raise unittest.SkipTest("cannot record here: needs root")
        cls.trace = cls.home / "live.skein"
        with subprocess.Popen(["sh", "-c", cls.work], start_new_session=True) as load:
            try:
                done = skein("record", "-e", "cpu,sched", "-F", "499", "-d", "2s", *cls.options,
                             "-o", cls.trace, check=False)
            finally:
                os.killpg(load.pid, signal.SIGKILL)
        if done.returncode:
            raise unittest.SkipTest(f"cannot record here: {done.stderr.decode()[-300:]}")
        cls.report = json.loads(output("report", "--json", "--idle", cls.trace))
        (cls.complaints, cls.slices, cls.states, cls.samples, cls.counters) = ask(
            cls.export(cls.trace), COMPLAINTS, SLICES, STATES, SAMPLES, COUNTERS)
        cls.real = [row for row in cls.states if 0 < row["tid"] < MADE_UP]

    def sql(self, query):
        return json.loads(output("query", "--json", self.trace, query))

    def test_only_losses_are_complained_of(self):
        lost = self.sql("select count(*) n from slice where state = 9")[0]["n"]
        self.assertEqual(set(complaints(self.complaints)) - (LOSSES if lost else set()), set())

    def test_time_on_cpus(self):
        theirs = sums((row for row in self.slices if 0 < row["tid"] < MADE_UP and row["dur"] > 0),
                      lambda row: row["tid"])
        ours = {row["tid"]: row["ns"] for row in self.sql("""
            select t.tid, sum(s.end - s.time) ns from slice s join lane l on l.id = s.lane
            join thread t on t.id = s.value where l.kind = 1 and s.state = 1 and s.end > s.time
            group by t.tid having ns > 0""")}
        self.assertEqual(theirs, ours)
        # the report starts with the recording, and time stamps are rounded down
        self.assertAlmostEqual(sum(theirs.values()), self.report["sched"]["busy"], delta=1000)

    def test_unknown_time_is_not_running(self):
        """All time that the reader calls Running equals the busy time of the report."""
        running = sum(row["dur"] for row in self.states if row["state"] == "Running")
        held = [row for row in self.slices if row["tid"] >= MADE_UP]
        lost = sum(row["dur"] for row in held if row["name"] == "[records lost]")
        self.assertAlmostEqual(lost, self.report["sched"]["unknown"], delta=1000)
        # a pseudo thread leaves Running 1 ns after it got the CPU
        self.assertAlmostEqual(running, self.report["sched"]["busy"], delta=1000 + len(held))

    def test_states(self):
        check_states(self, self.real, self.report)

    def test_wakers(self):
        """The wakers and creators of each thread, with counts, are equal."""
        theirs = collections.Counter((row["waker_tid"] or row["waker"].replace("interrupt: ", ""),
                                      row["tid"]) for row in self.real if row["waker"])
        ours = collections.Counter()
        for row in self.report["sched"]["wakes"]:
            by, of = row["by"], row["of"]
            ours[by.get("tid", by["name"].strip("[]")), of.get("tid", of["name"])] += row["count"]
        for row in self.sql("""
                select f.tid a, t.tid b, count(*) n from edge e
                join lane l on l.id = e."from" and l.kind = 3 join thread f on f.id = l.number
                join lane m on m.id = e."to" join thread t on t.id = m.number
                where e.kind = 4 group by 1, 2"""):
            ours[row["a"], row["b"]] += row["n"]
        self.assertEqual(theirs - ours, {}, "nobody is said to have woken who did not")
        self.assertLess((ours - theirs).total(), self.overlooked * ours.total())
        self.assertGreater(theirs.total(), 20)
        if self.overlooked < 1:
            self.assertTrue([pair for pair in theirs if isinstance(pair[0], str)])

    def test_samples(self):
        self.assertEqual(len(self.samples), self.report["samples"])
        weights = collections.defaultdict(int)
        for row in self.sql("select cpu, sum(weight) w from sample group by cpu"):
            weights[row["cpu"]] = row["w"]
        last = {}
        for row in self.counters:
            if row["name"] == "cpu-clock":
                last.setdefault(row["name"], []).append(row["value"])
        self.assertEqual(max(last["cpu-clock"]), max(weights.values()))


class Lossy(Live):
    """
    With buffers so small that most records are lost, the rest is shown, and nothing is invented.
    """
    work, options, overlooked = STORM, ("--switch-buffer", "4K"), 1

    def test_something_is_lost(self):
        lost = self.sql("select count(*) n from slice where state = 9 and value = 0")[0]["n"]
        self.assertGreater(lost, 0)
        reported = complaints(self.complaints)
        self.assertGreater(reported["ftrace_cpu_has_data_loss"], 0)
        self.assertGreater(sum(row["dur"] for row in self.slices if row["tid"] >= MADE_UP), 0)


if __name__ == "__main__":
    unittest.main()
