# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test the flight recorder of skein serve: what a signal and a long wait for a CPU make it write, the
limit of that, and what a killed service leaves.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import live
import serve_live
from live import workload

KEEP = 3  # s
SECOND = 1_000_000_000  # ns
LIMIT = 0.3  # s, of waits for a CPU
# A program with real-time priority takes a CPU from the others for longer than LIMIT, and for less
# than 0.95 s, after which the kernel would let others run.
HOG = f"""
import os, time
os.sched_setaffinity(0, {{{live.CPUS[-1]}}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
while True:
    time.sleep(1)
    end = time.monotonic() + 0.6
    while time.monotonic() < end:
        pass
"""
# A program whose collections visit two million lists, which takes far longer than 50 ms.
COLLECTOR = """
import gc, time
kept = [[] for _ in range(2_000_000)]
while True:
    gc.collect()
    time.sleep(0.2)
"""


BURN = """
import time
while True:
    if time.process_time() > 1:
        print("burnt", flush=True)
        break
while True:
    pass
"""


def may_use_real_time():
    code = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


class FlightTest(serve_live.GroupTest):
    def setUp(self):
        super().setUp()
        self.memory = self.runtime_folder(self.tmp / "memory")

    def flights(self):
        return sorted(self.folder.glob("2*s-[a-z]*.skein"))

    def wait_for_flights(self, count):
        self.wait_for(lambda: len(self.flights()) >= count, limit=120)
        return self.flights()

    def begin_sleeper(self):
        return self.start("taskset", "-c", str(live.CPUS[-1]), workload("sleeper"), 600)

    @staticmethod
    def moments(trace):
        """Return the start, the moment of the trigger and the end, ns."""
        row = trace.query("SELECT start, \"end\", (SELECT CAST(value AS INTEGER) FROM info WHERE "
                          "key = 'flight.at') AS at FROM host")[0]
        return row["start"], row["at"], row["end"]

    def check_tiles(self, trace, start, until):
        """Each CPU's time is known from the start on, without a gap."""
        slices = trace.query("SELECT slice.lane, time, slice.\"end\" FROM slice JOIN lane "
                             "ON lane.id = slice.lane WHERE kind = 1 "
                             "ORDER BY slice.lane, slice.\"end\", time")
        lanes = {s["lane"] for s in slices}
        self.assertEqual(len(lanes), len(live.CPUS))
        for lane in lanes:
            own = [s for s in slices if s["lane"] == lane]
            self.assertLessEqual(own[0]["time"], start)
            for one, other in zip(own, own[1:]):
                self.assertEqual(one["end"], other["time"])
        self.assertGreater(max(s["end"] for s in slices), until)

    def test_signal(self):
        """
        A signal writes all of the last seconds, with every slice of a program, and of the two
        seconds after it. It is listed with its reason, and windows do not count it twice.
        """
        sleeper = self.begin_sleeper()
        service = self.serve("--keep", f"{KEEP}s", "--window", "2s", "-F", "99")
        self.wait_for(lambda: len(service.windows()) >= 4, limit=120)
        service.process.send_signal(signal.SIGUSR1)
        flight, = self.wait_for_flights(1)
        self.assertRegex(flight.name, r"^\d{8}T\d{6}Z-\d+s-signal\.skein$")
        self.assertEqual(flight.stat().st_mode & 0o777, 0o600)
        trace = live.Trace(flight)
        start, at, end = self.moments(trace)
        self.assertGreaterEqual(at - start, KEEP * SECOND)
        self.assertGreaterEqual(end - at, 2 * SECOND)
        self.check_tiles(trace, start, at + 1.9 * SECOND)
        self.assertEqual(trace.losses("UNREADABLE_CHUNK"), 0)
        # it sleeps for 27 to 63 ms between two runs, so it runs at least each 0.2 s, and a second
        # later on a machine that is busy
        runs = [r["time"] for r in self.runs(trace, sleeper.pid)]
        self.assertGreater(len(runs), 10)
        self.assertLess(runs[0], start + 1.2 * SECOND)
        self.assertGreater(runs[-1], at + 0.5 * SECOND)
        status, err = service.stop()
        self.assertEqual(status, 0, err)
        self.assertIn(f"the trigger signal was met, the trace is {flight}", err)
        self.assertEqual(list(self.memory.iterdir()), [])
        self.check_listed(service, flight)

    def check_listed(self, service, flight):
        where = ("--folder", self.folder)
        listed = json.loads(self.skein("ls", "--json", *where))
        self.assertEqual([(w["path"], w["trigger"]) for w in listed if "trigger" in w],
                         [(str(flight), "signal")])
        self.assertEqual(self.skein("ls", "--paths", "--flights", *where).split(), [str(flight)])
        windows = [p for p in service.windows() if p != flight]
        self.assertEqual(self.skein("ls", "--paths", *where).split(), [str(p) for p in windows])
        samples = sum(live.Trace(p).one("SELECT count(*) FROM sample") for p in windows)
        for path in windows:
            self.assertEqual(live.Trace(path).one("SELECT count(*) FROM event"), 1)
        one = json.loads(self.skein("query", "--json", "--last", "1h", *where,
                                    "SELECT count(*) AS n FROM sample"))
        self.assertEqual(one[0]["n"], samples)
        self.assertIn(f"{len(windows)} windows, 1 flight, ", self.skein("ls", *where))
        report = self.skein("report", flight)
        self.assertIn("Scheduler", report)
        self.assertRegex(report, r"Trigger +signal, at \d[\d.]* s of the recording")

    @staticmethod
    def runs(trace, pid):
        """Return the slices in which a process with one thread ran, in order."""
        return trace.query(
            "SELECT time, \"end\", left FROM slice WHERE state = 1 AND value IN "
            "(SELECT thread.id FROM thread JOIN process ON process.id = thread.process "
            f"WHERE pid = {pid}) ORDER BY time")

    def longest_wait(self, trace, pid):
        """Return for how long a process with one thread has waited for a CPU at most, s."""
        runs = self.runs(trace, pid)
        woken = [r["time"] for r in trace.query(
            "SELECT time FROM edge WHERE \"to\" IN (SELECT lane FROM thread JOIN process "
            f"ON process.id = thread.process WHERE pid = {pid}) ORDER BY time")]
        longest = 0
        for before, run in zip(runs, runs[1:]):
            since = [t for t in woken if before["end"] <= t <= run["time"]]
            ready = before["left"] in (2, 3)  # runnable, preempted
            if ready or since:
                longest = max(longest, run["time"] - (before["end"] if ready else since[0]))
        return longest / SECOND

    @unittest.skipUnless(may_use_real_time(), "no program may have real-time priority here")
    def test_run_queue(self):
        """
        A program that gets no CPU for long has a trace that shows that; the limit allows one.
        Nothing else is recorded, so no other program's waits can be the reason.
        """
        sleeper = self.begin_sleeper()
        service = self.serve("--keep", f"{KEEP}s", "--keep-events", "sched", "-p", sleeper.pid,
                             "--trigger", f"runqueue>{LIMIT}s", "--trigger-limit", "1/1h")
        self.start(sys.executable, "-c", HOG)
        flight, = self.wait_for_flights(1)
        self.assertIn("s-runqueue.skein", flight.name)
        trace = live.Trace(flight)
        self.assertGreater(self.longest_wait(trace, sleeper.pid), LIMIT)
        refused = "--trigger-limit allows no further trace"
        self.wait_for(lambda: refused in service.log.read_text(), limit=60)
        time.sleep(4)  # two more waits of that length
        status, err = service.stop()
        self.assertEqual(status, 0, err)
        self.assertEqual(self.flights(), [flight])
        self.assertEqual(err.count(refused), 1)

    def test_pause(self):
        """A collection of Python that takes long enough, and only that, has a trace."""
        program = self.start(sys.executable, "-c", COLLECTOR)
        service = self.serve("--keep", f"{KEEP}s", "--keep-events", "python", "-p", program.pid,
                             "--trigger", "pause>50ms", "--trigger-limit", "1/1h")
        flight, = self.wait_for_flights(1)
        self.assertIn("s-pause.skein", flight.name)
        self.assertGreater(live.Trace(flight).one(
            "SELECT max(\"end\" - time) FROM span WHERE kind = 1"), 50_000_000)
        self.assertEqual(service.stop()[0], 0)

    def test_service_cpu(self):
        """A service of that name that uses a CPU has a trace; one of another name has none."""
        groups = {name: self.group(name) for name in ("named", "other")}
        condition = f"service-cpu(*/skein-{os.getpid()}-named)>2%/1s"
        service = self.serve("--keep", f"{KEEP}s", "--keep-events", "sched",
                             "--trigger", condition, "--trigger-limit", "1/1h", "--window", "1s")
        self.member(groups["other"], BURN).process.stdout.readline()
        # so many ticks, and readings of the sums
        before = len(service.windows())
        self.wait_for(lambda: len(service.windows()) >= before + 3, limit=120)
        self.assertEqual(self.flights(), [])
        self.member(groups["named"], BURN)
        flight, = self.wait_for_flights(1)
        self.assertIn("s-service-cpu.skein", flight.name)
        why = live.Trace(flight).one("SELECT value FROM info WHERE key = 'flight.trigger'")
        self.assertTrue(why.startswith(f"{condition}: /"), why)
        self.assertTrue(why.endswith(f"/skein-{os.getpid()}-named"), why)
        self.assertRegex(self.skein("report", flight), "Trigger +" + re.escape(condition))
        self.assertEqual(service.stop()[0], 0)

    def test_killed(self):
        """A killed service leaves files in its two folders only, and the next one removes them."""
        temporary = self.tmp / "temporary"
        temporary.mkdir()
        os.environ["TMPDIR"] = str(temporary)
        self.addCleanup(os.environ.pop, "TMPDIR")
        service = self.serve("--keep", f"{KEEP}s", "--window", "1h")
        ring, = self.memory.glob("flight-*/ring.skein")
        self.assertEqual(ring.parent.stat().st_mode & 0o777, 0o700)
        self.assertEqual(ring.stat().st_mode & 0o777, 0o600)
        self.wait_for(lambda: ring.stat().st_size > 50000, limit=60)
        service.stop(signal.SIGKILL)
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertTrue(ring.exists())
        (self.folder / "flight.part").write_bytes(b"x")
        again = self.serve("--window", "1h")
        self.wait_for(lambda: not ring.parent.exists(), limit=60)
        self.assertEqual(again.stop()[0], 0)
        self.assertEqual(list(self.memory.iterdir()), [])
        self.assertFalse((self.folder / "flight.part").exists())

    def test_wrong_options(self):
        config = self.tmp / "serve.conf"

        def check(text, *args, status=2):
            config.write_text(text)
            done = subprocess.run([live.SKEIN, "serve", "--check-config", "--config", config,
                                   *args], capture_output=True, check=False)
            self.assertEqual(done.returncode, status, done.stderr)
            return (done.stderr if status else done.stdout).decode()

        for text, said in (
                ("trigger = runqueue>20ms\n", "--trigger and --keep-events need --keep"),
                ("keep = 30s\ntrigger = runqueue\n", ":2: trigger: 'runqueue' is no trigger"),
                ("keep = 1h\n", "--keep is 1s to 10m"),
                ("keep = 30s\ntrigger = pause>1s\n", "needs --keep-events with gc, jvm, python"),
                ("keep = 9s\nkeep-events = gc\ntrigger = runqueue>1s\n", "with sched or all"),
                ("keep = 9s\ntrigger = service-cpu>50%/5s\nno-sums = yes\n",
                 "the trigger service-cpu>50%/5s needs the sums of control groups, which are off: "
                 "--no-sums"),
                ("keep = 9s\ntrigger = service-cpu(web)>50%/5s\ncomm = web\n",
                 "which are off: options select a part of the machine"),
                ("keep = 9s\nkeep-events = cycles\n", "cannot have cycles"),
                ("keep = 9s\nkeep-events = nothing\n", ":2: keep-events: there is no event"),
                ("keep = 9s\ntrigger-limit = 1\n", ":2: trigger-limit: '1': a number and")):
            with self.subTest(text=text):
                self.assertIn(said, check(text))
        both = "keep = 30s\ntrigger = runqueue>20ms\ntrigger = cpu-pressure>50%/10s\n"
        shown = check(both, status=0)
        self.assertIn("flight recorder: the last 30 s and 2 s more, in 128 MiB, on SIGUSR1, "
                      "runqueue>20ms, cpu-pressure>50%/10s\n", shown)
        shown = check(both, "--trigger", "runqueue>1s", status=0)
        self.assertIn("on SIGUSR1, runqueue>1s\n", shown)


if __name__ == "__main__":
    live.main()
