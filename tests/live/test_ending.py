# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""
Test that a recording ends within 2 s of its time, whatever it has seen: names still unresolved by
then are counted, and their frames are marked. --wait-names sets another time.

False alarms: live.finish_in_time() excludes the time in which the recorder waited for a CPU, so
the rest does not grow with the load: at most 1.5 s of waiting, and about 0.1 s of work. A disk
that stalls for 0.4 s would be a false alarm.
"""
import os
import re
import shutil
import signal
import subprocess
import time

import live

LIBRARIES = 300
FREQUENCY = 999
ROUNDS = 20 if live.LONG else 2
UNREADY = 16  # of frame.flags
CLANG = next((path for path in map(shutil.which, ("clang++-16", "clang++", "clang++-14")) if path),
             None)


class Ending(live.LiveTest):
    def record_new(self, command, seconds, *more, limit=2):
        """Record a command for a time without any cache, and end the recording."""
        recording = self.begin("-a", "-F", FREQUENCY, "--unwind-cache", "", *more)
        process = self.start(*command)
        time.sleep(seconds)
        trace = self.finish_in_time(recording, limit)
        self.end(process)
        return trace

    def unready(self, trace):
        """
        Return the frames whose names were not resolved; the trace, the summary and the report
        agree.
        """
        frames = trace.one(f"SELECT count(*) FROM frame WHERE flags & {UNREADY}")
        self.assertEqual(0, trace.one(f"SELECT count(*) FROM frame WHERE flags & {UNREADY} AND "
                                      "function"))
        said = re.search(r"([\d,]+) functions have no name: it was still being read at the end",
                         trace.done.err)
        self.assertEqual(int(said[1].replace(",", "")) if said else 0, frames, trace.done.err)
        report = live.json.loads(subprocess.run(
            [live.SKEIN, "report", "--json", trace.path], capture_output=True, check=True).stdout)
        samples = report["samples_with_names_not_ready"]
        self.assertEqual(bool(samples), bool(frames))
        self.assertLessEqual(samples, report["samples"])
        return frames

    def test_many_unknown_files(self):
        command = [*self.build_wide(LIBRARIES), 30]
        for _ in range(ROUNDS):
            trace = self.record_new(command, 1)
            print(f"300 libraries: the end took {trace.ending:.2f} s, {self.unready(trace)} "
                  "functions were not ready")

    @live.unittest.skipUnless(CLANG, "clang++ is not installed")
    def test_large_unknown_files(self):
        source = self.tmp / "source.cc"
        source.write_text("#include <regex>\n#include <map>\nstd::regex r(\"a+b*\");\n" +
                          "".join(f"template<int> struct s{i} {{ std::map<int, s{i}> m; }};\n"
                                  f"s{i}<{i}> v{i};\n" for i in range(300)))
        for _ in range(ROUNDS):
            trace = self.record_new([CLANG, "-O2", "-c", source, "-o", "/dev/null"], 0.4)
            print(f"clang: the end took {trace.ending:.2f} s, {self.unready(trace)} functions "
                  "were not ready")

    def test_without_a_wait(self):
        """
        Frames without a name are marked. Nothing waits, so the limit is the time for the work at
        the end.
        """
        trace = self.record_new([*self.build_wide(LIBRARIES), 30], 0.3, "--wait-names", "0",
                                limit=1)
        self.assertGreater(self.unready(trace), 0)

    def test_with_a_long_wait(self):
        trace = self.record_new([*self.build_wide(LIBRARIES), 30], 0.3, "--wait-names", "60s",
                                limit=60)
        self.assertEqual(self.unready(trace), 0)

    def stop_worker(self, recording):
        """Stop the worker in the middle of its work, so that it cannot reply."""
        worker = self.wait_for(lambda: live.child_named(recording.pid, "skein-names"))
        os.kill(worker, signal.SIGSTOP)

    def test_worker_that_does_not_answer(self):
        recording = self.begin("-a", "-F", FREQUENCY, "--unwind-cache", "")
        self.stop_worker(recording)
        self.start(self.copy("loop", "unknown"), 0.3).wait()
        trace = self.finish_in_time(recording)
        self.assertGreater(live.count(trace.stacks(comm="unknown")), 100)
        self.unready(trace)

    def test_ctrl_c_ends_the_wait(self):
        """Ctrl-C ends the wait after the recording's time is over, if it is the first signal."""
        go, program = self.tmp / "go", self.copy("loop", "unknown")
        recording = self.begin("--wait-names", "60s", "--unwind-cache", "", "-F", FREQUENCY, "--",
                               "sh", "-c", 'while [ ! -e "$0" ]; do sleep 0.02; done; '
                               'exec "$1" 0.2', go, program)
        self.stop_worker(recording)
        go.touch()
        self.wait_for(lambda: live.child_named(recording.pid, "unknown"))
        self.wait_for(lambda: not live.child_named(recording.pid, "unknown"))
        time.sleep(0.3)
        self.assertIsNone(recording.process.poll(), "it does not wait")
        trace = self.finish_in_time(recording, limit=1)
        self.assertGreater(live.count(trace.stacks(comm="unknown")), 50)
        self.assertGreater(self.unready(trace), 0)


if __name__ == "__main__":
    live.main()
