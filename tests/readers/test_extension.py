# SPDX-License-Identifier: Apache-2.0
"""Test skein.so in SQLite's shell and in Python: its results, its errors, and hostile traces."""
import contextlib
import pathlib
import random
import sqlite3
import subprocess
import tempfile
import unittest

from sqlite_ways import Refused, by_python, by_shell, by_skein, withstand
from traces import BUILD, LIMIT, make_scene

STREAMS = ("stack", "sample", "slice", "edge", "span", "counter")
WAYS = (by_shell, by_python)


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def scene(self, name="scene"):
        return make_scene(self.folder / f"{name}.skein", name)

    def change(self, path, *statements):
        """Change a trace with plain SQLite, as an attacker could."""
        with contextlib.closing(sqlite3.connect(path)) as database:
            for statement in statements:
                database.execute(*statement if isinstance(statement, tuple) else (statement,))
            database.commit()
        return path

    def refused(self, *statements, traces):
        words = set()
        for ask in WAYS:
            with self.assertRaises(Refused) as caught:
                ask(*statements, traces=traces)
            words.add(str(caught.exception))
        return " ".join(words)


class TablesTest(Cases):
    def test_every_row_of_every_stream(self):
        for name in ("scene", "python", "timeline"):
            trace = self.scene(name)
            for stream in STREAMS:
                rows = by_skein(f"SELECT rowid AS row, * FROM {stream}", trace)
                for ask in WAYS:
                    self.assertEqual(ask(f"SELECT rowid AS row, * FROM {stream}",
                                         traces=[trace]), rows, stream)

    def test_bounds_choose_chunks(self):
        trace = self.scene()
        plan = "EXPLAIN QUERY PLAN SELECT * FROM {} WHERE {}"
        for condition in ("time > 5", "time BETWEEN 5 AND 6", "time = 5.5"):
            text = str(by_python(plan.format("sample", condition), traces=[trace]))
            self.assertRegex(text, "VIRTUAL TABLE INDEX [1-9]")
        middle = by_skein("SELECT time FROM sample ORDER BY time LIMIT 1 OFFSET 50", trace)
        sql = f"SELECT count(*) AS n FROM sample WHERE time < {middle[0]['time']}"
        for ask in WAYS:
            self.assertEqual(ask(sql, traces=[trace]), by_skein(sql, trace))

    def test_nothing_can_be_written(self):
        trace = self.scene()
        before = trace.read_bytes()
        for sql in ("DELETE FROM sample", "INSERT INTO sample(time) VALUES (1)",
                    "UPDATE stack SET parent = 0", "DROP TABLE sample"):
            self.refused(sql, traces=[trace])
        self.assertEqual(trace.read_bytes(), before)

    def test_names_in_other_cases(self):
        trace = self.scene()
        for ask in WAYS:
            rows = ask("SELECT count(*) AS n FROM SAMPLE('MAIN')", traces=[trace])
            self.assertEqual(rows, [{"n": 100}])

    def test_a_new_file_under_an_old_name(self):
        """Data cached for an attached trace are dropped when the trace may be another one."""
        scene, python = self.scene(), self.scene("python")
        sql = ("SELECT count(*) AS n FROM sample('{0}') AS s JOIN stack('{0}') AS k"
               " ON k.id = s.stack")
        both = [by_skein(sql.format("main"), trace) for trace in (scene, python)]
        self.assertNotEqual(*both)
        asked = sql.format("before")
        for ask in WAYS:
            again = ("DETACH before", f"ATTACH '{python}' AS before", asked)
            self.assertEqual(ask(asked, traces=[scene, scene]), both[0])
            self.assertEqual(ask(asked, *again, traces=[scene, scene]), both[1])


class SeveralTracesTest(Cases):
    def test_named(self):
        traces = [self.scene(), self.scene("python")]
        for database, trace in zip(("main", "before"), traces):
            for stream in STREAMS:
                expected = by_skein(f"SELECT * FROM {stream}", trace)
                for ask in WAYS:
                    self.assertEqual(ask(f"SELECT * FROM {stream}('{database}')", traces=traces),
                                     expected)
                    self.assertEqual(ask(f"SELECT * FROM {stream} WHERE trace = '{database}'",
                                         traces=traces), expected)

    def test_not_named(self):
        """A view of the second trace would query the first trace's samples."""
        traces = [self.scene(), self.scene("python")]
        for sql in ("SELECT * FROM sample", "SELECT * FROM before.sample",
                    "SELECT * FROM before.hottest", "SELECT * FROM hottest",
                    "SELECT * FROM stack WHERE id = 1"):
            self.assertIn("several traces are attached: say which, as in sample('main')",
                          self.refused(sql, traces=traces))

    def test_no_such_trace(self):
        trace = self.scene()
        for name in ("'none'", "NULL", "''", "1"):
            self.assertIn("no trace is attached as",
                          self.refused(f"SELECT * FROM sample({name})", traces=[trace]))

    def test_the_only_trace_is_attached(self):
        other = self.change(self.folder / "other.db", "CREATE TABLE mine(x)")
        trace = self.scene()
        for ask in WAYS:
            self.assertEqual(ask("SELECT count(*) AS n FROM sample", traces=[other, trace]),
                             [{"n": 100}])
            self.assertEqual(ask("SELECT count(*) AS n FROM sample",
                                 traces=[trace, other]), [{"n": 100}])

    def test_no_trace_at_all(self):
        other = self.change(self.folder / "other.db", "CREATE TABLE mine(x)")
        self.assertIn("no such table: main.chunk",
                      self.refused("SELECT * FROM sample", traces=[other]))

    def test_a_name_from_a_table(self):
        traces = [self.scene(), self.scene("python")]
        sql = ("SELECT name, count(*) AS n FROM pragma_database_list AS l "
               "JOIN sample ON sample.trace = l.name GROUP BY name ORDER BY name")
        for ask in WAYS:
            self.assertEqual([row["name"] for row in ask(sql, traces=traces)],
                             ["before", "main"])


