# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 400
"""
Stacks of waits against what is true: a program's own log of its waits, in several recordings with
the default period and its budget; stacks of real programs, which are complete; Python's frames.
"""

import collections
import math
import os
import subprocess

import evidence
import live
import test_off_cpu
from completeness import completeness
from live import BUILD, LONG, workload
from off_cpu import account_of, chosen, stacks_of_waits, unaccounted

RUNS = 10 if LONG else 2
SECONDS = 10 if LONG else 3
PAIRS = 12
CHANCE = 1e-5  # of a false alarm
SIGMAS = 4.5  # of a normal distribution: beyond them once in 147,000 tries
# Time (ns) of a wait in the log that is none: from reading the clock to leaving the CPU, and from
# the waker's reading to the wake-up. The difference of both is 1.8 to 2.7 us here, with all stacks.
LOG_LEAST, LOG_MOST = -2000, 8000
WHOLE = 0.995  # of stacks

# The outermost functions of whole stacks, and of a process that is being replaced.
ROOTS = {"_start", "clone", "clone3", "__clone3", "_dl_start", "entry_SYSCALL_64_after_hwframe"}
EVALUATION = "_PyEval_EvalFrameDefault"

REDIS = """
redis-server --port 0 --unixsocket {0}/socket --save '' >/dev/null &
server=$!
until redis-cli -s {0}/socket ping >/dev/null 2>&1; do sleep 0.05; done
redis-benchmark -s {0}/socket -n {1} -c 20 -q -t set,get,lpush >/dev/null
kill $server
wait $server
"""
MAKEFILE = """
all: {0}
%: %.c
	cc -O2 -o $@ $<
"""


def most_misses(tries, rate):
    """Return the number of misses, at that rate, that is exceeded by chance once in 1 / CHANCE."""
    left, misses = 1.0, -1
    while left > CHANCE:
        misses += 1
        left -= math.comb(tries, misses) * rate ** misses * (1 - rate) ** (tries - misses)
    return misses


class Totals:
    """Errors of a function's estimates, added up over all recordings."""

    def __init__(self):
        self.log = self.error = self.variance = self.count = self.held = self.runs = 0
        self.stacks = 0

    def add(self, log, found, rows):
        # What the log has too much, in the middle of its bounds.
        least = log["ns"] - LOG_MOST * log["count"]
        most = log["ns"] - LOG_LEAST * log["count"]
        self.runs += 1
        self.log += log["ns"]
        self.count += log["count"]
        self.stacks += len(rows)
        self.error += found["waited"] - log["ns"]
        # of a wait that was chosen with p = length / weight: weight^2 (1 - p), without bias
        self.variance += sum(r["weight"] * (r["weight"] - r["length"]) for r in rows
                             if r["weight"] > r["length"])
        self.held += found["low"] <= most and least <= found["high"]

    def sigmas(self, missing):
        """Return by how many standard errors the sum is off. missing: ns that may be missing."""
        low = self.error + LOG_LEAST * self.count
        high = self.error + LOG_MOST * self.count + missing
        if low <= 0 <= high:
            return 0.0
        return (low if low > 0 else high) / math.sqrt(self.variance or 1)


