# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of skein serve: the service in the background."""
import re
import signal
import subprocess
import time

import live

NAME = re.compile(r"\d{8}T\d{6}Z-\d+s(-\d+)?\.skein")


class Service:
    """`skein serve` in the background; the constructor returns when its first window is there."""

    def __init__(self, folder, *args):
        self.folder = folder
        self.log = folder.with_suffix(".log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [live.SKEIN, "serve", "--folder", folder, *map(str, args),
                 *([] if "--listen" in args else ["--listen", "none"]),
                 # a busy machine must not change the rate
                 *([] if "--cpu-budget" in args else ["--cpu-budget", "0"])],
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
