# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
Compare skein's records with measurements by the threads themselves, with the kernel's accounting,
and with perf sched on the same seconds.

A thread knows of a wait when it requested the wait, when it was back, and for how much of that
time it had the CPU. The time without the CPU is compared with the time in which, by skein's
records, the thread did not run; for a burst, its CPU time with the time in which it ran. The
median error must be within 20 us + 0.1 % of the interval; the tail is printed.
"""

import bisect
import collections
import os
import re
import select
import subprocess

import evidence
import live
import sched_live
import scheduler
from live import workload
from scheduler import STATE

SECONDS = 10 if live.LONG else 2
CPU = live.CPUS[-1]
SWITCHING = 5000  # ns

Error = collections.namedtuple("Error", "ns length phase")


class Lane:
    """The stretches of a thread, searched by time."""

    def __init__(self, timeline, lane):
        self.lane = lane
        self.stretches = timeline.stretches(lane)
        self.ends = [s.end for s in self.stretches]

    def within(self, begin, end):
        at = bisect.bisect_right(self.ends, begin)
        found = []
        while at < len(self.stretches) and self.stretches[at].time < end:
            s = self.stretches[at]
            found.append(s._replace(time=max(s.time, begin), end=min(s.end, end)))
            at += 1
        return found


def milliseconds(ns):
    return f"{ns / 1e6:.3f} ms"


def microseconds(ns):
    return f"{ns / 1e3:.1f} us"


class Truth(sched_live.SchedTest):
    def record_truth(self):
        recording = self.watch("-a")
        before = sched_live.steal()
        facts = self.output(self.start(workload("truth"), SECONDS, self.tmp / "disk"))
        stolen = sched_live.steal() - before
        return facts["threads"], stolen, self.timeline(recording)

    def test_log_and_accounting(self):
        """Check one recording in several ways, because recording takes most of the time."""
        threads, stolen, timeline = self.record_truth()
        lanes = {t["tid"]: Lane(timeline, timeline.lane(t["tid"])) for t in threads}
        self.check_phases(threads, lanes, timeline)
        self.check_releases(threads, lanes, timeline)
        self.check_accounting(threads, lanes, stolen, timeline)
        self.check_tiles(timeline, [l for l in timeline.runs if l])

    @staticmethod
    def phase_error(lane, phase):
        """Return (skein's value, the thread's own) of a phase."""
        kind, begin, end, cpu, _ = phase
        running = scheduler.total(lane.within(begin, end), "RUNNING")
        if kind in ("burst", "hold"):
            return running, cpu
        return end - begin - running, end - begin - cpu

    def check_phases(self, threads, lanes, timeline):
        errors = collections.defaultdict(list)
        walls = collections.defaultdict(list)
        for thread in threads:
            lane = lanes[thread["tid"]]
            for phase in thread["phases"]:
                kind, begin, end, _, switches = phase
                if kind not in ("burst", "hold") and not switches:
                    continue  # did not wait
                mine, truth = self.phase_error(lane, phase)
                errors[kind].append(Error(mine - truth, truth, phase))
                walls[kind].append(mine - (end - begin))
        for kind in ("burst", "sleep", "lock", "hold", "io"):
            with self.subTest(kind=kind):
                if kind == "io" and not errors[kind]:
                    self.skipTest("reads from this disk do not wait")
                self.check_errors(kind, errors[kind], walls[kind], timeline)

    def check_errors(self, kind, errors, walls, timeline):
        self.assertGreater(len(errors), 20)
        size = sorted(abs(e.ns) for e in errors)
        length = sched_live.median([e.length for e in errors])
        at = {p: size[min(len(size) - 1, len(size) * p // 100)] for p in (50, 90, 99, 100)}
        wall = sched_live.median([abs(w) for w in walls])
        print(f"{kind}: {len(errors)} of {milliseconds(length)}: error "
              + ", ".join(f"{p} %: {microseconds(ns)}" for p, ns in at.items())
              + f"; against the wall clock {microseconds(wall)}")
        errors.sort(key=lambda e: -abs(e.ns))
        known = [e for e in errors[:len(errors) // 20 + 10]
                 if not timeline.uncertain(*e.phase[1:3])]
        for error in (*errors[:3], *[e for e in known[:3] if e not in errors[:3]]):
            print(f"    {microseconds(error.ns)} of {milliseconds(error.length)}: {error.phase}"
                  + (", in part unknown" if timeline.uncertain(*error.phase[1:3]) else ""))
        if live.LONG:
            evidence.leave(live.BUILD, "sched-truth", {
                "intervals": kind, "number": f"{len(errors):,}",
                "median length": milliseconds(length), "median error": microseconds(at[50]),
                "99 %": microseconds(at[99]), "largest": microseconds(at[100]),
                "largest where nothing is unknown": microseconds(abs(known[0].ns)),
                "median difference to the wall clock": microseconds(wall)})
        allowed = sched_live.median([abs(e.ns) - 20000 - e.length // 1000 for e in errors])
        self.assertLessEqual(allowed, 0, f"{kind}: median error {microseconds(at[50])}")

    def check_releases(self, threads, lanes, timeline):
        """
        Check that a thread waiting for the lock was woken by the holder when the holder released
        the lock.
        """
        ends = []  # of holds: (time, tid)
        for thread in threads:
            ends += [(p[2], thread["tid"]) for p in thread["phases"] if p[0] == "hold"]
        ends.sort()
        errors, wrong = [], []
        for thread in threads:
            lane = lanes[thread["tid"]].lane
            wakings = timeline.wakings[lane]
            for kind, begin, end, _, switches in thread["phases"]:
                if kind != "lock" or switches != 1:
                    continue
                at = bisect.bisect_left(wakings, (begin,))
                if at == len(wakings) or wakings[at][0] > end:
                    continue  # it was woken while it was going to sleep, and did not really wait
                time, source = wakings[at][:2]
                released, holder = ends[bisect.bisect_right(ends, (time, 1 << 32)) - 1]
                errors.append(time - released)
                if source != lanes[holder].lane:
                    wrong.append((time, timeline.name(source), holder))
        self.assertGreater(len(errors), 20)
        print(f"release: {len(errors)}: from the holder's stamp to the wake-up: median "
              f"{microseconds(sched_live.median(errors))}, largest {microseconds(max(errors))}")
        if live.LONG:
            evidence.leave(live.BUILD, "sched-truth", {
                "intervals": "release of a lock, to the wake-up",
                "number": f"{len(errors):,}", "median length": "",
                "median error": microseconds(sched_live.median(errors)),
                "99 %": microseconds(sorted(errors)[len(errors) * 99 // 100]),
                "largest": microseconds(max(errors)),
                "largest where nothing is unknown": "",
                "median difference to the wall clock": ""})
        self.assertLessEqual(sched_live.median(errors), 20000)
        self.assertLessEqual(len(wrong), 0.01 * len(errors), wrong[:5])

    @staticmethod
    def certain_time(lane, phases, timeline):
        """Return (skein's, the thread's own) time on a CPU in phases without unknown time."""
        ran = used = 0
        for _, begin, end, cpu, _ in phases:
            if not timeline.uncertain(begin, end):
                ran += scheduler.total(lane.within(begin, end), "RUNNING")
                used += cpu
        return ran, used

    def check_accounting(self, threads, lanes, stolen, timeline):
        """
        Check the kernel's accounting. The kernel's CPU time excludes stolen time, a slice includes
        it. Switches that the kernel does not report are missing in the slices: UNKNOWN.
        """
        uncertain = sum(end - time for time, end in timeline.unknown)
        for thread in threads:
            with self.subTest(tid=thread["tid"]):
                mine = scheduler.total(
                    lanes[thread["tid"]].within(thread["begin"], thread["end"]), "RUNNING")
                kernel = thread["schedstat"][1] - thread["schedstat"][0]
                print(f"tid {thread['tid']}: ran {milliseconds(mine)}, by schedstat "
                      f"{milliseconds(kernel)}; {milliseconds(stolen)} of the machine stolen, "
                      f"{milliseconds(uncertain)} not known")
                ran, used = self.certain_time(lanes[thread["tid"]], thread["phases"], timeline)
                if live.LONG:
                    evidence.leave(live.BUILD, "sched-accounting", {
                        "thread": f"truth-{threads.index(thread)}", "on a CPU": milliseconds(mine),
                        "by the kernel": milliseconds(kernel),
                        "in phases where all is known": milliseconds(ran),
                        "its CPU clock there": milliseconds(used),
                        "not known, of all CPUs": milliseconds(uncertain),
                        "stolen of all CPUs": milliseconds(stolen)})
                # the kernel starts to count some microseconds before sched_switch
                switching = SWITCHING * len(lanes[thread["tid"]].stretches)
                self.assertGreater(ran, used - used / 1000 - 1e6 - switching)
                self.assertLess(ran, used + used / 1000 + 1e6 + switching + stolen
                                + sched_live.STEAL_STEP)
                allowed = kernel / 1000 + 1e6
                self.assertGreater(mine, kernel - allowed - uncertain - switching)
                self.assertLess(mine, kernel + allowed + switching + stolen + sched_live.STEAL_STEP)

    def test_accounting(self):
        """Threads that switch tens of times a second: there is no allowance for switching."""
        for name in ("loop", "sleeper"):
            recording = self.watch("-a")
            before = sched_live.steal()
            process = self.start(workload(name), SECONDS)
            used = self.output(process)["cpu"] * 1e9
            stolen = sched_live.steal() - before
            timeline = self.timeline(recording)
            mine = scheduler.total(timeline.stretches(timeline.lane(process.pid)), "RUNNING")
            uncertain = sum(end - time for time, end in timeline.unknown)
            with self.subTest(name=name, mine=mine, used=used, stolen=stolen, uncertain=uncertain):
                print(f"{name}: ran {milliseconds(mine)}, by its CPU clock {milliseconds(used)}; "
                      f"{milliseconds(stolen)} stolen, {milliseconds(uncertain)} not known")
                if live.LONG:
                    evidence.leave(live.BUILD, "sched-accounting", {
                        "thread": name, "on a CPU": milliseconds(mine),
                        "by the kernel": milliseconds(used),
                        "in phases where all is known": "", "its CPU clock there": "",
                        "not known, of all CPUs": milliseconds(uncertain),
                        "stolen of all CPUs": milliseconds(stolen)})
                self.assertGreater(mine, used - used / 1000 - 1e6 - uncertain)
                self.assertLess(mine, used + used / 1000 + 1e6 + stolen + sched_live.STEAL_STEP)


class Report(sched_live.SchedTest):
    def test_report(self):
        """The sums of `skein report` equal the sums of the states computed here, to the ns."""
        recording = self.watch("-a")
        self.start(workload("wakers"), "tcp", 0.3).wait()
        self.start(workload("truth"), 0.5, self.tmp / "disk").communicate(timeout=60)
        timeline = self.timeline(recording)
        done = subprocess.run([live.SKEIN, "report", "--json", "-n", "0", timeline.trace.path],
                              capture_output=True, check=True, timeout=60)
        facts = live.json.loads(done.stdout)["sched"]
        self.assertEqual(facts["disorder"], 0)
        number = collections.Counter(t["tid"] for t in facts["threads"])
        threads = [t for t in facts["threads"] if number[t["tid"]] == 1]
        self.assertGreater(len(threads), 30)
        for thread in threads:
            with self.subTest(thread=thread["name"], tid=thread["tid"]):
                self.check_sums(timeline, timeline.lane(thread["tid"]), thread)
        self.assertEqual(timeline.contradictions[:5], [])

    @staticmethod
    def unsure(timeline, stretches):
        """
        Return the ns not running next to a time in which events of a CPU are unknown; the state in
        that time, and its start, can be derived in more than one way.
        """
        around = zip(stretches[:1] + stretches, stretches, stretches[1:] + stretches[-1:])
        return sum(s.end - s.time for before, s, after in around
                   if s.state != STATE["RUNNING"] and timeline.uncertain(before.time, after.end))

    def check_sums(self, timeline, lane, facts):
        stretches = timeline.stretches(lane)
        unsure = self.unsure(timeline, stretches)
        waits = scheduler.waits(stretches)
        ready = [s for s in stretches if s.state in scheduler.READY]
        sums = {
            "life": sum(s.end - s.time for s in stretches),
            "running": scheduler.total(stretches, "RUNNING"),
            "runnable_woken": sum(s.end - s.time for s in ready if s.waker),
            "runnable_preempted": sum(s.end - s.time for s in ready if not s.waker),
            "unknown": scheduler.total(stretches, "UNKNOWN"),
            "not ready": sum(waits.values()),
        }
        facts["not ready"] = sum(facts["blocked"].values()) + facts["stopped"] + facts["unused"]
        for key, ns in sums.items():
            # the end of the recording is not rounded
            allowed = 0 if key in ("life", "running") else unsure
            self.assertLess(abs(ns - facts[key]), 2 * sched_live.RESOLUTION + allowed, key)
        for word, ns in facts["blocked"].items():
            if word != "other":  # stopped and unused have this class here
                mine = waits[sched_live.CLASS[word]]
                self.assertLess(abs(ns - mine), 2 * sched_live.RESOLUTION + unsure, word)


LINE = re.compile(r"\s*([0-9.]+)\s+\[(\d+)\]\s+(.*?)\[(\d+)(?:/\d+)?\]\s+"
                  r"([0-9.]+)\s+([0-9.]+)\s+([0-9.]+)\s*$")


class Perf(sched_live.SchedTest):
    def perf_says(self, data, offset):
        """Return tid -> [(end of the run in ns of CLOCK_BOOTTIME, wait, delay, run in ns)]."""
        done = subprocess.run(["perf", "sched", "timehist", "-i", data], capture_output=True,
                              timeout=120)
        # under a storm, perf cannot always read its own data, and loses records
        if done.returncode or b"lost" in done.stderr.lower():
            self.skipTest(f"perf sched timehist: {done.stderr.decode(errors='replace')[-200:]}")
        runs = collections.defaultdict(list)
        for line in done.stdout.decode(errors="replace").splitlines():
            found = LINE.match(line)
            if found:
                runs[int(found[4])].append((float(found[1]) * 1e9 + offset,
                                            *(float(v) * 1e6 for v in found.groups()[4:])))
        return runs

    def begin_perf(self, data):
        """Start perf, and return when its events are on: on a busy machine that takes seconds."""
        asks, tells = self.tmp / "perf-asks", self.tmp / "perf-tells"
        for path in (asks, tells):
            os.mkfifo(path)
        told = os.open(tells, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, told)
        perf = subprocess.Popen(["perf", "sched", "record", "-q", "-k", "mono", "-o", data,
                                 "-D", "-1", "--control", f"fifo:{asks},{tells}"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(self.end, perf)
        self.addCleanup(perf.stderr.close)
        asked = self.wait_for(lambda: self.open_for_writing(asks) or perf.poll() is not None)
        if perf.poll() is not None:
            self.skipTest(f"perf sched record: {perf.stderr.read().decode(errors='replace')}")
        self.addCleanup(os.close, asked)
        os.write(asked, b"enable\n")
        self.assertTrue(select.select([told], [], [], 60)[0], "perf has not enabled its events")
        self.assertTrue(os.read(told, 100).startswith(b"ack"))
        return perf

    @staticmethod
    def open_for_writing(fifo):
        """Return a descriptor of a fifo, or None if nobody reads it yet."""
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return None

    def test_perf_sched(self):
        """
        Compare with perf sched on one CPU that is never idle: on Linux 6.18, perf 6.1 misses half
        of the switches from the idle thread, and then adds idle time to the next thread's run.
        """
        data = str(self.tmp / "perf.data")
        self.start("chrt", "-i", "0", workload("loop"), 100, cpu=CPU)
        recording = self.watch("-a")
        perf = self.begin_perf(data)
        facts = self.output(self.start(workload("truth"), SECONDS, self.tmp / "disk", 2, cpu=CPU))
        live.time.sleep(0.2)
        perf.send_signal(live.signal.SIGINT)
        perf.wait()
        timeline = self.timeline(recording)
        runs = self.perf_says(data, -timeline.host["monotonic_offset"])
        for number, thread in enumerate(facts["threads"]):
            with self.subTest(tid=thread["tid"]):
                self.check_thread(timeline, number, thread, runs[thread["tid"]])

    @staticmethod
    def matched(mine, peer):
        """Return pairs of runs that ended within 20 us of each other."""
        ends = [p[0] for p in peer]
        both = []
        for run in mine:
            at = bisect.bisect_left(ends, run.end - 20000)
            if at < len(peer) and ends[at] <= run.end + 20000:
                both.append((run, peer[at]))
        return both

    def check_thread(self, timeline, number, thread, peer):
        """Check the runs that ended while the thread was at work."""
        lane = timeline.lane(thread["tid"])
        begin, end = thread["begin"], thread["end"]
        mine = [r for r in timeline.runs[lane] if begin < r.end < end]
        peer = [p for p in peer if begin < p[0] < end]
        self.assertGreater(len(peer), 100)
        # all but the first or last one, those that the kernel reports to only one of the two, and
        # those between whose two time stamps the host ran another machine
        both = self.matched(mine, peer)
        stolen = timeline.trace.stolen * 1e9 / sched_live.STEAL_STEP
        self.assertGreater(len(both), 0.99 * max(len(mine), len(peer)) - 3 - stolen)
        ran, delay = (sum(p[i] for _, p in both) for i in (3, 2))
        running = sum(r.end - r.time for r, _ in both)
        begins = {r.time for r, _ in both}
        woken = [s for s in timeline.stretches(lane) if s.state == STATE["RUNNABLE"] and s.waker
                 and s.end in begins]
        waited = sum(s.end - s.time for s in woken)
        ends = sorted(abs(r.end - p[0]) for r, p in both)
        print(f"tid {thread['tid']}: {len(peer)} runs: {milliseconds(running)}, by perf "
              f"{milliseconds(ran)}; {len(woken)} delays: {milliseconds(waited)}, by perf "
              f"{milliseconds(delay)}; ends differ by {microseconds(ends[len(ends) // 2])}, at "
              f"most {microseconds(ends[-1])}")
        if live.LONG:
            evidence.leave(live.BUILD, "sched-perf", {
                "thread": f"truth-{number}, of two on one CPU", "runs": f"{len(mine):,}",
                "by perf": f"{len(peer):,}", "run time": milliseconds(running),
                "run time by perf": milliseconds(ran), "delay": milliseconds(waited),
                "sch delay by perf": milliseconds(delay)})
        # perf rounds each to microseconds; its delay starts at sched_wakeup, which comes after
        # sched_waking, and later still on another CPU
        self.assertLess(abs(running - ran), 0.001 * ran + 1e6)
        self.assertLess(abs(waited - delay), 0.01 * delay + 20000 * len(woken))
        self.assertLess(ends[len(ends) // 2], 5000)


if __name__ == "__main__":
    live.main()
