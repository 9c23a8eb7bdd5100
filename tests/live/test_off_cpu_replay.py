# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 900
"""
How good estimates from stacks of waits are: all waits of recordings of real programs are chosen
again and again by chance, with the product's own rules, and the estimates compared with the truth.
"""

import json
import subprocess
import sys

import evidence
import live
from live import BUILD, LONG, workload

SEEDS = 200
COST = 20000  # ns that a stack takes, for the period that adapts; measured here: 5 to 30 us
# Of 200 intervals that hold in 95 %, fewer than 173 hold once in 100 million tries, and there are
# less than 1,000 stacks.
HELD_LEAST = 173
PYTHON = """
import queue, random, sys, threading, time
end = time.monotonic() + float(sys.argv[1])
q, lock = queue.Queue(4), threading.Lock()

def put():
    while time.monotonic() < end:
        q.put(1)
        time.sleep(random.random() * 0.003)

def get():
    while time.monotonic() < end:
        try:
            q.get(timeout=0.1)
        except queue.Empty:
            pass
        with lock:
            sum(range(3000))

threads = [threading.Thread(target=f) for f in (put, put, get, get, get, get)]
for t in threads:
    t.start()
for t in threads:
    t.join()
"""
BUILDING = 'for i in $(seq {1}); do echo "{0}"; done | xargs -P 3 -I@ sh -c "@"'
DATABASE = """
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
as() {{ runuser -u postgres -- "$@"; }}
chown postgres {0}
as $bin/initdb -D {0}/data >/dev/null
as $bin/pg_ctl -D {0}/data -o "-k {0} -c listen_addresses=''" -l {0}/log -w start >/dev/null
trap 'as $bin/pg_ctl -D {0}/data -m immediate stop >/dev/null' EXIT
as createdb -h {0} bench
as pgbench -h {0} -i -s 5 bench >/dev/null 2>&1
as pgbench -h {0} -c 8 -j 2 -T {1} bench >/dev/null
"""


class Replay(live.LiveTest):
    def programs(self):
        seconds = 10 if LONG else 3
        compile_one = (f"cc -O2 -D_GNU_SOURCE -o /dev/null {live.ROOT}/tests/workloads/waits.c "
                       f"-I{live.ROOT}/tests/workloads -lpthread")
        yield "Python, threads and a queue", (sys.executable, "-c", PYTHON, seconds)
        yield "sleepers of 50 us, 100 ms, 1 s", (workload("bimodal"), seconds)
        yield "compilations, three at a time", ("sh", "-c",
                                                 BUILDING.format(compile_one, 80 if LONG else 8))
        if LONG:
            folder = self.tmp / "database"
            folder.mkdir()
            self.tmp.chmod(0o755)
            yield "PostgreSQL, pgbench, 8 clients", ("sh", "-c", DATABASE.format(folder, seconds))

    def replay(self, name, command):
        trace = self.record("-e", "sched", "-a", "--", *command)
        done = subprocess.run([BUILD / "tests/readers/replay_waits", trace.path, str(SEEDS),
                               str(COST)], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        size, adaptive, one = (found[k] for k in ("by_size", "adaptive", "one_probability"))
        self.assertGreater(size["stacks_over_100_ms"], 5)
        # p = min(1, d / T): the variance is at most T times the time in short waits
        self.assertLessEqual(size["half_width_over_1_s"], 0.10)
        for scheme in (size, adaptive):
            self.assertGreaterEqual(scheme["least_held"], HELD_LEAST, found)
        self.assertLess(size["error"], one["error"] / 5, found)
        return found

    def test_estimates(self):
        for name, command in self.programs():
            with self.subTest(name):
                found = self.replay(name, command)
                if LONG:
                    self.leave(name, found)

    @staticmethod
    def leave(name, found):
        size, adaptive, one = (found[k] for k in ("by_size", "adaptive", "one_probability"))
        evidence.leave(BUILD, "off-cpu-replay", {
            "program": name,
            "waits": f"{found['waits']:,}",
            "stacks (T = 2 ms)": f"{size['chosen']:,.0f}",
            "widest half-width of stacks over 1 s": f"{100 * size['half_width_over_1_s']:.1f} %",
            "interval held, of 200, in the worst of n stacks over 0.1 s":
                f"{size['least_held']} of {size['stacks_over_100_ms']} stacks",
            "stacks, largest T (T adapts)":
                f"{adaptive['chosen']:,.0f}, {adaptive['largest_period'] / 1e6:.3g} ms",
            "interval held (T adapts)": f"{adaptive['least_held']}",
            "error, of that of one probability for every switch":
                f"1 / {one['error'] / size['error']:.0f}" if size["error"] else "0"})


if __name__ == "__main__":
    live.main()
