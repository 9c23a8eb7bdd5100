# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""Run every example of the README, of the pages for users and of the help.

The examples run in a folder that has what they name: traces, a Makefile, a server. Durations are
shortened, numbers of processes and control groups replaced by those of a program that runs here.
"""
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import examples
import live
from live import BUILD, SKEIN, workload

LIMIT = 120 # s, for one example
RECORDED = "4500ms" # the examples look at times up to 3.2 s
LOAD = """
import gc, threading, time
lock = threading.Lock()
def work():
    while True:
        with lock:
            sum(range(3000))
            gc.collect(0)
        time.sleep(0.002)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(1000)
"""
SERVER = f"#!/bin/sh\n{workload('loop')} 0.2\n"
# What stands in for programs that examples call, in front of PATH.
PROGRAMS = {"sudo": '#!/bin/sh\nexec "$@"\n', "flamegraph.pl": "#!/bin/sh\nexec cat\n",
            "browser": "#!/bin/sh\nexec cat -- ${1#file://}\n"}
TRACES = ("before", "after", "old", "new", "old1", "old2", "new1", "new2", "a1", "a2", "b1", "b2",
          "main-1", "main-2", "branch-1", "branch-2", "run", "mon", "tue", "monday", "tuesday",
          "web", "web-1", "web-2")
# Programs that examples select.
NAMES = ("gunicorn", "postgres", "redis-server", "java")
CHANGED = 3 # exit status of diff --exit-code
# Where an example cannot run here: the reason.
ELSEWHERE = {r"\| source$": "fish reads it: tests/readers/test_completions.py",
             r"^source <": "shells read these: tests/readers/test_completions.py",
             r"--debuginfod\b": "asks a server in the network"}


@unittest.skipIf(os.geteuid(), "recording needs root")
class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.home = pathlib.Path(folder.name)
        (cls.home / "bin").mkdir()
        for name, text in PROGRAMS.items():
            cls.write_program(cls.home / "bin" / name, text)
        (cls.home / "bin/skein").symlink_to(SKEIN)
        cls.write_program(cls.home / "server", SERVER)
        shutil.copy(workload("steps"), cls.home / "app")
        (cls.home / "Makefile").write_text(f"all:\n\t{workload('loop')} 0.2\n")
        (cls.home / "runtime").mkdir(mode=0o700)
        cls.loads = [cls.start_load(name) for name in NAMES]
        cls.env = live.clean_environment(
            PATH=f"{cls.home}/bin:{os.environ['PATH']}", COLUMNS="80", TERM="xterm-256color",
            BROWSER=str(cls.home / "bin/browser"), XDG_RUNTIME_DIR=str(cls.home / "runtime"))
        subprocess.run([SKEIN, "record", "-q", "-e", "all,runtime", "-d", RECORDED], cwd=cls.home,
                       check=True, env=cls.env, timeout=LIMIT)
        for name in TRACES:
            shutil.copy(cls.home / "skein.skein", cls.home / f"{name}.skein")
        shutil.copy(cls.home / "skein.skein", cls.home / "kept")
        cls.windows = cls.home / "windows"
        cls.make_windows()

    @classmethod
    def make_windows(cls):
        """Record two windows, for examples that read those of the service."""
        service = subprocess.Popen([SKEIN, "serve", "--folder", cls.windows, "--window", "1s"],
                                   env=cls.env, stderr=subprocess.DEVNULL)
        end = time.monotonic() + LIMIT
        while len(list(cls.windows.glob("2*.skein"))) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        service.send_signal(signal.SIGTERM)
        assert not service.wait(LIMIT)
        first = min(cls.windows.glob("2*.skein"))
        for age in (5400, 88200):  # s: for comparisons with an earlier hour, and day
            begin = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - age))
            shutil.copy(first, cls.windows / f"{begin}-1s.skein")

    @classmethod
    def start_load(cls, name):
        """Start a program in Python that has another name."""
        program = cls.home / "bin" / name
        program.symlink_to("/usr/bin/python3")
        load = subprocess.Popen([program, "-c", LOAD])
        cls.addClassCleanup(load.wait)
        cls.addClassCleanup(load.kill)
        return load

    @staticmethod
    def write_program(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def here(self, command):
        """Return an example as it can run in this folder."""
        group = next(line.split(":", 2)[2].strip()
                     for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines())
        for pattern, new in ((r" -d \w+", " -d 300ms"),
                             (r"\b4711(,4712)?\b", str(self.loads[0].pid)),
                             (r"--cgroup \S+", f"--cgroup {shlex.quote(group)}"),
                             (r"--from 10s( --to \d+s)?", "--from 1s --to 3s"),
                             (r"\bbuild/skein\b", str(BUILD / "skein")),
                             (r" --folder \S+", ""),
                             (r"(\bskein ls|--last \w+|\bskein serve(?! --check))",
                              rf"\1 --folder {self.windows}"),
                             (r"--at [\d:]+", self.moment()),
                             (r"\| man -l -", "| cat"), (r" -j4\b", "")):
            command = re.sub(pattern, new, command)
        return command

    def moment(self):
        """Return options that choose the first window."""
        name = min(p.name for p in self.windows.glob("2*.skein"))
        at = f"{name[:4]}-{name[4:6]}-{name[6:11]}:{name[11:13]}:{name[13:15]}Z"
        return f"--folder {self.windows} --at {at}"

    def run_on_terminal(self, command):
        """Run top until it has drawn a picture, and press q."""
        child, terminal = pty.fork()
        if not child:
            os.chdir(self.home)
            os.execve("/bin/bash", ["bash", "-c", command], self.env)
        shown = b""
        try:
            while part := os.read(terminal, 65536):
                shown += part
                if b"%" in shown:
                    os.write(terminal, b"q")
        except OSError:
            pass # no process has the terminal open
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode(errors="replace")

    def run_until_written(self, command, folder, pattern):
        """Run a recording without end, and end it when it has begun to write such a file."""
        (self.home / "skein.skein").unlink(missing_ok=True)
        process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=self.home, env=self.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + LIMIT
        while not list((self.home / folder).glob(pattern)) and process.poll() is None:
            self.assertLess(time.monotonic(), end, command)
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        return process.wait(LIMIT), process.stderr.read()

    def run_server(self, command):
        """Run skein view until it says that it can be looked at, and end it."""
        process = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=self.home, env=self.env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = ""
        for line in process.stderr:
            said += line
            if "Ctrl-C ends it" in line:
                process.send_signal(signal.SIGINT)
        process.stderr.close()
        return process.wait(LIMIT), said

    def run_example(self, command):
        words = shlex.split(command.removeprefix("sudo "))
        if words[:2] == ["skein", "view"]:
            return self.run_server(command)
        if words[:2] == ["skein", "top"] and "-b" not in words:
            return self.run_on_terminal(command)
        if words[:2] == ["skein", "serve"] and "--check-config" not in words:
            return self.run_until_written(command.removeprefix("sudo "), "windows", "open-*")
        if words[:2] == ["skein", "record"] and not {"-d", "--"} & set(words):
            return self.run_until_written(command.removeprefix("sudo "), ".", "skein.skein")
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.home,
                              env=self.env, timeout=LIMIT, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, errors="replace", check=False)
        shown = done.stdout + done.stderr
        return done.returncode, shown

    def written(self, command):
        """Return the file that a command is to write, if it names one."""
        named = re.search(r"(?:-o|>) ([\w./-]+\.[\w.]+)(?: |$)", command)
        return self.home / named[1] if named else None

    def check_example(self, typed):
        shutil.copy(self.home / "kept", self.home / "skein.skein")
        file = self.written(typed)
        if file:
            file.unlink(missing_ok=True)
        status, shown = self.run_example(typed)
        allowed = (0, CHANGED) if "--exit-code" in typed else (0,)
        self.assertIn(status, allowed, f"{typed}:\n{shown}")
        if file:
            self.assertGreater(file.stat().st_size, 0, typed)
        else:
            self.assertTrue(shown, f"{typed}: shows nothing")

    def test_examples(self):
        found, tried, left_out = examples.every(), set(), 0
        self.assertGreaterEqual(len(found), 90)
        for command, place in found.items():
            typed = self.here(command)
            if any(re.search(pattern, command) for pattern in ELSEWHERE):
                left_out += 1
            elif typed not in tried:
                tried.add(typed)
                with self.subTest(command=command, place=place):
                    self.check_example(typed)
        self.assertLessEqual(left_out, 8)


if __name__ == "__main__":
    unittest.main()
