# SPDX-License-Identifier: Apache-2.0
"""
Test the sums of time per control group of skein serve against what the kernel and the programs
themselves know. Bounds are inequalities that hold however busy the machine is: what a program
measured around a wait contains the wait, and besides it only time in which the program ran or
waited for a CPU.
"""
import fcntl
import json
import os
import pathlib
import re
import subprocess

import live
import serve_live

MIB = 1 << 20
# s: rounding of clocks, and what lies between a program's reading of a clock and its wait
SLACK = 0.005
TICKS = 0.04 # s: three fields of /proc/stat, each rounded down to 10 ms
# of a thread's waits for a CPU: one that has become a zombie may wait once more, which the kernel
# has not accounted when the test reads it
LAST_WAIT = 0.02
RUN = ("running", "")
QUEUE = (("runnable", ""), ("preempted", ""))
UNKNOWN = ("unknown", "")
PAGES = (("sleeping", "page fault"), ("disk", "page fault"), ("disk", "I/O"))

BURN = """
import time
while time.process_time() < 0.8:
    pass
"""
SLEEP = """
import time
begin = time.monotonic()
for i in range(8):
    time.sleep(0.1)
print(time.monotonic() - begin)
"""
PIPE = """
import os, time
print("reading", flush=True)
begin = time.monotonic()
os.read(0, 1)
print(time.monotonic() - begin)
"""
LOCK = """
import fcntl, sys, time
print("locking", flush=True)
begin = time.monotonic()
fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX)
print(time.monotonic() - begin)
"""
POLL = """
import select, time
print("polling", flush=True)
begin = time.monotonic()
select.select([0], [], [])
print(time.monotonic() - begin)
"""


