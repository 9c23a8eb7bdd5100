# SPDX-License-Identifier: Apache-2.0
"""Shared base of the live tests of scheduler records."""

import time

import live
import scheduler


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


STEAL_STEP = 10e6 * len(live.CPUS)  # ns: each CPU counts stolen time in such steps


def steal():
    """Return the ns that the host took from all CPUs so far, in steps of STEAL_STEP."""
    return round(live.stolen() * 1e9)


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


RESOLUTION = 64  # ns, of time stamps

# Names in scheduler.WAIT_NAME of the words that skein and workloads/waits.c use.
CLASS = {"lock": "LOCK", "I/O": "IO", "sleep": "SLEEP", "poll": "POLL", "page fault": "FAULT",
         "pipe or socket": "PIPE", "child": "CHILD", "throttled": "THROTTLED", "other": "OTHER",
         "Java monitor": "MONITOR", "Object.wait": "OBJECT_WAIT", "park": "PARK",
         "safepoint": "SAFEPOINT", "GIL": "GIL"}


class SchedTest(live.LiveTest):
    def watch(self, *args, **more):
        return self.begin("-e", "sched", *args, **more)

    def timeline(self, recording, whole=True):
        """End a recording and return its timeline. whole: nothing may be lost."""
        trace = self.finish(recording)
        if whole:
            self.assertEqual(trace.losses("SWITCHES_LOST"), 0, "records are lost")
        return scheduler.Timeline(trace)

    @staticmethod
    def unknown_time(timeline, begin, end):
        """Return how many switches may be missing: two around each unknown time."""
        return 2 * sum(time < end and begin < until for time, until in timeline.unknown)

    def check_tiles(self, timeline, lanes=()):
        """
        Check that CPU lanes tile the recording, and that the lives of these threads have no gap.
        """
        wrong = {cpu: found[:5] for cpu, found in timeline.tiling().items() if found}
        self.assertEqual(wrong, {})
        for cpu, rows in timeline.cpu_slices.items():
            with self.subTest(cpu=cpu):
                self.assertLess(abs(rows[-1]["end"] - timeline.host["end"]), RESOLUTION)
        for lane in lanes:
            timeline.stretches(lane)
        self.assertEqual(timeline.contradictions[:5], [])
