# SPDX-License-Identifier: Apache-2.0
"""Drive Debian's Chromium by playwright-core (installed by tools/deps readers)."""
import json
import os
import pathlib
import shutil
import subprocess

from traces import ROOT

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
PLAYWRIGHT = CACHE / "skein/readers/playwright-core-1.65.1"
# The headless shell is the same engine without the windows, tabs and services around it, which take
# two thirds of the CPU time of each page that is opened. The long forms have the whole browser.
LONG = os.environ.get("SKEIN_LONG") == "1"
CHROMIUM = (None if LONG else shutil.which("chromium-headless-shell")) or shutil.which("chromium")
MISSING = (None if PLAYWRIGHT.is_dir() and shutil.which("node") and CHROMIUM else
           "no browser: Debian's chromium and nodejs, and tools/deps readers for playwright-core")


class Browser:
    """One browser with one page. Every command of tests/browser/driver.mjs is a method."""

    def __init__(self):
        self.child = subprocess.Popen(
            ["node", ROOT / "tests/browser/driver.mjs", PLAYWRIGHT, CHROMIUM],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __getattr__(self, command):
        def run(*args):
            self.child.stdin.write(json.dumps([command, *args]) + "\n")
            self.child.stdin.flush()
            line = self.child.stdout.readline()
            if not line:
                raise AssertionError("the browser is gone")
            answer = json.loads(line)
            if "error" in answer:
                raise AssertionError(f"{command} {args}: {answer['error']}")
            return answer["value"]
        return run

    def end(self):
        self.child.stdin.close()
        self.child.stdout.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