def interrupted():
    """Return the s that all CPUs served interrupts or did not have; a thread's time lacks them."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = file.readline().split()
    return sum(int(fields[i]) for i in (6, 7, 8)) / os.sysconf("SC_CLK_TCK")


class ServeSumsTest(serve_live.GroupTest):
    def sums(self, *files):
        """Return the s by state and wait, of each group of the test."""
        where = files or ("--last", "1h", "--folder", self.folder)
        sql = ("SELECT g.cgroup, s.word AS state, coalesce(w.word, '') AS wait, g.ns, g.count "
               "FROM group_time g JOIN slice_state s ON s.id = g.state "
               "LEFT JOIN wait_class w ON w.id = g.wait")
        out = subprocess.run([live.SKEIN, "query", "--json", *map(str, where), sql], check=True,
                             capture_output=True, env=live.clean_environment()).stdout
        found = {}
        for row in json.loads(out):
            of = re.fullmatch(rf".*/skein-{os.getpid()}-(\w+)", row["cgroup"])
            if of:
                found.setdefault(of[1], {})[row["state"], row["wait"]] = row["ns"] / 1e9
        return found

    def check_run(self, sums, truths, stolen):
        """What the kernel accounts to the threads, and what came between."""
        ran = sum(after[0] for after, _ in truths)
        before = sum(begun[0] for _, begun in truths)
        self.assertGreater(sums[RUN] + sums.get(UNKNOWN, 0), ran - SLACK)
        # a thread that enters a group while it runs is of the group from its last switch on
        self.assertLess(sums[RUN], ran + before + stolen + TICKS + SLACK + 0.01 * ran)

    def check_wait(self, sums, key, measured):
        """What a program measured around a wait is the wait, or time on or for a CPU."""
        self.assertLessEqual(sums[key], measured + SLACK)
        others = sums[RUN] + sum(sums.get(q, 0) for q in (*QUEUE, *PAGES, UNKNOWN))
        self.assertGreaterEqual(sums[key], measured - others - SLACK)

    def test_truth(self):
        service = self.serve("--window", "2s")
        groups = {name: self.group(name) for name in ("burn", "two", "sleep", "pipe", "lock",
                                                      "poll")}
        stolen = interrupted()
        held = self.tmp / "held"
        lock = open(held, "w", encoding="ascii")  # pylint: disable=consider-using-with
        fcntl.flock(lock, fcntl.LOCK_EX)
        burn = self.member(groups["burn"], BURN)
        cpu = min(os.sched_getaffinity(0))
        two = [self.member(groups["two"], BURN, cpu=cpu) for _ in range(2)]
        sleep = self.member(groups["sleep"], SLEEP)
        waits = {"pipe": self.member(groups["pipe"], PIPE),
                 "poll": self.member(groups["poll"], POLL),
                 "lock": self.member(groups["lock"], LOCK, str(held))}
        for member in waits.values():
            member.process.stdout.readline()
        burn_truth = burn.end()
        two_truth = [member.end() for member in two]
        sleep.end()
        for name in ("pipe", "poll"):
            waits[name].process.stdin.write(b"x")
            waits[name].process.stdin.flush()
        lock.close()
        for member in waits.values():
            member.end()
        stolen = interrupted() - stolen
        self.assertEqual(service.stop()[0], 0)
        sums = self.sums()
        for name, of in sums.items():
            # some kernels do not report each switch (docs/scheduler.md)
            self.assertLess(of.get(UNKNOWN, 0), 0.1 * sum(of.values()), (name, of))
        self.check_run(sums["burn"], [(burn_truth, burn.begun)], stolen)
        self.check_run(sums["two"], list(zip(two_truth, [m.begun for m in two])), stolen)
        self.check_queue(sums["two"], sum(truth[1] for truth in two_truth))
        self.assertGreaterEqual(sums["sleep"]["sleeping", "sleep"], 0.8)
        self.check_wait(sums["sleep"], ("sleeping", "sleep"), sleep.number())
        for name, word in (("pipe", "pipe or socket"), ("poll", "poll"), ("lock", "lock")):
            self.check_wait(sums[name], ("sleeping", word), waits[name].number())
        self.check_windows(service.windows(), sums)

    def check_queue(self, sums, delay):
        """Two threads on one CPU: the kernel's own account of their waits for it."""
        queued = sum(sums.get(q, 0) for q in QUEUE)
        self.assertGreater(delay, 0.4)  # each burnt 0.8 s there
        self.assertAlmostEqual(queued, delay, delta=0.02 * delay + LAST_WAIT +
                               sums.get(UNKNOWN, 0))

    def check_windows(self, windows, sums):
        """Each window has its part; what runs on one CPU is in the window in which it ran."""
        added = {}
        for path in windows:
            length = live.Trace(path).one("SELECT max(end - start) FROM host") / 1e9
            if not self.sums_exist(path): # they come about once a second
                self.assertLess(length, 2)
                continue
            for name, of in self.sums(path).items():
                self.assertLess(of.get(RUN, 0) / (2 if name == "two" else 1), length + 0.1, name)
                for key, value in of.items():
                    added[name, key] = added.get((name, key), 0) + value
        for name, of in sums.items():
            for key, value in of.items():
                self.assertAlmostEqual(added[name, key], value, delta=1e-6)

    def test_begin(self):
        """
        The first window has no time of before: reading /proc and the tables of what runs takes a
        while, in which the machine may be busy.
        """
        burners = [self.start(live.workload("loop"), 100) for _ in range(os.cpu_count())]
        service = self.serve("--window", "1h")
        live.time.sleep(1)
        self.assertEqual(service.stop()[0], 0)
        for process in burners:
            self.end(process)
        trace = live.Trace(service.windows()[0])
        length = trace.one("SELECT end - start FROM host")
        running = trace.one("SELECT sum(ns) FROM group_time JOIN slice_state ON id = state "
                            "WHERE word = 'running'")
        self.assertLess(running, os.cpu_count() * (length + 0.1e9))
        self.assertGreater(running, 0.3 * length)

    def test_report(self):
        """The sums in a report, as text and as JSON; without them there is no such part."""
        service = self.serve("--window", "1h")
        self.member(self.group("shown"), BURN).end()
        self.assertEqual(service.stop()[0], 0)
        trace = service.windows()[0]
        shown = self.report(trace)
        self.assertIn("Services: how long their threads ran", shown)
        rows = json.loads(self.report(trace, "--json"))["services"]
        name = f"/skein-{os.getpid()}-shown"
        row, = [r for r in rows if r.get("cgroup", "").endswith(name)]
        states = {s["state"]: s["ns"] for s in row["states"]}
        self.assertEqual(states["running"], row["ran"])
        # a run of which the kernel has not reported that it began: 0.35 s of 0.8 were seen
        self.assertGreaterEqual(row["ran"] + states.get("unknown", 0), 0.75e9)
        self.assertNotIn("Services:", self.report(trace, "--comm", "python*"))

    def report(self, *args):
        return subprocess.run([live.SKEIN, "report", "--limit", "0", *map(str, args)], check=True,
                              capture_output=True, env=live.clean_environment()).stdout.decode()

    @staticmethod
    def map_bytes(service):
        """Return the bytes that the kernel accounts to the maps of a service."""
        total = 0
        for info in pathlib.Path(f"/proc/{service.process.pid}/fdinfo").iterdir():
            fields = dict(re.findall(r"^(\w+):\s+(\S+)$", info.read_text(), re.M))
            total += int(fields["memlock"]) if "map_type" in fields else 0
        return total

    def test_maps(self):
        """All maps of the sums have 8 MiB at most, and none without them."""
        service = self.serve()
        with_sums = self.map_bytes(service)
        self.assertEqual(service.stop()[0], 0)
        self.assertTrue(self.sums_exist(service.windows()[0]))
        before = set(service.windows())
        service = self.serve("--no-sums")
        without = self.map_bytes(service)
        self.assertEqual(service.stop()[0], 0)
        window, = set(service.windows()) - before
        self.assertFalse(self.sums_exist(window))
        self.assertGreater(with_sums, without + 4 * MIB)
        self.assertLess(with_sums, without + 8 * MIB)

    @staticmethod
    def sums_exist(path):
        return live.Trace(path).one("SELECT count(*) FROM sqlite_master "
                                    "WHERE name = 'group_time'") > 0


if __name__ == "__main__":
    live.main()
