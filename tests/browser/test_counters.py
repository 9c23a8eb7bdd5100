# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test counters of the timeline in a browser: every value has its pixel at every zoom."""
import pathlib
import random
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING
from pages import DESK, PHONE, PICTURES, QUIET, STILL, Pages
from stub_view import MAGIC, Stub
from traces import SKEIN, make_scene, skein

if MISSING:
    raise unittest.SkipTest(MISSING)

SPIKE = 333_000_333 # ns, of 900 MiB: tests/unit/counters_scene.h
DENSE = {**DESK, "deviceScaleFactor": 2}

# Compare the visible pixels of counters with their columns: in each column a line without a gap
# from the least value to the largest one, an area below it, and nothing or stripes above. Returns
# what is wrong, and how many columns of each kind were seen.
CHECK = """(() => {
    const { timeline } = skeinPage, { picture, rows, windows, colours } = timeline;
    const { width, height } = picture.lanes, wrong = [];
    const seen = { none: 0, lost: 0, held: 0, several: 0, top: 0 };
    const { data } = picture.lanesPen.getImageData(0, 0, width, height);
    const pixels = new Uint32Array(data.buffer);
    const { key, from } = windows.current, shift = Math.round(picture.place(from));
    const [first, end] = picture.visible();
    const line = colours.bar[colours.of.counter], area = colours.upper[colours.of.counter];
    for (let number = first; number < end; number++) {
        const { lane, counter } = rows.shown[number];
        const layer = windows.layers.find((one) => one.key === key && one.has(lane));
        const top = rows.tops[number] - picture.scrolled, high = rows.barOf(lane);
        if (!counter || top < 0 || top + high > height)
            continue;
        const { least, most, lost } = layer.strokes.get(lane), range = counter.top - counter.bottom;
        const thick = Math.round(1.5 * rows.dots);
        for (let x = 0; x < width; x++) {
            const at = x - shift;
            const column = Array.from({ length: high },
                (_, y) => pixels[(top + high - 1 - y) * width + x]);
            const lines = [...column.keys()].filter((y) => column[y] === line);
            if (Number.isNaN(least[at])) {
                const stripes = column.some((pixel) => pixel !== colours.paper);
                seen[lost[at] ? "lost" : "none"]++;
                if (lines.length || stripes !== Boolean(lost[at]))
                    wrong.push([lane, x, "none", lines.length]);
                continue;
            }
            const place = (value) => (value - counter.bottom) / (range || 1) * (high - thick);
            const [low, up] = [lines[0], lines.at(-1) + 1];
            seen[least[at] === most[at] ? "held" : "several"]++;
            seen.top += most[at] === counter.top && up === high;
            if (lines.length !== up - low || Math.abs(low - place(least[at])) > 0.51 ||
                Math.abs(up - thick - place(most[at])) > 0.51 ||
                column.slice(0, low).some((pixel) => pixel !== area) ||
                most[at] === counter.top && up !== high || least[at] === counter.bottom && low)
                wrong.push([lane, x, least[at], most[at], low, up]);
        }
    }
    return [wrong.slice(0, 5), seen];
})()"""
TAGS = """(({ timeline: { rows, picture } }) => rows.shown.filter(({ counter }) => counter)
    .map((row) => [row.label, picture.counterText(row)]))(skeinPage)"""


