# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""
What threads of a JVM and of Python interpreters wait for in a futex, as their runtimes' own state
says at the switch: a thread of a test program waits in one known way each. The classes of the
monitors that threads wait for. Full names of threads that ran before the recording.
"""
import collections
import json
import pathlib
import re
import subprocess
import time
import unittest

import jdks
import live
import python_found

LEAST = 200 if live.LONG else 60 # waits of each thread that a recording waits for
KNOWN = LEAST // 10 # of these, at least, after the recorder knew the thread
LONGEST = 120 # s until then
# The first word of a thread's name: the class of all its waits, but for those at safepoints.
CLASSES = {"monitor": "Java monitor", "object": "Object.wait", "park": "park", "sleep": "sleep",
           "socket": "pipe or socket", "poll": "poll", "safepoint": "safepoint"}
JAVA = {"Java monitor", "Object.wait", "park", "sleep", "safepoint"} # classes that a JVM tells
THREADS = 12
# Share of waits for a lock of the JVM itself, such as that of its queue of compilations, and how
# many may be more: a thread that slept when the recording began had gone to sleep before.
LOCKS, MORE = 0.2, 2
# JDK, collector and other options of the JVMs whose monitors are looked at.
MONITORS = [(17, "Serial"), (21, "G1"), (25, "Z")]
if live.LONG:
    MONITORS = [(version, collector) for version in jdks.VERSIONS
                for collector in ("Serial", "Parallel", "G1", "Z", "Shenandoah")]
    MONITORS.append((21, "Z", "-XX:+ZGenerational"))
    MONITORS.append((25, "G1", "-XX:-UseCompressedClassPointers", "-Xshare:off"))
UNKNOWN = "class not known"
COMM_LENGTH = 15 # bytes of a thread's name that the kernel keeps
# Collectors that move no object beside the program -> share of the waits that have a class.
NAMED = {"Serial": 0.95, "Parallel": 0.95, "G1": 0.95}
CONTENDED = {"java.lang.Object", "Monitors$Account", "Monitors$Order", "java.util.ArrayList",
             "byte[]", "Monitors$Account[][]", "java.lang.Class"}
MONITOR_WAITS_LEAST = (LEAST // 4, 2 * LEAST, 16 * LEAST) # of each thread, until all are seen
GARBAGE = 8 # KiB of an array
GIL_SHARE = 0.99
GIL_LEAST = 2000 if live.LONG else 100
WAITS = """
SELECT t.runtime_name AS name, t.comm, t.tid, w.word AS class, s.state, s."end" AS time FROM slice s
JOIN lane l ON l.id = s.lane AND l.kind = (SELECT id FROM lane_kind WHERE word = 'cpu')
JOIN thread t ON t.id = s.value JOIN process p ON p.id = t.process
JOIN wait_class w ON w.id = s.wait WHERE p.pid = {} ORDER BY s."end"
"""


# The waits for monitors; stopped: the JVM had stopped its threads when the wait began.
MONITOR_WAITS = """
WITH stop AS MATERIALIZED (SELECT time, "end" FROM spans WHERE kind = 'safepoint')
SELECT name, thread, EXISTS (SELECT 1 FROM stop WHERE stop.time <= spans.time AND
    (stop."end" >= spans.time OR stop."end" = 0)) AS stopped
FROM spans WHERE kind = 'wait for a monitor' AND origin = 'memory' AND pid = {}
"""


def waits_of(trace, pid):
    return trace.query(WAITS.format(pid))


def since_known(classes):
    """
    Return the classes of a thread's waits without those before the recorder knew the thread, when
    all in a futex were "lock". On a busy machine that takes a second.
    """
    known = next((i for i, c in enumerate(classes) if c in JAVA), len(classes))
    return collections.Counter(c for i, c in enumerate(classes) if i >= known or c != "lock")


def slept(pid, wanted):
    """Return {tid: how often it has left the CPU to wait} of the threads whose comm is wanted."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text()
        if wanted(re.search(r"^Name:\t(.*)$", status, re.M)[1], int(task.name)):
            found[int(task.name)] = int(re.search(r"^voluntary_ctxt_switches:\t(\d+)", status,
                                                  re.M)[1])
    return found


class WaitsTest(live.LiveTest):
    """Records a process until each of some threads has waited often enough."""

    def record_waits(self, pid, wanted, least, events="all"):
        recording = live.Recording(self.file(), "-e", events, "-p", pid)
        before, end = slept(pid, wanted), time.monotonic() + LONGEST
        while min(n - before[tid] for tid, n in slept(pid, wanted).items()) < least:
            self.assertLess(time.monotonic(), end, "the program hardly waits")
            time.sleep(0.05)
        done = recording.stop()
        self.assertEqual(done.status, 0, done.err)
        return live.Trace(done.path)


    def start_jvm(self, version, program, options, *arguments):
        """Start a program that runs until its input ends, and wait until it does."""
        process = subprocess.Popen(jdks.command(version, program, *arguments, options=options),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), "runs\n")
        return process


