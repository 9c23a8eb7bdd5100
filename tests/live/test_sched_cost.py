# SPDX-License-Identifier: Apache-2.0
"""
Under storms of switches, what is not a matter of time: nothing is lost with default
buffers and no CPU set aside, the file stays small, and so does the recorder. How much
it slows the storms down is measured by `make bench`.
"""

import pathlib
import shutil
import time
import unittest

import live

MIB = 1 << 20
RESIDENT = 64 * MIB
PIPE_BYTES, MESSAGING_BYTES = 2, 5  # per switch, wake-ups included
FILE_BYTES, FILE_SWITCHES = 7, 1000000  # of the whole file, in a recording of so many
ROOM = 1 if live.LONG else 1.4  # what else runs makes stamps longer, and short recordings cost more


def switches():
    """Of the machine, since it booted."""
    with open("/proc/stat", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("ctxt "))


def recorders(pid):
    """skein's processes: the first of them, and its children but for the command."""
    ret = [pid]
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        for word in file.read().split():
            if pathlib.Path(f"/proc/{word}/comm").read_text().startswith("skein"):
                ret.append(int(word))
    return ret


def resident(pid):
    """Bytes, without the buffers that the kernel writes; 0 if it has ended."""
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
    """The most that skein's processes together had resident, until they end."""
    peak = 0
    while process.poll() is None:
        try:
            peak = max(peak, sum(resident(pid) for pid in recorders(process.pid)))
        except OSError:
            pass  # one ended meanwhile
        time.sleep(0.1)
    return peak


@unittest.skipUnless(shutil.which("perf"), "perf bench makes the storms")
class SchedCost(live.LiveTest):
    def storm(self, *commands):
        """Record the commands. (trace, switches of the machine meanwhile)"""
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
        """As many slices as the pipes must have made, and wake-ups to go with them."""
        state = trace.one("SELECT id FROM slice_state WHERE word = 'running'")
        kind = trace.one("SELECT id FROM edge_kind WHERE word = 'wake-up'")
        slices = trace.one(f"SELECT count(*) FROM slice WHERE state = {state} AND end != 0")
        wakeups = trace.one(f"SELECT count(*) FROM edge WHERE kind = {kind}")
        self.assertGreaterEqual(slices, 2 * operations)
        self.assertGreaterEqual(wakeups, 0.99 * operations)

    @staticmethod
    def stored(trace):
        """
        Bytes of slices and edges. The tables that every trace has, and the names of all that
        ran, weigh little only in longer recordings: make bench takes whole files.
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
        loops = 11000 if live.LONG else 300  # of 110 to 140 switches
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
