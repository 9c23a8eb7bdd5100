# SPDX-License-Identifier: Apache-2.0
# timeout: 3600
"""
Compare what skein records of a JVM with what the JVM itself logs on the same clock
(-Xlog:gc*,safepoint), for every JDK and collector: collections by memory manager, safepoints, how
long threads took to reach them, and pauses. Further the full names of Java threads, and Python's
collections beside gc.callbacks.

Counts are exact in both forms. The long form has 1,000 pauses of each and strict bounds of times,
and writes its results for docs/runtime-events.md; in the short form, which runs all JVMs at once
and beside other programs, a quarter of the times must be right: with 12 pauses, of which one in ten
is disturbed, that fails once in a hundred million runs.
"""
import json
import statistics
import time
import unittest

import evidence
import jdks
import jvm_log
import live
import python_found

COLLECTORS = ("Serial", "Parallel", "G1", "Z", "Shenandoah")
SHORT = ((17, "Shenandoah"), (21, "Serial"), (25, "G1"), (25, "Z"))
SECONDS = 6 if live.LONG else 0.7
FULL = 3 # collections that the program requests
ENOUGH = 1000 if live.LONG else 12 # pauses
TRIES = 10
OPTIONS = {"G1": ("-XX:InitiatingHeapOccupancyPercent=5", "-XX:-G1UseAdaptiveIHOP")}
# Memory managers, and the begins of the names of the pauses or cycles that the log has for each of
# their collections. A degenerated collection of Shenandoah is one of its own.
MANAGERS = {
    "Z": {"ZGC Cycles": ("Garbage",), "ZGC Minor Cycles": ("Minor",),
          "ZGC Major Cycles": ("Major",)},
    "Shenandoah": {"Shenandoah Cycles": ("Pause Init Mark", "Pause Degenerated", "Pause Full")},
    "Serial": {"Copy": ("Pause Young",), "MarkSweepCompact": ("Pause Full",)},
    "Parallel": {"PS Scavenge": ("Pause Young",), "PS MarkSweep": ("Pause Full",)},
    "G1": {"G1 Young Generation": ("Pause Young",), "G1 Old Generation": ("Pause Full",)},
}
NAMED = {"Z": "Pause ", "Shenandoah": "Pause ", "G1": ("Pause Remark", "Pause Cleanup")}
US, MS = 1000, 1000000 # ns
SPAN = live.numbers("SPAN_KINDS")


def pairs(version):
    """Return the JVMs to run, as (JDK, collector): those of a JDK, or in the short form some."""
    return [(v, c) for v in jdks.homes() for c in COLLECTORS
            if ((v, c) in SHORT if version is None else v == version) and
            jdks.has_collector(jdks.home_of(v) / "bin" / "java", c)]


def share(values, most):
    """Return the share of the values that are at most that."""
    return sum(v <= most for v in values) / len(values) if values else 1.0


class Spans:
    """The spans of a process, with stamps of CLOCK_MONOTONIC: (begin, end, name, args)."""

    def __init__(self, trace, pid, since):
        offset = trace.one("SELECT monotonic_offset FROM host")
        rows = trace.query(
            'SELECT span.time, span."end", span.kind, n.text AS name, a.text AS args FROM span'
            " JOIN lane ON lane.id = span.lane LEFT JOIN lane up ON up.id = lane.parent"
            " JOIN process ON process.id = up.number LEFT JOIN name n ON n.id = span.name"
            f" LEFT JOIN name a ON a.id = span.args WHERE process.pid = {pid} AND lane.kind ="
            f" {live.numbers('LANE_KINDS')['RUNTIME']} ORDER BY span.time")
        self.all = [(r["time"] + offset, r["end"] and r["end"] + offset, r["kind"], r["name"],
                     json.loads(r["args"] or "{}")) for r in rows]
        self.all = [s for s in self.all if not s[1] or s[1] > since]

    def of(self, kind, is_open=False):
        return [(begin, end, name, args) for begin, end, which, name, args in self.all
                if which == SPAN[kind] and is_open == (not end)]


