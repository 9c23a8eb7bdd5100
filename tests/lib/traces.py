# SPDX-License-Identifier: Apache-2.0
"""What tests of formats share: skein itself, a trace that is always the same, its output."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
SKEIN = os.environ.get("SKEIN", str(BUILD / "skein"))
LIMIT = 120 # s, of one command


def make_scene(path, name="scene"):
    """Write the scene of tests/unit/scene.h (python, timeline, whole: others) as a trace."""
    subprocess.run([BUILD / "tests/readers/make_trace", path, name], check=True, timeout=LIMIT)
    return path


def make_timeline(path, *numbers):
    """Write the trace of a made-up machine: slices, CPUs, threads, seed, losses, early wake-ups
    and deaths per million switches."""
    subprocess.run([BUILD / "tests/readers/make_timeline", path, *map(str, numbers)], check=True,
                   timeout=LIMIT, stdout=subprocess.DEVNULL)


def skein(*args, check=True, **environment):
    """Run skein; its output as bytes. The terminal is 80 columns wide and in UTC."""
    env = {**os.environ, "TZ": "UTC", "COLUMNS": "80", **environment}
    done = subprocess.run([SKEIN, *map(str, args)], env=env, timeout=LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if check and done.returncode:
        raise AssertionError(f"skein {args}: {done.returncode}: {done.stderr.decode()}")
    return done


def output(*args, **environment):
    return skein(*args, **environment).stdout


class Home(unittest.TestCase):
    """A folder for the files of a class of tests."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.home = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
