# SPDX-License-Identifier: Apache-2.0
"""Boot a small Debian with systemd as a container (systemd-nspawn), and run commands in it."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from built import BUILD, ROOT

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
SEARCHED = "PATH=/usr/sbin:/usr/bin:/sbin:/bin"
FLAGS = ("--boot", "--register=no", "--keep-unit", "--private-users=no", "--capability=all",
         "--system-call-filter=bpf perf_event_open", "--console=pipe", "--link-journal=no")


class NoContainer(Exception):
    """A container cannot be booted here; the text says why."""


def archive():
    """Return the archive that tools/deps made of such a Debian."""
    found = sorted((CACHE / "skein" / "roots").glob("systemd-*.tar"))
    if not found:
        raise NoContainer("tools/deps packaging made no Debian with systemd")
    if not shutil.which("systemd-nspawn"):
        raise NoContainer("there is no systemd-nspawn (systemd-container)")
    return found[-1]


class Container:
    """A booted copy of the root. It has the source tree and the build at the host's paths."""

    def __init__(self):
        packed = archive()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="container-"))
        self.root = self.folder / "root"
        self.process = None
        try:
            self.root.mkdir()
            subprocess.run(["tar", "xf", packed, "-C", self.root], check=True)
            self.boot()
        except BaseException:
            self.end()
            raise

    def boot(self):
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            ["systemd-nspawn", *FLAGS, f"--machine=skein-{os.getpid()}", f"--bind-ro={ROOT}",
             f"--bind-ro={BUILD}", "-D", self.root],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        end = time.monotonic() + 60
        while not self.is_up():
            if self.process.poll() is not None or time.monotonic() > end:
                said = (self.folder / "log").read_text(errors="replace").strip()
                raise NoContainer(f"systemd-nspawn boots nothing here: {said[-300:]}")
            time.sleep(0.05)

    def is_up(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        try:
            self.init = int(children.read_text().split()[0])
        except (OSError, IndexError):
            return False
        said = self.run("systemctl", "is-system-running").stdout.strip()
        return said in ("running", "degraded")

    def enter(self, *command):
        """Return the words that run a command in all namespaces of the container."""
        return ["nsenter", "-t", str(self.init), "-m", "-p", "-u", "-i", "-n", "env", "-i",
                SEARCHED, *map(str, command)]

    def run(self, *command, **more):
        return subprocess.run(self.enter(*command), stdin=subprocess.DEVNULL, timeout=90,
                              capture_output=True, text=True, check=False, **more)

    def unit(self, properties, *command):
        """Run a command as a transient unit to its end."""
        given = [word for line in properties for word in ("-p", line)]
        return self.run("systemd-run", "--quiet", "--pipe", "--wait", "--collect", *given,
                        *command)

    def end(self):
        """The end of its first process ends all of them, and then nspawn."""
        if self.process:
            if self.process.poll() is None and hasattr(self, "init"):
                os.kill(self.init, 9)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