class Compared:
    """Differences between the spans and the log of one or more JVMs with the same collector."""

    def __init__(self, collector):
        self.collector = collector
        self.safepoints, self.totals, self.lengths, self.reaching = 0, 0, 0, []
        self.off, self.pauses, self.outside, self.contained = [], [], [], 0
        self.named = self.collections = 0

    def add(self, test, spans, log):
        self.add_safepoints(test, spans, log)
        self.add_collections(test, spans, log)
        self.add_named(test, spans, log)
        self.add_stops(spans, log)

    def add_safepoints(self, test, spans, log):
        found = spans.of("SAFEPOINT")
        # Shenandoah writes the names of its operations in the log in another way.
        names = [s.operation for s in log.safepoints] if self.collector != "Shenandoah" else None
        test.assertEqual(len(found), len(log.safepoints))
        test.assertEqual([s[3].get("operation") for s in found] if names else None, names)
        test.assertLessEqual(len(spans.of("SAFEPOINT", True)), 1)
        reaching = {begin: end - begin for begin, end, _, _ in spans.of("REACHING")}
        for (begin, end, _, _), logged in zip(found, log.safepoints):
            self.off.append(abs(end - begin - logged.total) / max(0.05 * logged.total, 50 * US))
            self.reaching.append(abs(reaching[begin] - logged.reaching))
            self.lengths += end - begin
            self.totals += logged.total
        self.safepoints += len(found)

    def add_collections(self, test, spans, log):
        found = spans.of("COLLECTION")
        self.collections += len(found)
        for manager, begins in MANAGERS[self.collector].items():
            count, logged = sum(s[2] == manager for s in found), log.count(*begins)
            # The log has no line for a cycle that ZGC gives up because the JVM exits.
            if self.collector == "Z" and count == logged + 1:
                count -= 1
            test.assertEqual(count, logged, manager)
        if self.collector not in NAMED or self.collector == "G1":
            begins = sum(MANAGERS[self.collector].values(), ())
            test.assertEqual([s[3].get("cause") for s in found if s[2] != "G1 Concurrent GC"],
                             [p.cause for p in log.pauses if p.name.startswith(begins)])

    def add_named(self, test, spans, log):
        begins = NAMED.get(self.collector)
        if not begins:
            return
        logged = [p for p in log.pauses if p.name.startswith(begins)]
        found = spans.of("PAUSE")
        test.assertEqual([plain(s[2]) for s in found], [plain(p.name) for p in logged])
        for (begin, end, _, _), pause in zip(found, logged):
            self.pauses.append(end - begin - pause.length)
        self.named += len(found)

    def add_stops(self, spans, log):
        stops = spans.of("OPERATION")
        for pause in log.pauses:
            if pause.begun is None or pause.name.startswith(NAMED.get(self.collector, "-")):
                continue
            inside = any(begin <= pause.begun and pause.time <= end for begin, end, _, _ in stops)
            self.contained += inside
            if not inside:
                self.outside.append(pause)

    def equal_pauses(self, most):
        return share([abs(p) for p in self.pauses], most)

    def paused(self):
        return max(self.safepoints, len(self.pauses))

    def row(self, name):
        named = f"{100 * self.equal_pauses(20 * US):.1f} % of {self.named}" if self.pauses else "-"
        others = f"{self.contained} of {self.contained + len(self.outside)}" \
            if self.contained or self.outside else "-"
        return {
            "JVM": name, "collections": f"{self.collections:,}",
            "safepoints": f"{self.safepoints:,}",
            "within 5 % or 50 us": f"{100 * share(self.off, 1):.1f} %",
            "sum (of one)": f"{100 * (self.lengths / self.totals - 1):+.2f} % "
                            f"({(self.lengths - self.totals) / self.safepoints / US:+.1f} us)",
            "reaching: median, 99 %": f"{statistics.median(self.reaching) / US:.1f} us, "
                                      f"{centile(self.reaching, 0.99) / US:.1f} us",
            "named pauses within 20 us": named, "other pauses inside of their operation": others,
        }


def centile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def plain(name):
    """Return the name of a pause without prefix and remarks, which releases write differently."""
    return name.removeprefix("Pause ").split(" (")[0].strip()


