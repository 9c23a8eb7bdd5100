#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test skein's profile with pprof itself, from Debian's Go and any newer one."""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from traces import Home, make_scene, skein

# Debian's Go contains a built pprof; a newer Go builds it first, which takes a minute.
GOS = sorted(pathlib.Path("/usr/lib").glob("go-*/bin/go"))
OTHERS = [pathlib.Path("/usr/local/go/bin/go"), pathlib.Path(shutil.which("go") or "/nowhere/go")]
if not GOS or os.environ.get("SKEIN_LONG") == "1":
    GOS += [go for go in OTHERS if go.exists()][:1]


def pprof(go, home, *args):
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GOTOOLCHAIN": "local",
           "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    return subprocess.run([go, "tool", "pprof", *map(str, args)], env=env, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Read(Home):
    """A scene as a profile."""
    SCENE = "scene"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trace = make_scene(cls.home / "scene.skein", cls.SCENE)
        cls.profile = cls.home / "scene.pb.gz"
        skein("export", cls.trace, "-o", cls.profile)

    def each(self, *args):
        """Return the output of every available pprof."""
        texts = []
        for go in GOS:
            done = pprof(go, self.home, *args)
            self.assertEqual(done.returncode, 0, f"{go}: {done.stderr.decode()}")
            texts.append(done.stdout.decode())
        return texts


@unittest.skipUnless(GOS, "no Go with pprof is installed")
class Pprof(Read):
    def test_raw(self):
        for text in self.each("-raw", self.profile):
            samples = re.findall(r"^ +(\d+) +(\d+): ([\d ]+)$", text, re.M)
            self.assertEqual(sum(int(count) for count, _, _ in samples), 95)
            self.assertEqual(sum(int(ns) for _, ns, _ in samples), 950000000)
            self.assertIn("samples/count cpu/nanoseconds[dflt]", text)
            self.assertIn("Period: 10000000", text)
            self.assertIn("Time: 2023-11-14 22:13:21", text)
            self.assertIn("Duration: 2s", text)
            self.assertIn("Comment: lost 7 samples: ring full", text)
            self.assertIn("Comment: lost 7 samples: not delivered", text)
            self.assertIn("Comment: complete stacks: 60 of 89\n", text)
            self.assertIn("Comment: broken stacks: 15 too deep in /usr/bin/worker\n", text)
            self.assertIn("Comment: skein ", text)
            self.assertRegex(text, r"/0x0 \[kernel\] ")
            self.assertRegex(text, r"/0x0 \[jit\] ")
            self.assertRegex(text, r"/usr/bin/worker aabb \[FN\]")
            self.assertFalse([c for c in text if ord(c) < 32 and c not in "\n\t"])

    def test_one_object_seen_twice_is_one(self):
        for text in self.each("-raw", self.profile):
            mappings = text[text.index("\nMappings\n"):]
            self.assertEqual(mappings.count("/usr/bin/worker"), 1)
            self.assertEqual(len(re.findall(r" main main\.c:12[: ]", text)), 1)

    def test_top(self):
        for text in self.each("-top", "-nodecount=100", "-symbolize=none", self.profile):
            self.assertRegex(text, r"200ms +\S+ +\S+ +300ms +\S+ +fib\n")
            self.assertRegex(text, r"130ms +\S+ +\S+ +570ms +\S+ +main\n")
            self.assertIn("std::vector<int, std::allocator<int> >::push_back(int&&)", text)
            self.assertIn("\"quoted\" 'x' </script>\ufffdevil 3.5", text)
            self.assertRegex(text, r"150ms +\S+ +\[truncated: too deep\]")
            self.assertRegex(text, r"120ms +\S+ +\[truncated: unknown root\]")

    def test_labels(self):
        # pprof would search a bare number among numeric labels, of which it drops zeros
        for label, share in (("pid=^100$", "540ms"), ("tid=^110$", "100ms"),
                             ("comm=kthreadd", "60ms"),
                             ("thread=pool 12", "100ms"), ("container_id=^0123456789abc", "150ms"),
                             ("cgroup=w.service", "540ms")):
            for text in self.each("-top", f"-tagfocus={label}", self.profile):
                self.assertIn(f"Showing nodes accounting for {share}", text)

    def test_round_trip(self):
        for text in self.each("-proto", f"-output={self.home}/again.pb.gz", self.profile):
            again = pprof(GOS[0], self.home, "-raw", self.home / "again.pb.gz")
            self.assertEqual(again.returncode, 0, again.stderr.decode())
            self.assertIn("samples/count cpu/nanoseconds", again.stdout.decode())

    def test_the_reader_refuses_damage(self):
        damaged = self.home / "damaged.pb.gz"
        data = gzip.decompress(self.profile.read_bytes())
        damaged.write_bytes(gzip.compress(data[:-100]))
        for go in GOS:
            self.assertNotEqual(pprof(go, self.home, "-raw", damaged).returncode, 0)


