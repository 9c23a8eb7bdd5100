# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test the CPU budget of skein serve: a tiny one makes it sample at lower rates, and windows show it.
"""
import json
import re
import shutil
import signal
import subprocess
import time
from socket import AF_INET, SOCK_DGRAM
from socket import socket as ip_socket

import live

HZ = 47
RATES = [47, 19, 7, 3]


class ServeBudgetTest(live.LiveTest):

    def skein(self, *args):
        return subprocess.run([live.SKEIN, *map(str, args)], check=True, capture_output=True,
                              timeout=120, env=live.clean_environment()).stdout.decode()

    def serve(self, *args):
        """Start the service, which logs to a file."""
        log = open(self.tmp / "log", "w", encoding="utf-8")
        self.addCleanup(log.close)
        service = subprocess.Popen(
            [live.SKEIN, "serve", "--folder", self.tmp / "windows", "-F", str(HZ),
             "--listen", "none", "--memory", "0", *args],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
            env=live.clean_environment())
        self.addCleanup(service.wait)
        self.addCleanup(service.kill)
        return service

    def logged(self):
        return (self.tmp / "log").read_text()

    def test_steps_down(self):
        """
        Reading rings and files costs far more than 0.001 % of a core, at any rate and with no
        load: the rate goes down to the lowest, which the budget does not allow for either.
        """
        self.assertIn("0.001 % of a core",
                      self.skein("serve", "--check-config", "--cpu-budget", "0.001%"))
        service = self.serve("--cpu-budget", "0.001%", "--window", "10s")
        burn = self.start(live.workload("sleeper"), 600)
        self.wait_for(lambda: "Hz instead of 47 Hz: the CPU budget of 0.001 % was reached"
                      in self.logged(), limit=120, explain=self.logged)
        # A minute later the log has the rest: the lowest rate, at which that is still too much.
        self.wait_for(lambda: "budget of 0.001 % is exceeded at the lowest rate, 3 Hz"
                      in self.logged(), limit=120, explain=self.logged)
        began = time.monotonic()
        service.send_signal(signal.SIGTERM)
        self.assertEqual(service.wait(timeout=60), 0, self.logged())
        self.assertLess(time.monotonic() - began, 30)
        burn.kill()
        self.assertEqual(self.logged().count("budget"), 2, self.logged())
        self.check_windows()

    def own_seconds(self, socket, process):
        """What the service's metrics have of its own CPU time, s."""
        shown = subprocess.run(["curl", "-s", "--max-time", "30", "--unix-socket", socket,
                                "http://localhost/metrics"], check=True, capture_output=True)
        return float(re.search(rf'own_cpu_seconds_total{{process="{process}"}} (\S+)',
                               shown.stdout.decode())[1])

    @live.unittest.skipUnless(shutil.which("perf"), "no perf, which makes switches")
    def test_hooks_count(self):
        """
        The records of switches count in the budget: of 400,000 switches with a wake-up each, which
        take 0.1 to 0.5 us a record here. On a machine whose host takes its CPUs away within a hook
        that is timed, it may be more.
        """
        socket = self.tmp / "socket"
        service = self.serve("-e", "sched", "--no-sums", "--listen", f"unix:{socket}")
        self.wait_for(socket.exists, explain=self.logged)
        self.wait_for(lambda: list((self.tmp / "windows").glob("open-*")), explain=self.logged)
        before = self.own_seconds(socket, "hooks")
        subprocess.run(["taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", "200000"],
                       check=True, capture_output=True)
        self.wait_for(lambda: self.own_seconds(socket, "hooks") - before > 400_000 * 30e-9,
                      explain=lambda: self.own_seconds(socket, "hooks"))
        self.assertLess(self.own_seconds(socket, "hooks") - before, 400_000 * 10e-6)
        service.send_signal(signal.SIGTERM)
        self.assertEqual(service.wait(timeout=60), 0, self.logged())

    def test_hits_count(self):
        """
        Hits of probes count, too: something, and not more than all that the program took, whose
        threads run the probes' program.
        """
        socket, program = self.tmp / "socket", live.workload("probed")
        service = self.serve("-e", f"usdt:{program}:app:step", "--no-sums",
                             "--listen", f"unix:{socket}")
        self.wait_for(socket.exists, explain=self.logged)
        self.wait_for(lambda: list((self.tmp / "windows").glob("open-*")), explain=self.logged)
        before = self.own_seconds(socket, "hooks")
        probed = self.start(program, 10 ** 9)
        self.wait_for(lambda: self.own_seconds(socket, "hooks") - before > 0.01,
                      explain=lambda: self.own_seconds(socket, "hooks"))
        counted = self.own_seconds(socket, "hooks") - before
        self.assertLess(counted, live.cpu_seconds(probed.pid))
        service.send_signal(signal.SIGTERM)
        self.assertEqual(service.wait(timeout=60), 0, self.logged())

    def test_interrupts_count(self):
        """
        The hooks of interrupts count, too: of 50,000 packets to the machine itself, each with a
        softirq, whose two hooks take 0.1 to 1 us together. (With the limits of test_hooks_count.)
        """
        socket, packets = self.tmp / "socket", 200_000 if live.LONG else 50_000
        service = self.serve("-e", "interrupts", "--no-sums", "--listen", f"unix:{socket}")
        self.wait_for(socket.exists, explain=self.logged)
        self.wait_for(lambda: list((self.tmp / "windows").glob("open-*")), explain=self.logged)
        before = self.own_seconds(socket, "hooks")
        with ip_socket(AF_INET, SOCK_DGRAM) as to, ip_socket(AF_INET, SOCK_DGRAM) as out:
            to.bind(("127.0.0.1", 0))
            for _ in range(packets):
                out.sendto(b"x", to.getsockname())
        self.wait_for(lambda: self.own_seconds(socket, "hooks") - before > packets * 30e-9,
                      explain=lambda: self.own_seconds(socket, "hooks"))
        self.assertLess(self.own_seconds(socket, "hooks") - before, packets * 10e-6)
        service.send_signal(signal.SIGTERM)
        self.assertEqual(service.wait(timeout=60), 0, self.logged())

    def check_windows(self):
        """Each window has its rates with whole accounts, and all together have the four rates."""
        folder = ("--folder", self.tmp / "windows")
        seen, weight = set(), 0
        for path in self.skein("ls", "--paths", *folder).split():
            trace = live.Trace(path)
            for row in trace.query(
                    "SELECT frequency, period, due, due - written - filtered - idle - cut_off - "
                    "(SELECT coalesce(sum(count), 0) FROM loss WHERE loss.event = account.event "
                    "AND loss.cpu = account.cpu + 1) AS balance, (SELECT count(*) FROM sample "
                    "WHERE sample.event = account.event AND sample.cpu = account.cpu) - written "
                    "AS other, (SELECT count(*) FROM sample WHERE sample.event = account.event "
                    "AND sample.weight != period) AS wrong "
                    "FROM account JOIN event ON event.id = account.event"):
                self.assertEqual((row["balance"], row["other"], row["wrong"]), (0, 0, 0), row)
                if row["due"]:
                    seen.add(row["frequency"])
            weight += trace.one("SELECT coalesce(sum(weight), 0) FROM sample")
        self.assertEqual(sorted(seen, reverse=True), RATES)
        report = json.loads(self.skein("report", "--json", "--last", "1h", *folder))
        self.assertEqual([r["frequency"] for r in report["rates"]], RATES)
        self.assertEqual(report["weight"], weight)
        text = " ".join(self.skein("report", "--last", "1h", *folder).split())
        self.assertRegex(text, r"sampled at 47 Hz for .*, at 3 Hz for .*: the CPU budget of "
                               r"0\.001 % was reached")


if __name__ == "__main__":
    live.main()
