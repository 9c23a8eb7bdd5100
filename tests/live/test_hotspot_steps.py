# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""
Test the paths through the code that HotSpot generates: threads of JVMs run instruction by
instruction (tests/readers/hotspot_steps), and what is found before each one as the return address,
the caller's stack pointer and rbp is what the thread later returns to.
"""
import collections
import os
import random
import signal
import subprocess
import tempfile
import time
import unittest

import hotspot_vm
import jdks
import live

STEPS = live.BUILD / "tests" / "readers" / "hotspot_steps"
# Options, and the kinds of code (kind_of()) that must be seen.
SHORT = [(["-Xint"], "ei"), (["-XX:TieredStopAtLevel=1"], "C")]
LONG = SHORT + [([], "CF"), (["-XX:+UseParallelGC"], "C"), (["-XX:+UseSerialGC"], "C"),
                (["-XX:+UseZGC"], "C")]
STEPS_EACH = 60000 if live.LONG else 20000
LEAST = 20000 if live.LONG else 3000  # instructions of each kind whose caller was right
ATTEMPTS = 60  # attachments
# Exceptions and deoptimization end frames in other ways than by a return.
LEFT_MOST = 0.02  # of the instructions
SILENT_MOST = 0.25  # stubs of ciphers align their stack


def comm_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def thread_of(pid):
    tasks = [t for t in os.listdir(f"/proc/{pid}/task")
             if comm_of(f"/proc/{pid}/task/{t}/comm").startswith("mix")]
    return random.choice(tasks) if tasks else None


class Jvm:
    """A JVM that runs tests/programs/Mixed.java and has warmed up."""

    def __init__(self, java, classes, options):
        self.process = subprocess.Popen([java, *options, "-cp", classes, "Mixed", "1"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not thread_of(self.process.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(5 if live.LONG else 2)  # most methods are compiled then; nothing depends on it
        self.vm = hotspot_vm.Vm(self.process.pid)

    def close(self):
        self.vm.close()
        self.process.kill()
        self.process.wait()

    def blob_at(self, pc):
        """Answer a question of hotspot_steps."""
        b = self.vm.find(pc)
        if not b:
            return f"- {pc:x} {pc + 1:x} 0 0 0\n"
        return (f"{b['kind']} {b['begin']:x} {b['end']:x} {b['frame']} {b['complete']} "
                f"{b['entry']}\n")

    def step(self, counts):
        """Add to counts: {kind: {"right": ...}}. Return whether the JVM still runs."""
        pid = self.process.pid
        ranges = self.vm.ranges()
        self.vm.load()
        run = subprocess.Popen([STEPS, str(pid), thread_of(pid), str(STEPS_EACH)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        run.stdin.write(f"{len(ranges)}\n" + "".join(f"{a:x} {b:x}\n" for a, b in ranges))
        run.stdin.flush()
        for line in run.stdout:
            words = line.split()
            if words[0] == "?":
                run.stdin.write(self.blob_at(int(words[1], 16)))
                run.stdin.flush()
            elif words[0] == "=":
                for name, value in zip(words[2::2], words[3::2]):
                    counts[words[1]][name] += int(value)
        run.stdin.close()
        run.stdout.close()
        run.wait()
        return self.process.poll() is None


@unittest.skipUnless(os.uname().machine == "x86_64", "the code is x86-64's")
class HotspotSteps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        javac = jdks.tool("javac")
        if not javac:
            raise unittest.SkipTest("no javac")
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run([javac, "--release", "17", "-d", cls.folder.name,
                        live.ROOT / "tests" / "programs" / "Mixed.java"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, version, options, kinds):
        counts = collections.defaultdict(collections.Counter)
        java = jdks.tool("java", version)
        jvm = Jvm(java, self.folder.name, options)
        for _ in range(ATTEMPTS):
            try:
                alive = jvm.step(counts)
            except (OSError, ValueError, TypeError, IndexError):
                alive = False
            if not alive:
                # the kernel sometimes leaves the trap flag set behind popf, which kills the JVM
                self.assertIn(jvm.process.wait(10), (0, -signal.SIGTRAP, -signal.SIGKILL))
                jvm.close()
                jvm = Jvm(java, self.folder.name, options)
            if all(counts[k]["right"] >= LEAST for k in kinds):
                break
        jvm.close()
        print(f"JDK {version} {' '.join(options)}: " + "; ".join(
            f"{k} {dict(c)}" for k, c in sorted(counts.items())))
        for kind, c in counts.items():
            if kind in kinds:
                self.assertGreaterEqual(c["right"], LEAST, (kind, c))
            if c["right"] > LEAST:
                self.assertLessEqual(c["wrong"], LEFT_MOST * c["right"], (kind, c))
            if kind in "Cei":
                self.assertLessEqual(c["silent"], 1 + SILENT_MOST * sum(c.values()), (kind, c))

    def test_callers_are_right(self):
        seen = 0
        for version in jdks.VERSIONS:
            if not jdks.tool("java", version):
                print(f"skipped: no JDK {version}")
                continue
            for options, kinds in LONG if live.LONG else SHORT[seen % len(SHORT):][:1]:
                with self.subTest(version=version, options=options):
                    self.check(version, options, kinds)
            seen += 1
        if not seen:
            self.skipTest("no JDK")


if __name__ == "__main__":
    live.main()
