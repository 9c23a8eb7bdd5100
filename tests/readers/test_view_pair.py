# SPDX-License-Identifier: Apache-2.0
"""Test skein view with two traces: what it answers of each, and how their clocks are compared."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sqlite3
import unittest

from test_view import SECOND, View
from traces import Home, make_scene, make_timeline, skein

UTC = 1_700_000_000 * SECOND


def set_clock(path, machine, boot, realtime):
    """Say of which boot a trace is, and what to add to its stamps to get the time of day."""
    db = sqlite3.connect(path)
    db.execute("update host set machine_id = ?, boot_id = ?, realtime_offset = ?",
               (machine, boot, realtime))
    db.commit()
    db.close()


class Pairs(Home):
    """Each test has servers of one or two traces."""

    end = View.end
    MACHINES = {"first": (20000, 4, 40, 7), "second": (30000, 6, 20, 9)}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, (slices, cpus, threads, seed) in cls.MACHINES.items():
            make_timeline(cls.home / f"{name}.skein", slices, cpus, threads, seed, 0, 0, 0)

    def trace(self, name, *clock):
        path = self.home / f"{name}.skein"
        if clock:
            kept, path = path, self.home / f"{name}-{'-'.join(map(str, clock))}.skein"
            shutil.copy(kept, path)
            set_clock(path, *clock)
        return path

    def serve(self, *traces):
        *above, last = traces
        self.server, self.port, self.token = View.serve.__func__(type(self), last, *above)

    def ask(self, what):
        status, body, _ = View.get("/api/" + what, self.port, **{"X-Skein-Token": self.token})
        return status, body

    def answers(self, suffix, length):
        """What a server says of a trace, by question."""
        rows = json.loads(self.ask("trace" + suffix)[1])["rows"]
        lanes = ",".join(row["lane"] for row in rows)
        thread = next(row["lane"] for row in rows if row["kind"] == "thread")
        more = suffix.replace("?", "&")
        asked = {"rows": rows}
        for what in (f"window?from=0&to={length}&columns=300&lanes=parallel,{lanes}",
                     f"window?from=5000000&to=6000000&columns=300&lanes={lanes}",
                     f"at?lane={thread}&time=5000000", f"chain?lane={thread}&time=5000000",
                     f"report?from=0&to=5000000&lane={thread}", "profile?from=5"):
            status, body, *rest = self.ask(what + more)
            body = re.sub(rb'"ms":\d+', b"", body) # how long it took
            asked[what] = (status, body, *rest)
            self.assertIn(status, (200, 204), what)
        return asked


class Answers(Pairs):
    def test_each_answers_as_if_it_were_alone(self):
        self.serve(self.trace("first"), self.trace("second"))
        about = [json.loads(self.ask("trace" + suffix)[1]) for suffix in ("", "?trace=2")]
        self.assertEqual([one["traces"] for one in about], [2, 2])
        self.assertEqual([pathlib.Path(one["file"]).name for one in about],
                         ["first.skein", "second.skein"])
        self.assertEqual([sum(row["kind"] == "cpu" for row in one["rows"]) for one in about],
                         [4, 6])
        lengths = [one["length"] for one in about]
        first, second = (self.answers(suffix, length)
                         for suffix, length in zip(("?trace=1", "?trace=2"), lengths))
        self.assertEqual(self.ask("trace?trace=2&by=pool")[0], 200)
        self.assertEqual(self.ask("trace?trace=2&by=what")[0], 400)
        for alone, length, together in (("first", lengths[0], first),
                                        ("second", lengths[1], second)):
            self.serve(self.trace(alone))
            self.assertEqual(self.answers("", length), together)
            self.assertEqual(json.loads(self.ask("trace")[1])["traces"], 1)

    def test_senseless_requests(self):
        for traces, wrong in ((2, ("0", "3", "x", "", "-1", "1,2", "99999999999999999999")),
                              (1, ("0", "2"))):
            self.serve(*[self.trace("first"), self.trace("second")][:traces])
            for number in wrong:
                for what in ("trace", "window?from=0&to=9&columns=3&lanes=1", "at?lane=1&time=5",
                             "chain?lane=1&time=5", "report", "profile"):
                    status, body = self.ask(f"{what}{'&' if '?' in what else '?'}trace={number}")
                    self.assertEqual((status, body), (400, b"trace: a number, 1 to %d" % traces))
        # a process of one trace is none of the other one
        self.serve(self.trace("first"), make_scene(self.home / "scene.skein", "timeline"))
        rows = [json.loads(self.ask("trace?trace=" + number)[1])["rows"] for number in "12"]
        known = [{row["process"] for row in of} - {None} for of in rows]
        for process in known[0] ^ known[1]:
            self.assertEqual([self.ask(f"report?process={process}&trace={number}")[0] == 400
                              for number in "12"], [process not in of for of in known])
        self.assertNotEqual(*known)

    def test_page(self):
        """It is the same for both, and needs no token."""
        self.serve(self.trace("first"), self.trace("second"))
        pages = [View.get(path, self.port)[:2] for path in ("/", "/?trace=2")]
        self.assertEqual(pages[0], pages[1])
        self.assertEqual(pages[0][0], 200)
        self.assertEqual(View.get("/?trace=3", self.port)[0], 400)

    def test_clocks(self):
        """By the clock of one boot, else by the time of day, else not at all."""
        first = self.trace("first", "m", "b", UTC)
        for other, after in ((("m", "b", UTC + 5), 0), # measured again
                             (("m", "c", UTC + 5 * SECOND), 5 * SECOND),
                             (("n", "b", UTC - 7), -7),
                             (("", "", UTC + 1), 1),
                             (("m", "b", 0), 0),
                             (("m", "c", 0), None),
                             (("", "", 0), None)):
            self.serve(first, self.trace("second", *other))
            self.assertEqual(json.loads(self.ask("trace?trace=2")[1])["after"], after, other)
            self.assertIsNone(json.loads(self.ask("trace")[1])["after"])
        self.serve(self.trace("first"), self.trace("second", "m", "b", UTC))
        self.assertIsNone(json.loads(self.ask("trace?trace=2")[1])["after"])


class Ends(Pairs):
    """What is no trace, and what is missing in one."""

    def test_usage(self):
        first, second = self.trace("first"), self.trace("second")
        done = skein("view", "-n", first, second, "third.skein", check=False)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertRegex(done.stderr.decode(), r"\Askein: view: two traces at most; "
                                               r"'third.skein' is too many\n")
        for traces in ((first, self.home / "missing.skein"), (self.home / "missing.skein", first)):
            done = skein("view", "-n", *traces, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertRegex(done.stderr.decode(), r"\Askein: [^\n]*missing\.skein[^\n]*\n\Z")

    def said(self):
        self.server.terminate()
        return self.server.stderr.read()

    def test_second_is_no_trace(self):
        """The first one is shown, and terminal and page say why the second one is not."""
        text = self.home / "text.skein"
        text.write_text("no trace")
        self.serve(self.trace("first"), text)
        about = json.loads(self.ask("trace")[1])
        self.assertEqual(about["traces"], 1)
        self.assertTrue(about["rows"])
        self.assertRegex(about["warning"], r"\A\S*text\.skein is not shown: .*\Z")
        self.assertEqual(self.ask("trace?trace=2")[0], 400)
        said = self.said()
        self.assertRegex(said, r"warning: \S*text\.skein is not shown: ")
        self.assertRegex(said, r"first\.skein is shown at this address")

    def test_damaged(self):
        """What can be read of the second one is shown, with a warning."""
        damaged = self.home / "damaged.skein"
        make_timeline(damaged, 200000, 4, 40, 7, 0, 0, 0)
        with damaged.open("r+b") as file:
            file.seek(damaged.stat().st_size // 2)
            file.write(b"\xff" * 20000)
        self.serve(self.trace("first"), damaged)
        first = json.loads(self.ask("trace")[1])
        if first["traces"] == 1: # nothing of it can be read
            self.assertIn("damaged.skein is not shown", first["warning"])
        else:
            self.assertEqual(first["warning"], "")
            self.assertTrue(json.loads(self.ask("trace?trace=2")[1])["warning"])
        self.assertTrue(first["rows"])

    def test_no_scheduler_records(self):
        samples = make_scene(self.home / "samples.skein")
        for traces, rows in (((self.trace("first"), samples), (True, False)),
                             ((samples, self.trace("first")), (False, True))):
            self.serve(*traces)
            self.assertEqual(tuple(bool(json.loads(self.ask("trace?trace=" + number)[1])["rows"])
                                   for number in "12"), rows)
            suffix = "" if traces[0] == samples else "?trace=2"
            self.assertTrue(json.loads(self.ask("profile" + suffix)[1])["profiles"])
            self.assertEqual(re.findall(r"(\w+)\.skein has no scheduler records", self.said()),
                             ["samples"])

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_second_belongs_to_another_user(self):
        """Without root's rights only what the owner of the first trace may read is shown."""
        self.home.chmod(0o755)
        traces = [make_scene(self.home / f"{name}.skein", "timeline") for name in "ab"]
        for path, user, mode in zip(traces, (65534, 65533), (0o600, 0o600)):
            os.chown(path, user, user)
            path.chmod(mode)
        self.serve(*traces)
        about = json.loads(self.ask("trace")[1])
        self.assertEqual(about["traces"], 1)
        self.assertIn("b.skein is not shown: the user of the first trace may not read it",
                      about["warning"])
        traces[1].chmod(0o644)
        self.serve(*traces)
        self.assertEqual(json.loads(self.ask("trace")[1])["traces"], 2)
        self.assertEqual(self.ask("profile?trace=2")[0], 200)


class Large(Pairs):
    MACHINES = {"first": (300000, 64, 400, 7), "second": (300000, 64, 400, 8)}

    def test_memory(self):
        """The server of two traces of a large machine stays within 64 MiB, too."""
        self.serve(self.trace("first"), self.trace("second"))
        asked = []
        for number in "12":
            about = json.loads(self.ask("trace?trace=" + number)[1])
            lanes = ",".join([row["lane"] for row in about["rows"]
                              if row["kind"] in ("cpu", "thread")][:100])
            asked += [f"window?from=0&to={about['length'] // part}&columns=1920&lanes={lanes}"
                      f"&trace={number}" for part in range(1, 33)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for status, body in pool.map(self.ask, asked):
                self.assertEqual(status, 200, body)
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
        print(f"peak of a server of two traces: {peak / 1024:.1f} MiB")
        self.assertLess(peak, 64 << 10)


if __name__ == "__main__":
    unittest.main()
