# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""
Test that single calls may fail during a recording: the recording ends with a message that explains
why, and with its data in a readable trace; or goes on if it can. It leaves nothing behind.
"""
import itertools
import pathlib
import re
import subprocess
import tempfile
import unittest

import live
import faults
import jdks

# Sites per kind in the short form: together about 90 recordings of 50 ms.
MOST = {"memory": 24, "bpf": 8, "read": 8, "write": 5, "file": 5, "open": 6, "message": 6,
        "descriptor": 5, "mmap": 5, "perf": 3, "name": 3, "fork": 2}
HELPERS = {"memory": (1, 2, 5, 20, 60, 200, 600, 2000, 6000), "read": (1, 3, 10, 30, 100),
           "open": (1, 3, 10, 30, 100), "message": (1, 2, 5, 20)}


class Recorder(live.LiveTest):
    def setUp(self):
        super().setUp()
        if why := faults.missing():
            self.skipTest(why)
        self.cache = self.tmp / "cache"
        self.complaints = []

    def once(self, kind, *args, **failure):
        command = list(args[args.index("--"):]) if "--" in args else []
        options = [a for a in args if a not in command]
        with tempfile.TemporaryDirectory(dir=self.tmp) as folder:
            folder = pathlib.Path(folder)
            out = folder / "out"
            done = faults.run(["record", "-q", "--unwind-cache", self.cache, *options, "-o", out,
                               *command], kind, folder=folder, **failure)
            done.unread = self.unread(out)
            done.files = sorted(p.name for p in folder.iterdir() if not self.is_unused(p))
        return done

    @staticmethod
    def is_unused(path):
        """
        Return whether a file is an empty journal that SQLite could not remove, which is harmless.
        """
        return path.name == "out-journal" and path.read_bytes()[:1] in (b"", b"\0")

    @staticmethod
    def unread(out):
        """Return why a recording cannot be read, or None; the recording may be empty."""
        if not out.exists() or not out.stat().st_size:
            return None
        run = subprocess.run([live.SKEIN, "query", out, "SELECT count(*) FROM sample"],
                             capture_output=True, text=True, timeout=60, check=False)
        return run.stderr if run.returncode else None

    def judge(self, done):
        wrong = faults.wrong_exit(done)
        if done.status:
            wrong += faults.words_of(done)
        elif not re.fullmatch(r"(skein: [^\x00-\x1f]+\n)*", done.err):
            wrong.append("words")
        if done.status == 0 and "out" not in done.files:
            wrong.append("no trace")
        if done.unread:
            wrong.append(f"its trace: {done.unread}")
        if set(done.files) - {"out"}:
            wrong.append(f"files: {done.files}")
        return wrong

    def complain(self, wrong, done, where):
        if wrong:
            self.complaints.append(f"{'; '.join(wrong)}\n    {where}\n    {done.err[-1500:]}")

    def each_site(self, kind, most, *args):
        base = self.once(kind, *args)
        self.assertEqual(base.status, 0, base.err)
        for key, site in faults.sites_of(base, most):
            done = self.once(kind, *args, site=key)
            wrong = self.judge(done) + faults.left_behind(done, base, site)
            self.complain(wrong, done, f"{kind} at {faults.callers(site) if wrong else ''}")
        return base

    def check(self):
        self.assertFalse(self.complaints, "\n" + "\n".join(self.complaints[:20]))

    def test_recorder(self):
        for kind, most in MOST.items():
            base = self.each_site(kind, most, "-d", "0.05s")
            self.assertGreater(base.counted, 0, kind)
        self.check()

    def test_command(self):
        """Failures while the command is forked, held back and released."""
        for kind in ("fork", "descriptor"):
            self.each_site(kind, 6, "-d", "0.05s", "--", "true")
        self.check()

    @unittest.skipIf(jdks.missing(), jdks.missing())
    def test_a_jvm(self):
        """
        With a JVM, a thread of the recorder loads more programs; its calls go through the shim,
        too, by a signal that it must not block. (The C library blocks it while it makes a thread.)
        """
        jvm = subprocess.Popen(jdks.command(max(jdks.homes()), "Held"), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        self.addCleanup(jvm.wait)
        self.addCleanup(jvm.stdout.close)
        self.addCleanup(jvm.stdin.close)
        self.assertEqual(jvm.stdout.readline(), "runs\n")
        for kind in set(MOST) - {"fork"}:
            done = self.once(kind, "-d", "0.05s", "-p", str(jvm.pid))
            self.complain(self.judge(done) + ["status"] * (done.status != 0), done, kind)
        self.check()

    @unittest.skipUnless(live.LONG, "the long form: twice as many recordings")
    def test_switches(self):
        for kind, most in MOST.items():
            self.each_site(kind, most, "-e", "sched", "-d", "0.05s")
        self.check()

    def test_helpers(self):
        """Helpers may fail: they are restarted, or their part of the work is left out."""
        failures = [(kind, nth) for kind, numbers in HELPERS.items() for nth in numbers]
        for kind, nth in failures if live.LONG else itertools.islice(failures, 0, None, 3):
            done = self.once(kind, "-d", "0.05s", nth=nth, helpers=True)
            self.complain(self.judge(done), done, f"{kind}, call {nth} of a helper")
        self.check()


if __name__ == "__main__":
    live.main()
