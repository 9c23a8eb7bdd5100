# SPDX-License-Identifier: Apache-2.0
"""Test every query of docs/queries.md: it has an answer, the same by all three tools."""
import collections
import json
import re
import subprocess
import unittest

from sqlite_ways import EXTENSION, by_python, by_shell, by_skein, loading_python, rounded
from traces import Home, LIMIT, ROOT, make_scene, output

TEXT = (ROOT / "docs/queries.md").read_text()
QUERIES = dict(re.findall(r"^### ([^\n]+)\n(?:(?!^### ).)*?^```sql\n(.*?);\n```$", TEXT,
                          re.M | re.S))
WAYS = {"sqlite3": by_shell, "Python": by_python}


class QueriesTest(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.traces = [make_scene(cls.home / f"{name}.skein", name)
                      for name in ("scene", "python", "timeline", "whole", "sched",
                                   "waits", "runtime")]

    def answers(self, sql):
        """Return skein's answers by trace, each compared with those of the other tools."""
        found = []
        for trace in self.traces:
            found.append(rounded(by_skein(sql, trace)))
            for way, ask in WAYS.items():
                with self.subTest(way=way, trace=trace.name):
                    self.assertEqual(rounded(ask(sql, traces=[trace])), found[-1])
        return found

    def test_page(self):
        self.assertGreaterEqual(len(QUERIES), 15)
        self.assertEqual(len(QUERIES), TEXT.count("```sql"))

    def test_the_program_in_python(self):
        program = re.search(r"```python\n(.*?)```", TEXT, re.S)[1]
        program = program.replace("build/skein", str(EXTENSION.with_suffix("")))
        (self.traces[0].parent / "skein.skein").write_bytes(self.traces[0].read_bytes())
        done = subprocess.run([loading_python(), "-c", program], cwd=self.traces[0].parent,
                              capture_output=True, check=True, timeout=LIMIT, text=True)
        self.assertRegex(done.stdout, r"\A24 .*push_back")

    def test_of_one_trace(self):
        for title, sql in QUERIES.items():
            if "before." in sql:
                continue
            with self.subTest(query=title):
                self.assertTrue(any(self.answers(sql)), "no trace has rows for it")

    def test_of_two_traces(self):
        scene, python = self.traces[:2]
        for title in (title for title, sql in QUERIES.items() if "before." in sql):
            for way, ask in WAYS.items():
                with self.subTest(query=title, way=way):
                    rows = ask(QUERIES[title], traces=[python, scene])
                    self.assertTrue(any(row["before"] > row["now"] == 0 for row in
                                        ask(QUERIES[title], traces=[scene, python])) or
                                    any(row["now"] > row["before"] == 0 for row in rows), rows)
                    same = ask(QUERIES[title], traces=[scene, scene])
                    self.assertTrue(same)
                    for row in same:
                        self.assertEqual(row["before"], row["now"], row)


class AnswersTest(Home):
    """A few known answers for the scene of tests/unit/sample_scene.h."""

    def setUp(self):
        self.trace = make_scene(self.home / "scene.skein")

    def ask(self, title):
        return by_skein(QUERIES[title], self.trace)

    def test_hottest(self):
        first = self.ask("The hottest functions")[0]
        self.assertIn("push_back", first["function"])
        self.assertEqual(first["samples"], 24)

    def test_callers(self):
        rows = self.ask("Who calls a function")
        self.assertEqual(sum(row["samples"] for row in rows), 24)

    def test_total_of_the_outermost_function_is_not_less_than_of_what_it_calls(self):
        seconds = {row["name"]: row["seconds"]
                   for row in self.ask("Functions with all that they call")}
        self.assertGreaterEqual(seconds["main"], seconds["fib"])

    def test_the_account_agrees_with_the_losses(self):
        lost = sum(row["lost"] for row in self.ask("The account of every CPU"))
        counted = sum(row["count"] for row in self.ask("Losses"))
        self.assertEqual(lost, counted)

    def test_threads_over_time_add_up(self):
        ms = sum(row["cpu_ms"] for row in self.ask("Threads over time"))
        total = by_skein("SELECT sum(weight) / 1000000 AS ms FROM sample", self.trace)[0]["ms"]
        self.assertEqual(ms, total)


class WaitsTest(Home):
    """Known answers for the scene of tests/unit/waits_scene.h."""

    def setUp(self):
        self.trace = make_scene(self.home / "waits.skein", "waits")

    def ask(self, sql):
        return by_skein(sql, self.trace)

    def test_waits(self):
        rows = self.ask("SELECT * FROM waits ORDER BY time")
        self.assertEqual([(row["tid"], row["class"], row["length"] / 1e6, row["weight"] / 1e6,
                           row["p"], row["waker_tid"], row["waker"]) for row in rows],
                         [(100, "lock", 10, 10, 1, 110, "worker 3"),
                          (100, "lock", 20, 20, 1, 101, "a;b\nc\ufffd"),
                          (100, "lock", 0.5, 2, 0.25, 101, "a;b\nc\ufffd"),
                          (110, "lock", 30, 30, 1, 100, "worker 3"),
                          (110, "sleep", 5, 5, 1, None, "timer"),
                          (2, "other", 40, 40, 1, None, "another CPU")])
        self.assertEqual({row["address"] for row in rows if row["class"] == "lock"}, {0x7000})

    def test_locks(self):
        row, = self.ask("SELECT * FROM locks")
        self.assertEqual((row["process"], row["address"], row["stacks"], row["weight"],
                          row["threads"], row["longest"]),
                         ("worker 3", 0x7000, 4, 62_000_000, 2, 30_000_000))

    def test_where(self):
        """Sums are those of the report, by function and class."""
        rows = self.ask("SELECT * FROM hottest_waits")
        self.assertEqual(sum(row["weight"] for row in rows), 107_000_000)
        self.assertAlmostEqual(sum(row["percent"] for row in rows), 100, delta=0.1)
        own = collections.Counter()
        for row in rows:
            own[row["function"]] += row["weight"]
        report = json.loads(output("report", "--off-cpu", "--json", self.trace))
        found = {row["name"]: row["own"]["waited"] for row in report["off_cpu"]["functions"]
                 if row["own"]["waited"]}
        self.assertEqual({name: weight for name, weight in own.items() if name in found}, found)
        self.assertEqual(sum(found.values()) + own["[no function of a program]"], 107_000_000)


if __name__ == "__main__":
    unittest.main()
