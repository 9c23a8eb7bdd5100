# SPDX-License-Identifier: Apache-2.0
# timeout: 1500
"""
Test the names of Java classes that are made, run and unloaded without end, in a code cache of 12
MB: the memory of a class is soon that of another one, and a sample has the names of its moment or
none. The program's log says which class ran when in each thread, and each sample is compared with
it. Names are never wrong, and at most one frame in a thousand has none: the long form's bound, for
0.05 to 0.25 % were seen in short runs, which allow for 0.5 %. In the first half second of
a recording all methods are new at once, and up to a tenth of the frames may have none.

False alarms: two methods share a number of 31 bits once in 2 billion pairs. The short form allows
for six sigma of unknown frames that come in bunches.
"""
import bisect
import collections
import math
import re

import jdks
import live

FREQUENCY = 999
ROUNDS = 10 if live.LONG else 1
SECONDS = 60 if live.LONG else 2 # of each round
ENOUGH = 5000 * ROUNDS if live.LONG else 200 # samples
TRIES = 4
CLOCKS = 50000 # ns, by which a sample's time may differ from the program's
UNKNOWN_MOST, UNKNOWN_AT_FIRST = 0.001 if live.LONG else 0.005, 0.1
BEGIN = 0.5e9 # ns
BUNCH = 8 # frames of one class in a stack, which have no name together
NUMBER = re.compile(r"[TH](\d{8})|\bm(\d{8})\b|\bp(\d{8})\b")
OPTIONS = ["-XX:ReservedCodeCacheSize=12m", "-Xmx32m", "-XX:+UseSerialGC"]
MODES = {
    "": [],
    "interpreted": ["-Xint"],
    "without counters": ["-Xint", "-XX:-UsePerfData"], # of which the kernel reads one
}
# In the short form, each of these JDKs runs in one of the modes.
SHORT = {17: "interpreted", 25: ""}


class Turns(live.LiveTest):
    def numbers_of(self, stack):
        return {int(next(filter(None, found))) for name in stack.names
                for found in NUMBER.findall(name)}

    def unknown_frames(self, stack):
        """The Java frames of a stack that have no name."""
        return sum(kind == live.FRAME["JAVA"] and name.startswith("[")
                   for name, kind in zip(stack.names, stack.kinds))

    def check_samples(self, trace, log, counts, wrong):
        settled = None
        for time, _, stack in trace.samples():
            if live.FRAME["JAVA"] in stack.kinds:
                settled = settled or time + BEGIN
            elif not settled:
                continue # the JVM's layout is not known yet
            first = " at first" if time < settled else ""
            counts["java" + first] += sum(k == live.FRAME["JAVA"] for k in stack.kinds)
            counts["unknown" + first] += self.unknown_frames(stack)
            turns = log.get(stack.thread["comm"])
            if not turns:
                continue
            at = bisect.bisect(turns[0], time) - 1
            shown = self.numbers_of(stack)
            if at < 0 or not turns[0][at] + CLOCKS < time < turns[1][at] - CLOCKS:
                counts["between"] += 1
                if len(shown) > 1:
                    wrong.append((shown, stack.names))
                continue
            counts["checked"] += 1
            # its class is a name that is missing, which is counted above, or it calls none yet
            counts["without a number"] += not shown and not self.unknown_frames(stack)
            if shown - {turns[2][at]}:
                wrong.append((turns[2][at], shown, stack.names))

    def read_log(self, path):
        log = collections.defaultdict(lambda: ([], [], []))
        for line in path.read_text().splitlines():
            thread, number, begin, end = map(int, line.split())
            for column, value in zip(log[f"turn-{thread}"], (begin, end, number)):
                column.append(value)
        return log

    def run_turns(self, version, mode, seconds):
        """Run the program under recordings; return what was counted, and the wrong samples."""
        path, counts, wrong = self.tmp / f"{version}-{mode}.log", collections.Counter(), []
        program = self.start_program(version, mode, seconds * ROUNDS * 1.2 + 5, path)
        traces = []
        for _ in range(ROUNDS):
            traces.append(self.record("-p", program.pid, "-F", FREQUENCY, "-d", f"{seconds}s",
                                      timeout=seconds + 90))
        self.assertEqual(program.wait(seconds * ROUNDS + 120), 0)
        log = self.read_log(path)
        for trace in traces:
            self.check_samples(trace, log, counts, wrong)
        counts["turns"] = sum(len(turns[0]) for turns in log.values())
        return counts, wrong

    def start_program(self, version, mode, seconds, path):
        command = jdks.command(version, "Turns", seconds, path, options=OPTIONS + MODES[mode])
        program = self.start(*command)
        self.assertEqual(program.stdout.readline(), b"ready\n")
        return program

    def check_turns(self, version, mode):
        seconds = SECONDS
        for _ in range(TRIES):
            counts, wrong = self.run_turns(version, mode, seconds)
            print(f"JDK {version} {mode}: {dict(counts)}, {len(wrong)} wrong")
            if wrong or counts["checked"] >= ENOUGH:
                break
            seconds *= 2 # others have left the program too little of the CPUs
        self.assertEqual(wrong[:3], [])
        self.assertGreaterEqual(counts["checked"], ENOUGH)
        mean = UNKNOWN_MOST * counts["java"]
        chance = 0 if live.LONG else 6 * math.sqrt(BUNCH * mean)
        self.assertLessEqual(counts["unknown"], mean + chance)
        self.assertLessEqual(counts["unknown at first"],
                             max(3, UNKNOWN_AT_FIRST * counts["java at first"]))
        self.assertLessEqual(counts["without a number"], 0.02 * counts["checked"])

    def test_a_sample_has_the_names_of_its_moment(self):
        for version in jdks.homes():
            for mode in MODES:
                if live.LONG or SHORT.get(version) == mode:
                    with self.subTest(jdk=version, mode=mode):
                        self.check_turns(version, mode)


if __name__ == "__main__":
    live.main()
