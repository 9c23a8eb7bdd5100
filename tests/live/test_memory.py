# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""
Test that memory does not grow with the length of a recording: endless distinct stacks, processes,
programs and files. The test measures anonymous memory; the rings are mapped memory, shown
separately. The worker's symbol tables have a budget of their own, and grow with the number of
different programs that the machine runs during the recording.
"""

import itertools
import os
import subprocess
import sys
import threading
import time
import unittest

import live
from live import workload

MIB = 1 << 20
LIMIT = 64 * MIB
PARKED = 32 * MIB # samples that wait for unwind tables: a quarter of --unwind-memory
HELPERS = 128 * MIB  # the worker's budget for tables is 64 MiB
KINDS = ((), ("--keep", "30s"), ("-e", "sched"), ("-e", "all", "--keep", "30s"))
FILES = 1500  # more than skein keeps of files that are no longer mapped

# This program maps the given number of files as code, and deletes them.
MAPPER = """
import mmap, os, sys
kept = []
for number in range(int(sys.argv[1])):
    path = os.path.join(sys.argv[2], str(number))
    with open(path, "wb+") as file:
        file.truncate(4096)
        kept.append(mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE,
                              mmap.PROT_READ | mmap.PROT_EXEC))
    os.unlink(path)
print("mapped", flush=True)
sys.stdin.read()
"""

# A short-lived Python program; its threads and its code have unique names.
PROGRAM = """
import ctypes, os, threading
libc = ctypes.CDLL(None)
def run(number):
    libc.prctl(15, b"t%d" % (os.getpid() * 97 + number), 0, 0, 0)
    exec(f"def made{os.getpid()}(n):\\n return sum(range(n))\\nmade{os.getpid()}(100000)")
for number in range(10):
    thread = threading.Thread(target=run, args=(number,))
    thread.start()
    thread.join()