class Truth(live.LiveTest):
    def record_log(self):
        trace = self.record("-e", "off-cpu", "--", workload("handover"), SECONDS, PAIRS)
        log = live.json.loads(trace.done.out)
        report = live.json.loads(subprocess.run(
            [live.SKEIN, "report", "--off-cpu", "--json", trace.path], capture_output=True,
            check=True).stdout)
        self.assertEqual(unaccounted(trace), [])
        self.assertAlmostEqual(chosen(trace), account_of(trace)[0], delta=3)
        by_function = collections.defaultdict(list)
        for row, stack in stacks_of_waits(trace):
            for function in set(log) & set(stack.names):
                by_function[function].append(row)
        totals = {f["name"]: f["total"] for f in report["off_cpu"]["functions"]}
        return trace, log, totals, by_function

    def test_own_log(self):
        """
        Each function's interval holds what the program itself has noted, as often as it promises,
        and the errors of all recordings together are no more than chance.
        """
        sums = collections.defaultdict(Totals)
        missing = 0
        for _ in range(RUNS):
            trace, log, totals, by_function = self.record_log()
            missing += sum(r["count"] for r in trace.query("SELECT * FROM loss"))
            for function, own in log.items():
                sums[function].add(own, totals[function], by_function[function])
        print({f: (s.held, s.stacks, round(s.error / s.log, 4), round(s.sigmas(0), 2))
               for f, s in sums.items()}, missing)
        held = sum(s.held for s in sums.values())
        tries = sum(s.runs for s in sums.values())
        self.assertLessEqual(tries - held, most_misses(tries, 0.05))
        for function, s in sums.items():
            # a wait that the kernel did not report is missing, of any function
            lost = missing * s.log / s.count
            self.assertLess(abs(s.sigmas(lost)), SIGMAS, function)
            self.assertLess(s.variance, (0.5 * s.log) ** 2, "too few stacks to say anything")
            if LONG:
                self.leave(function, s)

    @staticmethod
    def leave(function, s):
        evidence.leave(BUILD, "off-cpu-truth", {
            "function": f"`{function}`",
            "waits": f"{s.count:,}",
            "noted by the program": f"{s.log / 1e9:.2f} s",
            "stacks": f"{s.stacks:,}",
            "estimate": f"{(s.log + s.error) / 1e9:.2f} s",
            "standard error": f"{math.sqrt(s.variance) / 1e9:.2f} s",
            "interval held": f"in {s.held} of {s.runs} recordings"})

    def programs(self):
        """Return (name, command) of real programs."""
        folder = self.tmp / "programs"
        folder.mkdir()
        for i in range(24 if LONG else 6):
            (folder / f"p{i}.c").write_text(
                "#include <stdio.h>\n#include <regex.h>\n#include <time.h>\n"
                f"int main(void) {{ return printf(\"%d\", {i}) < 0; }}\n")
        (folder / "Makefile").write_text(
            MAKEFILE.format(" ".join(p.stem for p in sorted(folder.glob("*.c")))))
        yield "make -j3 with gcc", ("make", "-s", "-j3", "-C", folder)
        yield "redis, redis-benchmark, 20 clients", (
            "sh", "-c", REDIS.format(folder, 200000 if LONG else 10000))
        yield "Python, threads", ("/usr/bin/python3", "-c", test_off_cpu.PYTHON,
                                  10 if LONG else 2)
        if LONG:
            import test_off_cpu_replay  # pylint: disable=import-outside-toplevel
            database = self.tmp / "database"
            database.mkdir()
            yield "PostgreSQL, pgbench, 8 clients", (
                "sh", "-c", test_off_cpu_replay.DATABASE.format(database, 10))

    def test_complete(self):
        """Stacks of waits of real programs are complete; all that were chosen are accounted for."""
        for name, command in self.programs():
            with self.subTest(name):
                trace = self.record("-e", "off-cpu", "--all-stacks", "--", *command, timeout=180)
                self.assertEqual(unaccounted(trace), [])
                asked, lost = account_of(trace)
                # a thread may have ended, or still wait for a CPU at the end
                self.assertAlmostEqual(chosen(trace), asked, delta=3)
                found = completeness(live.SKEIN, trace.path, more=("--event", "off-cpu"))
                print(name, asked, lost, found)
                self.assertGreater(found.samples, 50)
                mean = found.samples * (1 - WHOLE)
                self.assertLessEqual(found.samples - found.complete,
                                     mean if LONG else mean + 6 * math.sqrt(mean), str(found))
                # this kernel does not report a few switches; nothing else may be lost
                self.assertLessEqual(sum(lost.values()), 0.002 * asked + 20, lost)
                if LONG:
                    self.leave_program(name, asked, lost, found)

    @staticmethod
    def leave_program(name, asked, lost, found):
        why = [f"{count} {reason}" for reason, _, count in found.reasons]
        evidence.leave(BUILD, "off-cpu-complete", {
            "program, all stacks": name,
            "chosen": f"{asked:,}",
            "lost": ", ".join(f"{n:,} {reason}" for reason, n in lost.items()) or "0",
            "with a user stack": f"{found.samples:,}",
            "complete": f"{10000 * found.complete // found.samples / 100:.2f} %",
            "the others": ", ".join(why) or "none"})

    @live.unittest.skipUnless(os.path.exists("/usr/bin/python3"), "no /usr/bin/python3")
    def test_python(self):
        """
        A thread that waits for the interpreter's lock, a queue or a socket has its Python frames:
        each that is in the evaluation loop. The others have no Python frame yet, or none any more:
        their stacks are whole, and not in the evaluation loop.
        """
        program = self.tmp / "waiting.py"
        program.write_text(test_off_cpu.PYTHON)
        trace = self.record("-e", "off-cpu", "--all-stacks", "--", "/usr/bin/python3", program,
                            10 if LONG else 3)
        inside, without, outside = collections.Counter(), [], []
        mine = {"wait_for_gil", "wait_for_queue", "wait_for_socket", "feed", "<module>"}
        for _, stack in stacks_of_waits(trace, comm="python3"):
            if EVALUATION not in stack.names:
                outside.append(stack.names)
            elif live.FRAME["PYTHON"] not in stack.kinds:
                without.append(stack.names)
            for function in mine & set(stack.names):
                inside[function] += 1
        total = sum(inside.values())
        print(dict(inside), len(without), len(outside))
        for function in mine - {"<module>"}:
            self.assertGreater(inside[function], 20, function)
        self.assertLessEqual(len(without), 0.01 * total, without[:3])
        for names in outside:
            self.assertIn(names[0], ROOTS, names)


if __name__ == "__main__":
    live.main()
