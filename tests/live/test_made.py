# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 900
"""
Stacks of the exceptions that a Java program makes, and of what it allocates in the slow path: by
place, they are as many as the program made at known places (workloads/java/Made.java), exactly
while they are few, else as their weights estimate; and report and export show the places.
"""
import collections
import json
import math
import time
import unittest

import jdks
import live
import traces

EVENTS = ("exceptions", "allocations")
PLACES = ("often", "seldom", "allocate")
FEW = (60, 20, 0)  # less than HIT_BUDGET of bpf/hit_choice.h, with what the JVM makes by itself
MANY = (30000, 10000, 0)
ARRAYS = (0, 0, 400)
STORM = (3000, 1000, 200)
TRIES = 10  # the last one has 51 s to begin
OFF = 7  # standard deviations by which an estimate may be off: once in 10^11
# What the places call; compilers put all but the last into their callers.
MAKERS = {"often": ("java.lang.IllegalStateException.<init>", "java.lang.Throwable.<init>",
                    "JVM_FillInStackTrace"),
          "seldom": ("Made.inner", "java.lang.UnsupportedOperationException.<init>",
                     "JVM_FillInStackTrace"),
          "allocate": ("MemAllocator::allocate",)}
ONE_BY_ONE = {"SKEIN_DEBUG_PROBES": "1"}  # as on kernels before Linux 6.6


def weights(trace, event, since=0, until=1 << 62):
    """
    Return (weight, names) of the stacks of an event in a time, by the place in Made that made it.
    """
    found = collections.defaultdict(list)
    rows = trace.query("SELECT s.* FROM sample s JOIN event e ON e.id = s.event"
                       f" WHERE e.name = '{event}' AND s.time BETWEEN {since} AND {until}")
    for row in rows:
        names = trace.stack(row["thread"], row["stack"], 1, row["weight"]).names
        place = next((p for p in PLACES if f"Made.{p}" in names), None)
        found[place].append((row["weight"], names))
    return found


