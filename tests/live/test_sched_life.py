# SPDX-License-Identifier: Apache-2.0
"""
Test threads that sleep during a whole recording, exec, rename themselves, start and end, and CPUs
that go offline: all have their states, and no state is invented.
"""

import collections
import json
import os
import pathlib
import signal
import subprocess
import time

import live
import sched_live
import scheduler
from live import ONLINE, SKEIN, workload
from scheduler import STATE, WAIT

CPU = live.CPUS[-1]
HOSTILE = "e;v\"<\n\033[1m\udcff"  # the last name that workloads/renamer.c gives itself


def threads_now():
    """Return {(tid, start in ticks): name} of every thread of the machine."""
    found = {}
    for pid, tid in live.threads():
        try:
            text = pathlib.Path(f"/proc/{pid}/task/{tid}/stat").read_text(errors="replace")
        except OSError:
            continue
        name, rest = text.split("(", 1)[1].rsplit(")", 1)
        found[tid, int(rest.split()[19])] = name
    return found


def runs(pid):
    """Return whether a process runs or waits for a CPU."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace")
    return text.rsplit(")", 1)[1].split()[0] == "R"


class Life(sched_live.SchedTest):
    def asleep(self):
        """Start threads that come to rest; return {tid: (state, wait)}."""
        nothing = {"stdin": subprocess.PIPE}
        sleeper = self.start("sleep", 100)
        reader = self.start("cat", **nothing)
        parent = self.start("sh", "-c", "sleep 100; true", stderr=subprocess.DEVNULL)
        joined = self.start(workload("wakers"), "sleep", 100)
        stopped = self.start("sleep", 100)
        poller = self.start("python3", "-c", "import select; select.poll().poll(100000)")
        paused = self.start("python3", "-c", "import signal; signal.pause()")
        time.sleep(0.3)
        stopped.send_signal(signal.SIGSTOP)
        self.come_to_rest(p.pid for p in (sleeper, reader, parent, joined, stopped, poller,
                                          paused))
        child = pathlib.Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text()
        self.addCleanup(os.kill, int(child), signal.SIGKILL)
        return {sleeper.pid: ("SLEEPING", "SLEEP"), reader.pid: ("SLEEPING", "PIPE"),
                parent.pid: ("SLEEPING", "CHILD"), joined.pid: ("SLEEPING", "LOCK"),
                stopped.pid: ("STOPPED", None), poller.pid: ("SLEEPING", "POLL"),
                paused.pid: ("SLEEPING", "OTHER"), int(child): ("SLEEPING", "SLEEP")}

    def come_to_rest(self, pids):
        """
        Wait until none of the threads has run for a while; on a busy machine they start slowly.
        """
        pids = list(pids)

        def at_rest():
            before = [live.preemptions(pid) for pid in pids]
            time.sleep(0.5)
            return before == [live.preemptions(pid) for pid in pids] and not any(map(runs, pids))
        self.wait_for(at_rest)

    def test_asleep_all_through(self):
        expected = self.asleep()
        recording = self.watch("-a")
        time.sleep(0.3)
        timeline = self.timeline(recording)
        for tid, (state, wait) in expected.items():
            stretches = timeline.stretches(timeline.lane(tid))
            with self.subTest(tid=tid, state=state, wait=wait, stretches=stretches):
                self.assertEqual(len(stretches), 1)
                self.assertEqual(stretches[0].state, STATE[state])
                if wait:
                    self.assertEqual(stretches[0].wait, WAIT[wait])
                # from the start, except for the time of the snapshot of all threads
                self.assertLess(stretches[0].time - timeline.host["start"],
                                500e6 + recording.took * 1e9)
                self.assertEqual(stretches[0].end, timeline.host["end"])

    def test_selected_threads(self):
        """-p: a switch that the kernel does not report is unknown time, as without a selection."""
        for mode in ("tcp", "pipe"):
            pair = self.start(workload("wakers"), mode, 100)
            recording = self.watch("-p", pair.pid)
            time.sleep(3 if live.LONG else 1)
            timeline = self.timeline(recording)
            self.end(pair)
            lanes = [lane for lane in timeline.runs if lane]
            self.assertGreaterEqual(len(lanes), 2)
            self.check_tiles(timeline, lanes)

    def test_every_thread_has_its_state(self):
        before = threads_now()
        recording = self.watch("-a")
        begun = sched_live.boot_ns()
        self.start(workload("waits"), "nanosleep", 0.3).wait()
        ending = sched_live.boot_ns()
        after = threads_now()
        timeline = self.timeline(recording)
        # some sandboxes hide the threads of their first process from tracing
        hidden = {int(tid) for tid in os.listdir("/proc/1/task")}
        both = {tid: name for (tid, start), name in before.items() if (tid, start) in after
                and tid not in hidden}
        self.assertGreater(len(both), 20)
        missing, late = [], []
        for tid, name in both.items():
            lanes = {t["lane"] for t in timeline.threads.values() if t["tid"] == tid and t["lane"]}
            lives = [s for lane in lanes for s in timeline.stretches(lane)]
            if not lives:
                missing.append((tid, name))
            elif min(s.time for s in lives) > begun or max(s.end for s in lives) < ending:
                late.append((tid, name, lives[0], lives[-1]))
        self.assertEqual(missing, [])
        self.assertEqual(late, [])
        self.assertEqual(timeline.contradictions[:5], [])

    def test_others_are_told_apart_from_idle(self):
        """If only a few threads are recorded, the idle time of CPUs is still known."""
        chosen = self.start("sh", "-c", "while :; do sleep 0.01; done", cpu=live.CPUS[0])
        self.start(workload("loop"), 100, cpu=CPU)
        recordings = [self.watch("-a"), self.watch("-p", chosen.pid)]
        begin = sched_live.boot_ns()
        time.sleep(1)
        end = sched_live.boot_ns()
        whole, part = (self.timeline(recording) for recording in recordings)

        def during(row):
            return max(0, min(row["end"], end) - max(row["time"], begin))
        for cpu, rows in whole.cpu_slices.items():
            for state in "RUNNING", "IDLE":
                given = [sum(during(row) for row in of if row["state"] == STATE[state])
                         for of in (rows, part.cpu_slices[cpu])]
                unknown = sum(during({"time": a, "end": b}) for a, b in whole.unknown)
                self.assertAlmostEqual(*given, delta=0.02 * (end - begin) + unknown,
                                       msg=(cpu, state))
        named = {t["comm"] for t in part.threads.values() if t["id"] in
                 {row["value"] for rows in part.cpu_slices.values() for row in rows}}
        self.assertNotIn("loop", named)

    def test_born_and_gone(self):
        """
        A process is forked, woken for the first time, runs and dies; no state is before or after
        that.
        """
        recording = self.watch("-a")
        begin = sched_live.boot_ns()
        process = self.start(workload("brief"), 5, 40)
        process.wait()
        end = sched_live.boot_ns()
        timeline = self.timeline(recording)
        born = [e for e in timeline.edges if e["kind"] == scheduler.EDGE["FORK"]
                and begin < e["time"] < end]
        self.assertGreaterEqual(len(born), 40)
        names = collections.defaultdict(set)
        for thread in timeline.threads.values():
            names[thread["lane"]].add(thread["comm"])
        lives = ended = 0
        for edge in born:
            if "brief" not in names[edge["to"]]:
                continue
            stretches = timeline.stretches(edge["to"])
            lives += 1
            with self.subTest(thread=timeline.name(edge["to"])):
                self.assertEqual(stretches[0].time, edge["end"])
                self.assertEqual(stretches[0].state, STATE["RUNNABLE"])
                last = timeline.runs[edge["to"]][-1]
                if timeline.uncertain(edge["time"], last.end + 20000000):
                    continue  # the kernel may not have reported its end
                self.assertEqual(last.left, STATE["DEAD"])
                self.assertEqual(stretches[-1].end, last.end)
                ended += 1
        self.assertGreaterEqual(lives, 40)
        self.assertGreater(ended, 20)
        self.check_tiles(timeline, {e["to"] for e in born})

    def test_exec_and_new_names(self):
        """A thread has one lane whatever its name."""
        recording = self.watch("-a")
        replaced = self.start(workload("execself"), 0.1, workload("execafter"), 0.1)
        renamed = self.start(workload("renamer"), 0.05)
        for process in (replaced, renamed):
            process.wait()
        timeline = self.timeline(recording)
        for process, names in ((replaced, {"execself", "execafter"}),
                               (renamed, {"one", "name two", HOSTILE})):
            lane = timeline.lane(process.pid)
            threads = {t["id"]: t for t in timeline.threads.values() if t["lane"] == lane}
            found = {t["comm"].encode(errors="surrogateescape").decode(errors="replace")
                     for t in threads.values()}
            wanted = {n.encode(errors="surrogateescape").decode(errors="replace") for n in names}
            with self.subTest(names=names, found=found):
                self.assertLessEqual(wanted, found)
                self.check_names_of_runs(timeline, lane, threads)
        self.check_tiles(timeline, [timeline.lane(p.pid) for p in (replaced, renamed)])

    def check_names_of_runs(self, timeline, lane, threads):
        """Check that the thread ran under each of its names, and within the time of the name."""
        ran = set()
        last = max(thread["end"] for thread in threads.values())
        for rows in timeline.cpu_slices.values():
            for row in rows:
                thread = threads.get(row["value"])
                if thread and row["state"] == STATE["RUNNING"]:
                    ran.add(thread["id"])
                    # a name that changes during a slice may be that of its start or its end
                    self.assertLessEqual(thread["start"], row["end"])
                    # under its last name the thread still runs a little after its exit record
                    self.assertTrue(not thread["end"] or thread["end"] >= row["time"]
                                    or thread["end"] == last, thread)
        self.assertGreaterEqual(len(ran), 2, timeline.name(lane))

    def test_hostile_name_stays_text(self):
        recording = self.watch("-a")
        self.start(workload("renamer"), 0.05).wait()
        trace = self.finish(recording)
        for args in (["report", trace.path], ["report", "--json", trace.path],
                     ["query", trace.path, "SELECT comm FROM thread"],
                     ["query", "--json", trace.path, "SELECT comm FROM thread"],
                     ["query", trace.path, "SELECT name FROM lane"],
                     ["report", "--sched", trace.path], ["report", "--timeline", trace.path],
                     ["export", trace.path, "-f", "chrome"]):
            done = subprocess.run([SKEIN, *map(str, args)], capture_output=True, check=True,
                                  timeout=60)
            with self.subTest(args=args):
                self.assertNotIn(b"\033", done.stdout + done.stderr)
                done.stdout.decode()  # strict
                if "--json" in args or "chrome" in args:
                    json.loads(done.stdout)

    @live.unittest.skipUnless(live.can_go_offline(), "no CPU of this machine can be taken offline")
    def test_cpu_goes_and_comes(self):
        recording = self.watch("-a")
        self.start(workload("loop"), 100)
        self.addCleanup(ONLINE.write_text, "1")
        before = sched_live.boot_ns()
        ONLINE.write_text("0")
        gone = sched_live.boot_ns()
        time.sleep(0.5)
        back = sched_live.boot_ns()
        ONLINE.write_text("1")
        pinned = self.start(workload("loop"), 0.3, cpu=CPU)
        pinned.wait()
        timeline = self.timeline(recording)
        self.assertEqual({c: w[:3] for c, w in timeline.tiling().items() if w}, {})
        away = [r for r in timeline.cpu_slices[CPU] if r["time"] < back and r["end"] > gone]
        ran = sum(min(r["end"], back) - max(r["time"], gone) for r in away
                  if r["state"] == STATE["RUNNING"])
        self.assertLess(ran, 1e6, "somebody ran on a CPU that was away")
        used = sum(r.end - r.time for r in timeline.runs[timeline.lane(pinned.pid)]
                   if r.cpu == CPU and r.time > back)
        self.assertGreater(used, 0.2e9)
        self.assertGreater(gone, before)
        self.assertEqual(timeline.contradictions[:5], [])


if __name__ == "__main__":
    live.main()
