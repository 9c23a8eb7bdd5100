# SPDX-License-Identifier: Apache-2.0
"""
Test recordings of interrupts: all runs are counted, as perf counts them, those that take long have
spans, and nothing is loaded unless it is asked for.

The kernel's counters in /proc are an upper limit only. Up to some percent of a CPU's timer
interrupts and softirqs are in them without the kernel having run a tracepoint: perf and skein both
count 2,205 to 2,295 on one of two busy CPUs, where /proc/interrupts has 8 to 14 more (Linux 6.18 in
a virtual machine).
"""
import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import live
import serve_live

SUMS = ("SELECT lane.number AS cpu, handler.name AS name, handler.* FROM handler "
        "JOIN lane ON lane.id = handler.lane")
# what the kernel counts where it traces, by the name of its row in /proc/interrupts
VECTORS = {"LOC": "local timer", "RES": "reschedule", "IWI": "irq work"}
# the events of perf that skein counts, by the name of a handler
EVENTS = {"local timer": ("irq_vectors:local_timer_entry",),
          "reschedule": ("irq_vectors:reschedule_entry",),
          "softirq timer": ("irq:softirq_entry", "--filter", "vec==1"),
          "softirq net_rx": ("irq:softirq_entry", "--filter", "vec==3"),
          "softirq sched": ("irq:softirq_entry", "--filter", "vec==7"),
          "softirq rcu": ("irq:softirq_entry", "--filter", "vec==9")}


def rows(path):
    """Return {name: [count by CPU]} of /proc/softirqs or /proc/interrupts."""
    lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
    cpus = len(lines[0].split())
    return {name.strip(): [int(word) for word in rest.split()[:cpus] if word.isdigit()]
            for name, _, rest in (line.partition(":") for line in lines[1:])}


def counts():
    """Return {(name of a handler, CPU): count} as the kernel counts them."""
    ret = {(f"softirq {name.lower()}", cpu): count for name, row in rows("/proc/softirqs").items()
           for cpu, count in enumerate(row)}
    for name, row in rows("/proc/interrupts").items():
        for cpu, count in enumerate(row) if name in VECTORS else ():
            ret[VECTORS[name], cpu] = count
    return ret


