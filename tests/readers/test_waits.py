#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Test that other programs read the stacks of waits: Perfetto's slices and samples by SQL, the markers
and call trees of the Firefox Profiler, speedscope's profiles, and the JSON for scripts.
"""
import collections
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import formats
import profiler_cli
import trace_processor
from traces import Home, make_scene, output, skein

MS = 1_000_000
RUNNING = {("main", "work"): 20 * MS, ("main", "take_lock"): 10 * MS}
WAITING = {("main", "take_lock", "futex_wait"): 80 * MS, ("main", "hrtimer_nanosleep"): 200 * MS}

# docs/export.md has the same query: the weights of all samples by event and stack
WEIGHTS = """select t.name event, s.callsite_id site, sum(s.weight) weight from (
      select track_id, callsite_id,
        counter_value - lag(counter_value, 1, 0) over (partition by track_id order by counter_id)
          weight
      from linux_perf_sample_with_counters) s
    join track t on t.id = s.track_id group by 1, 2"""
SITES = """select c.id, c.parent_id parent, f.name from stack_profile_callsite c
    join stack_profile_frame f on c.frame_id = f.id order by c.id"""
SLICES = """select s.ts, s.dur, s.name, th.tid, c.callsite_id site,
      extract_arg(s.arg_set_id, 'debug.length_ns') length,
      extract_arg(s.arg_set_id, 'debug.weight_ns') weight,
      extract_arg(s.arg_set_id, 'debug.futex') futex,
      extract_arg(s.arg_set_id, 'debug.ended by') ended_by
    from slice s join track t on s.track_id = t.id
    left join thread_track tt on tt.id = t.id left join thread th using (utid)
    left join __intrinsic_track_event_callstacks c on c.slice_id = s.id
    where t.name = 'waits for' order by s.ts"""


class Waits(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = make_scene(cls.home / "server.skein", "server")

    def export(self, ending, *args):
        out = self.home / f"out{''.join(args)}.{ending}"
        skein("export", self.trace, "-o", out, *args)
        return out

    @unittest.skipIf(trace_processor.MISSING, trace_processor.MISSING)
    def test_perfetto(self):
        rows, sites, slices, _, weights = trace_processor.ask(
            self.export("pftrace"), trace_processor.COMPLAINTS, SITES, SLICES,
            "include perfetto module linux.perf.counters", WEIGHTS)
        self.assertEqual(trace_processor.complaints(rows), {})
        paths = {None: None}
        for site in sites:
            paths[site["id"]] = (paths[site["parent"]] or ()) + (site["name"],)
        found = collections.defaultdict(dict)
        for row in weights:
            found[row["event"]][paths[row["site"]]] = row["weight"]
        self.assertEqual(found["off-cpu"], WAITING)
        self.assertEqual(found["cpu-clock"], RUNNING)
        start, unit = 1_000_000_000, 10 * MS
        said = [((row["ts"] - start) // unit, row["dur"] // unit, row["name"], row["tid"],
                 paths[row["site"]]) for row in slices]
        lock, sleep = WAITING
        self.assertEqual(said, [(10, 8, "lock", 100, lock), (20, 20, "sleep", 101, sleep),
                                (30, 20, "lock", 100, None), (60, 40, "sleep", 101, None)])
        self.assertEqual([(row["length"], row["weight"], row["futex"], row["ended_by"])
                          for row in slices],
                         [(80 * MS, 80 * MS, 0x7f0012345678, "pool (101)"),
                          (200 * MS, 200 * MS, None, "interrupt: timer"),
                          (None,) * 4, (None,) * 4])

    @unittest.skipIf(trace_processor.MISSING, trace_processor.MISSING)
    def test_perfetto_of_a_part(self):
        """A wait that the range cuts is as long as the part of it, and keeps its stack."""
        slices, = trace_processor.ask(
            self.export("pftrace", "--from", "250ms", "--to", "700ms"), SLICES)
        first = slices[0]
        self.assertEqual((first["dur"], first["name"], first["length"]),
                         (150 * MS, "sleep", 200 * MS))
        self.assertIsNotNone(first["site"])

    @unittest.skipIf(profiler_cli.MISSING, profiler_cli.MISSING)
    def test_firefox(self):
        info, _, samples, markers = profiler_cli.ask(
            self.export("firefox.json"), ("profile", "info"), ("thread", "select", "t-2"),
            ("thread", "samples"), ("thread", "markers"))
        self.assertRegex(info, r"server \[off-cpu\] \[tid 100\] - 0\.000ms")
        self.assertIn("take_lock - total: 80ms (100.0%)", samples)
        self.assertRegex(markers, r"lock +1 markers +\(interval: min=80ms")
        self.assertIn("m-1 ✓", markers) # has a stack
        self.assertRegex(markers, r"Wait: lock +1 markers")

    @unittest.skipIf(profiler_cli.MISSING, profiler_cli.MISSING)
    def test_firefox_of_both(self):
        info, _, samples = profiler_cli.ask(
            self.export("firefox.json", "--event", "wall"), ("profile", "info"),
            ("thread", "select", "t-0"), ("thread", "samples"))
        self.assertIn("server [wall] [tid 100]", info)
        self.assertIn("main - total: 90ms (100.0%)", samples)
        self.assertIn("take_lock - total: 80ms (88.9%)", samples)

    def test_firefox_markers(self):
        p = formats.strict_json(output("export", self.trace, "-f", "firefox"))
        categories = [c["name"] for c in p["meta"]["categories"]]
        strings = p["shared"]["stringArray"]
        found = []
        for thread in p["threads"]:
            markers = thread["markers"]
            for i in range(markers["length"]):
                data = markers["data"][i]
                found.append((thread["tid"], strings[markers["name"][i]],
                              categories[markers["category"][i]], data["class"], data["length"],
                              data.get("futex"), data["by"],
                              markers["endTime"][i] - markers["startTime"][i]))
        self.assertEqual([(*m[:4], float(m[4]), *m[5:7], float(m[7])) for m in found],
                         [(100, "lock", "Wait: lock", "lock", 80, "0x7f0012345678", "pool (101)",
                           80),
                          (101, "sleep", "Wait: sleep", "sleep", 200, None, "interrupt: timer",
                           200)])
        self.assertEqual(len(set(c["color"] for c in p["meta"]["categories"]
                                 if c["name"].startswith("Wait"))), 9)

    def test_no_waits_no_categories(self):
        scene = make_scene(self.home / "scene.skein")
        p = formats.strict_json(output("export", scene, "-f", "firefox"))
        self.assertFalse([c for c in p["meta"]["categories"] if c["name"].startswith("Wait")])

    def test_speedscope(self):
        found = formats.read_speedscope(output("export", self.trace, "-f", "speedscope"))
        self.assertEqual({of[1]: row[1] for of, row in found.items() if of[0] == "off-cpu"},
                         WAITING)
        self.assertEqual({of[1]: row[1] for of, row in found.items() if of[0] == "cpu-clock"},
                         RUNNING)
        found = formats.read_speedscope(
            output("export", self.trace, "-f", "speedscope", "--event", "wall"))
        self.assertEqual({of: row[1] for of, row in found.items()},
                         {**{("wall", path): weight for path, weight in RUNNING.items()},
                          **{("wall", ("[waiting]", *path)): weight
                             for path, weight in WAITING.items()}})

    def test_json(self):
        p = formats.strict_json(output("export", self.trace, "-f", "json"))
        found = collections.Counter()
        for s in p["sums"]:
            found[p["events"][s["event"]]["name"], s["wait"]] += s["weight"]
        self.assertEqual(found, {("cpu-clock", None): 30 * MS, ("off-cpu", "lock"): 80 * MS,
                                 ("off-cpu", "sleep"): 200 * MS,
                                 ("off-cpu-wakers", "lock"): 80 * MS})

    def test_sums(self):
        rows = output("query", "--csv", self.trace,
                      "SELECT wait, sum(weight) FROM sum GROUP BY wait ORDER BY 1").decode()
        self.assertEqual(rows.split()[-3:], ["0,30000000", "1,160000000", "3,200000000"])


if __name__ == "__main__":
    unittest.main()
