#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Test SVG pictures with expat and xmllint: well-formed, harmless, small, and equal to folded stacks.
"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from traces import Home, LIMIT, make_scene, output

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "style", "rect", "text", "title", "g"}
ATTRIBUTES = {"width", "height", "viewBox", "font-size", "font-family", "class", "x", "y", "rx"}
MARGIN, ROW = 10, 17
TITLE = re.compile(r"(.*): ([\d,]+) samples?, ([\d.]+) %(?:; before ([\d.]+) %, "
                   r"change ([+-][\d.]+) points)?", re.S)
SCENES = ("scene", "python", "mixed", "empty", "hostile", "flames", "before")
Frame = collections.namedtuple("Frame", "name count share before change x y width")


class Picture:
    def __init__(self, data):
        self.root = ET.fromstring(data)
        self.width = int(self.root.get("width"))
        self.frames = []
        for rect in self.root.find(f"{SVG}g").findall(f"{SVG}rect"):
            name, count, share, before, change = \
                TITLE.fullmatch(rect.find(f"{SVG}title").text).groups()
            self.frames.append(Frame(name, int(count.replace(",", "")), float(share),
                                     before and float(before), change and float(change),
                                     float(rect.get("x")), float(rect.get("y")),
                                     float(rect.get("width"))))

    def frame(self, name):
        found = [f for f in self.frames if re.sub(r" \(.*", "", f.name) == name]
        assert len(found) == 1, (name, found)
        return found[0]

    def text(self):
        return [t.text for t in self.root.iter(f"{SVG}text")]


def prefixes(folded):
    """Count the nodes of the tree of folded stacks by depth and samples."""
    tree = collections.Counter()
    for line in folded.decode().splitlines():
        stack, _, count = line.rpartition(" ")
        frames = stack.split(";")
        for depth in range(len(frames) + 1):
            tree[tuple(frames[:depth])] += int(count)
    return collections.Counter((len(path), count) for path, count in tree.items())