def is_known(comm, _):
    return comm.split(":")[0] in CLASSES


class JavaWaits(WaitsTest):
    """One JVM of each JDK, recorded after it has started."""

    def start(self, version):
        return self.start_jvm(version, "Waits", ("-Xmx64m",))

    def check(self, version):
        process = self.start(version)
        trace = self.record_waits(process.pid, is_known, LEAST)
        process.stdin.close()
        process.wait()
        rows = waits_of(trace, process.pid)
        waits = collections.defaultdict(list)
        for row in rows:
            if row["class"] != "I/O": # any thread may wait until a page of a file is read
                waits[row["name"]].append(row["class"])
        found = {name: since_known(classes) for name, classes in waits.items()}
        known = {name: counts for name, counts in found.items() if name.split(":")[0] in CLASSES}
        self.assertEqual(len(known), THREADS, sorted(found))
        for name, counts in known.items():
            expected = CLASSES[name.split(":")[0]]
            with self.subTest(version=version, thread=name):
                self.assertLessEqual(set(counts), {expected, "safepoint", "lock"}, counts)
                self.assertGreaterEqual(counts[expected], KNOWN, counts)
                self.assertLessEqual(counts["lock"], MORE + LOCKS * sum(counts.values()), counts)
        self.assertTrue(any(name.startswith("C2 CompilerThread") for name in found), sorted(found))
        for name, counts in found.items():
            if name.startswith(("C1 Compiler", "C2 Compiler", "Monitor Deflation")):
                self.assertLessEqual(set(counts), {"lock", "safepoint"}, (name, counts))
        return trace

    @unittest.skipIf(jdks.missing(), jdks.missing())
    def test_known_waits(self):
        """Each of 12 threads waits in the way that its name says."""
        for version in jdks.homes():
            with self.subTest(version=version):
                self.check(version)

    @unittest.skipIf(jdks.missing(), jdks.missing())
    def test_stacks_agree(self):
        """The stacks of waits have the classes that the records of switches have."""
        version = min(jdks.homes())
        process = self.start(version)
        trace = self.record_waits(process.pid, is_known, LEAST)
        process.stdin.close()
        process.wait()
        rows = trace.query("""
            SELECT t.runtime_name AS name, w.word AS class, count(*) AS count FROM sample s
            JOIN thread t ON t.id = s.thread JOIN wait_class w ON w.id = s.wait
            JOIN event e ON e.id = s.event WHERE e.name = 'off-cpu' GROUP BY 1, 2""")
        for row in rows:
            expected = CLASSES.get(row["name"].split(":")[0])
            self.assertIn(row["class"], {expected, "safepoint", "lock"} if expected
                          else set(CLASSES.values()) | {"lock", "I/O"}, row)
        self.assertLessEqual(set(CLASSES.values()), {row["class"] for row in rows})


