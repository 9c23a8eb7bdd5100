# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test what skein view answers from samples: profiles in parts, stacks of waits."""
import base64
import http.client
import json
import os
import pathlib
import re
import subprocess
import time
import unittest
import urllib.parse

from test_view import View
from traces import BUILD, Home, LIMIT, make_scene, output

SECOND = 1_000_000_000
TURN = 10_000_000 # ns, as in make_samples.c
LONG = os.environ.get("SKEIN_LONG") == "1"
# not "server", of whose waits an export divides the exact times
SCENES = ("scene", "python", "sched", "timeline", "mixed", "flames", "hostile", "waits", "before",
          "runtime")


def make_samples(path, *numbers):
    """Turns of each CPU, CPUs, threads, samples of a turn."""
    subprocess.run([BUILD / "tests/readers/make_samples", path, *map(str, numbers)], check=True,
                   timeout=LIMIT)
    return path


class Samples(Home):
    """Base: a server of a trace."""

    end = View.end

    @classmethod
    def begin(cls, trace):
        cls.server, cls.port, cls.token = View.serve.__func__(cls, trace)

    @classmethod
    def ask(cls, what, **parameters):
        query = urllib.parse.urlencode(parameters)
        status, body, _ = View.get(f"/api/{what}?{query}", cls.port,
                                   **{"X-Skein-Token": cls.token})
        return status, body

    def told(self, what, **parameters):
        status, body = self.ask(what, **parameters)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def cpu_time(self):
        """CPU time of the server, s."""
        fields = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text().rsplit(")", 1)[1]
        return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")


