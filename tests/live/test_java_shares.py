# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 1800
"""
Test the shares of CPU time that the methods of a Java program have, against the program's own
clock: interpreted, compiled by C1 and C2, inlined, lambdas, native methods and what those call; and
that async-profiler's shares of the same run are no better.

False alarms: the samples of a part are as many as its CPU time has periods; in each stretch for
which it has a CPU without a break, by less than one more or less, with a variance of at most 1/4.
The sum of all stretches may be off by 6 sigma: once in 500 million times for each part. In the
short form, that is added to the bound of one point; in the long form there are so many samples that
it is less than one point.
"""
import collections
import json
import math
import random
import re
import subprocess
import unittest

import jdks
import live

FREQUENCY = 999
SECONDS = 30 if live.LONG else 2 # of CPU time, in each run
POINT = 0.01
DEBUG = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]
MODES = {
    "interpreted": ["-Xint"],
    "C1": ["-XX:TieredStopAtLevel=1"],
    "C2": [],
    "inlined": DEBUG,
}
SHORT = {17: ("interpreted",), 21: ("C1",), 25: ("C2", "inlined")}
# Part -> a frame of its stacks. Methods of Inlined may be inlined into loop(), whose time is that
# of both; with the mode "inlined", the innermost methods are compared.
PHYSICAL = {
    "plain": r"Shares\.plain", "other": r"Shares\.other", "lambda": r"Shares\.lambda\$static\$0",
    "loop": r"Shares\.loop", "jni": r"Shares\.jni", "called": r"Shares\.called",
}
INNERMOST = {"heavy": r"Shares\$Inlined\.heavy", "light": r"Shares\$Inlined\.light"}
MARK = re.compile(r"_\[\w+\]$") # of the kind of a frame


def frames_of(line):
    stack, count = line.rsplit(" ", 1)
    return [MARK.sub("", frame) for frame in stack.split(";")], int(count)


def part_of(frames, parts):
    """The part that a stack belongs to: by its innermost frame that is one of a part."""
    for frame in reversed(frames):
        for part, name in parts.items():
            if re.fullmatch(name, frame):
                return part
    return None


def shares_of(lines, parts, thread):
    """The shares of parts in the folded stacks of the thread that runs them; and all samples."""
    counts = collections.Counter()
    for frames, count in map(frames_of, lines):
        if re.match(thread, ";".join(frames)) and (
                "Shares.main" not in frames or "Shares.runParts" in frames):
            counts[part_of(frames, parts)] += count
    total = counts.total()
    return {part: counts[part] / total for part in parts}, total


def truth_of(times, parts):
    ns = {part: sum(times[p][0] for p in (["heavy", "light"] if part == "loop" else [part]))
          for part in parts}
    total = sum(time for time, _ in times.values())
    return {part: ns[part] / total for part in parts}


@unittest.skipIf(jdks.missing(), jdks.missing())
class JavaShares(live.LiveTest):
    def run_program(self, version, mode, profiler):
        """Run the program; return its times, the folded stacks of both, and the breaks."""
        folded = self.tmp / f"{version}-{mode}.folded"
        command = jdks.command(version, "Shares", SECONDS, random.randrange(1 << 30),
                               jdks.native_library("shares_jni.c"), options=MODES[mode])
        if profiler:
            jar, library = profiler
            command[command.index("-cp") + 1] += f":{jar}"
            command += [str(library), f"event=ctimer,interval={10**9 // FREQUENCY},cstack=vm,"
                                      f"collapsed,threads,file={folded}"]
        program = self.start(*command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(program.stdout.readline(), b"begin\n")
        recording = self.begin("-p", program.pid, "-F", FREQUENCY)
        before = live.preemptions(program.pid)
        program.stdin.write(b"\n")
        program.stdin.flush()
        times = json.loads(program.stdout.readline())
        breaks = live.preemptions(program.pid) - before
        trace = self.finish(recording)
        program.stdin.write(b"\n")
        program.stdin.flush()
        self.assertEqual(program.wait(60), 0)
        ours = subprocess.run([live.SKEIN, "export", "-f", "folded", "--threads", "-o", "-",
                               trace.path], check=True, capture_output=True, text=True).stdout
        return times, ours.splitlines(), folded.read_text().splitlines() if profiler else [], breaks

    def chance(self, times, breaks, part):
        """By how much a share may be off by chance."""
        total = sum(time for time, _ in times.values()) / 1e9
        stretches = sum(n for p, (_, n) in times.items()
                        if p == part or (part == "loop" and p in ("heavy", "light")))
        stretches += breaks * stretches / sum(n for _, n in times.values())
        return 6 * math.sqrt((stretches + 1) / 4) / FREQUENCY / total

    def check_shares(self, version, mode, profiler=None):
        parts = {**PHYSICAL, **INNERMOST} if mode == "inlined" else PHYSICAL
        times, ours, theirs, breaks = self.run_program(version, mode, profiler)
        own = {p: n for p, n in parts.items() if not (mode == "inlined" and p == "loop")}
        truth = truth_of(times, own)
        shares, count = shares_of(ours, own, "java;main;")
        errors = {part: shares[part] - truth[part] for part in own}
        mean = sum(map(abs, errors.values())) / len(errors)
        report = " ".join(f"{p} {100 * truth[p]:.2f}{100 * e:+.2f}" for p, e in errors.items())
        print(f"JDK {version} {mode}: {count} samples, %: {report}; mean error {100 * mean:.3f}")
        for part, error in errors.items():
            chance = self.chance(times, breaks, part)
            if live.LONG:
                self.assertLess(chance, POINT, "too few samples for the bound of one point")
                chance = 0
            self.assertLessEqual(abs(error), POINT + chance, (part, errors))
        if theirs:
            self.check_beside(own, truth, theirs, mean,
                              max(self.chance(times, breaks, part) for part in own))

    def check_beside(self, parts, truth, theirs, mean, chance):
        shares, count = shares_of(theirs, parts, r"\[main tid=")
        errors = {part: shares[part] - truth[part] for part in parts}
        other = sum(map(abs, errors.values())) / len(parts)
        report = " ".join(f"{p} {100 * e:+.2f}" for p, e in errors.items())
        print(f"  async-profiler: {count} samples, {report}; mean error {100 * other:.3f}")
        self.assertLessEqual(mean, other + chance)

    def test_shares(self):
        if live.LONG and jdks.async_profiler():
            self.skipTest("test_beside_async_profiler checks the same")
        for version in jdks.homes():
            for mode in MODES if live.LONG else SHORT.get(version, ()):
                with self.subTest(jdk=version, mode=mode):
                    self.check_shares(version, mode)

    def test_beside_async_profiler(self):
        profiler = jdks.async_profiler() if live.LONG else None
        if not profiler:
            self.skipTest("only in the long form, with Maven")
        for version in jdks.homes():
            for mode in MODES:
                with self.subTest(jdk=version, mode=mode):
                    self.check_shares(version, mode, profiler)


if __name__ == "__main__":
    live.main()
