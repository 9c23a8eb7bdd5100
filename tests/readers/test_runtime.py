#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spans and counters of runtimes, in each format that shows time, as its own reader reads them."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import formats
import profiler_cli
from trace_processor import COMPLAINTS, MISSING, ask
from traces import Home, make_scene, output, skein

MS = 1_000_000
START = 1000 * MS
SLICES = """select s.ts, s.dur, s.depth, s.name, s.category, coalesce(t.name, th.name) track,
    coalesce(p.name, pp.name) process, th.tid from slice s join track t on s.track_id = t.id
    left join thread_track tt on tt.id = t.id left join thread th using (utid)
    left join process p on p.upid = th.upid
    left join process_track pt on pt.id = t.id left join process pp on pp.upid = pt.upid
    where s.category is not null and s.category not in ('state', 'cpu', 'loss')
    order by s.ts, s.id"""
ARGUMENTS = """select s.name, s.ts, a.key,
    coalesce(a.string_value, a.int_value, a.real_value) value
    from args a join slice s using (arg_set_id) where a.key like '%.%'"""
COUNTERS = """select t.name, p.name process, c.ts, c.value from counter c
    join process_counter_track t on c.track_id = t.id left join process p using (upid)
    order by t.name, c.ts"""
# A collection in a safepoint: what lies in what, begins and ends in ms.
NESTED = [(0, 100.0, 105.0, "safepoint"), (1, 100.0, 100.2, "reaching"),
          (1, 100.2, 104.9, "G1CollectForAllocation"), (2, 100.3, 104.8, "stop"),
          (3, 100.4, 104.7, "G1 Young Generation"), (1, 104.9, 105.0, "leaving")]