class Scenes(Samples):
    """The profile of any range of any recording is that of an exported page."""

    def length(self):
        lanes = self.told("trace")
        return lanes["length"] if lanes["rows"] else 1 << 63

    def test_scenes(self):
        for scene in SCENES:
            trace = make_scene(self.home / f"{scene}.skein", scene)
            self.begin(trace)
            lost = json.loads(output("query", trace, "--json", "SELECT count(*) AS n FROM sample"
                                     " WHERE event NOT IN (SELECT id FROM event)"))[0]["n"]
            for begin, end in ((0, 0), (300_000_000, 0), (0, 900_000_000), (SECOND // 2, SECOND)):
                if (begin or end) and lost: # an export has these in every range
                    continue
                options = (("--from", f"{begin}ns") if begin else ()) + \
                    (("--to", f"{end}ns") if end else ())
                page = self.home / "page.html"
                output("export", trace, "-o", page, *options)
                data = json.loads(re.search(
                    r'<script id="data" type="application/json">\n(.*?)</script>',
                    page.read_text(), re.S)[1])
                data.pop("timeline", None)
                for profile in data["profiles"]:
                    profile.pop("samples", None) # their times, which the server does not send
                data["to"] = data["to"] if data["to"] < self.length() else 0 # all of it
                told = self.told("profile", **({"from": begin} if begin else {}),
                                 **({"to": end} if end else {}))
                with self.subTest(scene=scene, begin=begin, end=end):
                    self.assertEqual(told.pop("part")["share"], 1)
                    self.assertEqual(told, data)


class KnownTurns(Samples):
    """Base: a recording of which is known what ran where (make_samples.c)."""

    TURNS, CPUS, THREADS, EACH = 3000, 2, 8, 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = make_samples(cls.home / "turns.skein", cls.TURNS, cls.CPUS, cls.THREADS,
                                 cls.EACH)
        cls.begin(cls.trace)


class Turns(KnownTurns):
    def test_stack_of_a_wait(self):
        """A click on a wait shows the stack at which it waited, before each turn but the first."""
        lane = 10000 + 3
        for turn in (1, 5, 733, 2997): # threads 2 and 3 have turns 1, 5, 9, ...
            at = self.told("at", lane=lane, time=turn * TURN - 5_000_000)
            self.assertEqual(at["stack"], ["main", "loop", "wait_for_turn"] if turn > 1 else [])
            self.assertAlmostEqual(at["to"], turn * TURN, delta=1024)


class ManySamples(Samples):
    """Base: a server of a recording whose samples take longer than a first answer may."""

    TURNS, CPUS, THREADS, EACH = (160000, 8, 64, 40) if LONG else (80000, 8, 64, 40)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = make_samples(cls.home / "many.skein", cls.TURNS, cls.CPUS, cls.THREADS,
                                 cls.EACH)
        cls.begin(cls.trace)
        cls.samples = cls.TURNS * cls.CPUS * cls.EACH
        cls.waits = cls.TURNS * cls.CPUS - cls.THREADS # no wait before the first turn

    def leave(self, path):
        """Ask, and close the connection while the server reads."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path, headers={"X-Skein-Token": self.token})
        before = self.cpu_time()
        while self.cpu_time() < before + 0.02:
            time.sleep(0.001)
        connection.close()

    def wait_until_idle(self):
        """Return the CPU time that the server uses until it uses none in 0.2 s."""
        begin = last = self.cpu_time()
        while True:
            time.sleep(0.2)
            now = self.cpu_time()
            if now == last:
                return now - begin
            last = now


class Many(ManySamples):
    """Samples that take long are read in parts, and only as long as somebody waits for them."""

    @staticmethod
    def ranges(begin):
        """
        Return the begins (ns) of ranges to ask for. Where others take the CPU, the answer to the
        first question may come so late that it has all: then the next range is asked for.
        """
        return range(begin, begin + 20)

    def told_in_parts(self, begin):
        """Ask until all is told; return the last answer, and what each said of its part."""
        parts = []
        while not parts or parts[-1]["share"] < 1:
            told = self.told("profile", **{"from": begin})
            parts.append(told.pop("part"))
            event, = [event for event in told["profiles"][0]["events"]
                      if told["strings"][event["name"]] == "cpu-clock"]
            self.assertLess(parts[-1]["ms"], 2000 * len(parts))
            self.assertTrue(event)
        return told, parts

    def test_parts_grow(self):
        """Each answer has more than the one before, and the last has all: that of the export."""
        for begin in self.ranges(1000):
            told, parts = self.told_in_parts(begin)
            if len(parts) > 1 and parts[0]["ms"] < 400:
                break
        self.assertGreater(len(parts), 1, "the machine is too fast for this test")
        self.assertEqual(parts, sorted(parts, key=lambda part: part["share"]))
        for one, next_one in zip(parts, parts[1:]):
            self.assertLess(one["samples"], next_one["samples"])
            self.assertLess(one["share"], next_one["share"])
        self.assertEqual(parts[-1]["samples"], self.samples + self.waits)
        self.assertLess(parts[0]["ms"], 400)
        counts, value, factor = [], 0, 1
        for byte in base64.b64decode(told["profiles"][0]["sums"]["counts"]):
            value += (byte & 127) * factor
            factor *= 128
            if byte < 128:
                counts.append(value)
                value, factor = 0, 1
        self.assertEqual(sum(counts), parts[-1]["samples"])
        # it is kept
        self.assertEqual(self.told("profile", **{"from": begin})["part"], parts[-1])

    def test_parts_say_the_share(self):
        """The share of the first part is that of its samples: they are spread evenly."""
        for begin in self.ranges(2_000_000):
            part = self.told("profile", **{"from": begin})["part"]
            if part["share"] < 1:
                break
        self.assertLess(part["share"], 1)
        self.assertAlmostEqual(part["samples"] / (self.samples + self.waits), part["share"],
                               delta=0.02)

    def test_only_the_range_is_read(self):
        self.wait_until_idle()
        before = self.cpu_time()
        part = self.told("profile", **{"from": 5 * SECOND, "to": 6 * SECOND})["part"]
        self.assertEqual(part["share"], 1)
        self.assertLess(part["ms"], 150)
        self.assertLess(self.cpu_time() - before, 0.5)

    def test_left_alone(self):
        """Nothing is read for a page that has gone."""
        for path in (f"/api/profile?from={3_000_000}", "/api/report?from=1"):
            self.leave(path)
            self.assertLess(self.wait_until_idle(), 0.15, path)

    def test_click_on_a_sleeper(self):
        """A thread that slept all the time takes no longer than another one, and well below 2 s."""
        end = self.TURNS * TURN
        for lane, moment in ((10000 + self.THREADS, end // 2), (10000 + self.THREADS, 1),
                             (10000 + self.THREADS, end - 1), (10003, end // 3)):
            self.wait_until_idle()
            before = self.cpu_time()
            at = self.told("at", lane=lane, time=moment)
            self.assertLess(self.cpu_time() - before, 0.5)
            if lane != 10003:
                self.assertEqual((at["from"], at["to"]), (0, end))
            chain = self.told("chain", lane=lane, time=moment)
            self.assertLess(self.cpu_time() - before, 1)
            self.assertIn("sentence", chain)


if __name__ == "__main__":
    unittest.main()
