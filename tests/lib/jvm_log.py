# SPDX-License-Identifier: Apache-2.0
"""
Read what a JVM itself writes about its safepoints and collections: the file of
-Xlog:gc*,safepoint:file=FILE:tn, whose stamps are ns of CLOCK_MONOTONIC.
"""
import collections
import re

OPTION = "-Xlog:gc*,safepoint:file={}:tn"
LINE = re.compile(r"\[(\d+)ns\] (?:GC\((\d+)\) )?(?:([YyOo]): )?(.*)")
SAFEPOINT = re.compile(r'Safepoint "([^"]*)"')
PART = re.compile(r"(Reaching safepoint|Cleanup|Leaving safepoint|Total): (\d+) ns")
PAUSE = re.compile(r"(Pause [^(0-9]*(?:\([^0-9)][^)]*\) ?)*).*?([\d.]+)ms$")
CYCLE = re.compile(r"(Garbage|Minor|Major) Collection \(.*\) .*->")

Safepoint = collections.namedtuple("Safepoint", "time operation reaching total")
CAUSE = re.compile(r"\(([^()]*(?:\(\))?)\)(?= \d+M->)")
Pause = collections.namedtuple("Pause", "time begun collection generation name length cause")


class Log:
    """
    Safepoints and pauses in their order; times are when the line was written, after the end. begun
    of a pause is the time of the line at its begin, None if there is none; length: ns.
    """

    def __init__(self, path, since=0):
        self.safepoints, self.pauses, self.cycles, begun = [], [], [], {}
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
        for match in filter(None, map(LINE.match, lines)):
            if int(match[1]) < since:
                continue
            time, number, generation, text = int(match[1]), match[2], match[3], match[4].strip()
            if found := SAFEPOINT.match(text):
                part = {name: int(ns) for name, ns in PART.findall(text)}
                reaching = part["Reaching safepoint"] + part.get("Cleanup", 0)
                self.safepoints.append(Safepoint(time, found[1], reaching, part["Total"]))
            elif number and text.startswith("Pause "):
                if not (found := PAUSE.match(text)):
                    begun[number, generation] = time
                    continue
                self.pauses.append(Pause(time, begun.pop((number, generation), None), int(number),
                                         generation, found[1].strip(), float(found[2]) * 1e6,
                                         (CAUSE.search(text) or [None, None])[1]))
            elif number and (found := CYCLE.match(text)):
                self.cycles.append(found[1])

    def count(self, *begins):
        """Return the number of pauses and cycles whose name begins with one of the words."""
        return sum(name.startswith(begins) for name in [*(p.name for p in self.pauses),
                                                        *self.cycles])