class Runtime(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = make_scene(cls.home / "runtime.skein", "runtime")
        cls.spans = json.loads(output("query", "--json", cls.trace, "SELECT * FROM span"))

    def export(self, ending, *args):
        out = self.home / f"runtime.{ending}"
        skein("export", self.trace, "-o", out, *args)
        return out

    def check_slices(self, slices, zero, suffix=""):
        """The spans of the trace, all of them, each on the track of its thread or runtime."""
        self.assertEqual(len(slices), len(self.spans))
        nested = [(row["depth"], (row["ts"] - zero) / MS, (row["ts"] + row["dur"] - zero) / MS,
                   row["name"]) for row in slices if row["track"] == "JVM"]
        self.assertEqual([row for row in nested if row[1] < 110], NESTED)
        by_track = {(row["process"], row["track"], row["name"]): row for row in slices}
        for track in (("java", "order-worker-number-1" + suffix, "com.shop.Orders"),
                      ("java", "main" + suffix, "com.shop.Orders"),
                      ("java", "concurrent phases", "Concurrent Mark"),
                      ("java", "concurrent phases", "Concurrent Rebuild"),
                      ("python3", "python3" + suffix, "generation 2")):
            self.assertIn(track, by_track)
        opened = by_track["java", "JVM", "safepoint"] # the last one, until the end
        self.assertEqual(((opened["ts"] - zero) / MS, opened["dur"] / MS), (990, 10))

    @unittest.skipIf(MISSING, MISSING)
    def test_perfetto(self):
        slices, arguments, counters, wrong = ask(self.export("pftrace"), SLICES, ARGUMENTS,
                                                 COUNTERS, COMPLAINTS)
        self.assertEqual(wrong, [])
        self.check_slices(slices, START)
        self.assertEqual({row["tid"] for row in slices if row["category"] == "contended monitor"},
                         {4711, 4712})
        # a probe that calls itself lies in itself
        self.assertEqual([row["depth"] for row in slices if row["category"] == "probe"], [0, 1, 0])
        found = {(row["name"], row["key"]): row["value"] for row in arguments}
        self.assertEqual(found["G1 Old Generation", "debug.cause"], "System.gc()")
        self.assertEqual(found["G1 Old Generation", "debug.after"], -1)
        self.assertEqual(found["Pause Remark", "debug.known by"], "function")
        self.assertEqual(found["app:query", "debug.r"], 1500)
        values = [(row["process"], row["ts"] - START, row["value"]) for row in counters
                  if row["name"] == "heap used"]
        self.assertEqual(values[:2], [("java", 0, 10 << 20), ("java", 99 * MS, 50 << 20)])
        self.assertEqual(len(values), 8)

    @unittest.skipIf(MISSING, MISSING)
    def test_chrome(self):
        slices, arguments, counters, wrong = ask(self.export("json"), SLICES, ARGUMENTS, COUNTERS,
                                                 COMPLAINTS)
        self.assertEqual(wrong, [])
        self.check_slices(slices, 1000, ": runtime")  # 0 is 1 us before the beginning
        found = {(row["name"], row["key"]): row["value"] for row in arguments}
        self.assertEqual(found["G1 Old Generation", "args.cause"], "System.gc()")
        self.assertEqual(len([row for row in counters
                              if row["name"] == "heap used value"]), 8)

    def test_firefox(self):
        p = formats.strict_json(self.export("firefox.json").read_bytes())
        strings = p["shared"]["stringArray"]
        categories = [c["name"] for c in p["meta"]["categories"]]
        found = {}
        for thread in p["threads"]:
            markers = thread["markers"]
            for i in range(markers["length"]):
                if markers["data"][i]["type"] == "Span":
                    self.assertEqual(categories[markers["category"][i]], "Runtime")
                    found.setdefault((thread["processName"], thread["name"]), []).append(
                        (strings[markers["name"][i]], float(markers["startTime"][i]),
                         float(markers["endTime"][i]), markers["data"][i].get("arguments")))
        self.assertEqual(sum(map(len, found.values())), len(self.spans))
        self.assertIn(("G1 Old Generation", 700.4, 739.7,
                       '{"cause":"System.gc()","after":-1}'),
                      found["java", "JVM"])
        self.assertEqual(found["java", "main"], [("com.shop.Orders", 200, 230, None)])
        self.assertEqual([m[0] for m in found["java", "order-worker-number-1"]],
                         ["Java thread", "com.shop.Orders"])

    @unittest.skipIf(profiler_cli.MISSING, profiler_cli.MISSING)
    def test_firefox_reads_them(self):
        info, markers = profiler_cli.ask(self.export("firefox.json"), ("profile", "info"),
                                         ("thread", "markers"))
        self.assertIn("JVM", info)
        self.assertIn("com.shop.Orders", markers)

    @unittest.skipIf(MISSING, MISSING)
    def test_a_range_cuts_them(self):
        (slices,) = ask(self.export("pftrace", "--from", "200ms", "--to", "305ms"), SLICES)
        spans = [(row["ts"] - START, row["dur"]) for row in slices if row["name"] == "safepoint"]
        self.assertEqual(spans, [(250 * MS, 2 * MS), (300 * MS, 5 * MS)])

    @unittest.skipIf(MISSING, MISSING)
    def test_filters_choose_them(self):
        (slices,) = ask(self.export("pftrace", "--comm", "python3"), SLICES)
        self.assertEqual({row["process"] for row in slices}, {"python3"})

    def test_nothing_hostile_comes_out(self):
        for ending in ("pftrace", "json", "firefox.json"):
            data = self.export(ending).read_bytes()
            self.assertNotIn(b"\x1b[2J", data)
            self.assertNotIn(b"</script>", data.replace(b"evil?[2J</script>?", b""))

    def test_names_of_threads(self):
        for args, name in ((("export", "-f", "folded", "--threads"), b"VM_Thread"),
                           (("report", "--sched", "--by", "thread"), b"order-worker-number-1"),
                           (("report", "--timeline"), b"order-worker")):
            self.assertIn(name, output(args[0], self.trace, *args[1:]))
        # a filter knows both names
        for name in ("order-worker-number-1", "order-worker-nu"):
            self.assertIn(b"4712", output("report", self.trace, "--sched", "--by", "thread",
                                          "--comm", name))


if __name__ == "__main__":
    unittest.main()
