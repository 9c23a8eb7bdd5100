# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""
Test the stacks of Java programs whose stacks are known: frames in their order, through native code
between them, in interpreted and compiled code of each JDK; shares; waits; a JVM that runs already,
and several at once.
"""
import os
import signal
import subprocess
import time
import unittest

import jdks
import live
import test_off_cpu

FREQUENCY = 499
SECONDS = 4 if live.LONG else 1.5
MODES = {
    "interpreted": ["-Xint"],
    "C1": ["-XX:TieredStopAtLevel=1"],
    "C2": [],
}
# In the short form, each JDK runs in one of the modes.
SHORT = {17: "interpreted", 21: "C1", 25: "C2"}
CHAIN = tuple(f"Shapes.{name}" for name in ("main", "chain", "first", "second", "third", "spin"))
ENOUGH = 50 # samples
TRIES = 5
# Options of gcc, for a library without unwind information.
BARE = ("-g0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fomit-frame-pointer",
        "-fcf-protection=none", "-nostartfiles", "-Wl,--no-eh-frame-hdr",
        "-Wl,--no-ld-generated-unwind-info")
NO_OPEN_WAITS = "stacks of waits that had not ended have no Java frames"
ROOTS = ("clone3", "__clone3", "clone", "start_thread", "thread_start")


def java_frames(stack):
    return tuple(name for name, kind in zip(stack.names, stack.kinds)
                 if kind == live.FRAME["JAVA"] and "." in name)


def is_in_order(frames, expected):
    """Return whether the expected frames are among the frames, in this order."""
    rest = iter(frames)
    return all(name in rest for name in expected)


def waits(trace):
    return [stack for _, stack in test_off_cpu.Waits.stacks(trace)]


@unittest.skipIf(jdks.missing(), jdks.missing())
class Java(live.LiveTest):
    def run_shape(self, version, shape, *more, options=(), seconds=SECONDS, enough=ENOUGH):
        """Record a program; again, for longer, if others leave it too little of the CPUs."""
        for _ in range(TRIES):
            trace = self.record("-F", FREQUENCY, *more, "--",
                                *jdks.command(version, "Shapes", shape, seconds, options=options))
            if live.count(self.spinning(trace)) >= enough:
                return trace
            seconds *= 2
        self.fail(f"fewer than {enough} samples in spin(): {trace.done.err}")

    def spinning(self, trace, pid=None):
        return [s for s in trace.stacks(pid=pid) if s.names and s.names[-1] == "Shapes.spin"]

    def record_running(self, programs, *targets):
        """Record programs that run, until there are enough samples of each."""
        for tries in range(TRIES):
            trace = self.record(*targets, "-F", FREQUENCY, "-d", f"{1500 << tries}ms")
            if all(live.count(self.spinning(trace, p.pid)) >= ENOUGH for p in programs):
                return trace
        self.fail(f"fewer than {ENOUGH} samples in spin(): {trace.done.err}")

    def check_order(self, trace, expected):
        stacks = self.spinning(trace)
        wrong = [s for s in stacks if java_frames(s)[-len(expected):] != expected]
        # spin() may have been entered by a frame that a signal or a safepoint interrupted
        self.assertEqual(live.count(wrong), 0, [java_frames(s) for s in wrong[:3]])

    def check_complete(self, trace, least=0.97):
        """Check the share of stacks with the main thread's first function at the root."""
        stacks = self.spinning(trace)
        whole = [s for s in stacks if s.names[0] in ROOTS]
        self.assertGreaterEqual(live.count(whole) / live.count(stacks), least,
                                [s.names[:4] for s in stacks if s not in whole][:3])

    def cases(self):
        for version in jdks.homes():
            for mode, options in MODES.items():
                if live.LONG or SHORT.get(version, "C2") == mode:
                    yield version, mode, options

    def test_frames_are_in_order(self):
        for version, mode, options in self.cases():
            with self.subTest(jdk=version, mode=mode):
                trace = self.run_shape(version, "chain", options=options)
                # the loop in chain() is entered interpreted, and goes on compiled (OSR)
                self.check_order(trace, CHAIN)
                self.check_complete(trace)

    def test_native_frames_lie_between(self):
        """A class initializer runs below Class.forName(): Java, native, Java again."""
        for version, mode, options in self.cases():
            with self.subTest(jdk=version, mode=mode):
                trace = self.run_shape(version, "initializer", options=options)
                self.check_order(trace, ("Shapes$Initialized.<clinit>", *CHAIN[1:]))
                self.check_complete(trace)
                for stack in self.spinning(trace):
                    self.assertTrue(is_in_order(stack.names, (
                        "Shapes.main", "Shapes.initializer", "java.lang.Class.forName0",
                        "Shapes$Initialized.<clinit>", "Shapes.spin")), stack.names)
                    between = stack.names[stack.names.index("java.lang.Class.forName0"):
                                          stack.names.index("Shapes$Initialized.<clinit>")]
                    self.assertTrue(any("InstanceKlass::" in name for name in between), between)

    def test_native_code_that_nothing_describes(self):
        """A library without unwind information and frame pointers, whose callers are Java."""
        library = jdks.native_library("bare_jni.c", *BARE)
        if not library:
            self.skipTest("no JDK has jni.h")
        said = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True,
                              check=True).stdout
        self.assertNotIn(".eh_frame", said)
        self.assertIn(".text", said)
        for version in jdks.homes() if live.LONG else [max(jdks.homes())]:
            with self.subTest(jdk=version):
                self.check_bare(version, library)

    def check_bare(self, version, library):
        """Stacks that were finished in user space, until rows for the code are made, have [jit]."""
        program = subprocess.Popen(jdks.command(version, "Bare", library, 120))
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        for tries in range(TRIES):
            trace = self.record("-F", FREQUENCY, "-p", program.pid, "-d", f"{1 << tries}s")
            shares = [self.share_of_bare(trace, name) for name in ("plain", "variable")]
            if min(shares) >= 0.9:
                break
        program.kill()
        self.assertGreaterEqual(min(shares), 0.9, trace.done.err)

    def share_of_bare(self, trace, name):
        """Return the share of whole stacks of a native method; 0 if there are too few samples."""
        native = f"Java_Bare_{name}"
        stacks = [s for s in trace.stacks() if native in s.names]
        whole = [s for s in stacks if s.names[0] in ROOTS
                 and not any(frame.startswith("[[jit]") for frame in s.names)]
        for stack in whole:
            self.assertTrue(is_in_order(stack.names, ("Bare.main", "Bare.first", f"Bare.{name}",
                                                      native)), stack.names)
        if live.count(stacks) < ENOUGH:
            return 0
        return live.count(whole) / live.count(stacks)

    def test_shares(self):
        """heavy() does three times as much as light()."""
        for version, mode, options in self.cases():
            with self.subTest(jdk=version, mode=mode):
                trace = self.run_shape(version, "shares", options=options, seconds=2 * SECONDS)
                stacks = self.spinning(trace)
                heavy = sum(s.count for s in stacks if "Shapes.heavy" in s.names)
                light = sum(s.count for s in stacks if "Shapes.light" in s.names)
                total = heavy + light
                self.assertEqual(total, live.count(stacks))
                # 4.5 sigma of chance, and a point
                allowed = 4.5 * (0.75 * 0.25 / total) ** 0.5 + 0.01
                self.assertAlmostEqual(heavy / total, 0.75, delta=allowed)

    def test_a_moved_stack_pointer(self):
        """C2's code for String.indexOf() moves it: walks end until its rows are known."""
        for version in jdks.homes():
            with self.subTest(jdk=version):
                program = subprocess.Popen(jdks.command(version, "Shapes", "search", 120))
                self.addCleanup(program.wait)
                self.addCleanup(program.kill)
                self.check_finding(program)
                program.kill()

    def check_finding(self, program):
        """Check the samples of find(); again, for longer, if it was compiled only meanwhile."""
        for tries in range(TRIES):
            trace = self.record("-p", program.pid, "-F", FREQUENCY, "-d", f"{4 << tries}s")
            stacks = [s for s in trace.stacks(pid=program.pid)
                      if s.names and s.names[-1] == "Shapes.find"]
            whole = [s for s in stacks if s.names[0] in ROOTS]
            if live.count(stacks) >= 4 * ENOUGH and live.count(whole) >= 0.98 * live.count(stacks):
                break
        self.assertGreaterEqual(live.count(stacks), 4 * ENOUGH, trace.done.err)
        self.assertGreaterEqual(live.count(whole), 0.98 * live.count(stacks),
                                [(s.names, s.count) for s in stacks if s not in whole][:5])
        for stack in whole:
            self.assertTrue(is_in_order(java_frames(stack), (
                "Shapes.main", "Shapes.search", "Shapes.find")), stack.names)

    def test_virtual_threads(self):
        for version in (v for v in jdks.homes() if v >= 21):
            with self.subTest(jdk=version):
                trace = self.run_shape(version, "virtual")
                # the lambda that calls chain() may have it inlined
                self.check_order(trace, CHAIN[2:])
                self.check_complete(trace)

    def test_waits(self):
        expected = (("Shapes.sleeper", "java.lang.Thread.sleep"),
                    ("Shapes.parker", "java.util.concurrent.locks.LockSupport.parkNanos"),
                    ("Shapes.blocked",), ("Shapes.reader",))
        for version in jdks.homes():
            with self.subTest(jdk=version):
                missing = expected
                for tries in range(TRIES): # beside others, a JVM may take seconds to start
                    trace = self.run_shape(version, "waits", "-e", "off-cpu", enough=0,
                                           seconds=SECONDS * 2 ** tries)
                    frames = [java_frames(s) for s in waits(trace)]
                    missing = [e for e in expected
                               if not any(is_in_order(f, e) for f in frames)]
                    if not missing:
                        break
                self.assertFalse(missing, trace.done.err)

    def test_waits_that_have_not_ended(self):
        """Other threads' stacks, which are read at the end of the recording."""
        ends = (("Shapes.parkedForever", "java.util.concurrent.locks.LockSupport.park"),
                ("Shapes.readsForever", "java.net.ServerSocket.accept"),
                ("Shapes.main", "Shapes.forever", "Shapes.waitsForever", "java.lang.Object.wait"))
        for version in jdks.homes():
            program = subprocess.Popen(jdks.command(version, "Shapes", "forever", 0))
            self.addCleanup(program.wait)
            self.addCleanup(program.kill)
            missing = ends
            for tries in range(TRIES):
                trace = self.record("-e", "off-cpu", "-p", program.pid, "-d", f"{1 << tries}s")
                # the first function of the process may have no name
                frames = [java_frames(s) for s in waits(trace) if s.names[0] in ROOTS]
                missing = [e for e in ends if not any(is_in_order(f, e) for f in frames)]
                if not missing:
                    break
            with self.subTest(jdk=version):
                self.assertFalse(missing, (frames, trace.done.err))
                self.assertNotIn(NO_OPEN_WAITS, trace.done.err)

    def test_open_waits_without_java(self):
        """The program for them is loaded late; if the kernel refuses it, that is said."""
        program = subprocess.Popen(jdks.command(max(jdks.homes()), "Shapes", "forever", 0))
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        for tries in range(TRIES):
            trace = self.record("-e", "off-cpu", "-p", program.pid, "-d", f"{1 << tries}s",
                                env=live.clean_environment(SKEIN_DEBUG_WALK="open-refused"))
            if NO_OPEN_WAITS in trace.done.err:
                break
        self.assertRegex(trace.done.err, f"{NO_OPEN_WAITS}.*: Permission denied\n")

    def test_the_worker_of_names_is_lost(self):
        """Soon after the recording has begun, and once more."""
        program = subprocess.Popen(jdks.command(max(jdks.homes()), "Shapes", "chain", 120))
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        for tries in range(TRIES):
            recording = self.begin("-p", program.pid, "-F", FREQUENCY, "--wait-names", "60s")
            lost = None
            for _ in range(2):
                lost = self.wait_for(lambda before=lost: self.next_worker(recording, before))
                os.kill(lost, signal.SIGKILL)
            self.wait_for(lambda before=lost: self.next_worker(recording, before))
            time.sleep(1 << tries)
            trace = self.finish(recording)
            if live.count(self.spinning(trace)) >= ENOUGH:
                break
        self.assertIn("started again: names 2 times", trace.done.err)
        self.assertGreaterEqual(live.count(self.spinning(trace)), ENOUGH, trace.done.err)
        self.check_order(trace, CHAIN)
        self.check_complete(trace)

    @staticmethod
    def next_worker(recording, before):
        worker = live.child_named(recording.pid, "skein-memory")
        return worker if worker != before else None

    def test_a_running_jvm(self):
        """A JVM that another user has started before, without any option."""
        version = max(jdks.homes())
        program = subprocess.Popen(jdks.command(version, "Shapes", "chain", 120))
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        trace = self.record_running([program], "-p", program.pid)
        self.check_order(trace, CHAIN)
        self.check_complete(trace)
        said = [row["value"] for row in trace.query("SELECT * FROM info") if
                row["key"].startswith("java.")]
        self.assertEqual(len(said), 1, said)
        self.assertIn(f"HotSpot {version}", said[0])
        self.assertIn("frames are read", said[0])

    def test_several_at_once(self):
        programs = [subprocess.Popen(jdks.command(version, "Shapes", "chain", 120))
                    for version in jdks.homes()]
        for program in programs:
            self.addCleanup(program.wait)
            self.addCleanup(program.kill)
        trace = self.record_running(programs, "-a")
        for program in programs:
            for stack in self.spinning(trace, program.pid):
                self.assertEqual(java_frames(stack)[-len(CHAIN):], CHAIN)


if __name__ == "__main__":
    unittest.main()
