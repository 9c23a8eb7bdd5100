# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of skein serve: the service in the background."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import live

HZ = 199 # of services that are asked over HTTP
NAME = re.compile(r"\d{8}T\d{6}Z-\d+s(-\d+)?\.skein")
# The part by which samples may show too much of a program beside thousands of starts of programs
# a second, as live/test_serve_memory makes them: 3 %, which perf's clock shows, too
# (docs/account.md), and chance. A program with half of a CPU has 1,200 samples in 6 s of CPU time,
# whose number has a standard deviation of 2 %, 0.12 s. Beyond the 3 % the bound is 0.42 s, and
# 0.4 s that the tests add: 6 of those, exceeded less often than once in 10^9 runs.
SWITCH_PART = 0.1
CHOOSABLE = {"memory", "cpu", "pids", "cpuset", "freezer"}


def chosen_hierarchy():
    """Return the mount point of the hierarchy that skein records (capture/cgroup.c)."""
    unified = None
    for line in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        mount, (kind, _, options) = line.split()[4], line.split(" - ")[1].split(" ", 2)
        if kind == "cgroup" and CHOOSABLE & set(options.split(",")):
            return pathlib.Path(mount)
        if kind == "cgroup2":
            unified = unified or pathlib.Path(mount)
    return unified


def schedstat(pid):
    """Return how long a thread has run and waited for a CPU, in s, by the kernel's own account."""
    text = pathlib.Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii")
    return [int(n) / 1e9 for n in text.split()[:2]]


class Service:
    """`skein serve` in the background; the constructor returns when its first window is there."""

    def __init__(self, folder, *args):
        self.folder = folder
        self.log = folder.with_suffix(".log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [live.SKEIN, "serve", "--folder", folder, *map(str, args),
                 *([] if "--listen" in args else ["--listen", "none"]),
                 # a busy machine must not change the rate, or what is remembered
                 *([] if "--cpu-budget" in args else ["--cpu-budget", "0"]),
                 *([] if "--memory" in args else ["--memory", "0"])],
                stdin=subprocess.DEVNULL, stderr=log, stdout=subprocess.DEVNULL,
                env=live.clean_environment())
        end = time.monotonic() + 60
        while self.process.poll() is None and not (
                "windows go to" in self.log.read_text(errors="replace") and
                list(folder.glob("open-*"))):
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError("skein serve wrote no window within 60 s")
            time.sleep(0.02)

    def windows(self):
        return sorted(p for p in self.folder.iterdir() if NAME.fullmatch(p.name))

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(60)
        return self.process.returncode, self.log.read_text(errors="replace")


class ServeTest(live.LiveTest):
    def setUp(self):
        super().setUp()
        self.folder = self.tmp / "windows"

    def runtime_folder(self, path=None):
        """Have the flight recorder keep its memory in a new folder, on a tmpfs by default."""
        path = path or pathlib.Path("/dev/shm") / f"skein-test-{os.getpid()}"
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        path.mkdir(mode=0o700)
        before = os.environ.get("RUNTIME_DIRECTORY")
        if before is None:
            self.addCleanup(os.environ.pop, "RUNTIME_DIRECTORY")
        else:
            self.addCleanup(os.environ.update, {"RUNTIME_DIRECTORY": before})
        os.environ["RUNTIME_DIRECTORY"] = str(path)
        return path

    def serve(self, *args):
        service = Service(self.folder, *args)
        self.addCleanup(self.end_service, service)
        return service

    @staticmethod
    def end_service(service):
        if service.process.poll() is None:
            service.process.kill()
            service.process.wait()

    def skein(self, *args, status=0):
        run = subprocess.run([live.SKEIN, *map(str, args)], capture_output=True, timeout=120,
                             stdin=subprocess.DEVNULL, env=live.clean_environment())
        self.assertEqual(run.returncode, status, run.stderr)
        return (run.stderr if status else run.stdout).decode()


class Member:
    """A Python program that is born in a control group."""

    def __init__(self, group, code, *args, cpu=None):
        reader, writer = os.pipe()

        def enter():
            (group / "cgroup.procs").write_text("0")
            if cpu is not None:
                os.sched_setaffinity(0, {cpu})
            os.write(writer, " ".join(map(str, schedstat("self"))).encode())

        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code, *args], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, preexec_fn=enter)  # pylint: disable=subprocess-popen-preexec-fn
        self.begun = [float(n) for n in os.read(reader, 100).split()]
        os.close(reader)
        os.close(writer)

    def end(self):
        """Wait for its end. Return how long it ran and waited for a CPU in the group, in s."""
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        ended = schedstat(self.process.pid)
        self.process.wait()
        return [after - before for after, before in zip(ended, self.begun)]

    def number(self):
        return float(self.process.stdout.read().split()[-1])


class GroupTest(ServeTest):
    """A test with control groups of its own."""

    def setUp(self):
        super().setUp()
        self.top = chosen_hierarchy()
        if not self.top:
            self.skipTest("no control groups")

    def end_process(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def group(self, name):
        path = self.top / f"skein-{os.getpid()}-{name}"
        path.mkdir()
        self.addCleanup(self.wait_for, lambda: self.removed(path))
        return path

    @staticmethod
    def removed(path):
        try:
            path.rmdir()
        except FileNotFoundError:
            return True
        except OSError:  # a process is still being reaped
            return False
        return True

    def member(self, group, code, *args, cpu=None):
        member = Member(group, code, *args, cpu=cpu)
        self.addCleanup(self.end_process, member.process)
        return member


class HttpTest(ServeTest):
    token = None # that requests send

    def begin_service(self, *args):
        service = self.serve("--listen", "127.0.0.1:0", "-F", HZ, *args)
        self.address = re.search(r"listens on (\S+)", service.log.read_text())[1]
        return service

    def get(self, path, headers=(), status=200, timeout=120):
        headers = dict(headers)
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        request = urllib.request.Request(f"http://{self.address}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                code, body = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                code, body = error.code, error.read()
        self.assertEqual(code, status, body[:500])
        return body
