#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test merged traces: a merged trace has the sum of the data of its parts."""
import collections
import json
import pathlib
import shutil
import sqlite3
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import formats
import trace_processor
from traces import Home, make_scene, output, skein

LATER = 500_000_000 # ns by which the second host's clock is ahead in UTC
PLAIN_FORMATS = ("folded", "pprof", "json", "speedscope", "firefox", "perf-script")
ENTITIES = ("host", "event", "process", "thread", "lane", "name", "mapping", "function", "frame")
STREAMS = ("stack", "sample", "slice", "edge", "span", "counter")


def edit(path, *statements):
    """Change a trace by SQL; each statement is text or (text, parameters)."""
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(*([statement] if isinstance(statement, str) else statement))
    db.commit()
    db.close()


def add(*profiles):
    """Add up several {key: [count, weight]}."""
    total = collections.Counter()
    for found in profiles:
        for (_, frames), (count, weight) in found.items():
            total[frames, "n"] += count
            total[frames, "w"] += weight
    return total


class Merge(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.traces = {name: make_scene(cls.home / f"{name}.skein", name)
                      for name in ("scene", "python", "mixed", "empty", "timeline", "whole",
                                   "sched", "waits")}
        for name in list(cls.traces):
            cls.traces[f"{name}-2"] = cls.on_another_host(name)

    @classmethod
    def on_another_host(cls, name):
        """Make the same recording of another machine, which booted later."""
        path = cls.home / f"{name}-2.skein"
        shutil.copy(cls.traces[name], path)
        edit(path, ("update host set hostname = 'db-2', machine_id = 'n', boot_id = 'c', "
                    "realtime_offset = realtime_offset + ?", (LATER,)))
        return path

    def merge(self, *names, out="merged.skein"):
        path = self.home / out
        path.unlink(missing_ok=True)
        done = skein("merge", *[self.traces.get(name, name) for name in names], "-o", path)
        self.said = done.stderr.decode()
        return path

    def sql(self, trace, query):
        return json.loads(output("query", "--json", trace, query))

    def number(self, trace, query):
        (row,) = self.sql(trace, f"select {query}")
        (number,) = row.values()
        return number or 0

    def test_one_trace_is_the_same(self):
        for name in ("scene", "python", "mixed", "empty", "timeline", "whole", "sched"):
            one, merged = self.traces[name], self.merge(name)
            for form in PLAIN_FORMATS:
                if name in ("sched",) and form == "pprof":
                    continue # it has no event
                self.assertEqual(output("export", merged, "-f", form),
                                 output("export", one, "-f", form), (name, form))
            self.assertEqual(output("report", merged), output("report", one), name)
            if name in ("timeline", "whole", "sched"):
                for args in (["report", "--sched"], ["report", "--sched", "--by", "thread"],
                             ["report", "--timeline"], ["export", "-f", "chrome"]):
                    self.assertEqual(output(args[0], merged, *args[1:]),
                                     output(args[0], one, *args[1:]), (name, args))

    def test_two_hosts_add_up(self):
        for name in ("scene", "python", "mixed"):
            one, two = (self.traces[n] for n in (name, f"{name}-2"))
            merged = self.merge(name, f"{name}-2")
            for form, reader in (("json", formats.read_json), ("folded", formats.read_folded),
                                 ("firefox", formats.read_firefox),
                                 ("perf-script", formats.read_perf_script)):
                found = [reader(output("export", trace, "-f", form))
                         for trace in (merged, one, two)]
                self.assertEqual(add(found[0]), add(*found[1:]), (name, form))
            reports = [json.loads(output("report", "--json", trace))
                       for trace in (merged, one, two)]
            for key in ("due", "written", "filtered", "idle", "late"):
                self.assertEqual(*[sum(r["account"].get(key, 0) for r in some)
                                   for some in (reports[:1], reports[1:])], key)
            for query in ("sum(weight) from sample", "sum(count) from loss", "count(*) from sample",
                          "sum(due) from account", "count(*) from account"):
                self.assertEqual(self.number(merged, query),
                                 self.number(one, query) + self.number(two, query), query)

    WAITS = ("process", "comm", "class", "length", "weight", "p", "address", "waker", "waker_tid")

    def waits(self, trace):
        return collections.Counter(
            tuple(row.values())
            for row in self.sql(trace, f"select {', '.join(self.WAITS)} from waits"))

    def off_cpu(self, trace, *args):
        return json.loads(output("report", "--off-cpu", "--json", *args, trace))["off_cpu"]

    @staticmethod
    def sums(report, table, *keys):
        """Return the sums of the rows of a table of waits by their keys."""
        found = collections.Counter()
        for row in report[table]:
            sums = row.get("total", row)
            key = tuple(json.dumps(row.get(key)) for key in keys)
            found[key, "waited"] += sums["waited"]
            found[key, "stacks"] += sums["stacks"]
        return found

    def test_waits_add_up(self):
        """
        Of two hosts, and of two recordings of one machine: each wait has its class, weight, chance,
        lock and waker; the report's sums are those of the parts.
        """
        tables = {"sites": ("program", "class", "stack"), "groups": ("program",),
                  "classes": ("class",), "wakers": ("program", "waker", "main_stack"),
                  "functions": ("name", "module")}
        for names in (("waits", "waits-2"), ("waits", "waits"), ("waits", "sched")):
            merged = self.merge(*names)
            parts = [self.traces[name] for name in names if name.startswith("waits")]
            self.assertEqual(self.waits(merged), self.waits(parts[0]) + self.waits(parts[-1])
                             if len(parts) > 1 else self.waits(parts[0]))
            found = [self.off_cpu(trace) for trace in [merged, *parts]]
            self.assertEqual(found[0]["largest_period"], found[1]["largest_period"])
            for table, keys in tables.items():
                self.assertEqual(self.sums(found[0], table, *keys),
                                 sum((self.sums(part, table, *keys) for part in found[1:]),
                                     collections.Counter()), (names, table))

    def test_locks_are_of_one_process(self):
        """Two hosts' locks are two, though their addresses are the same."""
        for names, count in ((("waits", "waits-2"), 2), (("waits", "waits"), 1)):
            merged = self.merge(*names)
            rows = self.sql(merged, "select * from locks")
            self.assertEqual(len(rows), count, names)
            self.assertEqual(sum(row["weight"] for row in rows), 124_000_000)
            self.assertEqual(len(self.off_cpu(merged)["locks"]), count, names)

    def test_events_of_waits_stay_apart(self):
        merged = self.merge("waits", "waits-2")
        rows = self.sql(merged, "select name, count(*) as n, min(period) as period from event "
                                "group by 1 order by 1")
        self.assertEqual([(row["name"], row["n"]) for row in rows],
                         [("cpu-clock", 2), ("off-cpu", 2), ("off-cpu-wakers", 2)])
        self.assertEqual({row["period"] for row in rows if "off-cpu" in row["name"]}, {2_000_000})
        text = output("diff", "--off-cpu", "--all", self.traces["waits"], merged).decode()
        self.assertIn("ms of waiting per second", text)

    def test_hottest_and_busiest_are_of_both(self):
        merged = self.merge("scene", "scene-2")
        # of 200 samples 10 are of idle CPUs, which the report leaves out, too
        rows = self.sql(merged, "select * from hottest where function = 'fib'")
        self.assertEqual([(row["samples"], row["percent"]) for row in rows], [(40, 21.05)])
        rows = self.sql(merged, "select sum(percent) p from busiest")
        self.assertAlmostEqual(rows[0]["p"], 100, delta=0.1)

    def test_the_order_of_files_does_not_matter(self):
        for names in (("scene", "mixed", "python-2"), ("sched", "timeline-2")):
            there, back = self.merge(*names), self.merge(*reversed(names), out="back.skein")
            self.assertEqual(output("export", there, "-f", "folded", "--threads", "--pids"),
                             output("export", back, "-f", "folded", "--threads", "--pids"))
            hosts = "select hostname, start, \"end\", realtime_offset from host order by id"
            self.assertEqual(self.sql(there, hosts), self.sql(back, hosts))
            for stream in STREAMS:
                self.assertEqual(self.number(there, f"count(*) from {stream}"),
                                 self.number(back, f"count(*) from {stream}"), stream)

    def test_times_are_on_one_axis(self):
        merged = self.merge("scene-2", "scene")
        hosts = self.sql(merged, "select hostname, start, \"end\", realtime_offset from host "
                         "order by id")
        self.assertEqual([h["hostname"] for h in hosts], ["web-1", "db-2"])
        self.assertEqual(hosts[1]["start"], hosts[0]["start"] + LATER)
        self.assertEqual(hosts[1]["end"], hosts[0]["end"] + LATER)
        self.assertEqual(hosts[1]["realtime_offset"], hosts[0]["realtime_offset"])
        times = [row["time"] for row in self.sql(merged, "select time from sample")]
        self.assertEqual(times, sorted(times))
        first = self.sql(merged, "select min(x.time) t from sample x join thread t on "
                         "x.thread = t.id join process p on t.process = p.id where p.host = 2")
        self.assertEqual(first[0]["t"], hosts[1]["start"])
        # --from and --to count from the earliest start
        cut = formats.read_json(output("export", merged, "-f", "json", "--to", "490ms"))
        own = formats.read_json(output("export", self.traces["scene"], "-f", "json", "--to",
                                       "490ms"))
        self.assertEqual(add(cut), add(own))

    def test_the_same_boot_keeps_its_stamps(self):
        later = self.home / "later.skein"
        shutil.copy(self.traces["scene"], later)
        edit(later, "update host set start = start + 10000000000, \"end\" = \"end\" + 10000000000, "
             "realtime_offset = realtime_offset + 7") # measured again
        merged = self.merge("scene", later)
        self.assertNotIn("warning", self.said)
        (host,) = self.sql(merged, "select * from host")
        self.assertEqual((host["start"], host["end"]), (1000000000, 13000000000))
        self.assertEqual(self.number(merged, "count(distinct time) from sample"),
                         self.number(self.traces["scene"], "count(distinct time) from sample"))
        self.assertEqual(self.number(merged, "count(*) from process"), 6)

    def test_what_is_equal_is_there_once(self):
        once, twice = self.merge("python"), self.merge("python", "python", out="twice.skein")
        self.assertIn("counts twice", self.said)
        for table in (*ENTITIES, "stack"):
            self.assertEqual(self.number(once, f"count(*) from {table}"),
                             self.number(twice, f"count(*) from {table}"), table)
        found = [formats.read_json(output("export", trace, "-f", "json"))
                 for trace in (twice, once, once)]
        self.assertEqual(add(found[0]), add(*found[1:]))

    def test_recordings_at_one_time_are_told(self):
        copy = self.home / "copy.skein"
        shutil.copy(self.traces["scene"], copy)
        self.merge("scene", copy)
        self.assertIn("recorded the same machine at the same time", self.said)
        self.merge("scene", "scene-2")
        self.assertNotIn("warning", self.said)

    def test_the_scheduler_of_two_hosts(self):
        merged = self.merge("sched", "sched-2")
        both = self.sched(merged)
        for trace in (self.traces["sched"], self.traces["sched-2"]):
            for key, row in self.sched(trace).items():
                both[key].subtract(row)
        self.assertFalse({key: +row for key, row in both.items() if +row or -row})
        for kind in ("slice", "edge"):
            self.assertEqual(self.number(merged, f"count(*) from {kind}"),
                             2 * self.number(self.traces["sched"], f"count(*) from {kind}"))
        text = output("report", merged, "--timeline").decode()
        rows = [line for line in text.splitlines() if line.startswith("CPU ")]
        self.assertEqual([row.split()[1] for row in rows], ["0", "1", "2", "3"])

    @staticmethod
    def sched(trace):
        """Return the times of each program; unknown time is longer in a merged trace."""
        made = json.loads(output("report", "--json", "--sched", "--by", "thread", trace))["sched"]
        rows = collections.defaultdict(collections.Counter)
        for row in made["threads"]:
            of = rows[row["pid"], row["tid"], row["name"]]
            for key in ("running", "runnable_woken", "runnable_preempted", "voluntary",
                        "involuntary", "wakeups", "wakes"):
                of[key] += row[key]
            of.update(row["blocked"])
        return rows

    def test_lanes_of_hosts_at_one_time_look_like_their_own(self):
        """The pyramid is computed again: a host's CPUs look as in the host's own trace."""
        other = self.home / "same-time.skein"
        shutil.copy(self.traces["sched-2"], other)
        edit(other, ("update host set realtime_offset = realtime_offset - ?", (LATER,)))
        merged = self.merge("sched", other)
        cells = [[line.split("% ", 1)[1].rstrip() for line in
                  output("report", trace, "--timeline").decode().splitlines()
                  if line.startswith("CPU ")] for trace in (self.traces["sched"], merged)]
        letters = [["".join("." if c in "┈ " else "?" if c == "?" else "r" for c in row)
                    for row in rows] for rows in cells]
        self.assertEqual(letters[1], 2 * letters[0])

    @unittest.skipIf(trace_processor.MISSING, trace_processor.MISSING)
    def test_perfetto_tells_hosts_apart(self):
        merged = self.merge("whole", "whole-2")
        out = self.home / "merged.pftrace"
        skein("export", merged, "-o", out)
        rows, cpus, names, samples = trace_processor.ask(
            out, trace_processor.COMPLAINTS, "select distinct cpu from sched_slice order by cpu",
            "select name, count(*) n from process where name is not null group by name",
            "select count(*) n from perf_sample")
        own = [self.number(self.traces["whole"], "count(*) from sample")] * 2
        self.assertEqual(samples[0]["n"], sum(own))
        self.assertEqual(len(cpus), 2 * self.number(self.traces["whole"],
                                                    "count(*) from lane where kind = 1"))
        self.assertEqual({row["n"] for row in names}, {2}, names)
        self.assertNotIn("slice_out_of_order", trace_processor.complaints(rows))

    def test_merged_traces_merge(self):
        first = self.merge("scene", "scene-2", out="first.skein")
        again = self.merge(first, "python")
        found = [formats.read_json(output("export", trace, "-f", "json"))
                 for trace in (again, first, self.traces["python"])]
        self.assertEqual(add(found[0]), add(*found[1:]))
        self.assertEqual(self.number(again, "count(*) from host"), 2)

    def test_origins_are_told(self):
        merged = self.merge("scene", "scene-2")
        text = output("report", merged).decode()
        self.assertIn("scene.skein: web-1, CPUs 0 to 3", text)
        self.assertIn("scene-2.skein: db-2, CPUs 4 to 7", text)
        self.assertIn("web-1, db-2, Linux", text)
        rows = output("report", merged, "--by", "process").decode()
        self.assertRegex(rows, r"worker 3 +web-1 w\n")
        self.assertRegex(rows, r"worker 3 +db-2 w\n")
        self.assertEqual([row["value"] for row in
                          self.sql(merged, "select value from info where key = 'options'")],
                         ["record -F 100"] * 2)

    def test_two_words_on_one_matter_are_kept(self):
        other = self.home / "options.skein"
        shutil.copy(self.traces["scene"], other)
        edit(other, "update info set value = 'record -F 999' where key = 'options'",
             "insert into info(host, key, value) values(1, 'trace.dropped', '5')",
             "insert into info(host, key, value) values(1, 'more', 'new')")
        merged = self.merge("scene", other)
        rows = self.sql(merged, "select key, value from info where key not like 'merged.%'")
        self.assertEqual([(row["key"], row["value"]) for row in rows],
                         [("options", "record -F 100"), ("options (2)", "record -F 999"),
                          ("more", "new")])
        again = self.merge("scene", "scene", other, out="again.skein")
        self.assertEqual(self.sql(again, "select key, value from info where key not like "
                                  "'merged.%'"), rows)

    def test_a_killed_recording_has_no_end(self):
        killed = self.home / "killed.skein"
        shutil.copy(self.traces["scene-2"], killed)
        edit(killed, "update host set \"end\" = 0")
        merged = self.merge("scene", killed)
        self.assertIn("Unfinished", output("report", merged).decode())

    def test_damage_is_told(self):
        damaged = self.home / "damaged.skein"
        shutil.copy(self.traces["scene-2"], damaged)
        edit(damaged, "update chunk set data = zeroblob(length(data)) where kind = 'sample'")
        merged = self.merge("scene", damaged)
        self.assertIn(f"{damaged} is damaged", self.said)
        self.assertEqual(self.number(merged, "count(*) from sample"), 100)
        rows = self.sql(merged, "select sum(l.count) n, h.hostname from loss l join host h on "
                        "l.host = h.id join loss_reason r on l.reason = r.id where r.word = "
                        "'unreadable chunk'")
        self.assertEqual(rows, [{"n": 100, "hostname": "db-2"}])

    def test_failures_leave_what_was_there(self):
        there = self.home / "there.skein"
        shutil.copy(self.traces["scene"], there)
        before = there.read_bytes()
        half = self.home / "half.skein"
        half.write_bytes(self.traces["scene-2"].read_bytes()[:3000])
        link = self.home / "link.skein"
        link.symlink_to(there)
        folder = sorted(path.name for path in self.home.iterdir())
        scene = self.traces["scene"]
        for status, word, args in [
                (2, "which traces", ["merge"]),
                (1, "/nowhere/x.skein", ["merge", scene, "/nowhere/x.skein", "-o", there]),
                (1, "half.skein", ["merge", scene, half, "-o", there]),
                (1, "among the traces", ["merge", scene, there, "-o", there]),
                (1, "link.skein", ["merge", scene, "-o", link]),
                (1, "/nowhere", ["merge", scene, "-o", "/nowhere/x.skein"])]:
            done = skein(*args, check=False)
            self.assertEqual(done.returncode, status, args)
            self.assertIn(word, done.stderr.decode())
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        self.assertEqual(there.read_bytes(), before)
        self.assertEqual(sorted(path.name for path in self.home.iterdir()), folder)

    def test_what_was_there_becomes_old(self):
        merged = self.merge("scene")
        before = merged.read_bytes()
        skein("merge", self.traces["python"], "-o", merged)
        self.assertEqual((self.home / "merged.skein.old").read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
