# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Probes by which a program begins and ends its own recording (--start-at, --stop-at), and marks
moments in it (--mark). The program waits for the recorder after each of its steps, so that what
must be recorded, and what must not, is known.
"""
import os
import re
import subprocess

import live

HZ = 499
SIDEBAND = os.cpu_count() # perf events that are open in a pause, too
KIND = "(SELECT id FROM span_kind WHERE word = '{}')"


class Cues(live.LiveTest):
    def setUp(self):
        super().setUp()
        self.path = live.workload("steps")
        self.program = self.start(self.path, stdin=-1)

    def step(self, letters):
        for letter in letters:
            self.program.stdin.write(letter.encode())
            self.program.stdin.flush()
            self.assertEqual(self.program.stdout.read(1), letter.encode())

    def function(self, name):
        return f"func:{self.path}:{name}"

    def begin_program(self, *args, kind=live.Waiting):
        return self.begin("-F", HZ, "-p", self.program.pid, *args, kind=kind)

    def wait_until_samples(self, recording, samples):
        self.wait_for(lambda: (live.descriptors(recording.pid, "perf_event") > SIDEBAND) == samples)

    def check_functions(self, trace):
        found = live.functions(trace.stacks(pid=self.program.pid))
        self.assertIn("wanted", found)
        self.assertNotIn("ignored", found)

    def test_begin_pause_resume(self):
        recording = self.begin_program("--start-at", self.function("warm_up_is_over"), "--stop-at",
                                       self.function("work_is_done"), "--mark",
                                       self.function("mark_here"), "-e", "cpu,sched")
        for _ in range(3):
            self.step("imib")
            self.wait_until_samples(recording, True)
            self.step("wmwm")
            self.step("e")
            self.wait_until_samples(recording, False)
        self.step("i")
        trace = self.finish(recording)
        self.check_functions(trace)
        marks = trace.query("SELECT text, time FROM span JOIN name ON name.id = span.name WHERE "
                            f"kind = {KIND.format('mark')} ORDER BY time")
        self.assertEqual([m["text"] for m in marks], ["mark_here", "mark_here", "work_is_done"] * 3)
        # The last pause lasts until the end; the time before the first begin is no pause.
        pauses = trace.query(f"SELECT * FROM span WHERE kind = {KIND.format('not recorded')}")
        self.assertEqual(len(pauses), 3)
        for pause, mark in zip(pauses, marks[2::3]):
            self.assertGreaterEqual(pause["time"], mark["time"])
        self.assertEqual(self.losses_of_account(trace), 0)

    def losses_of_account(self, trace):
        return sum(row["due"] - row["written"] - row["filtered"] - row["idle"] - row["cut_off"]
                   for row in trace.query("SELECT * FROM account")) - sum(
                       trace.losses(reason, cpu) for cpu in range(os.cpu_count())
                       for reason in (*live.UNSAMPLED, "STOLEN", "RING_FULL"))

    def test_stop_ends_the_recording(self):
        recording = self.begin_program("--stop-at", self.function("work_is_done"),
                                       kind=live.Recording)
        self.step("we")
        done = recording.wait()
        self.step("i")
        self.assertEqual(done.status, 0, done.err)
        self.check_functions(live.Trace(done.path))

    def test_never_begins(self):
        recording = self.begin_program("--start-at", self.function("warm_up_is_over"))
        self.step("i")
        done = recording.stop()
        self.assertRegex(done.err, r"nothing was recorded: .*--start-at")

    def test_what_is_refused(self):
        for args, why in ((("--start-at", self.function("no_such")), r"'no_such' is not in it"),
                          (("--mark", f"usdt:{self.path}:app:x"), r"'app:x' is not in it"),
                          (("--stop-at", "work_is_done"), "'work_is_done' is no probe"),
                          (("--mark", f"usdt:{self.path}:app:x/y"),
                           "only a probe of -e has an end")):
            with self.subTest(args=args):
                run = subprocess.run([live.SKEIN, "record", "-o", self.file(), "-p",
                                      str(self.program.pid), *args], capture_output=True,
                                     text=True, check=False, timeout=60)
                self.assertIn(run.returncode, (1, 2))
                self.assertTrue(re.search(why, run.stderr), run.stderr)


if __name__ == "__main__":
    live.main()