@unittest.skipUnless(GOS, "no Go with pprof is installed")
class Python(Read):
    SCENE = "python"

    def test_functions_have_files_and_lines(self):
        for text in self.each("-raw", self.profile):
            self.assertRegex(text, r" Handler\.get \(main\.py:10\) /srv/app/main\.py:12[: ]")
            self.assertRegex(text, r" Handler\.get \(main\.py:10\) /srv/app/main\.py:14[: ]")
            self.assertIn("s=10(Handler.get)", text)
            self.assertIn("<frozen importlib._bootstrap>:1170", text)
            self.assertEqual(len(re.findall(r"/0x0 \[python\] ", text)), 1) # of two processes
            self.assertFalse([c for c in text if ord(c) < 32 and c not in "\n\t"])

    def test_one_function_of_two_processes_and_two_of_one_name(self):
        for text in self.each("-top", "-nodecount=100", "-symbolize=none", self.profile):
            self.assertRegex(text, r"350ms +\S+ +\S+ +860ms +\S+ +Handler\.get \(main\.py:10\)\n")
            self.assertRegex(text, r"150ms +\S+ +\S+ +150ms +\S+ +helper \(/srv/app/a/util\.py:5\)")
            self.assertRegex(text, r"40ms +\S+ +\S+ +40ms +\S+ +helper \(/srv/app/b/util\.py:5\)")
            self.assertNotIn("method_vectorcall", text)

    def test_lines(self):
        for text in self.each("-top", "-lines", "-nodecount=100", "-symbolize=none",
                              self.profile):
            self.assertRegex(text, r"300ms .* Handler\.get \(main\.py:10\) \S*/main\.py:12\n")
            self.assertRegex(text, r"50ms .* Handler\.get \(main\.py:10\) \S*/main\.py:14\n")

    def test_what_the_interpreter_did(self):
        for state, share in (("^gil$", "790ms"), ("^no gil$", "100ms"), ("^gc$", "50ms"),
                             ("^unread$", "20ms")):
            for text in self.each("-top", f"-tagfocus=python={state}", self.profile):
                self.assertIn(f"Showing nodes accounting for {share}", text)

    def test_the_main_program_is_the_first_mapping(self):
        """
        Readers name a profile after the main program, even if none of its own frames is shown.
        """
        for number, options in enumerate(((), ("--no-native",), ("--native",))):
            out = self.home / f"main-{number}.pb.gz"
            skein("export", self.trace, "-o", out, *options)
            for text in self.each("-raw", out):
                self.assertRegex(text, r"\nMappings\n1: \S+ /usr/bin/python3\.11 eeff ")
            for text in self.each("-top", "-symbolize=none", out):
                self.assertIn("File: python3.11\n", text)

    def test_native_shows_all(self):
        out = self.home / "native.pb.gz"
        skein("export", self.trace, "-o", out, "--native")
        for text in self.each("-top", "-nodecount=100", "-symbolize=none", out):
            self.assertRegex(text, r"40ms +\S+ +\S+ +960ms +\S+ +_PyEval_EvalFrameDefault\n")
            self.assertRegex(text, r"350ms +\S+ +\S+ +860ms +\S+ +Handler\.get \(main\.py:10\)\n")


if __name__ == "__main__":
    unittest.main()