@unittest.skipIf(jdks.missing(), jdks.missing())
class Hotspot(live.LiveTest):
    def launch(self, version, collector, name):
        """Start a JVM that waits; return the process and the path of its log."""
        log = self.tmp / f"{name}.log"
        java = jdks.home_of(version) / "bin" / "java"
        process = self.start(java, f"-XX:+Use{collector}GC", "-Xmx48m", *OPTIONS.get(collector, ()),
                             jvm_log.OPTION.format(log), "-cp", jdks.classes("Collect.java"),
                             "Collect", SECONDS, FULL, stdin=-1)
        return process, log

    def run_all(self, which):
        """Record JVMs that run at the same time; return the trace and (pair, pid, log, since)."""
        started = [(pair, *self.launch(*pair, f"{pair[0]}-{pair[1]}")) for pair in which]
        for _, process, log in started:
            self.wait_for(lambda p=log: p.exists() and p.stat().st_size)
        recording = self.begin("-a", "-e", "cpu,jvm")
        self.wait_for(lambda: live.descriptors(recording.pid, "bpf_link"))
        time.sleep(0.5)
        since = time.monotonic_ns()
        for _, process, _ in started:
            self.go(process)
        for _, process, _ in started:
            self.assertEqual(process.wait(120), 0)
        trace = self.finish(recording)
        return trace, [(pair, process.pid, jvm_log.Log(log, since), since)
                       for pair, process, log in started]

    def compare(self, which):
        compared = {pair: Compared(pair[1]) for pair in which}
        for _ in range(TRIES):
            trace, runs = self.run_all([p for p in which if compared[p].paused() < ENOUGH])
            # A concurrent phase that ZGC gives up because the JVM exits has no end.
            self.assertLessEqual(trace.losses("UNPAIRED"), 2 * sum(c == "Z" for _, c in which))
            if trace.losses("PROBES_LOST"):
                self.fail(trace.query("SELECT * FROM loss"))
            for pair, pid, log, since in runs:
                with self.subTest(jdk=pair[0], collector=pair[1]):
                    compared[pair].add(self, Spans(trace, pid, since), log)
                    self.check_threads(trace, pid)
                    self.check_samples(trace, pid)
            if all(c.paused() >= ENOUGH for c in compared.values()):
                break
        return compared

    def check_threads(self, trace, pid):
        rows = trace.query("SELECT DISTINCT runtime_name AS name FROM thread JOIN process ON"
                           f" process.id = thread.process WHERE process.pid = {pid}"
                           " AND runtime_name LIKE 'worker%'")
        self.assertEqual(sorted(r["name"] for r in rows),
                         sorted(f"worker with a long name {i}" for i in range(16)))

    def check_samples(self, trace, pid):
        """Samples have the flag of a collection if, and only if, they lie in a stop for one."""
        bit = {r["word"]: r["id"] for r in trace.query("SELECT * FROM sample_flag")}
        spans = Spans(trace, pid, 0)
        offset = trace.one("SELECT monotonic_offset FROM host")
        stops = [(begin - offset, end - offset) for begin, end, _, _ in spans.of("GC_STOP")]
        rows = trace.query("SELECT sample.time, sample.flags FROM sample JOIN thread ON thread.id ="
                           " sample.thread JOIN process ON process.id = thread.process WHERE"
                           f" process.pid = {pid} AND NOT sample.flags & {bit['late']}")
        for row in rows:
            inside = any(begin < row["time"] < end for begin, end in stops)
            self.assertEqual(bool(row["flags"] & bit["collecting"]), inside, row)

    def judge(self, pair, compared):
        name = f"JDK {pair[0]}, {pair[1]}"
        print(compared.row(name))
        if live.LONG:
            evidence.leave(live.BUILD, "runtime-events", compared.row(name))
        self.assertGreaterEqual(compared.paused(), ENOUGH)
        self.assertGreater(compared.collections, 0)
        self.assertFalse(compared.outside)
        # Where more threads run than CPUs, the VM thread is preempted between the two clocks now
        # and then: once in a hundred safepoints of G1 on 2 CPUs.
        self.assertGreaterEqual(share(compared.off, 1), 0.98 if live.LONG else 0.25)
        self.assertGreaterEqual(share(compared.reaching, 2 * US if live.LONG else 20 * US),
                                0.5 if live.LONG else 0.25)
        if pair[1] == "Shenandoah":
            # Its log takes the time before it writes the line of the begin, its timer after it.
            self.assertGreaterEqual(share(compared.pauses, 20 * US), 0.99)
        elif compared.pauses:
            self.assertGreaterEqual(compared.equal_pauses(20 * US), 0.99)
        if live.LONG:
            # Safepoints of ZGC and Shenandoah are so short that the probes in them are a part.
            most = 0.01 * compared.totals
            if pair[1] in ("Z", "Shenandoah"):
                most = max(most, 10 * US * compared.safepoints)
            self.assertLess(abs(compared.lengths - compared.totals), most)

    def check_log(self, version=None):
        which = pairs(version)
        for some in [[pair] for pair in which] if live.LONG else [which]:
            for pair, compared in self.compare(some).items():
                with self.subTest(jdk=pair[0], collector=pair[1]):
                    self.judge(pair, compared)

    if live.LONG:
        def test_jdk_17(self):
            self.check_log(17)

        def test_jdk_21(self):
            self.check_log(21)

        def test_jdk_25(self):
            self.check_log(25)
    else:
        def test_beside_the_log(self):
            self.check_log()