class JavaMonitors(WaitsTest):
    """The classes of the monitors that threads wait for, while a collector moves the objects."""

    def start_monitors(self, version, collector, options):
        return self.start_jvm(version, "Monitors",
                              (f"-XX:+Use{collector}GC", "-Xmx64m", *options), GARBAGE)

    def record_monitors(self, process):
        """Record until all classes are seen, after the recorder knows the JVM and its threads."""
        for least in MONITOR_WAITS_LEAST:
            trace = self.record_waits(process.pid, lambda comm, _: comm.startswith("enters "),
                                      least, events="all,jvm")
            waits = trace.query(MONITOR_WAITS.format(process.pid))
            if {row["name"] for row in waits} >= CONTENDED:
                break
        self.assertLessEqual(CONTENDED, {row["name"] for row in waits})
        return trace, waits

    def check_classes(self, collector, waits):
        """Each wait has the class that its thread is named after, or none; nearly all have one."""
        known, missing = 0, 0
        for row in waits:
            if not row["thread"].startswith(("enters ", "again ", "helper of ")):
                continue # a thread of the JVM itself
            wanted = row["thread"].rsplit(" ", 1)[-1]
            # a thread that the recorder knew too late for its full name has the kernel's
            cut = len(row["thread"]) == COMM_LENGTH and row["name"].startswith(wanted)
            self.assertTrue(row["name"] in {wanted, UNKNOWN} or cut, row)
            known += row["name"] != UNKNOWN
            missing += row["name"] == UNKNOWN and not row["stopped"]
        if collector in NAMED:
            self.assertGreaterEqual(known, NAMED[collector] * (known + missing))

    def check_report(self, trace, pid, waits):
        """The report has all waits, by class."""
        done = subprocess.run([live.SKEIN, "report", "--runtime", "--json", trace.path],
                              capture_output=True, text=True, check=True)
        shown = collections.Counter()
        for process in json.loads(done.stdout)["runtime"]["processes"]:
            for row in process["spans"]:
                if process["pid"] == pid and row["kind"] == "wait for a monitor":
                    shown[row["name"]] += row["count"]
        self.assertEqual(shown, collections.Counter(row["name"] for row in waits))

    def check_slices(self, trace, pid, waits):
        """There is a span for each slice after which a thread waits for a monitor."""
        slices = sum(row["class"] == "Java monitor" for row in waits_of(trace, pid))
        unseen = trace.one("SELECT coalesce(sum(count), 0) FROM loss JOIN loss_reason r"
                           " ON r.id = loss.reason WHERE r.word LIKE 'switches%'")
        self.assertLessEqual(abs(slices - len(waits)), unseen, (slices, len(waits)))

    @unittest.skipIf(jdks.missing(), jdks.missing())
    def test_classes_of_monitors(self):
        """Every wait for a monitor has the right class or none, with each collector."""
        done = 0
        for version, collector, *options in MONITORS:
            home = jdks.home_of(version)
            if not home or not jdks.has_collector(home / "bin" / "java", collector):
                continue
            with self.subTest(version=version, collector=collector, options=options):
                process = self.start_monitors(version, collector, options)
                trace, waits = self.record_monitors(process)
                process.stdin.close()
                process.wait()
                self.check_classes(collector, waits)
                self.check_report(trace, process.pid, waits)
                self.check_slices(trace, process.pid, waits)
                done += 1
        self.assertGreater(done, 0)

    @unittest.skipIf(jdks.missing(), jdks.missing())
    def test_without_stacks(self):
        """Where only switches and the events of JVMs are recorded, waits have classes as well."""
        process = self.start_monitors(max(jdks.homes()), "Serial", ())
        for seconds in (1, 4, 16, 64): # until the recorder has known the JVM for a while
            trace = self.record("-e", "sched,jvm", "-p", process.pid, "-d", f"{seconds}s",
                                timeout=200)
            waits = trace.query(MONITOR_WAITS.format(process.pid))
            if {row["name"] for row in waits} >= CONTENDED:
                break
        self.assertLessEqual(CONTENDED, {row["name"] for row in waits})
        self.check_classes("Serial", waits)
        self.check_slices(trace, process.pid, waits)


    def record_long_wait(self, seconds):
        """Keep two seconds of a recording in which a thread waits for seconds; return that wait."""
        process = self.start_jvm(max(jdks.homes()), "Held", ("-Xmx64m",))
        recording = self.begin("-e", "all", "-p", process.pid, "--keep", "2s")
        # on a busy machine it takes a while until the recorder knows the JVM
        for ms in (500 * seconds, 1000 * seconds):
            process.stdin.write(f"{ms}\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "held\n")
        trace = self.finish(recording)
        process.stdin.close()
        process.wait()
        rows = trace.query("SELECT name, length FROM spans WHERE kind = 'wait for a monitor'"
                           " AND thread = 'waits for the lock' ORDER BY length DESC LIMIT 1")
        return rows[0] if rows else {"name": UNKNOWN, "length": 0}

    @unittest.skipIf(jdks.missing(), jdks.missing())
    def test_a_wait_longer_than_what_is_kept(self):
        """The class has its name, though older names were forgotten while the thread waited."""
        for seconds in (4, 8, 16, 32): # until the recorder knew the JVM when the wait began
            wait = self.record_long_wait(seconds)
            self.assertIsNotNone(wait["name"], wait)
            if wait["name"] != UNKNOWN:
                break
        self.assertEqual(wait["name"], "Held$Lock", wait)
        self.assertGreater(wait["length"], 0.9e9 * seconds)


class PythonWaits(WaitsTest):
    """Waits for the interpreter's lock."""

    def test_waits_for_the_lock(self):
        """Of the waits in a futex of two threads that compute, 99 % are for the lock."""
        pythons = python_found.supported() + python_found.fetched() if live.LONG \
            else python_found.some()
        self.assertTrue(pythons)
        source = live.ROOT / "tests" / "workloads" / "python" / "gil.py"
        for one in pythons:
            process = subprocess.Popen([one.path, source], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
            self.addCleanup(process.wait)
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.stdin.close)
            self.assertEqual(process.stdout.readline(), "computes\n")
            trace = self.record_waits(process.pid, lambda _, tid: tid != process.pid, GIL_LEAST)
            process.stdin.close()
            process.wait()
            with self.subTest(python=one.path):
                counts = collections.Counter(row["class"] for row in waits_of(trace, process.pid)
                                             if row["tid"] != process.pid)
                self.assertGreaterEqual(counts["GIL"], GIL_LEAST // 2, counts)
                self.assertGreaterEqual(counts["GIL"] + MORE,
                                        GIL_SHARE * (counts["GIL"] + counts["lock"]), counts)


if __name__ == "__main__":
    live.main()
