# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test the pages of a running service as its user sees them: the list of windows, and the flame graphs
behind its links, which have the samples that `skein report` counts in the same windows.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING
from pages import DESK, HELPERS, PHONE, STILL, Pages
from traces import BUILD, SKEIN, output

if MISSING:
    raise unittest.SkipTest(MISSING)
if os.geteuid():
    raise unittest.SkipTest("not root, which the service needs")

LIMIT = 120 # s
ADDRESS = re.compile(r"listens on (127\S+)")


class Service(Pages):
    """One service for all cases: they only read from it, and a start takes ten times as long."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = cls.home / "windows"
        cls.log = open(cls.home / "log", "w+", encoding="utf-8")
        cls.addClassCleanup(cls.log.close)
        cls.start(BUILD / "tests/workloads/shares", "600")
        cls.start(SKEIN, "serve", "--folder", cls.folder, "--listen", "127.0.0.1:0",
                  "--window", "2s", "-F", "199", "--cpu-budget", "0")
        cls.wait_for(lambda: ADDRESS.search(cls.said()) and len(cls.windows()) > 2)
        # its names, too, which a busy machine has later
        cls.wait_for(lambda: b"burn_50" in output("report", cls.folder / cls.windows()[-1]))
        cls.address = "http://" + ADDRESS.search(cls.said())[1]

    @classmethod
    def start(cls, *command):
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                   stderr=cls.log)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.terminate)

    @classmethod
    def said(cls):
        return pathlib.Path(cls.log.name).read_text(encoding="utf-8")

    @classmethod
    def windows(cls):
        return sorted(path.name for path in cls.folder.glob("2*.skein"))

    @classmethod
    def wait_for(cls, condition):
        end = time.monotonic() + LIMIT
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(cls.said())
            time.sleep(0.1)

    def look(self, path, ready="true", **options):
        self.browser.open(self.address + path, {**STILL, **DESK, **options})
        self.browser.wait(ready)

    def follow(self, link):
        """Follow the first link whose address begins with that text, to a flame graph."""
        path = self.ask(f"document.querySelector('a[href^=\"{link}\"]').getAttribute('href')")
        self.look(path, "Boolean(window.skeinPage)")
        self.browser.evaluate(HELPERS)

    def test_list(self):
        """The page lists the windows that are there, the latest first, each with a flame graph."""
        self.look("/")
        self.picture("service")
        shown = self.ask("[...document.querySelectorAll('td code')].map((c) => c.textContent)")
        self.assertEqual(shown, sorted(shown, reverse=True))
        self.assertLessEqual(set(self.windows()[:3]), set(shown))
        name = shown[0]
        self.follow(f"/flamegraph?window={name}")
        self.picture("service_window")
        report = json.loads(output("report", self.folder / name, "--json"))
        self.assertEqual(self.ask("skeinPage.view.whole[1]"), report["samples"])
        self.assertTrue(self.ask("named('burn_50').length"))
        self.assertEqual(self.ask("document.documentElement.scrollWidth"), 1440)

    def test_last(self):
        """The flame graph of the last minutes has more and more."""
        self.look("/")
        self.follow("/flamegraph?last=5m")
        first = self.ask("skeinPage.view.whole[1]")
        self.assertTrue(self.ask("named('burn_50').length"))
        count = len(self.windows())
        self.wait_for(lambda: len(self.windows()) > count)
        self.look("/flamegraph?last=5m", "Boolean(window.skeinPage)")
        self.assertGreater(self.ask("skeinPage.view.whole[1]"), first)

    def test_next(self):
        """The flame graph of the next second waits for that second."""
        self.look("/flamegraph?seconds=1", "Boolean(window.skeinPage)")
        self.browser.evaluate(HELPERS)
        self.assertTrue(self.ask("named('burn_50').length"))

    def test_phone(self):
        """On a phone nothing is cut off at the side."""
        self.look("/", **PHONE)
        self.picture("service_phone")
        self.assertEqual(self.ask("document.documentElement.scrollWidth"), 390)
        self.assertGreater(self.ask("document.querySelectorAll('td a').length"), 2)


if __name__ == "__main__":
    unittest.main()
