# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 900
"""
Test wall time of skein serve: what threads run and wait adds up to the time of the session, the
programs that record waits are attached only as long as a session runs, and windows and metrics
have nothing of them.
"""
import concurrent.futures
import fcntl
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

import live
import serve_live

HZ = serve_live.HZ
BURNT, SLEPT = 0.03, 0.07 # s, in turns
# s, of a session that others overlap: they take 3 s and, on a busy machine, several for their names
LONGER = 25 if live.LONG else 15
BEGIN = """
import fcntl, os, sys, time
with open("/proc/self/comm", "w") as file:
    file.write(sys.argv[1])
print(flush=True)
"""
BURNER = f"""
while True:
    end = time.thread_time() + {BURNT}
    while time.thread_time() < end:
        pass
    time.sleep({SLEPT})
"""
READER = "os.read(0, 1)"
LOCKER = """
file = open(sys.argv[2])
fcntl.flock(file, fcntl.LOCK_EX)
os.read(0, 1)
"""


class Wall(serve_live.HttpTest):
    def setUp(self):
        super().setUp()
        self.pool = concurrent.futures.ThreadPoolExecutor()
        self.addCleanup(self.pool.shutdown)

    def program(self, comm, code, *args):
        process = self.start(sys.executable, "-c", BEGIN + code, comm, *args,
                             stdin=subprocess.PIPE)
        process.stdout.readline()
        return process

    def wait_for_sleep(self, process):
        stat = pathlib.Path(f"/proc/{process.pid}/stat")
        self.wait_for(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "S")

    def ask(self, path, **more):
        return self.pool.submit(self.get, path, **more)

    def links(self, service):
        return live.descriptors(service.process.pid, "bpf_link")

    @staticmethod
    def seconds(folded, comm, *words):
        """The time of a program's stacks, s, of those that have all words."""
        found = 0
        for line in folded.decode().splitlines():
            stack, value = line.rsplit(" ", 1)
            frames = stack.split(";")
            if comm in frames and all(any(word in f for f in frames) for word in words):
                found += int(value)
        return found / 1e6

    @staticmethod
    def lost(profile, what):
        """How many samples or waits a profile names as lost."""
        text = gzip.decompress(profile)
        return sum(int(n) for n in re.findall(rb"lost (\d+) %s: " % what.encode(), text))

    def check_windows(self, service):
        """They have no waits, and their accounts add up."""
        for path in service.windows():
            trace = live.Trace(path)
            self.assertEqual(trace.one("SELECT group_concat(DISTINCT name) FROM event"),
                             "cpu-clock")
            self.assertEqual(trace.one("SELECT count(*) FROM sample WHERE length OR wait"), 0)
            self.assertEqual(trace.one("SELECT count(*) FROM slice"), 0)
            self.assertEqual(trace.one("SELECT count(*) FROM lane"), 0)
            self.assertEqual(trace.one(
                "SELECT sum(due) - sum(written) - sum(filtered) - sum(idle) - sum(cut_off) - "
                "(SELECT coalesce(sum(count), 0) FROM loss WHERE event AND cpu) FROM account"), 0)

    def test_wall(self):
        """
        Two sessions that overlap have the time of a thread that sleeps, of one whose wait ends in
        them, and of one that also runs, less its time in the run queue. The bound of the first two
        is the rounding of a line; that of the last one is 6 sigma of its samples.
        """
        service = self.begin_service("--window", "1s")
        lock = self.file()
        lock.touch()
        held = open(lock, "rb")
        self.addCleanup(held.close)
        fcntl.flock(held, fcntl.LOCK_EX)
        burner = self.program("wall-burner", BURNER)
        reader = self.program("wall-reader", READER)
        locker = self.program("wall-locker", LOCKER, lock)
        self.wait_for_sleep(reader)
        self.wait_for_sleep(locker)
        before = self.links(service)
        first = self.ask(f"/folded?seconds={LONGER}&event=wall")
        self.wait_for(lambda: self.links(service) > before)
        attached = self.links(service)
        delay, stolen = live.waited_for_cpu(burner.pid), live.stolen()
        second = self.ask("/debug/pprof/wall?seconds=3")
        third = self.ask("/folded?seconds=3&event=wall")
        profile, short = second.result(), third.result()
        delay = live.waited_for_cpu(burner.pid) - delay
        missing = (self.lost(profile, "samples") / HZ + self.lost(profile, "waits") * SLEPT +
                   live.stolen() - stolen)
        self.assertEqual(self.links(service), attached)
        self.assertFalse(first.done())
        fcntl.flock(held, fcntl.LOCK_UN)
        long = first.result()
        self.wait_for(lambda: self.links(service) == before)

        if b"not read" not in gzip.decompress(profile): # a reader of stacks that hung
            for folded, length in ((short, 3), (long, LONGER)):
                self.assertAlmostEqual(self.seconds(folded, "wall-reader"), length, delta=0.01)
                self.assertGreater(self.seconds(folded, "wall-reader", "[waiting]"),
                                   length - 0.01)
            self.assertAlmostEqual(self.seconds(long, "wall-locker"), LONGER, delta=0.05 +
                                   live.waited_for_cpu(locker.pid) + live.cpu_seconds(locker.pid))
            self.assertGreater(self.seconds(long, "wall-locker", "[waiting]", "flock"), 3)
        chance = live.chance(2 * 3 / (BURNT + SLEPT), HZ)
        whole = self.seconds(short, "wall-burner")
        self.assertLess(whole, 3 + chance + delay)
        self.assertGreater(whole, 3 - chance - delay - 2 * missing)
        waited = self.seconds(short, "wall-burner", "[waiting]")
        self.assertLess(waited, 3 * SLEPT / (BURNT + SLEPT) + SLEPT + delay)

        windows = len(service.windows())
        self.wait_for(lambda: len(service.windows()) > windows)
        self.check_windows(service)
        self.assertNotRegex(self.get("/metrics").decode(),
                            r'reason="[^"]*(wait|switches)[^"]*"\} [1-9]')
        self.check_pprof(profile)
        self.assertEqual(service.stop()[0], 0)
        self.assertEqual(list(self.folder.glob("session-*")), [])

    def check_pprof(self, profile):
        if not shutil.which("go"):
            return
        out = self.tmp / "wall.pb.gz"
        out.write_bytes(profile)
        for options, told in ((("-top",), "Type: wall"), (("-raw",), "wall/nanoseconds"),
                              (("-top", "-sample_index=off_cpu"), "Type: off_cpu"),
                              (("-top", "-tagfocus=comm=wall-burner"), "Type: wall")):
            done = subprocess.run(["go", "tool", "pprof", "-symbolize=none", *options, out],
                                  capture_output=True, text=True, check=False, timeout=300,
                                  env=live.clean_environment(PPROF_TMPDIR=str(self.tmp)))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(told, done.stdout)

    def test_page(self):
        """A flame graph of both; and go tool pprof asks for a profile itself."""
        self.begin_service("--window", "1h")
        self.program("wall-burner", BURNER)
        page = self.ask("/flamegraph?seconds=1&event=wall")
        if shutil.which("go"):
            url = f"http://{self.address}/debug/pprof/wall?seconds=1"
            done = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-timeout", "200",
                                   "-top", url],
                                  capture_output=True, text=True, check=False, timeout=300,
                                  env=live.clean_environment(PPROF_TMPDIR=str(self.tmp)))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("Type: wall", done.stdout)
        self.assertIn(b'"off-cpu"', page.result())
        self.assertIn(b"/debug/pprof/wall", self.get("/"))
        self.assertIn(b"wall?seconds", self.get("/debug/pprof/"))

    def test_limits(self):
        """Requests that make no sense, and more than four sessions; the others go on."""
        service = self.begin_service()
        before = self.links(service)
        for path in ("/debug/pprof/wall?seconds=61", "/debug/pprof/wall?last=1h",
                     "/folded?event=wall&window=x", "/folded?event=wall&last=1h",
                     "/debug/pprof/profile?event=cycles", "/folded?event=wall&seconds=0"):
            self.get(path, status=400)
        url = f"http://{self.address}/folded?event=wall&seconds=60"
        clients = [subprocess.Popen(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", url],
                                    stdout=subprocess.PIPE) for _ in range(5)]
        for client in clients:
            self.addCleanup(self.end, client)
        self.wait_for(lambda: any(client.poll() is not None for client in clients))
        refused = [client for client in clients if client.poll() is not None]
        self.assertEqual([client.stdout.read() for client in refused], [b"429"])
        self.get("/folded?seconds=1") # of CPU time
        self.assertGreater(self.links(service), before)
        for client in clients: # who goes away is no reason to go on
            client.kill()
        self.wait_for(lambda: self.links(service) == before)
        self.get("/folded?event=wall&seconds=1")
        self.assertEqual(service.stop()[0], 0)

    def test_kept(self):
        """Stacks of waits that the flight recorder keeps are used; switches are not enough."""
        self.runtime_folder()
        service = self.begin_service("--window", "1s", "--keep", "2s", "--keep-events", "off-cpu")
        reader = self.program("wall-reader", READER)
        self.wait_for_sleep(reader)
        before = self.links(service)
        windows = len(service.windows())
        answer = self.ask("/folded?event=wall&seconds=2")
        folded = answer.result()
        self.assertEqual(self.links(service), before)
        self.assertAlmostEqual(self.seconds(folded, "wall-reader"), 2, delta=0.01)
        self.wait_for(lambda: len(service.windows()) > windows)
        self.check_windows(service)
        self.assertEqual(service.stop()[0], 0)
        self.begin_service("--keep", "2s", "--keep-events", "sched")
        self.assertIn(b"keep-events needs off-cpu", self.get("/debug/pprof/wall", status=409))


if __name__ == "__main__":
    live.main()
