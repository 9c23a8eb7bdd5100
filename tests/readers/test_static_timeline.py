# SPDX-License-Identifier: Apache-2.0
"""Test the timeline of the one-file page: it says of every column what skein view says."""
import base64
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import unittest

from test_view import View
from traces import Home, ROOT, SKEIN, make_scene, make_timeline, output, skein

LONG = os.environ.get("SKEIN_LONG") == "1"
NODE = shutil.which("node")
PAGE_DATA = re.compile(r'<script id="data" type="application/json">\n(.*?)</script>', re.S)
COLUMNS = re.compile(r'<script id="columns" type="text/plain">(.*?)\s*</script>', re.S)
LATER = 10_000 # ns, so that a window has some of the next slice
FILES = pathlib.Path(__file__).resolve().parent


def timeline_of(page):
    """What a page holds of its timeline; None: nothing."""
    return json.loads(PAGE_DATA.search(page.read_text())[1]).get("timeline")


def threads_of(rows):
    """Return the lanes of the threads of each process, by the process's lane."""
    found = {}
    for row in rows:
        if row["kind"] == "thread":
            found.setdefault(f"p{row['process']}", []).append(row["lane"])
    return found


def shown(value):
    """A value of a counter as static_feed.mjs writes it."""
    return "none" if value != value else "lost" if value == float("inf") else value


def read_counter(body, at, columns):
    """Return a counter's columns in an answer (least, most, last, lost), and where they end."""
    count, = struct.unpack_from("<I", body, at)
    at += 4
    out = []
    last = ("none", "none", "none", 0)
    written = {}
    for _ in range(count):
        number, lost, least, most, end = struct.unpack_from("<IIddd", body, at)
        written[number] = (shown(least), shown(most), shown(end), lost)
        at += 32
    for column in range(columns):
        if column in written:
            last = written[column]
        else: # it goes on as the one before ended
            held = last[2] if last[2] != "lost" else "none"
            last = (held, held, last[2], int(last[2] == "lost"))
        out.append(list(last))
    return out, at


def read_window(body, columns, lanes):
    """Return what a window says of each lane: the bytes of strokes, or the columns of a counter."""
    found, at = {}, 16
    for lane in lanes:
        if lane[0] == "c" or lane == "wanted":
            found[lane], at = read_counter(body, at, columns)
        else:
            found[lane] = body[at:at + 3 * columns]
            at += 3 * columns
    if at != len(body):
        raise AssertionError(f"{len(body)} bytes instead of {at}")
    return found

STORED = 22 # shift of the shortest cells that a trace stores; of shorter ones there is each