@unittest.skipIf(jdks.missing(), jdks.missing())
class Made(live.LiveTest):
    def launch(self, version):
        process = self.start(*jdks.command(version, "Made", options=("-Xmx256m",)), stdin=-1)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def make(self, process, numbers):
        process.stdin.write(f"{' '.join(map(str, numbers))}\n".encode())
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"made\n")

    def record_once(self, version, numbers, how, wait):
        process = self.launch(version)
        words, env = how
        recording = self.begin("-e", words, "-p", process.pid, env=live.clean_environment(**env))
        time.sleep(wait)
        self.make(process, (1, 1, 1))
        since = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.make(process, numbers)
        trace = self.finish(recording)
        trace.since = since
        self.end(process)
        return trace

    def record_made(self, version, numbers, words="cpu,exceptions,alloc", env=None):
        """
        Record what a JVM makes; return the trace. It counts from the time .since on: before, some
        things are made to see whether the JVM is known to the walkers. On a busy machine it may
        not be at once, and then it is recorded again, with more time to begin.
        """
        for number in range(TRIES):
            trace = self.record_once(version, numbers, (words, env or {}), 0.1 * 2 ** number)
            found = weights(trace, "exceptions", 0, trace.since)
            if found["often"] and found["seldom"]:
                return trace
        self.fail(f"after {TRIES} recordings, stacks have no Java frames")

    def check_account(self, trace, event):
        """
        Everything that was chosen was written, or lost for a reason. Return how many are lost.
        """
        ident = trace.one(f"SELECT id FROM event WHERE name = '{event}'")
        rows = trace.query(f"SELECT * FROM account WHERE event = {ident}")
        losses = trace.query(f"SELECT * FROM loss WHERE event = {ident}")
        stacks = trace.one(f"SELECT count(*) AS n FROM sample WHERE event = {ident}")
        lost = sum(r["count"] for r in losses)
        self.assertEqual(sum(r["written"] for r in rows), stacks)
        self.assertEqual(sum(r["due"] for r in rows),
                         stacks + lost + sum(r["filtered"] + r["cut_off"] for r in rows))
        self.assertLessEqual({r["reason"] for r in losses}, {live.LOSS["STACK_MISSED"]})
        self.assertLess(lost, stacks / 10 + 10)
        return lost

    def check_place(self, found, place, made, lost):
        """
        The weights of a place add up to what it made, within what chance allows, and without the
        stacks that were lost: a kernel that preempts its own code may miss some.
        """
        of = [weight for weight, _ in found[place]]
        most = max(weight for every in found.values() for weight, _ in every)
        # the variance of the sum is made * (most - 1) at most; a shift may have been in use, too,
        # of which no stack was taken
        off = OFF * math.sqrt(made * (2 * most - 1)) + OFF * 2 * most if most > 1 else 0
        off += lost * most
        self.assertAlmostEqual(sum(of), made, delta=off, msg=f"{place}: {len(of)} stacks")
        for _, names in found[place]:
            at = names.index(f"Made.{place}")
            self.assertIn("Made.main", names[:at])
            self.assertTrue(names[-1].startswith(MAKERS[place][-1]), names)
            if made in FEW:
                self.assertLessEqual(set(MAKERS[place][:-1]), set(names[at:]))

    def check(self, trace, numbers, events=EVENTS):
        for event, places in zip(events, (PLACES[:2], PLACES[2:])):
            lost = self.check_account(trace, event)
            found = weights(trace, event, trace.since)
            for place, made in zip(PLACES, numbers):
                if place in places and made:
                    self.check_place(found, place, made, lost)

    def check_few(self, trace):
        self.check(trace, FEW, EVENTS[:1])
        lost = self.check_account(trace, "exceptions")
        found = weights(trace, "exceptions", trace.since)
        spans = trace.one("SELECT count(*) AS n FROM span JOIN name ON name.id = span.name"
                          f" WHERE name.text = 'exception made' AND span.time >= {trace.since}")
        self.assertEqual({w for every in found.values() for w, _ in every}, {1})
        for place, made in zip(PLACES, FEW[:2]):
            self.assertLessEqual(len(found[place]), made)
        self.assertLessEqual(sum(FEW) - sum(len(found[p]) for p in PLACES[:2]), lost)
        self.assertLessEqual(spans - sum(map(len, found.values())), lost)
        self.assertGreaterEqual(spans, sum(map(len, found.values())))

    def check_shown(self, trace):
        """The report and the folded stacks of an event have the places."""
        for event, places in zip(EVENTS, (PLACES[:2], PLACES[2:])):
            found = weights(trace, event)
            report = json.loads(traces.output("report", trace.path, "--event", event, "--json",
                                               "--limit", "0"))
            of = {f["name"]: f for f in report["functions"]}
            folded = traces.folded(trace.path, "--event", event)
            for place in places:
                made = sum(weight for weight, _ in found[place])
                self.assertEqual(of[f"Made.{place}"]["total"], made)
                self.assertEqual(made, sum(count for stack, count in folded.items()
                                           if f"Made.{place}" in stack))
        stacks = sum(map(len, weights(trace, "exceptions").values()))
        self.assertIn(f"{stacks:,} stacks of exceptions (--event exceptions shows them)",
                      traces.output("report", trace.path).decode())

    def test_few_exceptions(self):
        """Few exceptions have a stack each, on every JDK, and by both ways to attach probes."""
        for version in jdks.homes():
            with self.subTest(jdk=version):
                self.check_few(self.record_made(version, FEW))
        with self.subTest("one by one"):
            self.check_few(self.record_made(max(jdks.homes()), FEW, env=ONE_BY_ONE))

    def test_alone(self):
        """Neither samples nor switches are needed."""
        trace = self.record_made(max(jdks.homes()), FEW, "exceptions")
        self.assertEqual([r["name"] for r in trace.query("SELECT name FROM event")],
                         ["exceptions"])
        self.check_few(trace)

    def test_arrays(self):
        """Arrays that no buffer of a thread has room for are allocated where the program says."""
        trace = self.record_made(max(jdks.homes()), ARRAYS)
        self.check(trace, ARRAYS)

    def test_many(self):
        """Of very many, some stacks are taken, whose weights stand for all."""
        trace = self.record_made(max(jdks.homes()), MANY)
        self.check(trace, MANY)
        found = weights(trace, "exceptions", trace.since)
        # at most HIT_BUDGET for each probability in a window, of which there were a few
        self.assertLess(sum(map(len, found.values())), sum(MANY) / 2)
        self.assertGreater(max(w for w, _ in found["often"]), 1)
        self.check_shown(trace)

    def test_both(self):
        trace = self.record_made(min(jdks.homes()), STORM)
        self.check(trace, STORM)
        self.check_shown(trace)


if __name__ == "__main__":
    live.main()
