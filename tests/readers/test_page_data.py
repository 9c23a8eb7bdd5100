#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test the data in a flame graph page without a browser: the sums equal those of folded stacks."""
import base64
import collections
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from traces import folded, make_scene, output


def column(text):
    """Decode base64 varints."""
    values, value, shift = [], 0, 0
    for byte in base64.b64decode(text, validate=True):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def deltas(text):
    values, last = [], 0
    for step in column(text):
        last += unzigzag(step)
        values.append(last)
    return values


class Page:
    """The stacks of a page with their samples and weights, by event."""

    def __init__(self, html):
        script = rb'<script id="data" type="application/json">\n(.*?)</script>'
        data = json.loads(re.search(script, html, re.S)[1])
        self.strings, self.profile = data["strings"], data["profiles"][0]
        self.paths = self.read_paths(self.profile["nodes"])
        sums = self.profile["sums"]
        self.sums = list(zip(deltas(sums["nodes"]), deltas(sums["threads"]), column(sums["events"]),
                             column(sums["counts"]), column(sums["weights"]), strict=True))
        self.waits = column(sums["waits"]) if "waits" in sums else [0] * len(self.sums)
        self.classes = {wait[0]: wait[1] for wait in data["waits"]}
        self.events = [self.strings[event["name"]] for event in self.profile["events"]]

    def read_paths(self, nodes):
        paths = [()]
        for back, label in zip(column(nodes["parents"]), column(nodes["labels"]), strict=True):
            name = self.strings[self.profile["labels"][5 * label]]
            paths.append((*paths[len(paths) - back], name))
        return paths

    def lines(self):
        """Return how many samples have a frame at a line, by names as with --lines."""
        found, numbers = collections.Counter(), self.profile.get("lines", [])
        for label, line, _, count in zip(*[iter(numbers)] * 4, strict=True):
            name = self.strings[self.profile["labels"][5 * label]]
            found[re.sub(r":\d+\)$", f":{line})", name)] += count
        return found

    def program(self, thread):
        process = self.profile["threads"][3 * thread + 2]
        return "[unknown]" if process < 0 else self.strings[self.profile["processes"][6 * process]]

    def stacks(self, event):
        found = collections.Counter()
        for node, thread, of, count, _ in self.sums:
            if self.events[of] == event:
                found[(self.program(thread), *self.paths[node])] += count
        return found

    def weight(self, event):
        number = self.events.index(event)
        period = self.profile["events"][number]["period"]
        return sum(count * period + unzigzag(rest) for _, _, of, count, rest in self.sums
                   if of == number)

    def weight_by_class(self):
        found = collections.Counter()
        for (*_, of, count, rest), wait in zip(self.sums, self.waits, strict=True):
            weight = count * self.profile["events"][of]["period"] + unzigzag(rest)
            found[self.events[of], self.classes.get(wait)] += weight
        return found

    def short_names(self):
        full = self.profile["labels"][::5]
        forms = self.profile["shortNames"] # three of each label: the first is the longest
        return {self.strings[name]: self.strings[short]
                for name, short in zip(full, forms[::3], strict=True)}


class ShortNames(unittest.TestCase):
    def test_each_label_has_one(self):
        with tempfile.TemporaryDirectory() as home:
            trace = make_scene(pathlib.Path(home) / "scene.skein")
            names = Page(output("export", trace, "-f", "html")).short_names()
        self.assertEqual(names["std::vector<int, std::allocator<int> >::push_back(int&&)"],
                         "std::vector<int>::push_back(int&&)")
        self.assertEqual(names["main"], "main")


class PageData(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)

    def both(self, name):
        trace = make_scene(self.home / f"{name}.skein", name)
        return Page(output("export", trace, "-f", "html")), folded(trace)

    def test_scene(self):
        page, lines = self.both("scene")
        self.assertEqual(sum(page.stacks("cpu-clock").values()), sum(lines.values()))
        self.assertEqual(page.weight("cpu-clock"), 10000000 * sum(lines.values()))
        self.assertEqual(page.stacks("cpu-clock")["kthreadd", "kthread"],
                         lines["kthreadd", "kthread"])

    def test_stacks(self):
        """For names that need no change, every stack is the same."""
        page, lines = self.both("flames")
        for event in page.events:
            said = collections.Counter({stack[1:]: count for stack, count in lines.items()
                                        if stack[0] == event})
            self.assertEqual(page.stacks(event), said)

    def test_lines(self):
        """Lines of Python functions are counted as the export by line counts them."""
        page, _ = self.both("python")
        expected = collections.Counter()
        for stack, count in folded(self.home / "python.skein", "--lines").items():
            for frame in stack:
                if re.search(r"\.py:\d+\)$", frame):
                    expected[frame] += count
        self.assertGreater(len(expected), 3)
        self.assertEqual({name: count for name, count in page.lines().items()
                          if ".py:" in name}, expected)

    def test_waits(self):
        """By class, waits have the exact times of the records of switches."""
        page, _ = self.both("server")
        report = json.loads(output("report", "--sched", "--json", self.home / "server.skein"))
        blocked = {("off-cpu", wait): time for wait, time
                   in report["sched"]["programs"][0]["blocked"].items() if time}
        self.assertEqual(blocked, {("off-cpu", "lock"): 280000000, ("off-cpu", "sleep"): 600000000})
        self.assertEqual(page.weight_by_class(),
                         {("cpu-clock", None): 30000000, ("off-cpu-wakers", "lock"): 80000000,
                          **blocked})
        self.assertEqual([event["of"] for event in page.profile["events"]], [0, 1, 2])
        self.assertNotIn("waits", self.both("scene")[0].profile["sums"])


if __name__ == "__main__":
    unittest.main()
