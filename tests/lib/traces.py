# SPDX-License-Identifier: Apache-2.0
"""Shared helpers of the format tests: running skein, constant traces, output."""
import collections
import os
import pathlib
import subprocess
import tempfile
import unittest

from built import BUILD, ROOT, SKEIN # noqa: F401: tests take them from here

LIMIT = 120 # s, for one command


def make_scene(path, name="scene"):
    """Write a scene as a trace; tests/readers/make_trace.c lists their names."""
    subprocess.run([BUILD / "tests/readers/make_trace", path, name], check=True, timeout=LIMIT)
    return path


def make_timeline(path, *numbers):
    """
    Write the trace of an artificial machine: slices, CPUs, threads, seed, losses, early wake-ups
    and deaths per million switches.
    """
    subprocess.run([BUILD / "tests/readers/make_timeline", path, *map(str, numbers)], check=True,
                   timeout=LIMIT, stdout=subprocess.DEVNULL)


def skein(*args, check=True, **environment):
    """
    Run skein and return its output as bytes. The terminal has 80 columns, the time zone is UTC.
    """
    env = {**os.environ, "TZ": "UTC", "COLUMNS": "80", **environment}
    done = subprocess.run([SKEIN, *map(str, args)], env=env, timeout=LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if check and done.returncode:
        raise AssertionError(f"skein {args}: {done.returncode}: {done.stderr.decode()}")
    return done


def output(*args, **environment):
    return skein(*args, **environment).stdout


def folded(trace, *options):
    """Return the samples by stack, from the folded format."""
    stacks = collections.Counter()
    for line in output("export", trace, "-f", "folded", *options).decode().splitlines():
        stack, _, count = line.rpartition(" ")
        stacks[tuple(stack.split(";"))] += int(count)
    return stacks


class Home(unittest.TestCase):
    """A class of tests with a folder for its files."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.home = pathlib.Path(folder.name)
