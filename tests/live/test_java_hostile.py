# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 900
"""
Test programs that fake a JVM, or whose JVM is unusual or dies: the work stays bounded, the reason
is recorded, no name is wrong, and honest Java programs at the same time have their frames.

False alarms: what a program shows does not depend on chance; where samples are needed, recordings
are repeated for a longer time.
"""
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import time
import unittest

import jdks
import live
import python_stacks

FREQUENCY = 999
SECONDS = 2 if live.LONG else 0.4 # of CPU time, of each fake
KILLS = 400 if live.LONG else 12
LONGEST_LIFE = 1.0 # s, of a JVM that is killed
FAKES = ("plausible", "late", "segments", "headers", "methods", "scopes", "counters", "heaps",
         "garbled", "foreign", "unfilled", "unloads", "frames", "torn")
# Kinds whose lies are found before there is anything to walk -> what the trace says.
REFUSED = {"heaps": "code cache is invalid", "garbled": "HotSpot's table",
           "foreign": "HotSpot's table", "unfilled": "not filled yet|cannot read"}
NAMES = {None, "", "a.Scene.outer", "a.Scene.inner", "I2C/C2I adapters"}
JAVA = live.FRAME["JAVA"]
CHAIN = ("Shapes.main", "Shapes.chain", "Shapes.first", "Shapes.second", "Shapes.third",
         "Shapes.spin")
LEGAL = re.compile(r"[^\x00-\x1f\x7f]{1,2100}")
TRIES = 5


def java_names(sample):
    return tuple(f.name for f in sample.frames if f.kind == JAVA)


