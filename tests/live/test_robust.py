# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test bad conditions: the recorder killed, pipe closed, no privileges, wrong arguments,
an impatient user.
"""

import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import time

import live
from live import SKEIN, workload


def skein(*args, prefix=(), **more):
    more.setdefault("env", live.clean_environment())
    return subprocess.run([*prefix, SKEIN, *map(str, args)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120, **more)


class Messages(live.LiveTest):
    """What skein says when something is wrong, and what it leaves behind."""

    def check_message(self, done, status, *words):
        text = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, status, text)
        self.assertNotRegex(text, r"Sanitizer|Segmentation|core dumped")
        for word in words:
            self.assertIn(word, text)
        return text

    def one_line(self, done, status, *words):
        text = self.check_message(done, status, *words)
        self.assertEqual(len(text.strip().splitlines()), 1, text)

    def left(self):
        return sorted(p.name for p in self.tmp.iterdir())


class Robust(Messages):
    def test_killed_at_any_moment(self):
        """
        The trace of a killed recorder opens, holds all but the last second (plus the disk's
        delay), and is a single file once it has been read, except for a journal that was never
        started.
        """
        target = self.start(workload("loop"), 1000)
        for _ in range(20 if live.LONG else 5):
            recording = self.begin("-a", "-F", 499)
            began = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            time.sleep(1.7 + random.random() * 1.5)
            killed = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            recording.stop(signal.SIGKILL)
            trace = live.Trace(recording.path)
            times = [t for t, _, _ in trace.samples()]
            self.assertGreater(len(times), 50)
            # a second, and the time that a busy machine or its disk needs to write
            self.assertGreater(times[-1], killed - 2.5e9)
            self.assertLess(times[0], began + 0.1e9)
            stacks = trace.stacks(pid=target.pid)
            self.assertGreater(live.share(stacks, "loop_inner"), 0.9)
            self.assertIn(b"loop_inner", self.export(recording.path, "-f", "folded"))
            rows = sqlite3.connect(f"file:{recording.path}?mode=ro", uri=True).execute(
                "PRAGMA integrity_check").fetchall()
            self.assertEqual(rows, [("ok",)])
        self.assertFalse([n for n in self.left() if n.endswith(("-wal", "-shm")) or
                          (n.endswith("-journal") and self.is_needed(self.tmp / n))])

    def is_needed(self, journal):
        """Return whether a journal is needed; SQLite leaves an empty journal alone."""
        return journal.read_bytes()[:1] not in (b"", b"\0")

    def test_killed_at_once(self):
        """
        Killed during its start, the recorder leaves no file, an empty one, or one that opens, and
        no helpers.
        """
        for delay in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8):
            path = self.file()
            process = subprocess.Popen([SKEIN, "record", "-a", "-o", str(path)],
                                       stderr=subprocess.DEVNULL)
            time.sleep(delay)
            children = self.descendants(process.pid)
            process.kill()
            process.wait()
            if path.exists():
                done = skein("query", path, "SELECT count(*) FROM sample")
                self.assertIn(done.returncode, (0, 1), done.stderr)
            end = time.monotonic() + 30
            while any(self.alive(c) for c in children) and time.monotonic() < end:
                time.sleep(0.05)
            self.assertFalse([c for c in children if self.alive(c)])

    @staticmethod
    def descendants(pid):
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                return [int(p) for p in file.read().split()]
        except OSError:
            return []

    @staticmethod
    def alive(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    def test_limit_on_open_files(self):
        """
        Too few descriptors for events: an error that names the limit. Too few for files: a
        recording with a warning.
        """
        target = self.start(workload("loop"), 1000)
        path = self.tmp / "x.skein"
        args = ("record", "-a", "-F", 199, "-d", 1, "-o", path)
        done = skein(*args, prefix=["prlimit", "--nofile=24:24"])
        self.check_message(done, 1, "RLIMIT_NOFILE, is 24", "ulimit -n", "LimitNOFILE=")
        self.assertEqual(self.left(), [])
        few = 32 + 16 * os.cpu_count()
        done = skein(*args, prefix=["prlimit", f"--nofile={few}:{few}"])
        self.check_message(done, 0, "times a file was not opened", f"RLIMIT_NOFILE, is {few}",
                           "LimitNOFILE=")
        self.assertGreater(live.count(live.Trace(path).stacks(pid=target.pid)), 5)
        # skein raises the soft limit to the hard one
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        done = skein(*args, prefix=["prlimit", f"--nofile=24:{hard}"])
        self.assertNotIn("RLIMIT_NOFILE", self.check_message(done, 0))
        stacks = live.Trace(path).stacks(pid=target.pid)
        self.assertGreater(live.share(stacks, "loop_inner"), 0.9)

    def test_unwritable_folder(self):
        done = skein("record", "-d", 1, "-o", "/proc/nothing/x.skein")
        self.one_line(done, 1, "/proc/nothing/x.skein")
        done = skein("record", "-d", 1, "-o", self.tmp / "no" / "such" / "x.skein")
        self.one_line(done, 1, "no/such/x.skein")
        self.assertEqual(self.left(), [])

    def test_closed_pipe(self):
        trace = self.record("-a", "-F", 999, "-d", 0.5)
        for args in (["export", trace.path, "-f", "folded"], ["report", trace.path],
                     ["query", trace.path, "SELECT * FROM sample"],
                     ["record", "-f", "folded", "-o", "-", "--", live.workload("loop"), "0.3"]):
            with self.subTest(args=args):
                read, write = os.pipe()
                os.close(read)
                done = subprocess.run([SKEIN, *args], stdout=write, stderr=subprocess.PIPE,
                                      env=live.clean_environment())
                os.close(write)
                # 128 + SIGPIPE is a shell's status for a death by the signal
                self.assertIn(done.returncode, (-signal.SIGPIPE, 141), done.stderr)
                self.assertNotIn(b"roken pipe", done.stderr)

    def test_no_privileges(self):
        self.tmp.chmod(0o777)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                  "--inh-caps=-all", "--bounding-set=-all"]
        done = skein("record", "-d", 1, "-o", self.tmp / "x.skein", prefix=nobody)
        self.check_message(done, 1, "CAP_", "sudo")
        self.assertEqual(self.left(), [])

    def test_one_capability_less(self):
        """The message names the missing capability and the command that adds it."""
        for name, drop in (("CAP_BPF", "-bpf,-sys_admin"), ("CAP_PERFMON", "-perfmon,-sys_admin")):
            with self.subTest(name=name):
                done = skein("record", "-d", 1, "-o", self.tmp / "x.skein",
                             prefix=["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"])
                self.check_message(done, 1, name)
                self.assertEqual(self.left(), [])

    def test_the_promised_capabilities_are_enough(self):
        """The capabilities in the design's table suffice without CAP_SYS_ADMIN."""
        target = self.start(workload("loop"), 100)
        keep = ["bpf", "perfmon", "sys_ptrace", "dac_read_search", "syslog", "checkpoint_restore",
                "dac_override"]
        caps = "-all," + ",".join("+" + k for k in keep)
        done = skein("record", "-a", "-F", 499, "-d", 0.7, "-o", self.tmp / "x.skein",
                     prefix=["setpriv", f"--bounding-set={caps}", f"--inh-caps={caps}"])
        self.check_message(done, 0)
        stacks = live.Trace(self.tmp / "x.skein").stacks(pid=target.pid)
        self.assertGreater(live.share(stacks, "loop_inner"), 0.9)

    def test_wrong_words(self):
        for args, words in ((["--frobnicate"], ["frobnicate"]), (["-F", "0"], ["0"]),
                            (["-F", "1000000000000"], ["1000000000000"]),
                            (["-F", "fast"], ["fast"]), (["-d", "soon"], ["soon"]),
                            (["-e", "no-such-event"], ["no-such-event"]),
                            (["-C", "4096-"], ["4096"]), (["-p", "abc"], ["abc"]),
                            (["-U", "-K"], ["-U"])):
            with self.subTest(args=args):
                done = skein("record", "-o", self.tmp / "x.skein", "-d", 0.2, *args)
                left = self.left()
                for name in left:
                    (self.tmp / name).unlink()
                self.one_line(done, 2, *words)
                self.assertEqual(left, [])
        self.one_line(skein("recrod"), 2, "recrod")
        self.one_line(skein("report", "--nothing", "x"), 2, "nothing")
        self.one_line(skein("export", "x.skein", "-f", "no-such-format"), 2, "no-such-format")

    def test_nobody_there(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        done = skein("record", "-p", gone.pid, "-d", 0.2, "-o", self.tmp / "x.skein")
        self.one_line(done, 1, str(gone.pid))
        done = skein("record", "-t", gone.pid, "-d", 0.2, "-o", self.tmp / "x.skein")
        self.one_line(done, 1, str(gone.pid))
        done = skein("record", "--cgroup", "/no/such/group", "-d", 0.2, "-o",
                     self.tmp / "x.skein")
        self.one_line(done, 1, "/no/such/group")
        self.assertEqual(self.left(), [])

    def test_glob_that_matches_nothing(self):
        done = skein("record", "--comm", "no-such-*-name", "-d", 0.3, "-o", self.tmp / "x.skein")
        self.check_message(done, 1, "no-such-*-name")

    def test_interrupted(self):
        """The first Ctrl-C, or SIGTERM, ends the recording properly."""
        target = self.start(workload("loop"), 100)
        for how in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(how=how):
                trace = self.finish(self.begin("-a", "-F", 499), how=how)
                host = next(iter(trace.table("host").values()))
                self.assertGreater(host["end"], host["start"])
                self.assertGreater(live.share(trace.stacks(pid=target.pid), "loop_inner"), 0.9)
                self.assertIn("written", trace.done.err)

    def test_interrupted_with_a_command(self):
        """
        Ctrl-C at a terminal reaches skein and the command; skein returns the command's own status.
        """
        path = self.file()
        process = subprocess.Popen(
            [SKEIN, "record", "-o", str(path), "--", "sh", "-c",
             'trap "exit 7" INT; echo >"$0"; while :; do sleep 0.05; done', self.tmp / "ready"],
            start_new_session=True, stderr=subprocess.PIPE, env=live.clean_environment())
        self.addCleanup(self.end, process)
        self.wait_for((self.tmp / "ready").exists)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        err = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 7, err)
        self.assertGreater(next(iter(live.Trace(path).table("host").values()))["end"], 0)

    def test_one_wish_sent_twice(self):
        """
        A signal sent twice, as timeout(1) does to its child and to its group, ends the recording
        properly.
        """
        recording = self.begin("-a", "-F", 999)
        for _ in range(20):
            if recording.process.poll() is None:
                os.kill(recording.pid, signal.SIGINT)
                time.sleep(0.01)
        done = recording.wait(20)
        self.assertEqual(done.status, 0, done.err)
        self.assertGreater(next(iter(live.Trace(recording.path).table("host").values()))["end"], 0)

    def test_interrupted_twice(self):
        """
        The second Ctrl-C aborts at once. The recorder is stopped in between, so that it cannot
        finish handling the first one.
        """
        recording = self.begin("-a", "-F", 999)
        os.kill(recording.pid, signal.SIGINT)
        time.sleep(0.005)
        os.kill(recording.pid, signal.SIGSTOP)
        time.sleep(1.2)
        os.kill(recording.pid, signal.SIGINT)
        os.kill(recording.pid, signal.SIGCONT)
        done = recording.wait(20)
        # it may not have started handling the first one
        self.assertIn(done.status, (0, 1, 130, -signal.SIGINT), done.err)
        if os.path.exists(recording.path):
            skein("query", recording.path, "SELECT count(*) FROM sample")

    def test_files_belong_to_who_called_sudo(self):
        env = live.clean_environment(SUDO_UID="65534", SUDO_GID="65533")
        for name in ("x.skein", "x.folded"):
            path = self.tmp / name
            done = skein("record", "-a", "-d", 0.3, "-o", path, env=env)
            self.check_message(done, 0)
            self.assertEqual((path.stat().st_uid, path.stat().st_gid), (65534, 65533), name)

    def test_older_file_is_kept(self):
        path = self.tmp / "x.skein"
        for seconds in (0.2, 0.3):
            self.check_message(skein("record", "-d", seconds, "-o", path), 0)
        self.assertEqual(self.left(), ["x.skein", "x.skein.old"])

    def test_nothing_is_left_in_the_kernel(self):
        """Neither programs nor maps remain in the kernel, also after SIGKILL."""
        for how in (signal.SIGINT, signal.SIGKILL):
            recording = self.begin("-a")
            held = self.bpf_ids(recording.pid)
            self.assertTrue(held)
            recording.stop(how)
            end = time.monotonic() + 30
            while self.existing(held) and time.monotonic() < end:
                time.sleep(0.1)
            self.assertEqual(self.existing(held), set())

    @staticmethod
    def bpf_ids(pid):
        """Return ("prog", ID) and ("map", ID) of every BPF descriptor of a process."""
        ret = set()
        folder = f"/proc/{pid}/fdinfo"
        for fd in os.listdir(folder):
            try:
                text = pathlib.Path(folder, fd).read_text(encoding="ascii", errors="replace")
            except OSError:  # closed in the meantime
                continue
            words = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
            ret |= {(kind, int(words[kind + "_id"])) for kind in ("prog", "map")
                    if kind + "_id" in words}
        return ret

    @staticmethod
    def existing(ids):
        tool = "/usr/sbin/bpftool"
        return {(kind, ident) for kind, ident in ids
                if subprocess.run([tool, kind, "show", "id", str(ident)],
                                  capture_output=True).returncode == 0}


if __name__ == "__main__":
    live.main()
