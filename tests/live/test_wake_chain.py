# SPDX-License-Identifier: Apache-2.0
# beside others
"""
What held a wait up, by `skein view`, of real processes that log their own times: one waits for a
second one that computes, which waits for a third one that sleeps and computes.

No bound is a chance: a busy machine lets a process wait for a CPU, which the chain tells apart from
its run time, and the time that the host stole is allowed for. Rounds in which the waiting process
came too late to wait for both others are left out.
"""
import json
import statistics
import subprocess
import sys

import live
import sched_live
from live import SKEIN
from scheduler import STATE

ROUNDS, LEAST = 40, 5
RUNS, SLEEPS = 4_000_000, 5_000_000 # ns of CPU time, and of sleep
CLOSE = 200_000 # ns: for clocks that are read before and after, and interrupts
PROGRAM = """
import json, os, sys, time
ROUNDS, RUNS, SLEEPS = map(int, sys.argv[1:])
go, middle, last = os.pipe(), os.pipe(), os.pipe()

def compute():
    began = time.thread_time_ns()
    while time.thread_time_ns() - began < RUNS:
        pass
    return time.thread_time_ns() - began

def tell(log):
    print(json.dumps({"pid": os.getpid(), "log": log}), flush=True)
    os._exit(0)

def part(wait, wake, sleep):
    log = []
    for _ in range(ROUNDS):
        began = time.thread_time_ns()
        os.read(wait[0], 1)
        time.sleep(sleep)
        least = compute()
        os.write(wake[1], b"x")
        log.append([least, time.thread_time_ns() - began])
    tell(log)

if not os.fork():
    part(go, middle, SLEEPS / 1e9)
if not os.fork():
    part(middle, last, 0)
log = []
for _ in range(ROUNDS):
    began = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    os.write(go[1], b"x")
    os.read(last[0], 1)
    log.append([began, time.clock_gettime_ns(time.CLOCK_BOOTTIME)])
os.wait()
os.wait()
tell(log)
"""


class Chain(sched_live.SchedTest):
    def serve(self, trace):
        server = subprocess.Popen([SKEIN, "view", "-n", trace.path], stdout=subprocess.PIPE,
                                  text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        address, token = server.stdout.readline().strip().split("#token=")
        return address, token

    def ask(self, served, lane, time):
        address, token = served
        done = subprocess.run(["curl", "-sS", "-f", "-H", f"X-Skein-Token: {token}",
                               f"{address}api/chain?lane={lane}&time={time}"],
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def lane_of(self, trace, pid):
        return str(trace.one(f"SELECT lane FROM thread WHERE tid = {pid}"))

    def check_link(self, link, lane, times):
        """Return by how much more the link ran than the process says, at most."""
        least, most = times
        self.assertEqual(link["lane"], lane)
        self.assertGreaterEqual(link["ran"], least - CLOSE)
        return link["ran"] - most

    def test_two_before_it(self):
        trace = self.record("-e", "sched", "--", sys.executable, "-c", PROGRAM, ROUNDS, RUNS,
                            SLEEPS)
        logs = [json.loads(line) for line in trace.done.out.splitlines()]
        waiter = next(log for log in logs if log["log"][0][0] > 1000 * RUNS)
        others = [log for log in logs if log is not waiter]
        # the middle one began last
        first, middle = sorted(others, key=lambda log: log["pid"])
        start, excess = trace.one("SELECT start FROM host"), []
        lanes = [self.lane_of(trace, log["pid"]) for log in (waiter, middle, first)]
        unknown = [(row["time"] - start, row["end"] - start) for row in trace.query(
            f'SELECT time, "end" FROM slice WHERE state = {STATE["UNKNOWN"]}')]
        served = self.serve(trace)
        for number, (began, ended) in enumerate(waiter["log"]):
            chain = self.ask(served, lanes[0], ended - start)
            links = chain["links"]
            if chain["from"] > began - start + CLOSE or len(links) < 2:
                continue
            if any(time < chain["to"] and chain["from"] < end for time, end in unknown):
                continue # the kernel does not report all switches
            self.assertGreaterEqual(chain["from"], began - start - CLOSE)
            self.assertLessEqual(chain["to"], ended - start)
            self.assertEqual(chain["wait"], "pipe or socket")
            self.assertEqual(sum(link[key] for link in links
                                 for key in ("ran", "runnable", "waited")),
                             chain["to"] - chain["from"], chain)
            excess += [self.check_link(links[0], lanes[1], middle["log"][number]),
                       self.check_link(links[1], lanes[2], first["log"][number])]
            self.assertGreaterEqual(links[1]["waited"], SLEEPS - CLOSE)
            self.assertIn("sleep", links[1]["text"])
        self.assertGreaterEqual(len(excess), 2 * LEAST)
        # run time by the scheduler's records has interrupts and stolen time in it, most has none
        stolen = (trace.stolen * 1e9 + sched_live.STEAL_STEP) / len(excess)
        self.assertLessEqual(statistics.median(excess), CLOSE + stolen)


if __name__ == "__main__":
    live.main()