class Perf:
    """What perf counts in a `with` statement; then counts is {(name of a handler, CPU): count}."""

    def __init__(self):
        events = [word for event in EVENTS.values() for word in ("-e", *event)]
        self.process = subprocess.Popen(
            ["perf", "stat", "-a", "-A", "-x", ";", *events, "sh", "-c", "echo; cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.counts = {}

    def __enter__(self):
        self.process.stdout.readline() # it counts before it starts its command
        return self

    def __exit__(self, *_):
        lines = self.process.communicate()[1].splitlines()
        lines = [line.split(";") for line in lines if line.startswith("CPU")]
        names = [name for name in EVENTS for _ in live.CPUS]
        for name, (cpu, count, *_) in zip(names, lines, strict=True):
            self.counts[name, int(cpu[3:])] = int(count)


def sums(trace):
    return {(row["name"], row["cpu"]): row for row in trace.query(SUMS)}


def programs():
    """The number of BPF programs that read the handlers."""
    found = subprocess.run(["bpftool", "prog", "show"], capture_output=True, text=True, check=True)
    return found.stdout.count("name on_handler_entry") + found.stdout.count("name on_softirq_begin")


def not_run():
    """Return {name: runs of a BPF program that the kernel has left out}, of those here."""
    found = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, check=True)
    return {p["name"]: p["recursion_misses"] for p in json.loads(found.stdout)
            if p.get("name", "").startswith("on_") and p.get("recursion_misses")}


def load():
    """Make timers, and softirqs of the loopback device: one of net_rx for each of 3,000 packets."""
    subprocess.run(["python3", "-c", "import socket, time\n"
                    "a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                    "a.bind(('127.0.0.1', 0))\na.connect(a.getsockname())\n"
                    "for i in range(3000): a.send(b'x'), a.recv(1), "
                    "i % 30 or time.sleep(1e-3)"], check=True)


class Counted(live.LiveTest):
    missed = 0

    def check_counts(self, found, perf, outer, after, **seen):
        """
        Compare {(name, CPU): count} with perf's, and with the kernel's around it. In 3 runs of 34,
        all beside other load, windows had one interrupt of a CPU fewer than perf (28 of 29
        reschedules): why, is not known. seen: what may explain it, to be shown.
        """
        for key, count in after.items():
            with self.subTest(key=key):
                self.assertGreaterEqual(found.get(key, 0) + self.missed, perf.counts.get(key, 0),
                                        seen)
                self.assertLessEqual(found.get(key, 0), count - outer[key])
        self.assertGreater(sum(perf.counts.values()), 3000)


@unittest.skipUnless(shutil.which("perf"), "no perf, which counts, too")
class Interrupts(Counted):
    def spans(self, trace):
        """Return {(name, CPU): [length]}."""
        ret = {}
        for row in trace.query("SELECT spans.name, length, number AS cpu FROM spans "
                               "JOIN lane ON lane.name = spans.lane "
                               "WHERE spans.kind IN ('interrupt', 'softirq')"):
            ret.setdefault((row["name"], row["cpu"]), []).append(row["length"])
        return ret

    def test_counts(self):
        """At least what perf counts meanwhile, and at most what the kernel counts around it."""
        outer = counts()
        recording = self.begin("-a", "-e", "cpu,interrupts", "--interrupt-min", "0")
        with Perf() as perf:
            load()
        trace = self.finish(recording)
        after, found = counts(), sums(trace)
        self.check_counts({key: row["count"] for key, row in found.items()}, perf, outer, after)
        self.assertGreater(sum(row["count"] for row in found.values()), 3000)
        # each run has a span, and the spans have its time and more: that of what interrupted it
        spans = self.spans(trace)
        for key, row in found.items():
            with self.subTest(key=key):
                self.assertEqual(len(spans[key]) + row["without"], row["count"])
                self.assertGreaterEqual(sum(spans[key]), row["time"])
                self.assertEqual(max(spans[key]), row["longest"])
                if row["kind"] == trace.one("SELECT id FROM span_kind WHERE word = 'interrupt'"):
                    self.assertEqual(sum(spans[key]), row["time"])
        self.assertEqual(trace.losses("UNPAIRED") + trace.losses("INTERRUPTS_LOST"), 0)

    def test_spans_nest(self):
        recording = self.begin("-a", "-e", "cpu,interrupts", "--interrupt-min", "0")
        load()
        trace = self.finish(recording)
        for lane in trace.query("SELECT DISTINCT lane FROM span"):
            open_ends = []
            for row in trace.query(f"SELECT time, end FROM span WHERE lane = {lane['lane']} "
                                   "ORDER BY time, end DESC"):
                while open_ends and open_ends[-1] <= row["time"]:
                    open_ends.pop()
                self.assertTrue(not open_ends or row["end"] <= open_ends[-1], row)
                open_ends.append(row["end"])
                self.assertLessEqual(len(open_ends), 2)

    def test_long_ones(self):
        """By default only long runs have spans; all are counted. Below their CPU's lane."""
        recording = self.begin("-a", "-e", "cpu,sched,interrupts", "--interrupt-min", "20us")
        load()
        trace = self.finish(recording)
        found = sums(trace)
        for key, lengths in self.spans(trace).items():
            self.assertGreaterEqual(min(lengths), 20000)
            self.assertLessEqual(len(lengths), found[key]["count"])
        self.assertGreater(sum(row["count"] for row in found.values()), 3000)
        for row in trace.query("SELECT lane.number, above.number AS cpu FROM lane "
                               "JOIN lane AS above ON above.id = lane.parent JOIN lane_kind "
                               "ON lane_kind.id = lane.kind WHERE word = 'handlers'"):
            self.assertEqual(row["number"], row["cpu"])

    @unittest.skipIf(len(live.CPUS) < 2, "one CPU of several")
    def test_one_cpu(self):
        recording = self.begin("-a", "-C", live.CPUS[-1], "-e", "cpu,interrupts")
        load()
        self.assertEqual({cpu for _, cpu in sums(self.finish(recording))}, {live.CPUS[-1]})

    def test_device(self):
        """An interrupt of the disk has its number and its driver's name, as the kernel has them."""
        recording = self.begin("-a", "-e", "cpu,interrupts")
        with open(self.file(), "wb") as file:
            for _ in range(20):
                file.write(os.urandom(4096))
                file.flush()
                os.fsync(file.fileno())
        names = {name for name, _ in sums(self.finish(recording)) if name.startswith("irq ")
                 and name.split()[1].isdigit()}
        for name in names:
            _, number, device = name.split(maxsplit=2)
            actions = pathlib.Path(f"/sys/kernel/irq/{number}/actions").read_text("ascii").strip()
            self.assertIn(device, [action[:31] for action in actions.split(",")])

    def test_not_asked_for(self):
        recording = self.begin("-a", "-e", "all")
        loaded = programs()
        trace = self.finish(recording)
        self.assertEqual(loaded, 0)
        self.assertEqual(trace.query("SELECT name FROM sqlite_schema WHERE name = 'handler'"), [])

    def test_option_needs_event(self):
        self.record("-a", "-e", "sched", "--interrupt-min", "1us", status=2)


@unittest.skipUnless(shutil.which("perf"), "no perf, which counts, too")
class Served(serve_live.ServeTest, Counted):
    """Windows and flights of the service have their own part of the sums, and no other."""
    missed = 1

    def setUp(self):
        super().setUp()
        self.runtime_folder(self.tmp / "memory")

    def check_window(self, path):
        """No CPU served more than the time that a window has, and no run was longer than all."""
        trace = live.Trace(path)
        length = trace.one('SELECT "end" - start FROM host')
        by_cpu = collections.Counter()
        for (_, cpu), row in sums(trace).items():
            by_cpu[cpu] += row["time"]
            self.assertLessEqual(row["time"], row["count"] * row["longest"])
            self.assertGreater(row["count"], 0)
        # a window has the sums from a tick to a tick, which come each second
        self.assertLessEqual(max(by_cpu.values()), length + 2 * 10 ** 9)

    def test_windows(self):
        """All windows together have what perf counts, but for the edges; so has a report."""
        outer = counts()
        service = self.serve("-e", "interrupts", "--window", "3s" if live.LONG else "2s")
        # the file of the first window is there before the CPUs are recorded
        self.wait_for(service.windows)
        with Perf() as perf:
            for windows in (3, 5) if live.LONG else (2, 4):
                load()
                self.wait_for(lambda: len(service.windows()) >= windows, limit=120)
        seen = {"not run": not_run(), "lost": []}
        self.assertEqual(service.stop()[0], 0)
        after, found, by_name = counts(), collections.Counter(), collections.Counter()
        for path in service.windows():
            self.check_window(path)
            trace = live.Trace(path)
            seen["lost"].append((trace.losses("UNPAIRED"), trace.losses("INTERRUPTS_LOST")))
            for (name, cpu), row in sums(trace).items():
                found[name, cpu] += row["count"]
                by_name[name] += row["count"]
        self.check_counts(found, perf, outer, after, **seen)
        report = json.loads(self.skein("report", "--json", "--last", "1h", "--folder", self.folder))
        self.assertEqual({h["name"]: h["count"] for h in report["interrupts"]["handlers"]}, by_name)

    def flights(self):
        return list(self.folder.glob("2*s-[a-z]*.skein"))

    def test_flight(self):
        """A flight has the sums of its own time, not those since the service began."""
        seen = [] # (time, what the kernel counts)

        def look():
            seen.append((time.clock_gettime_ns(time.CLOCK_BOOTTIME), counts()))
            return seen[-1][0]

        outer = counts()
        keep = 10 if live.LONG else 3
        service = self.serve("--keep", f"{keep}s", "--keep-events", "interrupts", "--window", "2s")
        load()
        # more than a flight can have of the time before the trigger
        end = look() + (keep + 5) * 10 ** 9
        self.wait_for(lambda: look() > end)
        with Perf() as perf:
            load()
        service.process.send_signal(signal.SIGUSR1)
        self.wait_for(lambda: look() and self.flights(), limit=60)
        after = counts()
        self.assertEqual(service.stop()[0], 0)
        trace = live.Trace(self.flights()[0])
        begin = trace.one("SELECT start FROM host")
        found = collections.Counter({key: row["count"] for key, row in sums(trace).items()})
        # the first sums of a flight came at a tick in its time, and begin at the tick before
        before = ([outer] + [c for t, c in seen if t < begin - 3 * 10 ** 9])[-1]
        self.check_counts(found, perf, before, after)


if __name__ == "__main__":
    live.main()
