#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What served interrupts, in reports, timelines, merged traces and formats that show time."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from trace_processor import COMPLAINTS, MISSING, ask
from traces import Home, make_scene, output, skein

MS = 1_000_000
START = 1000 * MS
SLICES = """select s.ts, s.dur, s.depth, s.name, s.category, t.name track from slice s
    join track t on s.track_id = t.id where s.category in ('interrupt', 'softirq') order by s.ts"""


def text_of(*args, **environment):
    return output("report", *args, **environment).decode()


class Interrupts(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = make_scene(cls.home / "handlers.skein", "handlers")

    def report(self, *args, trace=None):
        found = json.loads(output("report", trace or self.trace, "--json", *args))["interrupts"]
        return found, {row["name"].split("<")[0]: row for row in found["handlers"]}

    def test_report(self):
        found, rows = self.report()
        self.assertEqual((found["only_with_spans"], found["time_of_cpus"]), (False, 200 * MS))
        self.assertEqual({name: (row["count"], row["time"], row["longest"], row["without_span"])
                          for name, row in rows.items()},
                         {"softirq net_rx": (11, 15200000, 20 * MS, 0),
                          "local timer": (501, 6500000, 5 * MS, 2),
                          "irq 24 ": (1, 2 * MS, 2 * MS, 0)})
        text = text_of(self.trace)
        self.assertRegex(text, "501 +6.5 ms +3.2 % +13 us +5 ms +2, most on 0 +local timer")
        self.assertIn("2 interrupts lost: the buffer of long interrupts was full", text)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("Runtime", text)

    def test_report_of_a_part(self):
        """Only what has spans is known of a part; what --runtime shows is of processes."""
        found, rows = self.report("--from", "35ms", "--to", "61ms")
        self.assertEqual((found["only_with_spans"], found["time_of_cpus"]), (True, 52 * MS))
        self.assertEqual({name: row["time"] for name, row in rows.items()},
                         {"softirq net_rx": 5 * MS, "irq 24 ": MS})
        self.assertNotIn("Interrupts", text_of(self.trace, "--by", "program"))

    def test_timeline(self):
        """A row below each CPU, at the times of its spans."""
        lines = text_of(self.trace, "--timeline", "--color", "never", COLUMNS="120").splitlines()
        first, second = [line for line in lines if line.startswith("  interrupts")]
        self.assertTrue(lines[lines.index(first) - 1].startswith("CPU 0 "))
        self.assertTrue(lines[lines.index(second) - 1].startswith("CPU 1 "))
        self.assertRegex(first, r"\A  interrupts +20%  +Q{3,}V{3,}Q{6,} *\Z")
        self.assertRegex(second, r"\A  interrupts +3%  +[Vv]+ +[Vv] *\Z")

    def test_merge(self):
        """In a merged trace the CPUs of the second one come after those of the first."""
        other = make_scene(self.home / "other.skein", "sched")
        merged = self.home / "merged.skein"
        skein("merge", other, self.trace, "-o", merged)
        rows = json.loads(output("query", "--json", merged,
                                 "SELECT l.number AS cpu, h.* FROM handler AS h "
                                 "JOIN lane AS l ON l.id = h.lane"))
        self.assertEqual(len(rows), 4)
        cpus = json.loads(output("query", "--json", other, "SELECT max(number) AS n FROM lane "
                                 "WHERE kind = 1"))[0]["n"] + 1
        self.assertEqual({row["cpu"] for row in rows}, {cpus, cpus + 1})
        self.assertEqual(sum(row["count"] for row in rows), 513)

    @unittest.skipIf(MISSING, MISSING)
    def test_perfetto(self):
        out = self.home / "handlers.pftrace"
        skein("export", self.trace, "-o", out)
        slices, wrong = ask(out, SLICES, COMPLAINTS)
        self.assertEqual(wrong, [])
        self.assertEqual([((row["ts"] - START) / MS, row["dur"] / MS, row["depth"],
                           row["name"][:14], row["track"]) for row in slices],
                         [(20, 20, 0, "softirq net_rx", "interrupts of CPU 0"),
                          (25, 5, 1, "local timer", "interrupts of CPU 0"),
                          (60, 2, 0, "irq 24 <b>disk", "interrupts of CPU 1"),
                          (70, 1, 0, "local timer", "interrupts of CPU 1")])


if __name__ == "__main__":
    unittest.main()
