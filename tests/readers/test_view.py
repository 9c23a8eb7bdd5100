# SPDX-License-Identifier: Apache-2.0
"""Test skein view as a browser and as an attacker see it: what it answers, and to whom."""
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time
import unittest

from traces import Home, SKEIN, make_scene, make_timeline, output, skein

SECOND = 1_000_000_000
FULL = 127


class View(Home):
    """A server of a trace, which each test asks."""

    MACHINE = (20000, 4, 40)  # slices, CPUs, threads

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = cls.home / "machine.skein"
        make_timeline(cls.trace, *cls.MACHINE, 7, 0, 0, 0)
        cls.server, cls.port, cls.token = cls.serve(cls.trace)
        cls.lanes = json.loads(cls.ask("trace")[1])

    @classmethod
    def serve(cls, trace, *options):
        server = subprocess.Popen([SKEIN, "view", "-n", *options, trace], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.end, server)
        address = server.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{32})\n", address)
        if not found:
            raise AssertionError(address + server.stderr.read())
        return server, int(found[1]), found[2]

    @staticmethod
    def end(server):
        server.terminate()
        server.wait()
        server.stdout.close()
        server.stderr.close()

    @classmethod
    def get(cls, path, port=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port or cls.port, timeout=60)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())
        finally:
            connection.close()

    @classmethod
    def ask(cls, what, **where):
        return cls.get("/api/" + what, **{"X-Skein-Token": cls.token}, **where)

    def rows(self, kind):
        return [row for row in self.lanes["rows"] if row["kind"] == kind]

    def window(self, begin, end, columns, lanes):
        status, body, _ = self.ask(f"window?from={begin}&to={end}&columns={columns}"
                                   f"&lanes={','.join(lanes)}")
        self.assertEqual(status, 200, body)
        self.assertEqual(struct.unpack("<4I", body[:16]), (0x31574b53, columns, len(lanes), 0))
        strokes = [tuple(body[at:at + 3]) for at in range(16, len(body), 3)]
        self.assertEqual(len(strokes), columns * len(lanes))
        return [strokes[i * columns:(i + 1) * columns] for i in range(len(lanes))]