class Svg(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.traces = {name: make_scene(cls.home / f"{name}.skein", name)
                      for name in SCENES + ("after",)}
        cls.pictures = {name: output("export", "-f", "svg", cls.traces[name]) for name in SCENES}
        cls.pictures["diff"] = output("diff", cls.traces["before"], cls.traces["after"],
                                      "-f", "svg")
        cls.pictures["hostile diff"] = output("diff", cls.traces["mixed"], cls.traces["hostile"],
                                              "-f", "svg")

    def test_well_formed_and_harmless(self):
        for name, data in self.pictures.items():
            with self.subTest(name):
                for element in ET.fromstring(data).iter():
                    self.assertIn(element.tag.removeprefix(SVG), ELEMENTS)
                    self.assertLessEqual(set(element.attrib), ATTRIBUTES)
                self.assertNotIn(b"url(", data)
                self.assertNotIn(b"@import", data)
                self.assertNotRegex(data.decode(), r"[\0-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff"
                                                   r"\u202a-\u202e\u2066-\u2069]")
                self.assertLess(len(data), 1000000)

    @unittest.skipUnless(shutil.which("xmllint"), "xmllint is not installed")
    def test_xmllint(self):
        for name, data in self.pictures.items():
            with self.subTest(name):
                done = subprocess.run(["xmllint", "--noout", "--nonet", "-"], input=data,
                                      capture_output=True, timeout=LIMIT)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_the_same_each_time(self):
        for name in SCENES:
            self.assertEqual(self.pictures[name],
                             output("export", "-f", "svg", self.traces[name], TZ="Asia/Tokyo"))

    def test_totals(self):
        """Pictures of all frames show the same tree as folded stacks."""
        for name in ("scene", "python", "before"):
            made = collections.Counter()
            picture = Picture(self.pictures[name])
            base = max(f.y for f in picture.frames)
            for f in picture.frames:
                made[(round((base - f.y) / ROW), f.count)] += 1
            self.assertEqual(made, prefixes(output("export", "-f", "folded", self.traces[name])))

    def test_widths(self):
        for name in ("scene", "hostile", "flames", "diff"):
            picture = Picture(self.pictures[name])
            total = max(f.count for f in picture.frames)
            rows = collections.defaultdict(list)
            for f in picture.frames:
                self.assertAlmostEqual(f.width, f.count / total * (picture.width - 2 * MARGIN),
                                       delta=0.006)
                self.assertAlmostEqual(f.share, 100 * f.count / total, delta=0.006)
                rows[f.y].append(f)
            for row in rows.values():
                row.sort(key=lambda f: f.x)
                for left, right in zip(row, row[1:]):
                    self.assertLessEqual(left.x + left.width, right.x + 0.02)

    def test_what_is_left_out_is_told(self):
        """Of 100,000 stacks, the drawn and the omitted samples add up to all."""
        picture = Picture(self.pictures["flames"])
        facts = next(re.match(r"([\d,]+) small frames are not drawn: there the stacks of ([\d,]+) ",
                              t) for t in picture.text() if t and "not drawn" in t)
        cut = int(facts[2].replace(",", ""))
        rows = collections.defaultdict(list)
        for f in picture.frames:
            rows[f.y].append(f)
        hidden = 0 # samples of frames above which nothing, or not everything, is drawn
        for f in picture.frames:
            above = sum(g.count for g in rows.get(f.y - ROW, ())
                        if f.x - 0.01 <= g.x and g.x + g.width <= f.x + f.width + 0.02)
            self.assertLessEqual(above, f.count)
            hidden += f.count - above
        total = max(f.count for f in picture.frames)
        self.assertEqual(hidden, total) # each sample ends in a drawn frame, or is cut
        self.assertLessEqual(cut, total)
        self.assertGreater(cut, 0)

    def test_options(self):
        tall = Picture(self.pictures["scene"])
        picture = Picture(output("export", "-f", "svg", "--width", "700", "--icicle",
                                 self.traces["scene"]))
        self.assertEqual(picture.width, 700)
        self.assertEqual(picture.frame("all").y, min(f.y for f in picture.frames))
        self.assertEqual(tall.frame("all").y, max(f.y for f in tall.frames))
        self.assertEqual(sorted(f.count for f in picture.frames),
                         sorted(f.count for f in tall.frames))

    def test_names_are_short_and_their_tooltips_whole(self):
        """A name is shortened as in a report: without defaults, then in its middle."""
        whole = "std::vector<int, std::allocator<int> >::push_back(int&&)"
        for width, name in ((2400, "std::vector<int>::push_back(int&&)"),
                            (700, "std::vector<int…h_back(…)")):
            picture = Picture(output("export", "-f", "svg", "--width", width,
                                     self.traces["scene"]))
            self.assertEqual([text for text in picture.text()
                              if text and text.startswith("std::")], [name], width)
            self.assertIn(f"{whole} (worker)", [f.name for f in picture.frames])

    def test_caption(self):
        text = " ".join(filter(None, Picture(self.pictures["scene"]).text()))
        for part in ("web-1", "2023-11-14 22:13:21 UTC", "4 CPUs", "95 samples of cpu-clock at "
                     "100 Hz in 2 s", "lost: 7 ring full, 7 not delivered"):
            self.assertIn(part, text)
        self.assertIn("There are no samples.", Picture(self.pictures["empty"]).text())

    def test_difference(self):
        picture = Picture(self.pictures["diff"])
        for name, share, before in (("parse", 50, 50), ("read", 25, 10), ("fresh", 10, 0),
                                    ("render", 30, 30), ("[server]", 10, 10)):
            f = picture.frame(name)
            self.assertEqual((f.share, f.before, f.change), (share, before, share - before))
        self.assertTrue(any("-10.00 %  gone (server), called by main" in (t or "")
                            for t in picture.text()))


class FoldedTwo(unittest.TestCase):
    """Folded lines with two numbers."""

    def test_columns(self):
        with tempfile.TemporaryDirectory() as home:
            traces = [make_scene(pathlib.Path(home) / name, name) for name in ("before", "after")]
            for more, scale in (([], 2), (["--normalize", "none"], 1)):
                lines = output("diff", *traces, "-f", "folded", *more).decode().splitlines()
                self.assertEqual(lines, sorted(lines))
                rows = {}
                for line in lines:
                    stack, before, after = re.fullmatch(r"(.*) (\d+) (\d+)", line).groups()
                    rows[stack.rsplit(";", 1)[1]] = int(before), int(after)
                self.assertEqual(rows, {"parse": (400 * scale, 500), "read": (100 * scale, 500),
                                        "gone": (100 * scale, 0), "fresh": (0, 200),
                                        "render (a.py)": (300 * scale, 600),
                                        "[server]": (100 * scale, 200)})


if __name__ == "__main__":
    unittest.main()