"""


def family(pid):
    ret = [pid]
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            ret += [int(p) for p in file.read().split()]
    except OSError:
        pass
    return ret


def anonymous(pids):
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                total += sum(int(line.split()[1]) * 1024 for line in file
                             if line.startswith("RssAnon"))
        except OSError:
            pass
    return total


def descriptors(pids):
    """Return the largest number of descriptors that one of the processes has."""
    return max(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids)


class Memory(live.LiveTest):
    def map_files(self):
        folder = self.tmp / "files"
        folder.mkdir(exist_ok=True)
        mapper = subprocess.Popen([sys.executable, "-c", MAPPER, str(FILES), folder],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end, mapper)
        self.addCleanup(mapper.stdout.close)
        self.assertEqual(mapper.stdout.readline(), b"mapped\n")
        return mapper

    def watch(self, recording, workers):
        """Measure the recorder's memory ten times a second while the workers run."""
        pids = family(recording.pid)
        seen, helpers = [], 0
        while any(w.poll() is None for w in workers):
            seen.append(anonymous(pids[:1]))
            helpers = max(helpers, anonymous(pids[1:]))
            time.sleep(0.1)
        self.assertLess(helpers, HELPERS)
        return seen

    def check(self, seen, more=0):
        half = seen[len(seen) // 2:]
        reported = (f"peak {max(seen) / MIB:.1f} MiB, second half {min(half) / MIB:.1f} to "
                    f"{max(half) / MIB:.1f} MiB")
        self.assertLess(max(seen), LIMIT + more, reported)
        # growth with length is steady: compare the second half's growth with the total
        self.assertLess(half[-1] - half[0], max(8 * MIB, max(seen) // 5), reported)

    def test_distinct_stacks(self):
        """In the long form a million stacks, most of which occur once."""
        seconds = 110 if live.LONG else 8
        recording = self.begin("-a", "-F", 9999)
        workers = [self.start(workload("distinct"), seconds, cpu=cpu) for cpu in live.CPUS]
        seen = self.watch(recording, workers)
        trace = self.finish(recording)
        # 10 kHz of all processes: beside a build, whose programs are new, stacks wait for tables
        self.check(seen, PARKED)
        mine = "FROM sample WHERE thread IN (SELECT id FROM thread WHERE comm = 'distinct')"
        distinct = trace.one(f"SELECT count(DISTINCT stack) {mine}")
        samples = trace.one(f"SELECT count(*) {mine}")
        self.assertGreater(distinct, 0.5 * samples)
        if live.LONG and len(live.CPUS) > 1:
            self.assertGreater(distinct, 1000000)

    def test_processes(self):
        """In the long form 100,000 processes."""
        seconds, rate, most = (600, 1800, 100000) if live.LONG else (5, 1000, 5000)
        recording = self.begin("-a", "-F", 999)
        storm = self.start(workload("storm"), seconds, rate, 50, most)
        seen = self.watch(recording, [storm])
        count = self.output(storm)["count"]
        trace = self.finish(recording)
        self.check(seen)
        self.assertGreater(count, most - 1 if live.LONG else 20)
        self.assertIn("storm_child", live.functions(trace.stacks()))
        self.assertFalse(os.path.exists(recording.path + "-journal"))

    def test_files_that_are_gone(self):
        """Deleted files are closed, which releases their disk space."""
        recording = self.begin("-a")
        pids = family(recording.pid)
        before = descriptors(pids)
        mapper = self.map_files()
        self.wait_for(lambda: descriptors(pids) > before + FILES * 0.9)
        mapper.stdin.close()
        mapper.wait()
        self.wait_for(lambda: descriptors(pids) < before + FILES * 0.6)
        self.finish(recording)

    def test_what_others_map(self):
        """Mappings of other processes cost a recording of one process nothing."""
        one = self.start(workload("loop"), 60)
        recording = self.begin("-p", one.pid)
        pids = family(recording.pid)
        before, memory = descriptors(pids), anonymous(pids[:1])
        self.map_files()
        time.sleep(2)
        self.assertLess(descriptors(pids), before + FILES * 0.1)
        self.assertLess(anonymous(pids[:1]), memory + 2 * MIB)
        self.finish(recording)

    def test_symbols_of_the_kernel(self):
        """
        Kernel symbols come and go with BPF programs; a record without a valid time would wait
        forever.
        """
        recording = self.begin("-a")
        self.record("-a", "-d", "100ms")
        self.assertEqual(self.finish(recording).losses("BAD_RECORD"), 0)

    def run_programs(self, until):
        """Run endless programs, each in a file of its own that is deleted, and some in Python."""
        for number in itertools.count():
            if time.monotonic() > until:
                return
            path = self.copy("storm", f"programs/{number}")
            subprocess.run([path, "child", "2000"], check=True)
            path.unlink()
            if number % 8 == 0:
                subprocess.run([sys.executable, "-c", PROGRAM], check=True)

    @unittest.skipUnless(live.LONG, "takes ten minutes")
    def test_for_long(self):
        """
        Check every skein process by itself: steady growth shows in its second half. The recordings
        run side by side, and each is one of the programs that the others record.
        """
        seconds = 600
        recordings = {kind: self.begin("-a", *kind) for kind in KINDS}
        storm = self.start(workload("storm"), seconds, 300, 100)
        programs = threading.Thread(target=self.run_programs, args=(time.monotonic() + seconds,))
        programs.start()
        pids = {kind: family(recording.pid) for kind, recording in recordings.items()}
        seen = {kind: [] for kind in KINDS}
        opened = dict.fromkeys(KINDS, 0)
        while storm.poll() is None:
            for kind in KINDS:
                seen[kind].append([anonymous([p]) for p in pids[kind]])
                opened[kind] = max(opened[kind], descriptors(pids[kind]))
            time.sleep(1)
        programs.join()
        for kind, recording in recordings.items():
            self.finish(recording)
            with self.subTest(kind=kind):
                self.check_for_long(kind, seen[kind])
                self.assertLess(opened[kind], 2 * FILES)

    def check_for_long(self, kind, seen):
        for number, one in enumerate(zip(*seen)):
            half = one[len(one) // 2:]
            reported = f"{kind}, {number}: peak {max(one) / MIB:.1f} MiB, second half " \
                   f"{half[0] / MIB:.1f} to {half[-1] / MIB:.1f} MiB"
            print(reported)
            self.assertLess(half[-1] - half[0], max(8 * MIB, max(one) // 5), reported)
        self.assertLess(max(one[0] for one in seen), LIMIT)


if __name__ == "__main__":
    live.main()
