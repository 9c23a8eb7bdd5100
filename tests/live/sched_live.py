# SPDX-License-Identifier: Apache-2.0
"""What the live tests of the scheduler's records share."""

import os
import time

import live
import scheduler


def descriptors(pid, word):
    """Of a process: how many of its open files have a name with that word."""
    found = 0
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                found += word in os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                pass
    except OSError:
        pass
    return found


class SchedRecording(live.Recording):
    """`skein record -e sched`, from the moment at which its programs are attached."""

    def has_begun(self):
        return descriptors(self.pid, "bpf_link") + descriptors(self.pid, "bpf-link") >= 2


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


STEAL_STEP = 10e6 * len(live.CPUS)  # ns: each CPU counts the time stolen from it in such steps


def steal():
    """ns that the host took from all CPUs so far, in steps of STEAL_STEP."""
    return round(live.stolen() * 1e9)


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


RESOLUTION = 64  # ns, of stamps

# scheduler.WAIT_NAME of the words that skein and workloads/waits.c use
CLASS = {"lock": "LOCK", "I/O": "IO", "sleep": "SLEEP", "poll": "POLL", "page fault": "FAULT",
         "pipe or socket": "PIPE", "child": "CHILD", "throttled": "THROTTLED", "other": "OTHER"}


class SchedTest(live.LiveTest):
    def watch(self, *args, **more):
        return self.begin("-e", "sched", *args, kind=SchedRecording, **more)

    def timeline(self, recording, whole=True):
        """The trace of a recording that ends now. whole: nothing is lost in it."""
        trace = self.finish(recording)
        if whole:
            self.assertEqual(trace.losses("SWITCHES_LOST"), 0, "records are lost")
        return scheduler.Timeline(trace)

    @staticmethod
    def untold(timeline, begin, end):
        """Of how many switches the kernel may not have told: two around each unknown time."""
        return 2 * sum(time < end and begin < until for time, until in timeline.unknown)

    def check_tiles(self, timeline, lanes=()):
        """CPU lanes tile the recording, and the lives of these threads have no hole."""
        wrong = {cpu: found[:5] for cpu, found in timeline.tiling().items() if found}
        self.assertEqual(wrong, {})
        for cpu, rows in timeline.cpu_slices.items():
            with self.subTest(cpu=cpu):
                self.assertLess(abs(rows[-1]["end"] - timeline.host["end"]), RESOLUTION)
        for lane in lanes:
            timeline.stretches(lane)
        self.assertEqual(timeline.contradictions[:5], [])
