# SPDX-License-Identifier: Apache-2.0
"""
The static program records in the userland of a small distribution, which has busybox in place of
GNU's tools and musl in place of the GNU C library: what runs there is whole and named, and doctor
finds what it finds outside.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import live
from completeness import completeness
from live import BUILD, ROOT, SKEIN

STATIC = BUILD / "static" / "skein"
BUSYBOX = shutil.which("busybox")
LOADERS = sorted(pathlib.Path("/lib").glob("ld-musl-*.so.1"))
MOUNTS = ('for f in proc sys dev; do mount --rbind "/$f" "$0/$f" || exit 9; done; '
          'exec /usr/sbin/chroot "$0" "$@"')
APPLETS = ("sh", "sleep", "cat", "seq")


def missing():
    for there, why in ((STATIC.exists(), "no static program: make static"),
                       (BUSYBOX, "no busybox (busybox-static)"),
                       (shutil.which("musl-gcc") and LOADERS, "no musl (musl-tools)")):
        if not there:
            return why
    return None


@unittest.skipIf(missing(), missing())
class Userland(live.LiveTest):
    def setUp(self):
        super().setUp()
        self.root = self.tmp / "root"
        for name in ("bin", "lib", "proc", "sys", "dev", "tmp", "etc"):
            (self.root / name).mkdir(parents=True)
        shutil.copy2(BUSYBOX, self.root / "bin" / "busybox")
        for name in APPLETS:
            (self.root / "bin" / name).symlink_to("busybox")
        for loader in LOADERS:
            shutil.copy2(loader, self.root / "lib" / loader.name)
        shutil.copy2(STATIC, self.root / "bin" / "skein")
        for name in ("loop", "threads"):
            subprocess.run(["musl-gcc", "-O1", "-fno-inline", "-g", "-I",
                            ROOT / "tests/workloads", "-o", self.root / "bin" / name,
                            ROOT / f"tests/workloads/{name}.c"], check=True)

    def inside(self, *command, status=0):
        done = subprocess.run(["unshare", "--mount", "--propagation=private", "sh", "-c", MOUNTS,
                               str(self.root), *map(str, command)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=90, check=False,
                              env={"PATH": "/bin", "HOME": "/tmp"})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def check_whole(self, trace, comm, *functions):
        stacks = trace.stacks(comm=comm)
        self.assertGreater(live.count(stacks), 60)
        found = completeness(SKEIN, trace.path, comm)
        self.assertLessEqual(found.samples - found.complete, 0.005 * found.samples, str(found))
        self.assertGreaterEqual(sum(live.share(stacks, f) for f in functions), 0.9)
        # musl has names only for the functions that other files may call
        unnamed = {n for s in stacks for n in s.names if n.startswith("[")}
        self.assertEqual({n for n in unnamed if "/ld-musl-" not in n}, set())

    def test_command(self):
        """A program that is linked to musl: its stacks, names, and its CPU time."""
        done = self.inside("skein", "record", "-e", "all", "-F", 499, "-o", "/tmp/loop.skein",
                           "--", "loop", 2)
        said = json.loads(done.stdout.splitlines()[0])
        trace = live.Trace(self.root / "tmp" / "loop.skein")
        self.check_whole(trace, "loop", "loop_inner")
        ran = trace.query("SELECT sum(s.end - s.time) / 1e9 AS s FROM slice s JOIN thread t "
                          "ON t.id = s.value JOIN lane l ON l.id = s.lane AND l.kind = 1 "
                          "WHERE t.comm = 'loop'")[0]["s"]
        self.assertAlmostEqual(ran, said["cpu"], delta=0.02 * ran + 0.02 + trace.excuse())
        for words in (("report",), ("export", "-f", "folded"), ("query",)):
            more = ("SELECT name FROM function",) if words == ("query",) else ()
            done = self.inside("skein", words[0], "/tmp/loop.skein", *words[1:], *more)
            self.assertIn("loop_inner", done.stdout)

    def test_threads(self):
        """Threads of musl begin in a function that nothing describes."""
        self.inside("skein", "record", "-F", 499, "-o", "/tmp/threads.skein", "--", "threads", 2)
        trace = live.Trace(self.root / "tmp" / "threads.skein")
        self.check_whole(trace, "threads", "main_work", "thread_work")

    def test_the_machine(self):
        """Programs outside of the folder: of the GNU C library, seen from inside."""
        self.start(live.workload("loop"), 100)
        self.inside("skein", "record", "-a", "-F", 499, "-d", 6, "-o", "/tmp/all.skein")
        self.check_whole(live.Trace(self.root / "tmp" / "all.skein"), "loop", "loop_inner")
        done = self.inside("skein", "top", "-b", "-n", 1, "-d", 1)
        self.assertRegex(done.stdout, re.compile(r"loop_inner|\bloop\b"))

    def test_doctor(self):
        """
        doctor finds what it finds outside, and that there is no folder for tables, and no
        debuginfod-find.
        """
        def verdicts(text):
            return {c["check"]: c["verdict"] for c in json.loads(text)["checks"]
                    if c["check"] not in ("cache folder", "debuginfod")}
        here = subprocess.run([SKEIN, "doctor", "--json"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        done = self.inside("skein", "doctor", "--json", status=here.returncode)
        self.assertEqual(verdicts(done.stdout), verdicts(here.stdout))
        self.assertIn("/var/cache/skein", done.stdout)
        self.assertIn("debuginfod-find", done.stdout)


if __name__ == "__main__":
    live.main()