class StaticFeed:
    """The script of a page, asked without a browser."""

    def __init__(self, page):
        self.process = subprocess.Popen(
            [NODE, FILES / "static_feed.mjs", ROOT / "user/view", page], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@unittest.skipUnless(NODE, "there is no node")
class Agreement(View):
    """Random windows of random traces, every stroke of every lane."""

    # slices, CPUs, threads; losses, early wake-ups and deaths per million switches
    early = 0 # early wake-ups
    MACHINES = [(20000, 4, 40, 0, 0, 0), (30000, 2, 300, 200, 3000, 5000),
                (300000, 16, 200, 20, 500, 300)]

    def compare(self, feed, columns, begin, end, lanes, first=0):
        """first: where the page's part of the recording begins, ns."""
        status, body, _ = self.get(
            f"/api/window?from={begin + first}&to={end + first}&columns={columns}"
            f"&lanes={','.join(lanes)}",
            self.asked[0], **{"X-Skein-Token": self.asked[1]})
        self.assertEqual(status, 200, body)
        self.assertEqual(struct.unpack("<4I", body[:16])[1:], (columns, len(lanes), 0))
        told = feed.ask("window", {"from": begin, "to": end, "columns": columns, "lanes": lanes})
        for lane, expected in read_window(body, columns, lanes).items():
            if lane == "wanted":
                self.compare_wanted(told["strokes"][lane], expected, (begin, end, first))
                continue
            if lane[0] == "c":
                self.assertEqual(told["strokes"][lane], expected, (lane, begin, end))
                continue
            strokes = base64.b64decode(told["strokes"][lane])
            self.assertEqual(len(strokes), len(expected))
            if strokes != expected and not self.undecided(feed, columns, begin, end, lane, first):
                at = next(at for at in range(columns)
                          if strokes[3 * at:3 * at + 3] != expected[3 * at:3 * at + 3])
                self.fail(f"lane {lane}, {begin}-{end}, column {at} of {columns}: "
                          f"{list(strokes[3 * at:3 * at + 3])}, the server says "
                          f"{list(expected[3 * at:3 * at + 3])}")

    def compare_wanted(self, ours, theirs, window):
        """Sums of doubles, in another order. An early wake-up may be decided otherwise."""
        self.assertEqual([of[3] for of in ours], [of[3] for of in theirs], window)
        for one, other in zip(ours, theirs):
            if not one[3]:
                self.assertAlmostEqual(one[0], other[0], delta=1 if self.early else 1e-6,
                                       msg=window)

    def undecided(self, feed, columns, begin, end, lane, first):
        """
        Return whether the server could not know better: a wake-up that came before the thread's
        sleep counts only if the next slice comes without another one, and the server reads no
        further than the window. Of a window with that slice, both must say the same.
        """
        ends = [last["to"] for last in (feed.ask("at", one, end - 1)
                                        for one in self.threads.get(lane, [lane]))
                if last and dict(last["facts"]).get("state") == "runnable" and last["to"] >= end]
        later = min(max(ends, default=0) + LATER, self.length)
        if not ends or later <= end:
            return False
        self.compare(feed, columns, begin, later, [lane], first)
        return True

    def agree(self, path, random_numbers, turns):
        page = self.home / "page.html"
        skein("export", path, "-o", page)
        server, *self.asked = self.serve(path)
        feed = StaticFeed(page)
        try:
            rows = timeline_of(page)["trace"]
            self.length = length = rows["length"]
            self.threads = threads_of(rows["rows"])
            names = [row["lane"] for row in rows["rows"]] + ["parallel"]
            for turn in range(turns):
                span = max(1, min(length, int(2 ** random_numbers.uniform(0, 45))))
                begin = random_numbers.randrange(length - span + 1)
                end = begin + span
                if turn == 0:
                    begin, end = 0, length
                columns = random_numbers.choice([1, 7, 320, 1013, 1920])
                lanes = random_numbers.sample(names, min(len(names), 60))
                self.compare(feed, columns, begin, end, lanes)
            self.agree_at(feed, rows["rows"], random_numbers)
        finally:
            feed.end()
            self.end(server)

    def test_random_windows(self):
        seed = random.randrange(1 << 30)
        numbers = random.Random(seed)
        for machine in self.MACHINES:
            self.early = machine[4]
            for turn in range(3 if LONG else 1):
                path = self.home / f"{turn}-{machine[0]}.skein"
                slices, cpus, threads, *rest = machine
                with self.subTest(seed=seed, machine=machine, turn=turn):
                    make_timeline(path, slices, cpus, threads, numbers.randrange(1 << 30), *rest)
                    self.agree(path, numbers, 100 if LONG else 25)

    def test_counters(self):
        """Random windows of counters, down to less than a ns a column, and what is where."""
        seed = random.randrange(1 << 30)
        with self.subTest(seed=seed):
            trace = make_scene(self.home / "counters.skein", "counters")
            self.agree(trace, random.Random(seed), 400 if LONG else 80)

    def test_counters_of_a_part(self):
        """A value that holds from before a part of the time is in its page."""
        trace = make_scene(self.home / "counters.skein", "counters")
        server, *self.asked = self.serve(trace)
        page = self.home / "part.html"
        first, length = 310_000_000, 400_000_000
        skein("export", trace, "-o", page, "--from", f"{first}ns", "--to", f"{first + length}ns")
        told = timeline_of(page)["trace"]
        lanes = [row["lane"] for row in told["rows"] if row["kind"] == "counter"]
        feed = StaticFeed(page)
        try:
            self.assertGreater(len(lanes), 4)
            self.length, self.threads = length, threads_of(told["rows"])
            for begin, end in ((0, length), (0, 1000), (23_000_000, 23_001_000)):
                self.compare(feed, 500, begin, end, lanes, first)
        finally:
            feed.end()
            self.end(server)

    def test_counters_of_reports(self):
        """The page has the values of report --timeline, and of --runtime what is no total."""
        trace = make_scene(self.home / "counters.skein", "counters")
        server, port, token = self.serve(trace)
        token = {"X-Skein-Token": token}
        try:
            rows = json.loads(self.get("/api/trace", port, **token)[1])["rows"]
            lanes = {row["name"]: row for row in rows if row["kind"] == "counter"
                     and row["lane"] != "wanted"}
            for part in ((), ("--from", "310ms", "--to", "710ms")):
                said = json.loads(output("report", "--timeline", "--json", "-n", "0", *part,
                                         trace))
                self.assertEqual({of["name"] for of in said["counters"]}, set(lanes))
                for counter in said["counters"]:
                    row = lanes[counter["name"]]
                    self.assertEqual((row["unit"], row["total"]),
                                     (counter["unit"], counter["total"]))
                    count = len(counter["columns"])
                    _, body, _ = self.get(
                        f"/api/window?from={said['from']}&to={said['to']}&columns={count}"
                        f"&lanes={row['lane']}", port, **token)
                    told = read_window(body, count, [row["lane"]])[row["lane"]]
                    self.assertEqual([[None if isinstance(part, str) else part
                                       for part in of[:3]] + [bool(of[3])] for of in told],
                                     counter["columns"], counter["name"])
            said = json.loads(output("report", "--runtime", "--json", trace))
            heap = next(of for process in said["runtime"]["processes"]
                        for of in process["counters"] if of["name"] == "heap used")
            self.assertEqual((heap["unit"], heap["total"]), ("bytes", False))
            self.assertEqual(heap["most"], lanes["heap used"]["top"])
            self.assertEqual(lanes["heap used"]["scale"], "900 MiB")
        finally:
            self.end(server)

    def agree_at(self, feed, rows, numbers):
        """What is said of a moment of a counter."""
        for lane in [row["lane"] for row in rows if row["kind"] == "counter"
                     and row["lane"] != "wanted"]:
            for _ in range(20):
                time = numbers.randrange(self.length)
                status, body, _ = self.get(f"/api/at?lane={lane}&time={time}", self.asked[0],
                                           **{"X-Skein-Token": self.asked[1]})
                self.assertEqual(status, 200, body)
                theirs, ours = json.loads(body), feed.ask("at", lane, time)
                self.assertEqual(ours["title"], theirs["title"])
                self.assertEqual((ours["from"], ours["to"]), (theirs["from"], theirs["to"]))
                length = [["length", dict(ours["facts"])["length"]]] # rounded by each
                self.assertEqual(ours["facts"][:-1] + length, theirs["facts"][:-1] + length)

    def test_cells(self):
        """A page of cells agrees wherever a column is at least as long as the finest cell."""
        trace, page = self.home / "large.skein", self.home / "large.html"
        seed = random.randrange(1 << 30)
        numbers = random.Random(seed)
        make_timeline(trace, 2_400_000 if LONG else 1_700_000, 16, 400, seed, 20, 0, 300)
        done = subprocess.run([SKEIN, "export", trace, "-o", page], check=True, text=True,
                              stderr=subprocess.PIPE)
        told = timeline_of(page)
        shifts = [part["shift"] for part in told["states"]["sets"]]
        self.assertEqual(shifts, [
            0, *(s for s in range(shifts[1], shifts[-1] + 1) if s <= STORED or s % 2 == 0)])
        self.assertEqual(sum(told["states"]["sets"][0]["counts"]), 0)
        finest = 1 << shifts[1]
        self.assertRegex(done.stderr, f"cells of ({finest // 1000} us|{finest / 1e6:.3g} ms) or")
        server, *self.asked = self.serve(trace)
        self.addCleanup(self.end, server)
        feed = StaticFeed(page)
        self.addCleanup(feed.end)
        self.length = length = told["trace"]["length"]
        self.threads = threads_of(told["trace"]["rows"])
        names = [row["lane"] for row in told["trace"]["rows"] if row["lane"] != "wanted"]
        names.append("parallel")
        sums = feed.ask("window", {"from": 0, "to": length, "columns": 3, "lanes": ["wanted"]})
        self.assertEqual([of[3] for of in sums["strokes"]["wanted"]], [1] * 3) # no sums of cells
        self.assertLess(length / 1920, finest * 1000)
        with self.subTest(seed=seed):
            self.compare(feed, 1920, 0, length, names[:100] + ["parallel"])
            for _ in range(60 if LONG else 15):
                columns = numbers.choice([1, 7, 320, 1013, 1920])
                span = min(length, int(finest * columns * 2 ** numbers.uniform(0, 12)))
                begin = numbers.randrange(length - span + 1)
                self.compare(feed, columns, begin, begin + span,
                             numbers.sample(names, min(len(names), 60)))
        self.closer(feed, names[0], finest, numbers.randrange(length // 2))

    def closer(self, feed, lane, finest, time):
        """Closer than the finest cell a column shows the cell around it; so does a click."""
        told = feed.ask("at", lane, time)
        self.assertEqual(told["to"] - max(0, told["from"]), finest)
        self.assertIn("the finest cell", dict(told["facts"])["length"])
        inside = {"from": told["from"] + 10, "to": told["to"] - 10, "columns": 8, "lanes": [lane]}
        strokes = base64.b64decode(feed.ask("window", inside)["strokes"][lane])
        self.assertEqual(strokes, strokes[:3] * 8)
        share = float(dict(told["facts"])["running"].rstrip("% ")) / 100
        self.assertAlmostEqual(strokes[0] / 127, share, delta=0.01)
        self.assertIsNone(feed.ask("report", {}))

    def test_a_part(self):
        """A page of a part of the time has the lanes of that part."""
        first, length = 3_000_000_000, 2_000_000_000
        page = self.home / "part.html"
        skein("export", self.trace, "-o", page, "--from", f"{first}ns", "--to",
              f"{first + length}ns")
        told = timeline_of(page)["trace"]
        self.assertEqual(told["length"], length)
        lanes = [row["lane"] for row in told["rows"] if row["kind"] == "thread"]
        self.asked, self.length = (self.port, self.token), length
        self.threads = threads_of(told["rows"])
        feed = StaticFeed(page)
        self.addCleanup(feed.end)
        for begin, end in ((0, length), (length // 3, length // 2), (0, 1000), (12345, 54321)):
            self.compare(feed, 500, begin, end, lanes, first)


@unittest.skipUnless(NODE, "there is no node")
class Pages(Home):
    """Which page has a timeline, and what it says where it has none."""

    def page(self, trace, *options):
        page = self.home / "page.html"
        return page, skein("export", trace, "-o", page, *options)

    def test_samples_alone(self):
        page, _ = self.page(make_scene(self.home / "scene.skein", "scene"))
        self.assertIsNone(timeline_of(page))

    def test_outside(self):
        """A part of the time after the end of the recording has no timeline."""
        trace = make_scene(self.home / "timeline.skein", "timeline")
        page, _ = self.page(trace, "--from", "10h")
        self.assertIsNone(timeline_of(page))

    def test_fewest_threads(self):
        """A page of cells has the threads that wanted most CPU time, and counts the others."""
        trace = self.home / "large.skein"
        make_timeline(trace, 1_700_000, 4, 2100, 5, 0, 0, 0)
        page, _ = self.page(trace)
        told = timeline_of(page)
        threads = [row for row in told["trace"]["rows"] if row["kind"] == "thread"]
        self.assertEqual(len(threads), 2048)
        self.assertEqual(told["left_out"], len(json.loads(output(
            "query", trace, "--json", "SELECT DISTINCT lane FROM thread WHERE tid"))) - 2048)
        page, _ = self.page(trace, "--from", "1s", "--to", "3s")
        told = timeline_of(page)
        self.assertEqual([part["shift"] for part in told["states"]["sets"]], [0])
        self.assertEqual(told["left_out"], 0)

    def test_damaged(self):
        """A page whose columns are cut off or changed ends in an error, not in wrong lanes."""
        trace = make_scene(self.home / "timeline.skein", "timeline")
        page, _ = self.page(trace)
        whole = timeline_of(page)
        columns = COLUMNS.search(page.read_text())[1]
        states = whole["states"]
        (exact,) = states["sets"]
        more = [number + 1 for number in exact["counts"]]
        for change in ({"columns": columns[:40]}, {"size": states["size"] + 1},
                       {"size": states["size"] - 1}, {"keys": states["keys"][:4]},
                       {"threads": states["threads"][:3]}, {"sets": [{**exact, "counts": more}]},
                       {"sets": [{**exact, "lengths": exact["lengths"] - 1,
                                  "threads": exact["threads"] + 1}]}, {"sets": [exact] * 2}):
            broken = json.dumps({"timeline": {**whole, "states": {**states, **change}}})
            broken = broken.replace("<", "\\u003c")
            page.write_text(
                f'<script id="data" type="application/json">\n{broken}</script>\n<script '
                f'id="columns" type="text/plain">{change.get("columns", columns)}</script>')
            done = subprocess.run(
                [NODE, FILES / "static_feed.mjs", ROOT / "user/view", page], text=True,
                input="", stderr=subprocess.PIPE, timeout=60)
            self.assertIn("is damaged", done.stderr, list(change))


if __name__ == "__main__":
    unittest.main()
