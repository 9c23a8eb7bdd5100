# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
Compare the Java frames of samples with those that the JDK's own Serviceability Agent finds in the
same moment (java_stops.py): methods, and the bytecode of each, are equal in every frame, but for
the methods that were inlined where the thread was interrupted.
"""
import collections
import os
import pathlib
import subprocess
import tempfile
import unittest

import bytecode_lines
import evidence
import java_stops
import jdks
import live

FREQUENCY = 199  # Hz
# Kinds of work, and the frames that each is there for.
FRAMES = {
    "interpreted": ["interpreted"], "c1": ["C1"], "c2": ["C2"], "inlined": ["inlined"],
    "adapters": ["interpreted", "C2"], "native": ["wrapper"], "lambda": ["C2"], "thrown": [],
    "deoptimized": ["deoptimized", "deoptimized-mh"], "synchronized": [], "stubs": [],
    "virtual": ["stub: continuation"], "upcall": ["stub: upcall"],
}
KINDS = ("interpreted", "c1", "c2", "inlined", "adapters", "native", "deoptimized", "lambda",
         "thrown", "synchronized", "stubs")
MORE = {25: ("virtual", "upcall")}
STOPS = 400 if live.LONG else 80  # of each program
EACH = 300  # stops with each kind of frame
PROGRAMS = 5  # one after the other, at most
THREADS = ("truth", "ForkJoinPool")
LOST_MOST = 0.15
PLACES = {"method": "compiled code", "interpreter": "the interpreter", "stub": "stubs", "linker": "linkers",
          "native": "native code"}
SHOWN = ("interpreted", "C1", "C2", "inlined", "wrapper", "deoptimized", "deoptimized-mh",
         "stub: continuation", "stub: upcall")
SOURCES = ("jdk/test/whitebox/WhiteBox.java", "Truth.java", "../../programs/Mixed.java")
# Methods that are not compiled, or not inlined into others.
EXCLUDED = ("Truth$Interpreted::*", "Truth$Synchronized::interpreted")
APART = ("Truth::spin", "Truth$Client::*", "Truth$Optimized::*", "Truth$Inlined::outer",
         "Truth$Inlined::bottom", "Truth$Native::target", "Truth$Deoptimized::down",
         "Truth$Deoptimized::handle", "Truth$Deoptimized::bottom", "Truth$Virtual::*",
         "Truth$Thrown::down")
DIRECTIVES = '[{match: ["Truth$Client.*"], c2: {Exclude: true}}]'


class JavaTruth(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        if jdks.missing():
            raise unittest.SkipTest(jdks.missing())
        folder = tempfile.TemporaryDirectory(prefix="java-truth-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        os.chmod(folder.name, 0o755)
        cls.compile("--release", "17", sources=SOURCES)
        if jdks.tool("javac", 25):
            cls.compile("-cp", cls.folder, sources=["Upcall.java"], version=25)
        bytecode_lines.number_all(cls.folder)
        (cls.folder / "directives").write_text(DIRECTIVES)

    @classmethod
    def compile(cls, *options, sources, version=None):
        subprocess.run([jdks.tool("javac", version), "-g", *options, "-d", cls.folder,
                        *(jdks.SOURCES / source for source in sources)],
                       check=True, capture_output=True)

    def begin_program(self, version, options, kinds):
        command = [jdks.tool("java", version), "-XX:CompileCommand=quiet",
                   *(f"-XX:CompileCommand=exclude,{m}" for m in EXCLUDED),
                   *(f"-XX:CompileCommand=dontinline,{m}" for m in APART),
                   "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI",
                   f"-XX:CompilerDirectivesFile={self.folder}/directives",
                   f"-Xbootclasspath/a:{self.folder}",
                   "-Dsun.reflect.inflationThreshold=1000000000",
                   "-Djdk.reflect.useNativeAccessorOnly=true",
                   "-Djdk.virtualThreadScheduler.parallelism=1",
                   "-Djdk.virtualThreadScheduler.maxPoolSize=1",
                   "--enable-native-access=ALL-UNNAMED",
                   *options, "Truth", *kinds]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   text=True, env=live.clean_environment())
        self.addCleanup(self.end, process)
        while (line := process.stdout.readline()) != "ready\n":
            self.assertTrue(line, f"JDK {version} with {options} did not get ready")
        return process

    def stops(self, version, options, kinds, enough):
        """Return (pairs, all stops) when enough(pairs), or after a few programs."""
        pairs, found = [], []
        for _ in range(PROGRAMS):
            import time; print(time.monotonic(), "begin")
            process = self.begin_program(version, options, kinds)
            print(time.monotonic(), "began")
            more = java_stops.stop_often(self, version, process.pid, THREADS, STOPS, FREQUENCY)
            print(time.monotonic(), "stopped", [s for s in more[1] if not s.frames], sum(s.steps for s in more[1]))
            self.end(process)
            pairs += more[0]
            found += more[1]
            if enough(pairs):
                break
        return pairs, found

    def judge(self, name, pairs, found):
        """Print and check what came of the stops; return a row of the table."""
        lost = [stop for stop in found if stop.frames is None]
        kinds = collections.Counter(kind for pair in pairs for kind in pair.kinds())
        print(f"{name}: {len(pairs)} of {len(found)} stops, with {dict(kinds)}; the agent could "
              f"not walk {collections.Counter((s.place[0], s.end) for s in lost)}")
        wrong = [str(pair) for pair in pairs if not pair.same()]
        print("\n".join(wrong))
        self.assertEqual(wrong, [], name)
        self.assertLessEqual(len(lost), LOST_MOST * len(found) + 5, name)
        return {"program": name, "stops": f"{len(pairs):,}",
                "the same": f"{sum(p.same() for p in pairs):,}",
                "frames": f"{sum(len(p.stop.frames) for p in pairs):,}",
                **{f"stopped in {words}": f"{sum(p.stop.place[0] == place for p in pairs):,}"
                   for place, words in PLACES.items()},
                "with frames of": ", ".join(f"{kind} {kinds[kind]:,}" for kind in SHOWN
                                            if kinds[kind])}

    def versions(self):
        for version in (17, 25):
            if jdks.tool("jhsdb", version):
                yield version
            else:
                print(f"skipped: no JDK {version} with jhsdb")

    @unittest.skipIf(live.LONG, "the long form has a program for each kind")
    def test_all_kinds_of_frames(self):
        for version in self.versions():
            with self.subTest(jdk=version):
                kinds = KINDS + MORE.get(version, ())
                found = self.stops(version, (), kinds, lambda pairs: len(pairs) >= STOPS // 2)
                self.judge(f"JDK {version}", *found)
                self.assertGreaterEqual(len(found[0]), STOPS // 2)

    @unittest.skipUnless(live.LONG, "long form only")
    def test_each_kind_of_frame(self):
        for version in self.versions():
            for kind in KINDS + MORE.get(version, ()):
                with self.subTest(jdk=version, kind=kind):
                    self.check_kind(version, kind)

    def check_kind(self, version, kind):
        def enough(pairs):
            return all(sum(frame in pair.kinds() for pair in pairs) >= EACH
                       for frame in FRAMES[kind])
        found = self.stops(version, (), (kind,), enough)
        row = self.judge(f"JDK {version}, {kind}", *found)
        evidence.leave(live.BUILD, "java-stops", row)
        self.assertTrue(enough(found[0]))


if __name__ == "__main__":
    live.main()
