# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""
Test Python programs that measure themselves: shares of functions by the clock of their own thread,
and a schedule of calls with a log of their times.

Expected error of shares (see test_truth.py): 1/6 sample per border of a part (start, end or
preemption), or the error of independent samples, whichever is less. Six sigma are below one
percentage point on a machine with idle time, and are allowed in the short form on a busy one; the
long form allows one point. Six sigma are one false alarm in 500 million; there are about a hundred
shares. Due samples on the programs' CPU that were not taken may all belong to one function: the
account has their number, and their share of the samples is allowed on top.
"""
import bisect
import collections
import json
import math
import re

import live
import python_found
import python_stacks

FREQUENCY = 1999
SECONDS = 30 if live.LONG else 4  # CPU seconds of each
SCHEDULE = 30 if live.LONG else 1.5
POINT = 0.01
SOURCES = live.ROOT / "tests" / "workloads" / "python"
STEP = re.compile(r"step_\d+")
CLOCKS = 3000  # ns, by which the clock in an interrupt may differ from the program's


def bound(borders, samples, share):
    chance = 6 * math.sqrt(min(borders / 6, samples * share * (1 - share))) / samples
    return POINT if live.LONG else max(POINT, chance)


class Truth(live.LiveTest):
    def record_of(self, program, seconds, *more):
        """
        Run a program with several interpreters at once; return {interpreter: (pid, output)} and
        the stacks.
        """
        recording = self.begin("-a", "-F", FREQUENCY)
        started = {}
        for one in python_found.some() + python_found.fetched():
            out = self.tmp / f"{program}-{one.name}.json"
            process = self.start(one.path, SOURCES / program, seconds, out, *more,
                                 cpu=max(live.CPUS))
            started[one] = process, out
        for process, _ in started.values():
            process.communicate(timeout=600)
            self.assertEqual(process.returncode, 0)
        trace = self.finish(recording)
        self.missing = trace.unsampled(max(live.CPUS))
        return python_stacks.Stacks(trace), {one: (process.pid, json.loads(out.read_text()))
                                             for one, (process, out) in started.items()}

    def whole(self, one, samples):
        lacking = python_stacks.incomplete(samples)
        self.assertLessEqual(lacking.total(), python_stacks.allowed(len(samples)),
                             f"{one}: of {len(samples)}: {lacking}")

    def compare(self, one, samples, parts, total, borders):
        worst, missing = 0, self.missing / len(samples)
        for part, used in parts.items():
            found = sum(part in python_stacks.names(s) for s in samples) / len(samples)
            worst = max(worst, abs(found - used / total))
            with self.subTest(python=str(one), part=part, truth=used / total, found=found,
                              missing=missing, borders=borders, samples=len(samples)):
                self.assertAlmostEqual(found, used / total, delta=missing + bound(
                    borders, len(samples), used / total))
        print(f"{one}: {len(parts)} shares of {len(samples)} samples with {borders} borders, the "
              f"worst is {100 * worst:.2f} points off; {self.missing} samples missing on its CPU")

    def test_shares(self):
        stacks, said = self.record_of("shares.py", SECONDS)
        for one, (pid, truth) in said.items():
            begin, end, begin_threads, end_threads = truth["stamps"]
            samples = stacks.samples(pid, begin, end)
            self.whole(one, samples)
            self.compare(one, samples, truth["parts"], truth["total"], truth["borders"])
            samples = stacks.samples(pid, begin_threads, end_threads)
            self.whole(one, samples)
            mine = [s for s in samples if set(python_stacks.names(s)) & set(truth["threads"])]
            self.assertGreater(len(mine), 0.9 * len(samples))
            self.compare(one, mine, truth["threads"], sum(truth["threads"].values()),
                         truth["thread_borders"])

    @staticmethod
    def moments(log):
        """
        Return (times, possible stacks from each on) of a log: a noted call may not have started
        yet, and the previous one may have returned.
        """
        times, possible, stack = [0], [((),)], ()
        for which, when in zip(log[::2], log[1::2]):
            times.append(when)
            if which < 0:
                stack = stack[:-1]
                possible.append((stack, stack[:-1]))
            else:
                possible.append((stack, stack + (f"step_{which}",)))
                stack += (f"step_{which}",)
        return times, possible

    def check_schedule(self, one, samples, log):
        times, possible = self.moments(log)
        samples = [s for s in samples if times[1] < s.time < times[-1]]
        self.assertGreater(len(samples), 0.8 * FREQUENCY * SCHEDULE)
        self.whole(one, samples)
        wrong, checked = collections.Counter(), 0
        for sample in samples:
            if sample.end is not None or sample.flags & python_stacks.UNREAD:
                continue
            stack = tuple(n for n in python_stacks.names(sample) if STEP.fullmatch(n or ""))
            first = bisect.bisect(times, sample.time - CLOCKS) - 1
            last = bisect.bisect(times, sample.time + CLOCKS)
            checked += 1
            if not any(stack in can for can in possible[first:last]):
                wrong[(stack, tuple(possible[first:last]))] += 1
        print(f"{one}: {checked} samples of a schedule of {len(times)} calls and returns")
        self.assertFalse(wrong, f"{one}: {wrong.total()} of {checked}: {wrong.most_common(2)}")

    def test_schedule(self):
        seed = live.time.time_ns() % 1000000
        stacks, said = self.record_of("schedule.py", SCHEDULE, seed)
        for one, (pid, log) in said.items():
            with self.subTest(python=str(one), seed=seed):
                self.check_schedule(one, stacks.samples(pid), log)


if __name__ == "__main__":
    live.main()
