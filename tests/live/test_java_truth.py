# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 3600
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
import time
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
STOPS = 400 if live.LONG else 60  # of each program
LEAST = 300 if live.LONG else 30  # in the long form, with each kind of frame
PROGRAMS = 5  # one after the other, at most
THREADS = ("truth", "ForkJoinPool")
LOST_MOST = 0.15  # share of the stops in which the agent finds no stack
ENDED_MOST = 0.03  # share of the stops in which skein's walk may end with a reason
KNOWN = (java_stops.ENDED, java_stops.THAWED, java_stops.FROZEN)
PLACES = {"method": "compiled code", "interpreter": "the interpreter", "stub": "stubs",
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

SAME, NOT_WALKED = "the same", "AsyncGetCallTrace found no stack"
NO_CALLER = "AsyncGetCallTrace misses the caller of the innermost method"
CALLED = "AsyncGetCallTrace ends at a method that the JVM's own code has called"
STALE = "AsyncGetCallTrace shows a call that the program does not make, from a stale frame"
EXPLAINED = (SAME, NOT_WALKED, NO_CALLER, CALLED, STALE)
FIB = "Truth$Optimized.fib(I)J"  # which calls nothing but itself


def how_it_differs(ours, end, calls, theirs):
    """
    Compare skein's frames with a CallTrace: every method and line but those that were inlined where
    the thread was interrupted.
    """
    if theirs.count <= 0:
        return NOT_WALKED
    if end >= 0:
        return f"skein's walk ends ({end})"
    callers = [(s.signature, s.line) for frame in ours[1:] for s in frame.scopes]
    leaf = len(theirs.frames) - len(callers)
    if leaf >= 1 and theirs.frames[leaf:] == callers and \
            theirs.frames[leaf - 1][0] == ours[0].scopes[-1].signature:
        return SAME
    callers = callers[len(ours[1].scopes):] if len(ours) > 1 else []
    if callers and theirs.frames[-len(callers):] == callers:
        return NO_CALLER
    inner = [[s.signature for frame in ours[:number] for s in frame.scopes] for number in calls]
    if [name for name, _ in theirs.frames] in inner:
        return CALLED
    names = [name for name, _ in theirs.frames]
    if any(FIB == caller != callee for callee, caller in zip(names, names[1:])):
        return STALE
    return "another stack"


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

    def begin_program(self, version, kinds, *options):
        command = [jdks.tool("java", version), "-XX:CompileCommand=quiet",
                   *(f"-XX:CompileCommand=exclude,{m}" for m in EXCLUDED),
                   *(f"-XX:CompileCommand=dontinline,{m}" for m in APART),
                   "-XX:+UnlockDiagnosticVMOptions", "-XX:+WhiteBoxAPI",
                   f"-XX:CompilerDirectivesFile={self.folder}/directives",
                   # else methods that are compiled again and again stay in the interpreter
                   "-XX:PerMethodRecompilationCutoff=-1",
                   f"-Xbootclasspath/a:{self.folder}",
                   "-Dsun.reflect.inflationThreshold=1000000000",
                   "-Djdk.reflect.useNativeAccessorOnly=true",
                   "-Djdk.virtualThreadScheduler.parallelism=1",
                   "-Djdk.virtualThreadScheduler.maxPoolSize=1",
                   "--enable-native-access=ALL-UNNAMED",
                   *options, "Truth", *kinds]
        # a file: the JVM prints, too, and a pipe that is full would block its threads
        with (self.tmp / "printed").open("w+", encoding="utf-8") as printed:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed,
                                       env=live.clean_environment())
            self.addCleanup(self.end, process)
            while "ready\n" not in pathlib.Path(printed.name).read_text(encoding="utf-8"):
                self.assertIsNone(process.poll(), f"JDK {version} did not get ready")
                time.sleep(0.01)
        return process

    def stops(self, version, kinds, enough):
        """Return (pairs, all stops) when enough(pairs), or after a few programs."""
        pairs, found = [], []
        for _ in range(PROGRAMS):
            process = self.begin_program(version, kinds)
            more = java_stops.stop_often(self, version, process.pid, THREADS, STOPS, FREQUENCY)
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
        causes = collections.Counter(pair.cause() for pair in pairs if not pair.same())
        wrong = [str(pair) for pair in pairs if not pair.same() and pair.cause() not in KNOWN]
        ended = [str(pair) for pair in pairs if pair.cause() == java_stops.ENDED]
        print("\n".join([str(dict(causes)), *wrong, *ended]))
        self.assertEqual(wrong, [], name)
        self.assertLessEqual(len(ended), ENDED_MOST * len(pairs) + 2, name)
        self.assertLessEqual(len(lost), LOST_MOST * len(found) + 5, name)
        return {"JDK and kind of work": name, "stops": f"{len(pairs):,}",
                "the same": f"{sum(p.same() for p in pairs):,}",
                "frames": f"{sum(len(p.stop.frames) for p in pairs):,}",
                **{f"stopped in {words}": f"{sum(p.stop.place[0] == place for p in pairs):,}"
                   for place, words in PLACES.items()},
                "with frames of": ", ".join(f"{kind} {kinds[kind]:,}" for kind in SHOWN
                                            if kinds[kind]),
                "differences and their causes": "; ".join(
                    f"{cause} ({count})" for cause, count in causes.most_common()) or "none"}

    def versions(self):
        for version in (17, 25):
            if jdks.tool("jhsdb", version):
                yield version
            else:
                print(f"skipped: no JDK {version} with jhsdb")

    def test_frames(self):
        """In the short form, of all kinds in one program; in the long form, of each kind."""
        for version in self.versions():
            kinds = KINDS + MORE.get(version, ())
            for some in [(kind,) for kind in kinds] if live.LONG else [kinds]:
                with self.subTest(jdk=version, kinds=some):
                    self.check(version, some)

    def check(self, version, kinds):
        def enough(pairs):
            wanted = [frame for kind in kinds for frame in FRAMES[kind]] if live.LONG else []
            return len(pairs) >= LEAST and all(
                sum(frame in pair.kinds() for pair in pairs) >= LEAST for frame in wanted)
        pairs, found = self.stops(version, kinds, enough)
        row = self.judge(f"JDK {version}, {kinds[0] if live.LONG else 'all kinds'}", pairs, found)
        if live.LONG:
            evidence.leave(live.BUILD, "java-stops", row)
        self.assertTrue(enough(pairs), row)

    def build_agent(self):
        """Build the JVMTI agent with the headers of any JDK; it only uses what 17 has."""
        include = jdks.tool("javac").resolve().parents[1] / "include"
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-I", include, "-I", include / "linux",
                        "-o", self.tmp / "agent.so",
                        live.ROOT / "tests" / "readers" / "java" / "call_traces.c"], check=True)
        return f"-agentpath:{self.tmp}/agent.so={self.tmp}/traces"

    def test_beside_the_vm_itself(self):
        """HotSpot's AsyncGetCallTrace, for a JDK that has no Serviceability Agent."""
        if not jdks.home_of(21):
            self.skipTest("no JDK 21")
        # AsyncGetCallTrace ends at deoptimized frames
        kinds = [kind for kind in KINDS if kind != "deoptimized"]
        process = self.begin_program(21, kinds, self.build_agent())
        counts, wrong = collections.Counter(), []
        for ours, end, calls, theirs in java_stops.signal_often(
                self, process, THREADS, 2 * STOPS, FREQUENCY, self.tmp / "traces"):
            what = how_it_differs(ours, end, calls, theirs)
            counts[what] += 1
            if what not in EXPLAINED:
                wrong.append(f"{what}\n  {[f.scopes for f in ours]}\n  {theirs}")
        print("\n".join([f"JDK 21: {dict(counts)}", *wrong]))
        self.assertEqual(wrong, [])
        self.assertGreaterEqual(counts[SAME], LEAST)


if __name__ == "__main__":
    live.main()
