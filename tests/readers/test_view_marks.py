# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test where skein view says that functions ran: as its query and its report do."""
import json
import re
import unittest

from test_view_samples import KnownTurns, ManySamples, SECOND, TURN
from traces import output


class Marks(KnownTurns):
    def query(self, sql):
        return json.loads(output("query", self.trace, "--json", sql))

    def marks(self, text, begin=0, end=KnownTurns.TURNS * TURN, columns=1000, **more):
        told = self.told("marks", text=text, **{"from": begin, "to": end}, columns=columns, **more)
        lanes = {}
        for lane, first, levels in told["lanes"]:
            self.assertNotIn("0", (levels[0], levels[-1]))
            lanes[lane] = {first + at: ord(level) - ord("0") for at, level in enumerate(levels)
                           if level != "0"}
        return told, lanes

    def test_marks_are_the_samples(self):
        """A column has a mark on a lane if a sample there has the function; full if all have."""
        rows = self.query(
            "SELECT s.time - h.start AS time, s.cpu, t.lane, f.name FROM sample s"
            " JOIN stack k ON k.id = s.stack JOIN frame r ON r.id = k.frame"
            " JOIN function f ON f.id = r.function JOIN thread t ON t.id = s.thread, host h"
            " WHERE s.event = 1")
        for text in ("rare", "WORK 3", "work 3", "work", "wor. [0-2]", "^rare$|work 6$", "turns",
                     "nothing", "ork 1", "LOOP", "Loop"):
            for begin, end, columns in ((0, self.TURNS * TURN, 1000),
                                        (1_234_567_890, 1_334_567_890, 313),
                                        (19_984_000_000, 20_000_000_000, 1), (5, 15_000_000, 999)):
                if "[" in text:
                    self.assertEqual(self.ask("marks", text=text, columns=columns,
                                              **{"from": begin, "to": end})[0], 400)
                    continue
                # the function of a row is the innermost; "main", "loop" and the module are of all
                found = re.compile(text, re.I if text == text.lower() else 0)
                seen, counts = {}, [0, 0]
                for row in rows:
                    if not begin <= row["time"] <= end:
                        continue
                    hit = bool(found.search(row["name"]) or found.search("loop") or
                               found.search("turns"))
                    column = min(columns - 1, int((row["time"] - begin) * columns /
                                                  (end - begin)))
                    for lane in (str(row["lane"]), str(row["cpu"] + 1), "p0"):
                        seen.setdefault((lane, column), []).append(hit)
                    counts[0] += hit
                    counts[1] += 1
                told, lanes = self.marks(text, begin, end, columns)
                marks = {(lane, column): level for lane, levels in lanes.items()
                         for column, level in levels.items()}
                with self.subTest(text=text, begin=begin):
                    self.assertEqual(set(marks), {at for at, hits in seen.items() if any(hits)})
                    for at, level in marks.items():
                        self.assertEqual(level == 63, all(seen[at]))
                    if told["known"]:
                        self.assertEqual([told["found"], told["samples"]], counts)
                    self.assertEqual(told["known"], text not in ("nothing", "WORK 3", "LOOP",
                                                                 "Loop"))
                    self.assertEqual((told["share"], told["left_out"]), (1, 0))
                    self.assertEqual(told["threads"],
                                     len({lane for lane in lanes if len(lane) == 5}))

    def test_marks_are_those_of_the_report(self):
        """A function is in as many samples as skein report --from --to says."""
        for begin, end in ((0, self.TURNS * TURN), (7_000_000_000, 21_234_567_890)):
            report = json.loads(output("report", self.trace, "--json", "--from", f"{begin}ns",
                                       "--to", f"{end}ns", "--limit", "100"))
            functions = {of["name"]: of for of in report["functions"]}
            self.assertGreater(len(functions), 8)
            for name, of in functions.items():
                told, _ = self.marks(f"^{name}$", begin, end)
                self.assertEqual(told["found"], of["total_samples"], (name, of))
                self.assertEqual(told["samples"], functions["main"]["total_samples"])

    def test_shared_lanes(self):
        """Threads that share a lane have their marks on it, too: here all that have a turn."""
        rows = {row["lane"]: row for row in self.told("trace", by="name")["rows"]}
        shared, = (row for row in rows.values() if row["kind"] == "threads")
        self.assertEqual(len(shared["parts"]), self.THREADS)
        for text in ("rare", "work 1", "main"):
            for by, lane in (("thread", None), ("name", shared["lane"]), ("pool", None)):
                _, lanes = self.marks(text, by=by)
                self.assertEqual({lane for lane in lanes if lane[0] in "nl"}, {lane} - {None})
                if lane:
                    self.assertEqual(lanes[lane], lanes["p0"])

    def test_marks_of_waits(self):
        told, lanes = self.marks("wait_for", event="off-cpu")
        waits = self.query("SELECT count(*) AS n FROM sample WHERE event = 2")[0]["n"]
        self.assertEqual((told["found"], told["samples"]), (waits, waits))
        self.assertEqual({level for levels in lanes.values() for level in levels.values()}, {63})
        self.assertEqual(self.marks("wait_for")[0]["found"], 0)

    def test_senseless_marks(self):
        whole = {"from": 0, "to": SECOND, "columns": 100}
        for wrong in ({}, {"text": ""}, {"text": "a*"}, {"text": "(a"}, {"text": "a|"},
                      {"text": "a\\"}, {"text": "\\d"}, {"text": "a" * 257}, {"text": "a^b"},
                      {"text": "a", "columns": 0}, {"text": "a", "columns": 4097},
                      {"text": "a", "to": 0}, {"text": "a", "to": "x"},
                      {"text": "a", "to": 1 << 63}):
            status, body = self.ask("marks", **{**whole, **wrong})
            self.assertEqual(status, 400, wrong)
            self.assertRegex(body, rb"\A[^\n]+\n?\Z")


class Left(ManySamples):
    """Nothing is looked for when the page has gone, or when the time of a request is over."""

    def test_left_alone(self):
        self.leave(f"/api/marks?text=work&from=0&to={self.TURNS * TURN}&columns=1000")
        self.assertLess(self.wait_until_idle(), 0.15)


if __name__ == "__main__":
    unittest.main()