class DamageTest(Cases):
    def damaged(self, kind):
        """Return a trace in which one chunk holds zeros."""
        trace = self.scene()
        records = by_skein(f"SELECT max(id) AS id, records FROM chunk WHERE kind = '{kind}'",
                           trace)[0]
        self.change(trace, ("UPDATE chunk SET data = zeroblob(length(data)) WHERE id = ?",
                            (records["id"],)))
        return trace, records["records"]

    def test_ends_the_query(self):
        for kind, sql in (("sample", "SELECT count(*) FROM sample"),
                          ("stack", "SELECT count(parent) FROM stack"),
                          ("stack", "SELECT parent FROM sample JOIN stack ON stack.id = stack")):
            trace, _ = self.damaged(kind)
            self.assertIn(f"{kind}: a chunk of the trace is damaged",
                          self.refused(sql, traces=[trace]))

    def test_left_out_on_request_and_counted(self):
        trace, records = self.damaged("sample")
        for ask in WAYS:
            total = by_skein("SELECT sum(records) AS n FROM chunk WHERE kind = 'sample'", trace)
            rows = ask("SELECT skein_skip_damage(1) AS n", "SELECT count(time) AS n FROM sample",
                       traces=[trace])
            self.assertEqual(rows[0]["n"], total[0]["n"] - records)
            rows = ask("SELECT skein_skip_damage(1)", "SELECT count(time) FROM sample",
                       "SELECT skein_skip_damage(0) AS n", traces=[trace])
            self.assertEqual(rows[0]["n"], records)

    def test_a_trace_cannot_ask_for_it(self):
        trace, _ = self.damaged("sample")
        self.change(trace, "CREATE VIEW quiet AS SELECT skein_skip_damage(1) AS n")
        self.refused("SELECT * FROM quiet", traces=[trace])


class HostileTest(Cases):
    """Whatever a file contains, the calling program continues."""
    ASK = ("SELECT skein_skip_damage(1)",
           *(f"SELECT count(*), sum(x.rowid) FROM {stream} AS x" for stream in STREAMS),
           "SELECT count(parent) FROM sample LEFT JOIN stack ON stack.id = stack",
           "SELECT * FROM running", "SELECT * FROM hottest")

    def test_chunks_that_lie(self):
        huge = 1 << 62
        for change in (f"UPDATE chunk SET records = {huge}", "UPDATE chunk SET records = -1",
                       "UPDATE chunk SET data = 'text'", "UPDATE chunk SET data = NULL",
                       f"UPDATE chunk SET time = -{huge}, \"end\" = {huge}",
                       "UPDATE chunk SET id = -id", "UPDATE chunk SET kind = 'stack'",
                       "UPDATE chunk SET data = x'28b52ffd'"):
            trace = self.scene()
            try:
                self.change(trace, change)
            except sqlite3.IntegrityError:
                continue
            with self.subTest(change=change):
                withstand(trace, *self.ASK)

    def test_tables_of_our_names(self):
        """A file's own tables take precedence over skein's streams, and are ordinary tables."""
        trace = self.change(self.scene(), "CREATE TABLE sample(time)",
                            "INSERT INTO sample VALUES ('mine')")
        for ask in WAYS:
            self.assertEqual(ask("SELECT * FROM sample", traces=[trace]), [{"time": "mine"}])

    def test_chunk_that_is_a_view_of_itself(self):
        """Reading this chunk would read the stream that reads the chunk, without end."""
        trace = self.scene()
        self.change(trace, "PRAGMA legacy_alter_table = ON", "ALTER TABLE chunk RENAME TO old",
                    "CREATE VIEW chunk AS SELECT id, kind, lane_group, time, \"end\", records,"
                    " bytes_raw, (SELECT data FROM old WHERE old.id = sample.time) AS data"
                    " FROM sample")
        self.refused("SELECT count(time) FROM sample", traces=[trace])

    def test_random_bytes(self):
        dice = random.Random(7)
        whole = self.scene().read_bytes()
        for i in range(6):
            data = bytearray(whole)
            for _ in range(dice.choice((1, 20, 400))):
                data[dice.randrange(100, len(data))] = dice.randrange(256)
            trace = self.folder / f"random-{i}.skein"
            trace.write_bytes(data[:dice.choice((len(data), len(data) // 2))])
            withstand(trace, *self.ASK)


class FileTest(unittest.TestCase):
    def test_only_the_entry_point_is_seen(self):
        done = subprocess.run(["nm", "-D", "--defined-only", BUILD / "skein.so"], check=True,
                              capture_output=True, timeout=LIMIT, text=True)
        self.assertEqual([line.split()[-1] for line in done.stdout.splitlines()],
                         ["sqlite3_skein_init"])

    def test_needs_little(self):
        done = subprocess.run(["readelf", "-d", BUILD / "skein.so"], check=True,
                              capture_output=True, timeout=LIMIT, text=True)
        needed = {line.split("[")[1].split(".so")[0] for line in done.stdout.splitlines()
                  if "NEEDED" in line}
        self.assertLessEqual(needed - {"libasan", "libubsan"}, {"libzstd", "libc"})


if __name__ == "__main__":
    unittest.main()
