# SPDX-License-Identifier: Apache-2.0
"""Test how `make bench` runs the commands that it measures."""
import pathlib
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from bench_meter import Recorder  # noqa: E402


class Recorders(unittest.TestCase):
    def test_ends_by_a_signal_where_the_shell_ignores_it(self):
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with Recorder(["sleep", "600"], 0) as recorder:
                pass
            self.assertEqual(recorder.process.returncode, -signal.SIGINT)
        finally:
            signal.signal(signal.SIGINT, before)


if __name__ == "__main__":
    unittest.main()
