# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test that record can write other formats directly, also to stdout, and keeps data and messages
apart.
"""

import gzip
import os
import subprocess

import live
from live import SKEIN, workload


class Commands(live.LiveTest):
    def skein(self, *args, **more):
        return subprocess.run([SKEIN, *map(str, args)], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, cwd=self.tmp,
                              env=live.clean_environment(), **more)

    def check_folded(self, data):
        lines = data.decode().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, r"^[^;]+(;[^;]+)+ [1-9][0-9]*$")
        mine = [l for l in lines if "loop_outer;loop_inner" in l]
        self.assertTrue(mine, lines[:20])
        self.assertEqual(lines, sorted(set(lines), key=lambda l: l.encode()))

    def test_folded_by_ending(self):
        done = self.skein("record", "-F", 499, "-o", "x.folded", "--", workload("loop"), 0.4)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.tmp), ["x.folded"])
        self.check_folded((self.tmp / "x.folded").read_bytes())

    def test_folded_to_stdout(self):
        done = self.skein("record", "-F", 499, "-f", "folded", "-o", "-", "-d", 0.5, "-p",
                          self.start(workload("loop"), 100).pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.tmp), [])
        self.check_folded(done.stdout)

    def test_pprof(self):
        done = self.skein("record", "-F", 499, "-f", "pprof", "-o", "x.data", "--",
                          workload("loop"), 0.4)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = gzip.decompress((self.tmp / "x.data").read_bytes())
        self.assertIn(b"loop_inner", text)
        self.assertIn(b"nanoseconds", text)

    def test_trace_to_stdout(self):
        with open(self.tmp / "out", "wb") as out:
            done = subprocess.run([SKEIN, "record", "-d", "0.4", "-o", "-"], stdout=out,
                                  stderr=subprocess.PIPE, timeout=60,
                                  env=live.clean_environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(live.Trace(self.tmp / "out").one("SELECT count(*) FROM event"), 0)

    def test_default_name(self):
        done = self.skein("record", "-d", 0.3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.tmp), ["skein.skein"])
        self.assertEqual(done.stdout, b"")
        report = self.skein("report")
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_what_is_said_after_a_recording(self):
        loop = [workload("loop"), 0.5]
        done = self.skein("record", "-F", 199, "-o", "x.skein", "--", *loop)
        lines = [line for line in done.stderr.decode().splitlines() if "warning:" not in line]
        self.assertEqual(len(lines), 2, done.stderr)
        self.assertRegex(lines[0], r"^skein: [\d,]+ samples in .*: x\.skein, .*skein report")
        self.assertRegex(lines[1], r"^skein: -e all also records .* [1-9][\d,]* switches a second")
        chosen = self.skein("record", "-e", "cpu", "-F", 199, "-o", "x.skein", "--", *loop)
        self.assertNotIn(b"-e all", chosen.stderr)
        told = self.skein("record", "-v", "-F", 199, "-o", "x.skein", "--", *loop).stderr.decode()
        self.assertRegex(told, r"samples due = [\d,]+ written")
        self.assertRegex(told, r"recorder: .* of CPU")

    def test_a_recording_knows_what_it_is_of(self):
        secret = [workload("loop"), 0.3, "secret-word"]
        self.skein("record", "-o", "x.skein", "--", *secret)
        title = "loop (2 arguments) on "
        self.assertIn(title, self.skein("report", "x.skein").stdout.decode())
        self.assertIn(title, self.skein("export", "x.skein", "-f", "svg").stdout.decode())
        self.assertIn('"loop (2 arguments)"',
                      self.skein("export", "x.skein", "-f", "html").stdout.decode())
        self.assertNotIn(b"secret-word", (self.tmp / "x.skein").read_bytes())
        self.skein("record", "--store-arguments", "-o", "x.skein", "--", *secret)
        self.assertIn("secret-word on ", self.skein("report", "x.skein").stdout.decode())
        loop = self.start(workload("loop"), 100)
        self.skein("record", "-F", 499, "-d", 0.5, "-p", loop.pid, "-o", "x.skein")
        self.assertIn(f"loop (pid {loop.pid}) on ",
                      self.skein("report", "x.skein").stdout.decode())

    def test_what_did_not_run(self):
        done = self.skein("record", "-d", 0.3, "--comm", "kthreadd", "-o", "x.skein")
        if b"of them ran" not in done.stderr: # it may have started a thread in that time
            self.assertNotEqual(self.skein("query", "x.skein", "SELECT count(*) FROM sample")
                                .stdout.split()[-1], b"0", done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.skein("record", "-d", 0.3, "--comm", "nobody-is-so", "-o", "x.skein")
        self.assertIn(b"no running thread or process was called", done.stderr)
        self.assertEqual(done.returncode, 1)
        done = self.skein("record", "-F", 1, "-o", "x.skein", "--", "true")
        self.assertIn(b"-F 9999", done.stderr)
        self.assertIn(b"-F 9999", self.skein("report", "x.skein").stdout)

    def test_no_binary_data_on_a_terminal(self):
        master, slave = os.openpty()
        done = subprocess.run([SKEIN, "record", "-d", "0.2", "-f", "pprof", "-o", "-"],
                              stdin=slave, stdout=slave, stderr=subprocess.PIPE, timeout=60,
                              env=live.clean_environment())
        os.close(slave)
        os.close(master)
        self.assertIn(done.returncode, (1, 2))
        self.assertIn(b"terminal", done.stderr)

    def test_progress_on_a_terminal_only(self):
        status, shown = live.on_terminal("record", "-d", 1.5, "-o", self.tmp / "x.skein")
        self.assertEqual(status, 0)
        self.assertIn(b"\r", shown.replace(b"\r\n", b"\n"))
        quiet = self.skein("record", "-d", 0.3, "-o", "y.skein")
        self.assertNotIn(b"\r", quiet.stderr)

    def test_recorder_goes_first(self):
        """
        The recorder has a higher priority, its helpers (the one that forks them, names, pages,
        files) a little less of it, and the command that it runs the priority of the caller.
        """
        over = self.tmp / "over"
        recording = self.begin("-a", "--", "sh", "-c",
                               'nice; while [ ! -e "$0" ]; do sleep 0.05; done', over)
        children = f"/proc/{recording.pid}/task/{recording.pid}/children"
        with open(children, encoding="ascii") as file:
            helpers = [pid for pid in map(int, file.read().split())
                       if "skein" in (live.command_name(pid) or "")]
        priorities = [os.getpriority(os.PRIO_PROCESS, pid) for pid in (recording.pid, *helpers)]
        over.touch()
        done = recording.wait()
        usual = os.getpriority(os.PRIO_PROCESS, 0)
        self.assertEqual(priorities[0], min(usual, -15))
        # one more reads the memory of processes, if one of Python or Java runs
        self.assertIn(priorities[1:], [count * [min(usual, -9)] for count in (4, 5)])
        self.assertEqual(int(done.out), usual)

    def test_help(self):
        for command in ("record", "report", "export", "query"):
            done = self.skein(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertLessEqual(max(map(len, done.stdout.decode().splitlines())), 100)
        help_text = self.skein("record", "--help").stdout.decode()
        for word in ("-a", "-p", "-t", "--comm", "--cgroup", "--pod", "--host", "-C", "-F", "-c",
                     "-d", "-e", "-U", "-K", "-o", "-f", "--buffer"):
            self.assertIn(word, help_text)


if __name__ == "__main__":
    live.main()