class Answers(View):
    """What is shown is what the commands say of the same trace."""

    def test_lanes(self):
        query = json.loads(output("query", self.trace, "--json",
                                  "SELECT count(*) AS n FROM lane WHERE kind = 1"))
        self.assertEqual(len(self.rows("cpu")), query[0]["n"])
        self.assertTrue(self.rows("thread"))
        processes = {row["process"] for row in self.rows("process")}
        self.assertEqual(processes, {row["process"] for row in self.rows("thread")})

    def test_busy_time(self):
        """The levels of all columns of a CPU add up to its busy share."""
        rows = self.rows("cpu")
        columns = 1000
        shown = self.window(0, self.lanes["length"], columns, [row["lane"] for row in rows])
        for row, strokes in zip(rows, shown):
            # a level is a share in 127ths, of which the smallest and the largest are kept apart
            self.assertAlmostEqual(sum(s[0] for s in strokes) / FULL / columns, row["busy"],
                                   delta=1 / FULL)

    def test_zooming_contradicts_nothing(self):
        """What never ran in a column did not run in any part of it, and likewise throughout."""
        lanes = [row["lane"] for row in self.rows("cpu") + self.rows("thread")[:20]]
        length = self.lanes["length"] // 4096 * 4096
        wide = self.window(0, length, 64, lanes)
        deep = self.window(0, length, 4096, lanes)
        for one, many in zip(wide, deep):
            for column, stroke in enumerate(one):
                # cells reach into the neighbours' columns
                parts = [level for level, _, _ in many[column * 64 + 1:column * 64 + 63]]
                if stroke[0] == 0 and self.lanes["fill_of"]["unknown"] != stroke[2]:
                    self.assertEqual(set(parts), {0})
                if stroke[0] == FULL:
                    self.assertEqual(set(parts), {FULL})

    def test_choice_of_lanes(self):
        """Rows of several threads have all of them, and run as long as these together."""
        threads = {row["lane"]: row for row in self.rows("thread")}
        for by, letter in (("name", "n"), ("pool", "l")):
            rows = json.loads(self.ask(f"trace?by={by}")[1])["rows"]
            parts = [part for row in rows for part in
                     (row.get("parts", [row["lane"]]) if row["kind"].startswith("thread") else [])]
            self.assertEqual(sorted(parts), sorted(threads))
            joined = [row for row in rows if row["kind"] == "threads"]
            self.assertEqual(bool(joined), by == "name", "its threads live all the time")
            for row in joined:
                self.assertEqual(row["lane"][0], letter)
                self.assertAlmostEqual(row["busy"],
                                       sum(threads[part]["busy"] for part in row["parts"]), 4)
                strokes, = self.window(0, self.lanes["length"], 32, [row["lane"]])
                self.assertEqual(any(level for level, _, _ in strokes), row["busy"] > 0)
                at = json.loads(self.ask(f"at?lane={row['lane']}&time=1000000")[1])
                self.assertTrue(at["facts"])
        self.assertEqual(self.ask("trace?by=what")[0], 400)

    def test_report(self):
        begin, end = self.lanes["length"] // 3, self.lanes["length"] // 2
        status, body, _ = self.ask(f"report?from={begin}&to={end}")
        self.assertEqual(status, 200)
        said = output("report", self.trace, "--json", "--from", f"{begin}ns", "--to", f"{end}ns")
        self.assertEqual(json.loads(body), json.loads(said))

    def wanted(self, begin, end, columns):
        """The number of threads that wanted a CPU in each column; None where it is not known."""
        status, body, _ = self.ask(f"window?from={begin}&to={end}&columns={columns}&lanes=wanted")
        self.assertEqual(status, 200, body)
        count, = struct.unpack_from("<I", body, 16)
        found = [struct.unpack_from("<II3d", body, 20 + 32 * i) for i in range(count)]
        self.assertEqual(len(body), 20 + 32 * count)
        means, last = [], None
        for column in range(columns):
            if found and found[0][0] == column:
                _, lost, least, most, _ = found.pop(0)
                self.assertTrue(lost or least == most)
                last = None if lost else least
            means.append(last)
        return means

    def test_threads_that_wanted_a_cpu(self):
        """Their mean is that of the times in which skein report has them run or wait for a CPU."""
        length = self.lanes["length"]
        for begin, end in ((0, length), (length // 3, length // 2),
                           (length // 2, length // 2 + 1_000_000)):
            report = json.loads(output("report", self.trace, "--json", "--from", f"{begin}ns",
                                       "--to", f"{end}ns"))
            spent = sum(of["running"] + of["runnable_woken"] + of["runnable_preempted"]
                        for of in report["sched"]["processes"])
            for columns in (1, 7, 1000):
                means = self.wanted(begin, end, columns)
                edges = [(end - begin) * i // columns for i in range(columns + 1)]
                total = sum(mean * (right - left)
                            for mean, left, right in zip(means, edges, edges[1:]))
                self.assertAlmostEqual(total / spent, 1, places=6, msg=(begin, end, columns))

    def test_a_moment(self):
        """The state around a time lasts as long as the slice of a CPU there."""
        rows = json.loads(output(
            "query", self.trace, "--json",
            "SELECT s.time - h.start AS begin, s.\"end\" - h.start AS until, s.lane AS lane"
            " FROM slice s, host h WHERE s.state = 1 AND s.\"end\" - s.time > 100000"
            " LIMIT 20"))
        self.assertEqual(len(rows), 20)
        for row in rows:
            time = (row["begin"] + row["until"]) // 2
            status, body, _ = self.ask(f"at?lane={row['lane']}&time={time}")
            self.assertEqual(status, 200, body)
            told = json.loads(body)
            # the CPU may go on with the same thread; ends are within a cell
            self.assertLessEqual(told["from"], row["begin"] + 1024)
            self.assertGreaterEqual(told["to"], row["until"] - 1024)
            self.assertEqual(dict(told["facts"])["state"], "running")

    def test_wakers(self):
        """A wait tells who ended it, and the one who did tells whom it woke."""
        rows = json.loads(output(
            "query", self.trace, "--json",
            "SELECT e.time - h.start AS time, e.\"from\" AS waker, e.\"to\" AS woken,"
            " t.tid AS tid FROM edge e JOIN thread t ON t.lane = e.\"from\", host h"
            " WHERE e.kind = 1 AND e.time - h.start > 1000000 LIMIT 200"))
        told = 0
        for row in rows:
            body = json.loads(self.ask(f"at?lane={row['woken']}&time={row['time'] - 3000}")[1])
            facts = dict(body["facts"])
            if not facts["state"].startswith("sleeping") or abs(body["to"] - row["time"]) > 2048:
                continue # it was woken before, or other states are in that microsecond
            self.assertIn(f" {row['tid']} (", facts["woken by"])
            waker = json.loads(self.ask(f"at?lane={row['waker']}&time={row['time']}")[1])
            if dict(waker["facts"])["state"] == "running" and "woke others" in \
                    dict(waker["facts"]) and len(waker["links"]) < 8:
                self.assertIn(str(row["woken"]), [link["lane"] for link in waker["links"]])
                told += 1
        self.assertGreater(told, 5)

    def test_senseless_requests(self):
        for what in ("window", "window?from=1", "window?from=5&to=2&columns=3&lanes=1",
                     "window?from=0&to=9&columns=3&lanes=,,", "at?lane=1", "at?lane=0&time=5",
                     "at?lane=1&time=99999999999999999", "report?from=x", "profile?process=9999",
                     "profile?lane=1"):
            status, body, _ = self.ask(what)
            self.assertEqual(status, 400, (what, body))
            self.assertRegex(body, rb"\A[^\n]+\n?\Z")


class Chains(Home):
    """What held a wait up, in a recording of which all times are known (chain_scene.h)."""

    end = View.end
    MS = 1_000_000
    WAITER, HOLDER, STARTER = "11", "12", "13"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        trace = make_scene(cls.home / "chain.skein", "chain")
        cls.server, cls.port, cls.token = View.serve.__func__(cls, trace)

    def chain(self, lane, ms, status=200):
        got, body, _ = View.get(f"/api/chain?lane={lane}&time={int(ms * self.MS)}", self.port,
                                **{"X-Skein-Token": self.token})
        self.assertEqual(got, status, body)
        return json.loads(body) if status == 200 else body

    def test_chain(self):
        """From anywhere in the wait, and from the slice after it."""
        for ms in (10.5, 50, 89, 95):
            told = self.chain(self.WAITER, ms)
            self.assertEqual((told["from"], told["to"], told["wait"]),
                             (10 * self.MS, 90 * self.MS, "lock"))
            self.assertEqual(
                [[link[key] for key in ("lane", "from", "to", "ran", "runnable", "waited")]
                 for link in told["links"]],
                [[self.HOLDER] + [ms * self.MS for ms in (25, 90, 41, 14, 10)],
                 [self.STARTER] + [ms * self.MS for ms in (10, 25, 15, 0, 0)]])
            self.assertEqual(told["sentence"],
                             "80 ms: 41 ms of it holder 101 (db) ran, "
                             "15 ms <b>start\x1b[2J 102 (db) ran, "
                             "14 ms holder 101 (db) waited for a CPU, 10 ms it waited (I/O)")
            self.assertIn("an interrupt ended its wait (block device)", told["links"][0]["text"])
            self.assertEqual(told["end"], "That is all of the time since the wait began.")

    def test_ends(self):
        interrupt = self.chain(self.HOLDER, 75)
        self.assertEqual((interrupt["sentence"], interrupt["links"]),
                         ("10 ms: an interrupt ended it (block device), no thread", []))
        begin = self.chain(self.HOLDER, 5)
        self.assertEqual(begin["end"], "The recording begins there.")
        self.assertEqual([link["ran"] for link in begin["links"]], [25 * self.MS])
        self.assertEqual(self.chain(self.STARTER, 5)["sentence"],
                         "no wait was found before this")
        self.assertEqual(self.chain(self.WAITER, 5)["links"], [])

    def test_senseless_requests(self):
        for lane, ms in (("1", 5), ("99", 5), (self.WAITER, 100), ("x", 5)):
            self.assertRegex(self.chain(lane, ms, 400), rb"\A[^\n]+\n?\Z")

    def test_adds_up(self):
        """On a machine with losses: links follow each other, and never exceed the wait."""
        trace = self.home / "machine.skein"
        make_timeline(trace, 60000, 4, 40, 7, 200, 200, 200)
        _, port, token = View.serve.__func__(type(self), trace)
        followed = 0
        rows = json.loads(output("query", trace, "--json",
                                 "SELECT e.time - h.start AS time, e.\"to\" AS lane"
                                 " FROM edge e JOIN thread t ON t.lane = e.\"from\", host h"
                                 " WHERE e.kind = 1 AND e.time > h.start + 9999 LIMIT 100"))
        for row in rows:
            status, body, _ = View.get(f"/api/chain?lane={row['lane']}&time={row['time'] - 3000}",
                                       port, **{"X-Skein-Token": token})
            self.assertEqual(status, 200, body)
            told = json.loads(body)
            at = told["to"]
            for link in told["links"]:
                self.assertEqual(link["to"], at)
                at = link["from"]
                self.assertEqual(link["ran"] + link["runnable"] + link["waited"],
                                 link["to"] - at)
                self.assertGreaterEqual(at, told["from"])
            self.assertLessEqual(len(told["links"]), 20)
            followed += bool(told["links"])
        self.assertGreater(followed, 10)


class Profiles(Home):
    """The profile of a range is the data of a page that is exported with the same options."""

    def test_profile(self):
        trace = make_scene(self.home / "scene.skein", "waits")
        server, port, token = View.serve.__func__(type(self), trace)
        page = self.home / "page.html"
        for options, query in (((), ""), (("--from", "0.5s"), f"?from={SECOND // 2}")):
            output("export", trace, "-o", page, *options)
            data = re.search(r'<script id="data" type="application/json">\n(.*?)</script>',
                             page.read_text(), re.S)[1]
            status, body, _ = View.get("/api/profile" + query, port, **{"X-Skein-Token": token})
            self.assertEqual(status, 200, body)
            told = json.loads(body)
            self.assertEqual(told.pop("part")["share"], 1)
            self.assertEqual(told, json.loads(data))
        self.assertIsNone(server.poll())

    end = View.end


class Safe(View):
    """Only who has the token is answered, and nobody else's page."""

    def test_token(self):
        for token in (None, "", "0" * 32, self.token[:-1], self.token + "0", self.token.upper()):
            headers = {} if token is None else {"X-Skein-Token": token}
            if token == self.token: # it has digits only
                continue
            for path in ("/api/trace", "/api/report", "/api/profile"):
                self.assertEqual(self.get(path, **headers)[0], 401, token)

    def test_token_is_in_no_argument(self):
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            self.assertNotIn(self.token.encode(), command)

    def test_foreign_pages(self):
        token = {"X-Skein-Token": self.token}
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"},
                        {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                        {"Sec-Fetch-Site": "same-site"}):
            self.assertEqual(self.get("/api/trace", **token, **headers)[0], 403, headers)
        for host in ("localhost:1", "127.0.0.1", "[::1]:8080"):
            self.assertEqual(self.get("/api/trace", **token, Host=host)[0], 200, host)

    def test_page(self):
        status, body, headers = self.get("/")
        self.assertEqual(status, 200)
        self.assertNotIn(self.token.encode(), body)
        self.assertIn("connect-src 'self'", headers["Content-Security-Policy"])
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertNotIn("unsafe", headers["Content-Security-Policy"])
        self.assertNotIn("Access-Control-Allow-Origin", headers)
        self.assertNotIn("Set-Cookie", headers)

    def test_no_privileges(self):
        """No thread has a capability."""
        threads = list(pathlib.Path(f"/proc/{self.server.pid}/task").iterdir())
        self.assertGreater(len(threads), 1)
        for thread in threads:
            status = (thread / "status").read_text()
            self.assertRegex(status, r"CapEff:\s+0+\n")
            self.assertRegex(status, r"CapPrm:\s+0+\n")

    def test_memory(self):
        """The server stays within 64 MiB while its page zooms."""
        lanes = [row["lane"] for row in self.rows("cpu") + self.rows("thread")]
        for part in range(1, 30):
            self.window(0, self.lanes["length"] // part, 3840, lanes)
        peak = re.search(r"VmHWM:\s+(\d+) kB",
                         pathlib.Path(f"/proc/{self.server.pid}/status").read_text())
        self.assertLess(int(peak[1]), 64 << 10)


class Large(View):
    """A server of a machine with many CPUs and threads, whose chunks are full."""

    MACHINE = (300000, 64, 400)

    def test_memory_of_all_threads(self):
        """The server stays within 64 MiB whichever of its threads answer."""
        lanes = [row["lane"] for row in self.rows("cpu") + self.rows("thread")][:100]
        self.assertEqual(len(lanes), 100)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(self.window, 0, self.lanes["length"] // part, 1920, lanes)
                         for part in range(1, 33)]:
                done.result()
        peak = re.search(r"VmHWM:\s+(\d+) kB",
                         pathlib.Path(f"/proc/{self.server.pid}/status").read_text())
        self.assertLess(int(peak[1]), 64 << 10)


class Crowded(View):
    """A machine with more stretches of threads than are read for one answer."""

    wanted = Answers.wanted

    MACHINE = (1_000_000, 8, 64)

    def test_threads_that_wanted_a_cpu(self):
        """The whole is not known, and that costs little; a part of it is."""
        self.assertEqual(self.wanted(0, self.lanes["length"], 100), [None] * 100)
        part = self.wanted(0, self.lanes["length"] // 20, 100)
        self.assertNotIn(None, part)
        self.assertGreater(max(part), 0)


class Ends(Home):
    """How it begins and ends."""

    def test_ends_with_a_signal(self):
        trace = make_scene(self.home / "scene.skein")
        for number in (signal.SIGINT, signal.SIGTERM):
            server = View.serve.__func__(type(self), trace)[0]
            server.send_signal(number)
            self.assertEqual(server.wait(20), 0)

    end = View.end

    def test_no_scheduler_records(self):
        """There is a flame graph without a timeline, and that is said."""
        trace = make_scene(self.home / "samples.skein")
        server, port, token = View.serve.__func__(type(self), trace)
        status, body, _ = View.get("/api/trace", port, **{"X-Skein-Token": token})
        self.assertEqual((status, json.loads(body)["rows"]), (200, []))
        server.terminate()
        self.assertIn("no scheduler records", server.stderr.read())

    def test_what_cannot_be_shown(self):
        (self.home / "text").write_text("no trace")
        for path in (self.home / "missing.skein", self.home / "text"):
            done = skein("view", "-n", path, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertRegex(done.stderr.decode(), rf"\Askein: .*{re.escape(path.name)}.*\n\Z")
        trace = make_scene(self.home / "scene.skein")
        for wrong in (("--port", "70000"), ("--port", "x")):
            self.assertEqual(skein("view", "-n", *wrong, trace, check=False).returncode, 2)

    def test_a_damaged_trace(self):
        """What can be read is shown, with a warning."""
        trace = self.home / "damaged.skein"
        make_timeline(trace, 200000, 4, 40, 7, 0, 0, 0)
        with trace.open("r+b") as file:
            file.seek(trace.stat().st_size // 2)
            file.write(b"\xff" * 20000)
        try:
            server, port, token = View.serve.__func__(type(self), trace)
        except AssertionError as why: # nothing can be read: the reason is a line
            self.assertRegex(str(why), r"\Askein: .+\n\Z")
            return
        status, body, _ = View.get("/api/trace", port, **{"X-Skein-Token": token})
        self.assertEqual(status, 200)
        self.assertTrue(json.loads(body)["warning"])
        self.assertIsNone(server.poll())

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_trace_of_a_user(self):
        """Root gives up being root to read what belongs to another user."""
        self.home.chmod(0o755)
        trace = make_scene(self.home / "of_a_user.skein")
        os.chown(trace, 65534, 65534)
        trace.chmod(0o600)
        server, port, token = View.serve.__func__(type(self), trace)
        status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
        self.assertRegex(status, r"Uid:\s+65534\s+65534\s+65534")
        self.assertRegex(status, r"CapPrm:\s+0+\n")
        for what in ("trace", "profile"):
            self.assertEqual(View.get("/api/" + what, port, **{"X-Skein-Token": token})[0], 200)

    def test_browser(self):
        """The browser gets a page that leads to the address, not the address with its secret."""
        trace = make_scene(self.home / "scene.skein")
        run = self.home / "run"
        run.mkdir(mode=0o700)
        browser = self.home / "browser"
        browser.write_text("#!/bin/sh\n"
                           f"printf '%s' \"$1\" >{self.home}/asked.new\n"
                           "page=${1#file://}\n"
                           f"stat -c %a \"$page\" >{self.home}/mode\n"
                           f"cp \"$page\" {self.home}/page.html\n"
                           f"mv {self.home}/asked.new {self.home}/asked\n")
        browser.chmod(0o755)
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("SUDO_")}
        server = subprocess.Popen([SKEIN, "view", trace], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  env={**environment, "BROWSER": str(browser),
                                       "XDG_RUNTIME_DIR": str(run)})
        self.addCleanup(View.end, server)
        while not (self.home / "asked").exists():
            self.assertIsNone(server.poll())
            time.sleep(0.01)
        asked = (self.home / "asked").read_text()
        address = re.search(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{32})",
                            (self.home / "page.html").read_text())
        self.assertRegex(asked, rf"\Afile://{run}/skein-view-\d+\.html\Z")
        self.assertEqual((self.home / "mode").read_text(), "600\n")
        self.assertEqual(View.get("/api/trace", int(address[1]),
                                  **{"X-Skein-Token": address[2]})[0], 200)
        server.terminate()
        self.assertEqual(server.wait(20), 0)
        self.assertEqual(server.stdout.read(), "") # the address is not printed
        self.assertEqual(list(run.iterdir()), [])

    @unittest.skipUnless(shutil.which("setpriv") and os.getuid() == 0, "needs root and setpriv")
    def test_another_user(self):
        """A trace of another user is not readable, and the reason says so."""
        trace = make_scene(self.home / "scene.skein")
        trace.chmod(0o600)
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", SKEIN, "view", "-n",
                               trace], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Askein: .*\n\Z")


if __name__ == "__main__":
    unittest.main()
