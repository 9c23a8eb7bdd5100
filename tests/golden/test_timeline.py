#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What formats that show time make of the timeline's scene, field by field.

A change that is meant: SKEIN_GOLDEN=update tests/golden/test_timeline.py, and read the diff.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import unittest

GOLDEN = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(GOLDEN.parent / "lib"))
from protobuf_text import as_text
from traces import Home, LIMIT, SKEIN, make_scene, output, skein


def chrome_text(data):
    """One event per line."""
    head, events = data.decode().split('"traceEvents":[', 1)
    return head + '"traceEvents":[\n' + events.replace("},{\"ph\"", "},\n{\"ph\"")


class Timeline(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = make_scene(cls.home / "timeline.skein", "timeline")

    def compare(self, name, text):
        if os.environ.get("SKEIN_GOLDEN") == "update":
            (GOLDEN / name).write_text(text)
        self.assertEqual(text, (GOLDEN / name).read_text())

    def test_perfetto(self):
        text = as_text(output("export", self.trace, "-f", "perfetto"))
        self.compare("timeline-perfetto.txt", text)

    def test_chrome(self):
        self.compare("timeline-chrome.txt",
                     chrome_text(output("export", self.trace, "-f", "chrome")))

    def test_chrome_is_strict_json(self):
        def refuse(word):
            raise ValueError(word)

        json.loads(output("export", self.trace, "-f", "chrome"), parse_constant=refuse)

    def test_endings(self):
        for ending, form in (("pftrace", "perfetto"), ("json", "chrome"),
                             ("json.gz", "chrome.gz")):
            out = self.home / f"out.{ending}"
            skein("export", self.trace, "-o", out)
            self.assertEqual(out.read_bytes(), output("export", self.trace, "-f", form))
        self.assertEqual(gzip.decompress(out.read_bytes()),
                         output("export", self.trace, "-f", "chrome"))

    def test_without_scheduler_records(self):
        scene = make_scene(self.home / "scene.skein")
        done = skein("export", scene, "-o", self.home / "none.json", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("record with -e sched", done.stderr.decode())
        self.assertFalse((self.home / "none.json").exists())

    def test_full_disk(self):
        for form in ("perfetto", "chrome", "chrome.gz"):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([SKEIN, "export", self.trace, "-f", form], timeout=LIMIT,
                                      stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1, form)
            self.assertIn("No space left", done.stderr.decode())

    def test_full_disk_of_other_commands(self):
        """Whatever prints to stdout fails with a reason if it cannot."""
        for args in (["--help"], ["help", "record"], ["record", "--help"], ["help", "--man", "top"],
                     ["--version"], ["version", "-v"], ["completions", "bash"],
                     ["completions", "zsh"], ["doctor", "--table"], ["doctor", "--services"],
                     ["report", self.trace], ["query", self.trace, "SELECT 1"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([SKEIN, *args], timeout=LIMIT, stdout=full,
                                      stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1, args)
            self.assertIn("cannot write", done.stderr.decode(), args)


if __name__ == "__main__":
    unittest.main()