class Counters(Pages):
    def setUp(self):
        self.trace = make_scene(self.home / "counters.skein", "counters")

    def serve(self):
        server = subprocess.Popen([SKEIN, "view", "-n", self.trace], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        return server.stdout.readline().strip()

    def look(self, address, view="", **options):
        self.browser.open(f"{address}&open=0.1{view and '&view=' + view}",
                          {**STILL, **DESK, **options})
        self.browser.wait("Boolean(window.skeinPage)")
        self.browser.wait(QUIET)

    def test_pixels(self):
        """Random windows: the line has each value of a column, and nothing else."""
        seed = random.randrange(1 << 30)
        numbers, address, all_seen = random.Random(seed), self.serve(), {}
        for options in (DESK, DENSE):
            self.look(address, **options, colorScheme=numbers.choice(["light", "dark"]))
            for _ in range(8):
                span = int(2 ** numbers.uniform(10, 29.8))
                begin = numbers.randrange(1_000_000_000 - span)
                with self.subTest(seed=seed, begin=begin, span=span, options=options):
                    self.ask(f"skeinPage.timeline.setView({begin}, {begin + span})")
                    self.browser.wait(QUIET)
                    wrong, seen = self.ask(CHECK)
                    self.assertEqual(wrong, [])
                    for kind, count in seen.items():
                        all_seen[kind] = all_seen.get(kind, 0) + count
        for kind in ("none", "held", "several"):
            self.assertTrue(all_seen[kind], all_seen)
        self.ask("skeinPage.timeline.setView(3.9e8, 4.4e8)") # values are lost there
        self.browser.wait(QUIET)
        wrong, seen = self.ask(CHECK)
        self.assertEqual(wrong, [])
        self.assertTrue(seen["lost"])

    def test_spike(self):
        """A value that held for 1 ns reaches the top of its lane at every zoom."""
        self.look(self.serve())
        span = 1_000_000_000
        while span >= 1000:
            begin = max(0, SPIKE - span // 3)
            self.ask(f"skeinPage.timeline.setView({begin}, {begin + span})")
            self.browser.wait(QUIET)
            wrong, seen = self.ask(CHECK)
            self.assertEqual(wrong, [], span)
            self.assertGreaterEqual(seen["top"], 1, span)
            span //= 7

    def test_values(self):
        """The value at the pointer and in the details is that of the recording."""
        address = self.serve()
        self.look(address)
        self.assertIn(["heap used", "900 MiB"], self.ask(
            "[...document.querySelectorAll('#names .row.counter')].map((row) =>"
            " [...row.children].map((part) => part.textContent))"))
        self.ask(f"skeinPage.timeline.setView({SPIKE - 500}, {SPIKE + 500})")
        self.browser.wait(QUIET)
        self.ask(f"skeinPage.timeline.point(skeinPage.timeline.picture.place({SPIKE}.5) / "
                 "skeinPage.timeline.picture.dots)")
        tags = dict(self.ask(TAGS))
        self.assertEqual(tags["heap used"], "900 MiB")
        self.assertEqual(tags["heap capacity"], "512 MiB")
        lane = self.ask("skeinPage.timeline.rows.all.find(({ label }) => label === 'heap used')"
                        ".lane")
        for time, fact in ((SPIKE, "900 MiB"), (SPIKE + 1, "1 MiB")):
            said = self.ask(f"skeinPage.timeline.feed.at('{lane}', {time})")
            self.assertEqual((said["title"], said["facts"][0]), ("heap used", ["value", fact]))
            self.assertEqual(said["from"], time)
        x, y = self.ask("""(({ timeline, timeline: { picture, rows } }) => {
            const row = rows.shown.find(({ label }) => label === "heap used");
            const box = document.getElementById("marks").getBoundingClientRect();
            return [box.x + picture.wide * 0.8, box.y + picture.edges(row)[0] + 10];
        })(skeinPage)""")
        self.browser.mouse(x, y)
        self.browser.wait("document.querySelector('#slice dl')")
        shown = self.browser.text("#slice")
        self.assertRegex(shown, r"(?s)heap used.*value.*1 MiB.*exactly.*1,048,576 bytes")
        # outside of its process there is nothing
        self.ask("skeinPage.timeline.setView(7e8, 7.1e8)")
        self.browser.wait(QUIET)
        self.ask("skeinPage.timeline.point(100)")
        self.assertEqual(dict(self.ask(TAGS))["short 200: threads live"], "")
        self.assertEqual(self.ask("window.violations"), [])

    def test_pictures(self):
        """On a desk and a phone, light and dark; the pictures are for a person to look at."""
        address = self.serve()
        for name, options in (("desk", DESK), ("phone", PHONE)):
            for scheme in ("light", "dark"):
                self.look(address, **options, colorScheme=scheme)
                self.ask("skeinPage.timeline.point(skeinPage.timeline.picture.wide / 2)")
                self.browser.wait(QUIET)
                self.browser.shot(str(PICTURES / f"counters-{name}-{scheme}.png"))
                self.assertEqual(self.ask("window.violations"), [])

    def test_one_file(self):
        """The page without a server says the same of a moment."""
        page = self.home / "counters.html"
        skein("export", self.trace, "-o", page)
        self.look(f"file://{page}#")
        wrong, seen = self.ask(CHECK)
        self.assertEqual(wrong, [])
        self.assertGreaterEqual(seen["top"], 1)


class Damaged(Pages):
    """What a server says of counters is checked."""

    def test_answers(self):
        page = self.home / "scene.html"
        self.trace("scene")
        stub = Stub(page.read_text(), None)
        self.addCleanup(stub.end)
        stub.trace["rows"] = [row for row in stub.trace["rows"] if row["kind"] == "cpu"][:1]
        stub.trace["rows"].append({"lane": "c7", "kind": "counter", "name": "<b>x</b>",
                                   "id": None, "process": None, "unit": "<i>", "scale": "<u>",
                                   "total": False, "bottom": None, "top": 1e308})
        column = struct.pack("<IIddd", 3, 0, 1.5, 2e300, -4.0)
        answers = {
            "good": struct.pack("<I", 1) + column,
            "cut off": struct.pack("<I", 1) + column[:-1],
            "too many": struct.pack("<I", 1 << 31),
            "outside": struct.pack("<I", 1) + struct.pack("<I", 1 << 30) + column[4:],
            "twice": struct.pack("<I", 2) + 2 * column,
            "longer": struct.pack("<I", 0) + b"x",
        }
        for name, answer in answers.items():
            def window(query, answer=answer):
                lanes, columns = query["lanes"].split(","), int(query["columns"])
                out = struct.pack("<4I", MAGIC, columns, len(lanes), 0)
                return out + b"".join(answer if lane == "c7" else bytes(3 * columns)
                                      for lane in lanes)
            stub.answer_window = window
            self.browser.open(stub.address(), {**STILL, **DESK})
            if name == "good":
                self.browser.wait("skeinPage.timeline.windows.layers.length")
                self.browser.wait(QUIET)
                self.assertEqual(self.browser.text("#feed-line"), "")
                self.assertIn("<b>x</b>", self.browser.text("#names"))
                self.ask("skeinPage.timeline.point(50)")
            else:
                self.browser.wait(
                    "/damaged/.test(document.getElementById('feed-line').textContent)")
            self.assertEqual(self.ask("window.violations"), [], name)


if __name__ == "__main__":
    unittest.main()