PYTHON = """
import gc, json, sys, threading
seen, marked = [], False

def note(phase, info):
    if marked and phase == "stop":
        seen.append([info["generation"], info["collected"]])

class Node:
    pass

def garbage(count):
    for _ in range(count):
        a, b = Node(), Node()
        a.other, b.other = b, a

gc.disable()
sys.stdin.readline()
gc.callbacks.append(note)
garbage(10)
gc.collect(0)
marked = True
gc.enable()
workers = [threading.Thread(target=garbage, args=(int(sys.argv[1]),)) for _ in range(2)]
for w in workers:
    w.start()
for w in workers:
    w.join()
gc.disable()
gc.collect(1)
gc.collect()
garbage(3)
marked = False
json.dump(seen, sys.stdout)
"""


def pythons():
    """Return Debian's Python, which has notes, and some that have none."""
    every = [one for one in python_found.supported() if not one.fetched]
    debian = [one for one in every if one.debian]
    others = [one for one in every if not one.debian]
    return debian[:1] + (others if live.LONG else others[-1:])


class Python(live.LiveTest):
    def test_collections_are_those_of_gc_callbacks(self):
        found = pythons()
        if not found:
            self.skipTest("no Python")
        program = self.tmp / "collect.py"
        program.write_text(PYTHON)
        programs = [(one, self.start(one.path, program, 20000, stdin=-1)) for one in found]
        recording = self.begin("-a", "-e", "cpu,python")
        self.wait_for(lambda: live.descriptors(recording.pid, "bpf_link"))
        time.sleep(0.5)
        for _, process in programs:
            self.go(process)
        seen = [(one, process.pid, self.output(process)) for one, process in programs]
        trace = self.finish(recording)
        for one, pid, logged in seen:
            with self.subTest(python=str(one)):
                self.check(trace, pid, logged, one.version)

    def check(self, trace, pid, logged, version):
        rows = trace.query(
            'SELECT span."end", n.text AS name, a.text AS args FROM span JOIN lane ON lane.id ='
            " span.lane JOIN thread ON thread.id = lane.number JOIN process ON process.id ="
            " thread.process JOIN name n ON n.id = span.name JOIN name a ON a.id = span.args"
            f" WHERE process.pid = {pid} AND span.kind = {SPAN['COLLECTION']} AND lane.kind ="
            f" {live.numbers('LANE_KINDS')['THREAD']} ORDER BY span.time")
        self.assertTrue(logged)
        args = [json.loads(r["args"]) for r in rows]
        found = [[a.get("generation"), a["collected"]] for a in args]
        # The mark is a collection of generation 0; those of the interpreter's end come last.
        found = found[1:1 + len(logged)]
        # From 3.13 on, the function chooses the generation of an automatic collection itself.
        logged = [[ours and theirs, collected] if ours is None else [theirs, collected]
                  for (ours, _), (theirs, collected) in zip(found, logged)] \
            if version >= (3, 13) and len(found) == len(logged) else logged
        self.assertEqual(found, logged, trace.done.err)


if __name__ == "__main__":
    live.main()
