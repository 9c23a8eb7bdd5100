# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test recordings that begin late, and that pause: nothing is recorded of a pause, the account of
samples is closed, and what a thread does in a pause is ascribed to no other time.
"""
import os
import signal
import subprocess
import sys

import live

HZ = 499
SIDEBAND = os.cpu_count() # perf events that are open in a pause, too
NOT_ENDED = 1 << 17
UNKNOWN = "unknown"
IN_FLIGHT = 200e6 # ns
COLLECT = """
import gc, sys, time

done = open(sys.argv[1], "wb", 0)
while True:
    gc.collect()
    done.write(b".")
    time.sleep(0.02)
"""
COLLECTIONS = 250 # 5 s: more than the time to keep below


class Pause(live.LiveTest):
    @staticmethod
    def samples(recording):
        return live.descriptors(recording.pid, "perf_event") > SIDEBAND

    def pause(self, recording):
        recording.process.send_signal(signal.SIGUSR1)
        self.wait_for(lambda: not self.samples(recording))

    def resume(self, recording):
        recording.process.send_signal(signal.SIGUSR1)
        self.wait_for(lambda: self.samples(recording))

    def run_program(self, name):
        """Run a program of this name for 0.3 s, with some sleep; return its process's number."""
        program = self.start(self.copy("loop", name), 0.3)
        program.wait()
        return program.pid

    def recorded(self, *events):
        """Record the programs before, during and after a pause."""
        sleeper = self.start("sh", "-c", "while :; do sleep 0.05; done")
        recording = self.begin("-a", "-F", HZ, *events)
        pids = [self.run_program("before")]
        self.pause(recording)
        pids.append(self.run_program("during"))
        self.resume(recording)
        pids.append(self.run_program("after"))
        trace = self.finish(recording)
        self.assertIsNone(sleeper.poll())
        return trace, pids

    def check_account(self, trace):
        for row in trace.query("SELECT * FROM account"):
            lost = trace.one("SELECT coalesce(sum(count), 0) FROM loss JOIN loss_reason r "
                             f"ON r.id = reason WHERE cpu = {row['cpu'] + 1} "
                             f"AND event = {row['event']}")
            given = sum(row[part] for part in ("written", "filtered", "idle", "cut_off")) + lost
            with self.subTest(row=row, lost=lost):
                self.assertEqual(row["due"], given)

    def check_due(self, trace, pauses):
        """Check that samples were due for the whole time but the pauses."""
        host, = trace.query("SELECT * FROM host")
        recorded = (host["end"] - host["start"] - sum(pauses)) * HZ / 1e9
        for row in trace.query("SELECT due FROM account WHERE event = 1"):
            self.assertLess(row["due"], recorded + 2)
            self.assertGreater(row["due"], recorded - 0.2 * HZ) # until all CPUs are sampled

    def test_nothing_is_recorded(self):
        trace, (before, during, after) = self.recorded("-e", "all")
        span, = trace.query("SELECT span.*, text FROM span JOIN name ON name.id = span.name "
                            "WHERE kind = (SELECT id FROM span_kind WHERE word = 'not recorded')")
        self.assertEqual(span["text"], "not recorded")
        begin, end = span["time"], span["end"]
        self.assertGreater(end - begin, 0.3e9)
        for pid in (before, after):
            self.assertGreater(live.count(trace.stacks(pid=pid)), 0.3 * HZ / 4)
        self.assertEqual(trace.stacks(pid=during), [])
        self.assertEqual(trace.one("SELECT count(*) FROM sample WHERE event = 1 AND "
                                   f"time > {begin} AND time < {end}"), 0)
        self.check_account(trace)
        self.check_due(trace, [end - begin])
        self.check_lanes(trace, begin, end)
        # no wait seems to have lasted from before the pause until after it, unless it has not ended
        self.assertEqual(trace.query(
            f"SELECT * FROM sample WHERE event = 2 AND NOT flags & {NOT_ENDED} AND "
            f"time > {end} AND time - length < {end} - 1000000"), [])
        self.assertRegex(self.report(trace), r"(?m)^Paused +for [\d.]+ m?s: nothing is recorded")

    def check_lanes(self, trace, begin, end):
        """
        Check that CPU lanes have no holes, and are unknown in a pause. A program that runs in the
        kernel when the pause begins may still write a record, late if the host stops its CPU.
        """
        begin += IN_FLIGHT
        for lane in trace.query("SELECT id FROM lane WHERE kind = 1"):
            slices = trace.query("SELECT time, end, word FROM slice JOIN slice_state s "
                                 f"ON s.id = state WHERE lane = {lane['id']} ORDER BY time")
            for one, other in zip(slices, slices[1:]):
                self.assertEqual(one["end"], other["time"])
            self.assertEqual({s["word"] for s in slices
                              if s["time"] < end - 64 and s["end"] > begin}, {UNKNOWN})

    def report(self, trace):
        return subprocess.run([live.SKEIN, "report", trace.path], check=True,
                              capture_output=True, text=True).stdout

    def test_samples_only(self):
        trace, (before, during, after) = self.recorded()
        for pid in (before, after):
            self.assertGreater(live.count(trace.stacks(pid=pid)), 0.3 * HZ / 4)
        self.assertEqual(trace.stacks(pid=during), [])
        self.check_account(trace)

    def test_ends_while_paused(self):
        recording = self.begin("-a", "-F", HZ, "-e", "all")
        before = self.run_program("before")
        self.pause(recording)
        during = self.run_program("during")
        trace = self.finish(recording)
        self.assertGreater(live.count(trace.stacks(pid=before)), 0)
        self.assertEqual(trace.stacks(pid=during), [])
        self.assertEqual(trace.one("SELECT count(*) FROM span"), 1)
        self.check_account(trace)

    def test_names_of_spans(self):
        """Pauses and collections have their own names, also when old ones were forgotten."""
        done = self.tmp / "collections"
        self.start(sys.executable, "-c", COLLECT, done)
        self.wait_for(done.exists)
        recording = self.begin("-a", "-F", HZ, "-e", "cpu,python", "--keep", "3s")
        for more in (10, COLLECTIONS, 10):
            until = done.stat().st_size + more
            self.wait_for(lambda: done.stat().st_size > until)
            self.pause(recording)
            self.resume(recording)
        trace = self.finish(recording)
        names = trace.query("SELECT DISTINCT word, text FROM span JOIN span_kind k ON k.id = kind "
                            "LEFT JOIN name ON name.id = span.name")
        self.assertEqual({n["word"] for n in names}, {"collection", "not recorded"})
        for name in names:
            self.assertTrue((name["text"] or "").startswith(name["word"]), name)
        self.assertEqual(trace.query("SELECT * FROM span WHERE lane NOT IN "
                                     "(SELECT id FROM lane)"), [])

    def test_delay(self):
        """
        The command runs at once; its first part is not recorded. On a busy machine it may run later
        than it was released: one of six recordings has it at once.
        """
        late = []
        for _ in range(6):
            late.append(self.record_late())
            if late[-1] >= 0.69:
                return
        self.fail(f"seconds from the command's first step to the recording's begin: {late}")

    def record_late(self):
        mark = self.tmp / "mark"
        trace = self.record("-F", HZ, "--delay", "700ms", "--", "sh", "-c",
                            f"cat /proc/uptime >{mark}; {self.copy('loop', 'first')} 0.3; sleep 1; "
                            f"exec {self.copy('loop', 'second')} 0.5")
        began = float(mark.read_text().split()[0])
        self.assertGreater(live.count(trace.stacks(comm="second")), 0.5 * HZ / 4)
        return trace.one("SELECT start FROM host") / 1e9 - began

    def test_begins_with_a_signal(self):
        started = self.tmp / "started"
        recording = self.begin("-F", HZ, "--paused", "--", "sh", "-c",
                               f"touch {started}; exec {self.copy('loop', 'patient')} 600",
                               kind=live.Waiting)
        self.wait_for(started.exists)
        self.assertFalse(self.samples(recording))
        self.resume(recording)
        first = self.run_program("first")
        trace = self.finish(recording)
        self.assertGreater(trace.one("SELECT start FROM host"), started.stat().st_ctime_ns
                           - trace.one("SELECT realtime_offset FROM host"))
        self.assertGreater(live.count(trace.stacks(comm="patient")), 0)
        self.assertEqual(trace.stacks(pid=first), []) # it is no child of the command
        self.check_account(trace)


if __name__ == "__main__":
    live.main()
