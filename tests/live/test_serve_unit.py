# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""
Run the installed unit of skein serve under a real systemd, which a container boots: it is ready
when it records, has a status, is ended when it hangs, comes back when it was killed, and leaves no
BPF program.
"""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import live
import test_units
from live import ROOT, SKEIN, workload

SHOWN = ("ActiveState", "SubState", "StatusText", "MainPID", "NRestarts", "Result")
FAST = ("--window", "2s", "--freq", "199", "--listen", "127.0.0.1:0")


def unit_text(*args):
    """Return the unit as it is installed, with these arguments, and a short watchdog."""
    text = (ROOT / "packaging/skein.service").read_text()
    command = "ExecStart=@BINDIR@/skein serve"
    assert command in text and "WatchdogSec=60s" in text
    text = text.replace(command, " ".join(["ExecStart=/usr/bin/skein serve", *args]))
    return text.replace("WatchdogSec=60s", "WatchdogSec=6s").replace("RestartSec=5s",
                                                                    "RestartSec=200ms")


def programs():
    """Return the numbers of BPF programs that this machine has."""
    done = subprocess.run(["bpftool", "-j", "prog", "list"], capture_output=True, check=True)
    return {p["id"] for p in json.loads(done.stdout)}


class ServeUnit(test_units.UnitTest):
    def start_unit(self, *args):
        unit = self.box.root / "etc/systemd/system/skein.service"
        unit.write_text(unit_text(*args))
        if not (self.box.root / "usr/bin/skein").exists():
            shutil.copy2(SKEIN, self.box.root / "usr/bin/skein")
        self.box.run("systemctl", "daemon-reload")
        self.addCleanup(self.box.run, "systemctl", "stop", "skein")
        done = self.box.run("systemctl", "start", "skein")
        self.assertEqual(done.returncode, 0, self.said())

    def setUp(self):
        super().setUp()
        self.began = time.time()

    def said(self):
        """What the unit has logged in this test; all tests have one container."""
        return self.box.run("journalctl", "-u", "skein", "-o", "cat",
                            f"--since=@{self.began:.6f}").stdout

    def state(self):
        text = self.box.run("systemctl", "show", "skein", *(f"-p{name}" for name in SHOWN)).stdout
        return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

    def own_programs(self):
        """Return the numbers of the BPF programs that the service holds."""
        pid = self.state()["MainPID"]
        text = self.box.run("sh", "-c", f"cat /proc/{pid}/fdinfo/*").stdout
        return {int(line.split()[1]) for line in text.splitlines() if line.startswith("prog_id:")}

    def windows(self):
        folder = self.box.root / "var/lib/private/skein"
        return sorted(folder.glob("2*.skein")) if folder.exists() else []

    def test_service(self):
        """Ready once it records; windows with whole stacks of other users; a clean end."""
        self.start_boxed(workload("loop"), 120)
        self.start_unit(*FAST)
        state = self.state()
        self.assertEqual((state["ActiveState"], state["SubState"]), ("active", "running"))
        self.assertIn("samples", state["StatusText"])
        own = self.own_programs()
        self.assertGreater(len(own), 2)
        self.assertEqual(own - programs(), set())
        self.wait_for(lambda: len(self.windows()) >= 2)
        done = self.box.run("systemctl", "stop", "skein")
        self.assertEqual(done.returncode, 0, self.said())
        self.assertEqual(self.state()["Result"], "success", self.said())
        self.assertNotIn("warning", self.said())
        names = set()
        for path in self.windows():
            for stack in live.Trace(path).stacks(comm="loop"):
                names |= set(stack.names)
        self.assertIn("main", names)
        self.wait_for(lambda: not own & programs(), explain=lambda: own & programs())

    def test_hangs_and_is_killed(self):
        """The watchdog ends a service that stands still; it comes back, with its window."""
        self.start_unit("--window", "1h", "--freq", "199", "--listen", "none")
        for turn, how in enumerate((signal.SIGSTOP, signal.SIGKILL), 1):
            time.sleep(3)
            self.box.run("systemctl", "kill", "--kill-whom=main", f"--signal={int(how)}", "skein")
            self.wait_for(lambda: self.state()["NRestarts"] == str(turn)
                          and self.state()["SubState"] == "running", explain=self.said)
            self.assertEqual(len(self.windows()), turn, self.said())
        self.assertIn("watchdog", self.said().lower())

    def test_socket_starts_it(self):
        """systemd listens, and a question starts the service, which answers it."""
        self.start_unit("--window", "2s")
        self.box.run("systemctl", "stop", "skein")
        text = (ROOT / "packaging/skein.socket").read_text()
        address = "ListenStream=127.0.0.1:7117" # which the machine that runs the test has, too
        self.assertIn(address, text)
        (self.box.root / "etc/systemd/system/skein.socket").write_text(
            text.replace(address, "ListenStream=/run/skein-http"))
        self.box.run("systemctl", "daemon-reload")
        self.addCleanup(self.box.run, "systemctl", "stop", "skein.socket")
        done = self.box.run("systemctl", "start", "skein.socket")
        self.assertEqual(done.returncode, 0, done.stderr)
        path = f"/proc/{self.box.init}/root/run/skein-http"
        done = subprocess.run(["curl", "-sS", "--max-time", "90", "--unix-socket", path,
                               "http://skein/healthz"], capture_output=True, check=False)
        self.assertEqual(done.stdout, b"ok\n", (done.stderr, self.said()))
        self.wait_for(lambda: self.state()["SubState"] == "running", explain=self.said)
        self.assertIn("listens on unix:/run/skein-http", self.said())

    def test_flight(self):
        """The unit has memory for the flight recorder, which a signal makes write a trace."""
        self.start_unit("--window", "1h", "--keep", "5s", "--listen", "none")
        folder = self.box.root / "var/lib/private/skein"
        self.addCleanup(lambda: [p.unlink() for p in self.windows()])
        self.box.run("systemctl", "kill", "--kill-whom=main", "--signal=SIGUSR1", "skein")
        self.wait_for(lambda: list(folder.glob("2*s-signal.skein")), explain=self.said)
        self.assertEqual(self.box.run("systemctl", "stop", "skein").returncode, 0, self.said())
        self.assertEqual(self.state()["Result"], "success", self.said())
        self.assertNotIn("warning", self.said())
        trace = live.Trace(next(folder.glob("2*s-signal.skein")))
        self.assertGreater(trace.one("SELECT count(*) FROM slice"), 100)

    def test_reload(self):
        """systemctl reload: new windows, the same process; a wrong configuration is in the log."""
        config = self.box.root / "etc/skein"
        config.mkdir(exist_ok=True)
        (config / "serve.conf").write_text("window = 1h\n")
        self.addCleanup((config / "serve.conf").unlink)
        self.start_unit("--freq", "199", "--listen", "none")
        pid = self.state()["MainPID"]
        for text, said in (("window = never\n", "serve.conf:1: window: 'never' is not"),
                           ("window = 1s\n", "windows of 1 s, at most 1 GiB")):
            (config / "serve.conf").write_text(text)
            done = self.box.run("systemctl", "reload", "skein")
            self.assertEqual(done.returncode, 0, self.said())
            self.wait_for(lambda said=said: said in self.said(), explain=self.said)
        self.wait_for(lambda: len(self.windows()) >= 2, explain=self.said)
        self.wait_for(lambda: self.state()["SubState"] == "running", explain=self.state)
        self.assertEqual(self.state()["MainPID"], pid)

    def test_exposure(self):
        """systemd finds the unit exposed to 3.0 at most."""
        folder = self.tmp / "unit"
        folder.mkdir()
        (folder / "skein.service").write_text(unit_text())
        done = subprocess.run(["systemd-analyze", "security", "--offline=yes",
                               "--threshold=30", folder / "skein.service"], capture_output=True,
                              env={**os.environ, "SYSTEMD_PAGER": ""}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout.decode())


# the tests of the module that boots the container are its own
del test_units


if __name__ == "__main__":
    unittest.main()
