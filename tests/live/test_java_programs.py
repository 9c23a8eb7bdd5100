# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""
Test the share of complete stacks of real Java programs under load, at 999 Hz: at least 99.9 % of
each, with each collector and other code in the JVM, and 99.5 % in the first second after the
walkers have its layout.

The short form records three programs for 2 s. In order to fail only for real defects, it allows
for chance beyond these shares: six sigma of a Poisson count. The long form has 20,000 samples of
each program and no allowance, and writes its results for docs/java.md.
"""
import math
import re
import unittest

import evidence
import java_programs
import jdks
import live
from completeness import completeness
from programs import Loads, ProgramError

FREQUENCY = 999
SECONDS = 15 if live.LONG else 1.5
ENOUGH = 20000 if live.LONG else 500 # samples
ENOUGH_OF_VARIANT = 5000 if live.LONG else 500
TRIES = 8 # recordings until there are enough samples
TARGET = 0.999
TARGET_FIRST = 0.995 # in the first second
FIRST_ENOUGH = 5000 if live.LONG else 300
SHORT = {("javac in a loop", 25), ("Pekko", 17)}


def allowed(samples, target):
    """Return how many stacks may be incomplete."""
    mean = samples * (1 - target)
    return mean if live.LONG else mean + 6 * math.sqrt(mean)


@unittest.skipIf(jdks.missing(), jdks.missing())
class JavaPrograms(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        cls.loads = Loads(live.BUILD)
        cls.addClassCleanup(cls.loads.close)

    def measure(self, program, enough):
        """Record a program in as many recordings as needed."""
        found = evidence.Shares()
        with self.loads.running(program) as (load,):
            for _ in range(TRIES):
                trace = self.record("-p", load.pid, "-F", FREQUENCY, "--wait-names", "60s",
                                    "-d", f"{SECONDS * 1000:.0f}ms")
                if trace.query("SELECT 1 FROM process WHERE comm = 'java'"):
                    found.add(completeness(live.SKEIN, trace.path, "java"))
                if found.samples >= enough:
                    break
        return found

    def judge(self, name, found, enough, target, section="java"):
        if live.LONG:
            evidence.leave(live.BUILD, section, found.row(name))
        print(f"{name}: {found}")
        if found.samples < enough:
            self.skipTest(f"{name}: only {found.samples} samples")
        self.assertLessEqual(found.samples - found.complete, allowed(found.samples, target),
                             str(found))

    def check(self, java, enough=ENOUGH, section="java"):
        missing = java.why_not()
        if missing:
            self.skipTest(f"{java.name}: {missing}")
        program = java.program()
        try:
            found = self.measure(program, enough)
        except ProgramError as error:
            # Debian's Maven and its like need not run on a newer JDK
            self.fail(f"{program.name}: {error}")
        self.judge(program.name, found, enough, TARGET, section)

    def first_second(self, version):
        """Record the start of a JVM; return its samples from the first with a Java frame on."""
        java = jdks.home_of(version) / "bin" / "java"
        trace = self.record("-F", FREQUENCY, "-d", "4s" if live.LONG else "2s",
                            "--wait-names", "60s", "--", java, "-cp", self.classes(), "Mixed", 2)
        known = [row["time"] for row in trace.query("SELECT time, thread, stack FROM sample")
                 if live.FRAME["JAVA"] in trace.stack(row["thread"], row["stack"], 1, 1).kinds]
        self.assertTrue(known, trace.done.err)
        begin = (min(known) - trace.one("SELECT start FROM host")) // 10**6 # ms
        return completeness(live.SKEIN, trace.path, "java",
                            more=("--from", f"{begin}ms", "--to", f"{begin + 1000}ms"))

    def classes(self):
        source = live.ROOT / "tests" / "programs" / "Mixed.java"
        return jdks.classes(source)

    def test_first_second(self):
        for version in jdks.homes():
            if not live.LONG and version != 25:
                continue
            found = evidence.Shares()
            with self.subTest(jdk=version):
                for _ in range(TRIES):
                    found.add(self.first_second(version))
                    if found.samples >= FIRST_ENOUGH:
                        break
                self.judge(f"Mixed.java, JDK {version}, its first second", found, FIRST_ENOUGH,
                           TARGET_FIRST, "java-variants")


def case(program, **how):
    return lambda self: self.check(program, **how)


def add(programs, **how):
    for each in programs:
        name = re.sub(r"\W+", "_", f"{each.name} {each.version}").strip("_")
        setattr(JavaPrograms, f"test_of_{name}", case(each, **how))


add([p for p in java_programs.PROGRAMS if live.LONG or (p.name, p.version) in SHORT])
if live.LONG and not jdks.missing():
    add(java_programs.INTERPRETED)
    add(java_programs.variants(), enough=ENOUGH_OF_VARIANT, section="java-variants")


if __name__ == "__main__":
    live.main()