@unittest.skipIf(jdks.missing(), jdks.missing())
class JavaHostile(live.LiveTest):
    def honest(self, seconds=120):
        program = subprocess.Popen(jdks.command(max(jdks.homes()), "Shapes", "chain", seconds))
        self.addCleanup(self.end, program)
        return program

    def check_honest(self, stacks, program, least=20):
        """Nearly all samples of the honest program have their frames, in order."""
        samples = [s for s in stacks.samples(program.pid) if "Shapes.spin" in java_names(s)]
        self.assertGreaterEqual(len(samples), least)
        wrong = [java_names(s) for s in samples
                 if tuple(n for n in java_names(s) if n in CHAIN) != CHAIN]
        self.assertLessEqual(len(wrong), 0.03 * len(samples) + 2, wrong[:3])

    def infos(self, trace):
        """pid -> what the trace says about its JVM."""
        found = {}
        for row in trace.query("SELECT value FROM info WHERE key LIKE 'java.%'"):
            pid, text = re.fullmatch(r"pid (\d+): (.*)", row["value"]).groups()
            found[int(pid)] = text
        return found

    def test_fakes(self):
        fake = self.tmp / "fake_jvm"
        subprocess.run(["gcc", "-O2", "-g", "-rdynamic", "-I", live.ROOT, "-I", live.ROOT / "user",
                        "-I", live.ROOT / "tests" / "unit", "-o", fake,
                        jdks.SOURCES / "fake_jvm.c", "-lpthread"], check=True)
        # a JVM is known before: a fake runs for less time than the first one takes to be known
        honest, pids = self.honest(), {}
        self.wait_for(lambda: "libjvm.so" in pathlib.Path(f"/proc/{honest.pid}/maps").read_text())
        recording = self.begin("-a", "-F", FREQUENCY)
        began = time.monotonic()
        for kind in FAKES:
            process = self.start(fake, SECONDS, kind)
            self.assertEqual(process.wait(120), 0, kind)
            pids[kind] = process.pid
        lasted = time.monotonic() - began
        used = live.cpu_seconds(recording.pid)
        trace = self.finish(recording)
        stacks, infos = python_stacks.Stacks(trace), self.infos(trace)
        for kind, pid in pids.items():
            with self.subTest(kind=kind):
                self.check_fake(kind, stacks.samples(pid), infos.get(pid, ""))
        self.check_honest(stacks, honest)
        print(f"the recorder used {used:.2f} s in {lasted:.1f} s")
        self.assertLess(used, 0.3 * lasted + 5)

    def check_fake(self, kind, samples, info):
        names = collections.Counter(n for s in samples for n in java_names(s))
        ends = collections.Counter(s.end for s in samples)
        print(f"{kind}: {len(samples)} samples; {info}; ends {dict(ends)}; names {dict(names)}")
        self.assertGreater(len(samples), 0.3 * FREQUENCY * SECONDS)
        if kind == "torn": # any bytes may have been a name for a moment
            self.assertTrue(all(n is None or LEGAL.fullmatch(n) for n in names), names)
        else:
            self.assertLessEqual(set(names), NAMES)
        # a stack that counts as whole has no caller left out
        for s in samples:
            shown = [f.name for f in s.frames]
            if s.end is None and "a.Scene.outer" in shown and kind not in ("torn", "frames"):
                self.assertIn("main", shown)
                self.assertIn("spin", shown)
        if kind in REFUSED:
            self.assertRegex(info, REFUSED[kind])
            self.assertFalse(names)
        elif kind == "torn": # its texts are also those of its tables
            self.assertRegex(info, "frames are read|tables lack|is invalid")
        else:
            self.assertIn("frames are read", info)
        if kind in ("plausible", "late", "scopes", "unloads", "counters"):
            self.assertGreater(names["a.Scene.outer"], 0.3 * len(samples))
        if kind in ("segments", "headers", "methods"):
            self.assertGreater(ends["JAVA"] + ends["UNREADABLE"] + names[None] + names[""] +
                               names["a.Scene.outer"], 0)

    def test_jvms_that_are_killed(self):
        """JVMs die at random times, from the load of libjvm on; an honest one is not affected."""
        recording = self.begin("-a", "-F", FREQUENCY)
        honest, seed = self.honest(600), random.randrange(1 << 30)
        rng, running, killed = random.Random(seed), [], 0
        homes = sorted(jdks.homes())
        while killed < KILLS:
            while len(running) < 3:
                command = jdks.command(homes[killed % len(homes)], "Shapes", "chain", 60,
                                       options=["-Xmx16m", "-XX:+UseSerialGC"])
                running.append((subprocess.Popen(command, stdout=subprocess.DEVNULL),
                                time.monotonic() + rng.uniform(0, LONGEST_LIFE)))
            process, end = min(running, key=lambda one: one[1])
            running.remove((process, end))
            time.sleep(max(0, end - time.monotonic()))
            process.kill()
            process.wait()
            killed += 1
        for process, _ in running:
            process.kill()
            process.wait()
        used = live.cpu_seconds(recording.pid)
        trace = self.finish(recording)
        print(f"seed {seed}: {killed} JVMs killed; the recorder used {used:.2f} s of CPU")
        stacks = python_stacks.Stacks(trace)
        self.check_honest(stacks, honest)
        for s in stacks.samples(comm="java"):
            names = java_names(s)
            for name in names:
                self.assertTrue(name is None or LEGAL.fullmatch(name), name)
            if "Shapes.spin" in names and s.end is None:
                shown = [n for n in names if n in CHAIN]
                self.assertEqual(shown[-1], "Shapes.spin", names)
                if None in names: # its JVM has ended before
                    self.assertEqual(shown, [n for n in CHAIN if n in shown], names)
                else:
                    self.assertEqual(shown, list(CHAIN[:len(shown)]), names)

    def stripped(self, version):
        """A copy of a JDK whose libjvm has no .symtab; all other files are links."""
        home, copy = jdks.home_of(version).resolve(), self.tmp / f"jdk-{version}"
        for folder, _, files in os.walk(home):
            to = copy / pathlib.Path(folder).relative_to(home)
            to.mkdir(parents=True, exist_ok=True)
            for name in files:
                if name not in ("java", "libjvm.so"):
                    (to / name).symlink_to(pathlib.Path(folder) / name)
        for name in ("bin/java", "lib/libjli.so"):
            (copy / name).unlink(missing_ok=True)
            shutil.copy(home / name, copy / name)
        subprocess.run(["objcopy", "--strip-all", home / "lib/server/libjvm.so",
                        copy / "lib/server/libjvm.so"], check=True)
        return copy

    def test_libjvm_without_symbols(self):
        for version in jdks.homes():
            if not live.LONG and version != min(jdks.homes()):
                continue
            command = jdks.command(version, "Shapes", "chain", 120)
            command[0] = str(self.stripped(version) / "bin/java")
            program = subprocess.Popen(command)
            self.addCleanup(self.end, program)
            for tries in range(TRIES):
                trace = self.record("-p", program.pid, "-F", FREQUENCY, "-d", f"{1 << tries}s")
                stacks = python_stacks.Stacks(trace)
                if sum("Shapes.spin" in java_names(s) for s in stacks.samples(program.pid)) > 50:
                    break
            maps = pathlib.Path(f"/proc/{program.pid}/maps").read_text()
            self.assertIn(str(self.tmp), maps)
            with self.subTest(jdk=version):
                self.check_honest(stacks, program, 50)
                spinning = [s for s in stacks.samples(program.pid)
                            if "Shapes.spin" in java_names(s)]
                whole = [s for s in spinning if s.end is None]
                self.assertGreater(len(whole), 0.95 * len(spinning) - 3)
                native = {f.name for s in whole for f in s.frames if f.path and
                          "libjvm" in f.path and f.name}
                print(f"JDK {version}: {len(whole)} whole; names in libjvm: {sorted(native)[:5]}")


if __name__ == "__main__":
    live.main()
