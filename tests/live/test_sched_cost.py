# SPDX-License-Identifier: Apache-2.0
"""
Test storms of switches, except for time: nothing is lost with default buffers and without a CPU
set aside, the file stays small, and so does the recorder. `make bench` measures how much recording
slows down the storms.
"""

import pathlib
import shutil
import time
import unittest

import live

MIB = 1 << 20
RESIDENT = 64 * MIB
PIPE_BYTES, MESSAGING_BYTES = 2, 5  # per switch, wake-ups included
# of the whole file, in a recording with this number of switches
FILE_BYTES, FILE_SWITCHES = 7, 1000000
# other load makes time stamps longer, and short recordings cost more
ROOM = 1 if live.LONG else 1.4


def switches():
    """Return the machine's switches since boot."""
    with open("/proc/stat", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("ctxt "))


def recorders(pid):
    """Return the pids of skein: the first process, and its children except the command."""
    ret = [pid]
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        for word in file.read().split():
            if (live.command_name(word) or "").startswith("skein"):
                ret.append(int(word))
    return ret


def resident(pid):
    """Return the resident bytes without the kernel's ring buffers; 0 if the process has ended."""
    total, buffers = 0, False
    try:
        with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as file:
            for line in file:
                if "-" in line.split(" ", 1)[0]:
                    buffers = "bpf-map" in line or "perf_event" in line
                elif line.startswith("Rss:") and not buffers:
                    total += int(line.split()[1]) * 1024
    except OSError:
        pass
    return total


def peak_of(process):
    """Return the peak of the resident bytes of all skein processes together."""
    peak = 0
    while process.poll() is None:
        try:
            peak = max(peak, sum(resident(pid) for pid in recorders(process.pid)))
        except OSError:
            pass  # one ended in the meantime
        time.sleep(0.1)
    return peak


@unittest.skipUnless(shutil.which("perf"), "perf bench makes the storms")
class SchedCost(live.LiveTest):
    def storm(self, *commands):
        """Record the commands; return (trace, switches of the machine during the recording)."""
        script = "".join(f"{command} >/dev/null & p{i}=$!; " for i, command in enumerate(commands))
        script += " && ".join(f"wait $p{i}" for i in range(len(commands)))
        trace, before = live.Trace(self.file()), switches()
        process = self.start(live.SKEIN, "record", "-q", "-a", "-e", "sched", "-o", trace.path,
                             "--", "sh", "-c", script)
        peak = peak_of(process)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(trace.losses("SWITCHES_LOST"), 0)
        self.assertGreater(peak, MIB)
        self.assertLess(peak, RESIDENT)
        return trace, switches() - before

    def pipe(self, cpu, operations):
        return f"taskset -c {cpu} perf bench sched pipe -l {operations}"

    def running(self, trace, operations):
        """Check that there are as many slices as the pipes must have made, with their wake-ups."""
        state = trace.one("SELECT id FROM slice_state WHERE word = 'running'")
        kind = trace.one("SELECT id FROM edge_kind WHERE word = 'wake-up'")
        slices = trace.one(f"SELECT count(*) FROM slice WHERE state = {state} AND end != 0")
        wakeups = trace.one(f"SELECT count(*) FROM edge WHERE kind = {kind}")
        self.assertGreaterEqual(slices, 2 * operations)
        self.assertGreaterEqual(wakeups, 0.99 * operations)

    @staticmethod
    def stored(trace):
        """
        Return the bytes of slices and edges. The tables of every trace, and the names of all
        threads, have little weight only in longer recordings, for which make bench measures whole
        files.
        """
        return trace.one("SELECT sum(length(data)) FROM chunk WHERE kind IN ('slice', 'edge')")

    def test_pinned_pipe(self):
        operations = 1000000 if live.LONG else 150000
        trace, counted = self.storm(self.pipe(live.CPUS[-1], operations))
        self.running(trace, operations)
        self.assertLessEqual(self.stored(trace) / counted, ROOM * PIPE_BYTES)

    @unittest.skipIf(len(live.CPUS) < 2, "a pipe on each of two CPUs")
    def test_pipe_on_each_cpu(self):
        operations = 1000000 if live.LONG else 150000
        trace, _ = self.storm(*(self.pipe(cpu, operations) for cpu in live.CPUS))
        self.running(trace, operations * len(live.CPUS))

    def test_messaging(self):
        loops = 13000 if live.LONG else 300  # of 90 to 140 switches
        trace, counted = self.storm(f"perf bench sched messaging -g 10 -l {loops}")
        size = pathlib.Path(trace.path).stat().st_size
        print(f"{counted:,} switches, bytes of each: {self.stored(trace) / counted:.2f} of slices "
              f"and edges, {size / counted:.2f} of the file")
        self.assertGreater(counted, FILE_SWITCHES if live.LONG else 10000)
        self.assertLessEqual(self.stored(trace) / counted, ROOM * MESSAGING_BYTES)
        if live.LONG:
            self.assertLessEqual(size / counted, FILE_BYTES)


if __name__ == "__main__":
    live.main()
