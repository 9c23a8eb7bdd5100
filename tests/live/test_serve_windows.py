# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test windows with scheduler records: each has all its time, together they have the states that one
recording shows, and commands show them as a timeline.
"""
import collections
import json
import signal
import subprocess
import unittest

import live
import scheduler
import sched_live
import serve_live
from live import workload

SECOND = 1_000_000_000  # ns
# The two recorders read the clock in hooks of their own, one after the other: so far (ns) they may
# be apart at each change of state, by an interrupt between them.
APART = 100_000


class WindowsTest(serve_live.ServeTest, sched_live.SchedTest):
    def setUp(self):
        super().setUp()
        self.runtime_folder(self.tmp / "memory")

    @staticmethod
    def sums(stretches):
        """Return {(state, wait): ns}."""
        found = collections.Counter()
        for s in stretches:
            found[s.state, s.wait] += s.end - s.time
        return found

    def check_complete(self, timelines):
        """Windows follow each other, and each has all its time on each CPU."""
        for one, other in zip(timelines, timelines[1:]):
            self.assertEqual(one.host["end"], other.host["start"])
        for t in timelines:
            self.assertEqual({c: w for c, w in t.tiling().items() if w}, {})
            self.assertEqual(len(t.cpu_slices), len(live.CPUS))
            for slices in t.cpu_slices.values():
                self.assertLess(abs(slices[0]["time"] - t.host["start"]), sched_live.RESOLUTION)
                self.assertLess(abs(slices[-1]["end"] - t.host["end"]), sched_live.RESOLUTION)

    def test_states_are_those_of_a_recording(self):
        cpu = live.CPUS[-1]
        programs = [self.start(workload("loop"), 600, cpu=cpu),
                    self.start(workload("sleeper"), 600, cpu=cpu),
                    self.start("sleep", 600)]
        service = self.serve("-e", "sched", "--window", "2s")
        recording = self.watch("-p", ",".join(str(p.pid) for p in programs))
        before = len(service.windows())
        self.wait_for(lambda: len(service.windows()) >= before + 4, limit=120)
        whole = self.timeline(recording, whole=False)
        status, err = service.stop()
        self.assertEqual(status, 0, err)
        timelines = [scheduler.Timeline(live.Trace(p)) for p in service.windows()]
        self.check_complete(timelines[1:])
        inside = [t for t in timelines if t.host["start"] > whole.host["start"] + SECOND // 2
                  and t.host["end"] < whole.host["end"]]
        self.assertGreaterEqual(len(inside), 2)
        if any(t.trace.losses("SWITCHES_LOST") for t in [whole, *inside]):
            self.skipTest("this machine is so busy that records were lost")
        begin, end = inside[0].host["start"], inside[-1].host["end"]
        for program in programs:
            lane = whole.lane(program.pid)
            stretches = whole.within(lane, begin, end)
            expected, found = self.sums(stretches), collections.Counter()
            for t in inside:
                found += self.sums(t.stretches(t.lane(program.pid)))
            self.assertEqual(sum(found.values()), end - begin)
            allowed = (APART * len(stretches) + SECOND // 100
                       + whole.trace.stolen * SECOND)
            for key in {*expected, *found}:
                with self.subTest(program=program.args, state=scheduler.STATE_NAME[key[0]],
                                  wait=key[1]):
                    self.assertLess(abs(expected[key] - found[key]), allowed)
        self.check_shown(service, timelines, programs)

    def check_shown(self, service, timelines, programs):
        """Commands show the threads of one window, and of several as of one recording."""
        where = ("--last", "1h", "--folder", self.folder)
        timeline = ("report", "--timeline", "-p", programs[0].pid)
        for shown in (self.skein(*timeline, service.windows()[2]), self.skein(*timeline, *where)):
            for cpu in live.CPUS:
                self.assertRegex(shown, rf"(?m)^CPU {cpu} .*\d%")
            self.assertRegex(shown, rf"(?m)^.*loop {programs[0].pid} +[<>]?\d+% ")
        rows = json.loads(self.skein(
            "query", *where, "--json",
            "SELECT sum(s.\"end\" - s.time) AS ran, count(DISTINCT s.lane) AS cpus FROM slice s "
            f"JOIN thread t ON t.id = s.value WHERE t.tid = {programs[0].pid} AND s.state = 1"))
        ran = sum(scheduler.total(t.stretches(t.lane(programs[0].pid)), "RUNNING")
                  for t in timelines)
        self.assertEqual((rows[0]["ran"], rows[0]["cpus"]), (ran, 1))
        lanes = json.loads(self.skein("query", *where, "--json",
                                      "SELECT count(*) AS n FROM lane WHERE kind = 1"))
        self.assertEqual(lanes[0]["n"], len(live.CPUS))
        page = self.tmp / "page.html"
        self.skein("export", "-o", page, service.windows()[2])
        self.assertIn(b"sleeper", page.read_bytes())
        self.assertIn("Scheduler", self.skein("report", *where))

    def test_windows_and_flights_have_their_own(self):
        """Windows have what --events names, a flight what --keep-events names."""
        self.start(workload("sleeper"), 600, cpu=live.CPUS[-1])
        service = self.serve("-e", "sched", "--keep", "3s", "--keep-events", "off-cpu",
                             "--window", "2s" if live.LONG else "1s")
        self.wait_for(lambda: len(service.windows()) >= 3, limit=120)
        service.process.send_signal(signal.SIGUSR1)
        self.wait_for(lambda: list(self.folder.glob("2*-signal.skein")), limit=120)
        self.assertEqual(service.stop()[0], 0)
        flight, = self.folder.glob("2*-signal.skein")
        for path, events in ((flight, 2), (service.windows()[1], 1)):
            trace = live.Trace(path)
            names = {e["name"] for e in trace.table("event").values()}
            self.assertEqual(len(names & {"cpu-clock", "off-cpu"}), events)
            self.assertGreater(trace.one("SELECT count(*) FROM slice"), 10)

    def test_stacks_of_waits(self):
        """A window has the stacks of the waits that end in it, and accounts for them."""
        self.start(workload("sleeper"), 600, cpu=live.CPUS[-1])
        service = self.serve("-e", "off-cpu", "--window", "2s" if live.LONG else "1s")
        self.wait_for(lambda: len(service.windows()) >= 4, limit=120)
        self.assertEqual(service.stop()[0], 0)
        for path in service.windows()[1:-1]:
            trace = live.Trace(path)
            of_waits = "event IN (SELECT id FROM event WHERE name = 'off-cpu')"
            self.assertGreater(trace.one(f"SELECT count(*) FROM sample WHERE {of_waits}"), 0)
            self.assertEqual(trace.one(f"SELECT count(*) FROM sample, host WHERE {of_waits} "
                                       "AND time > host.\"end\""), 0)
            self.assertEqual(trace.one(
                "SELECT count(*) FROM (SELECT a.due - a.written - a.filtered - a.idle - a.cut_off "
                "- (SELECT coalesce(sum(count), 0) FROM loss l WHERE l.event = a.event "
                "AND l.cpu = a.cpu + 1) AS rest FROM account a) WHERE rest <> 0"), 0)
        self.assertIn("off-cpu", self.skein("report", "--last", "1h", "--folder", self.folder))

    def test_wrong_events(self):
        for value, said in (("cycles", "--events cannot have cycles"),
                            ("nothing", "there is no event 'nothing'")):
            done = subprocess.run([live.SKEIN, "serve", "--check-config", "-e", value],
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr.decode())
        config = self.tmp / "serve.conf"
        config.write_text("events = sched,gc\n")
        shown = self.skein("serve", "--check-config", "--config", config)
        self.assertIn("windows also have scheduler records, events of runtimes\n", shown)
        shown = self.skein("serve", "--check-config", "--config", config, "-e", "off-cpu")
        self.assertIn("windows also have scheduler records, stacks of waits\n", shown)


if __name__ == "__main__":
    live.main()
