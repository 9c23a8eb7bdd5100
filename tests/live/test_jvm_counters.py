# SPDX-License-Identifier: Apache-2.0
"""
The counters that a JVM keeps of itself: read without a probe, and compared with the collections
and pauses that were recorded.

Nothing here is a loss by chance: a reading that falls into a pause or a collection counts it as
recorded, or is not compared.
"""
import os
import shutil
import subprocess
import unittest

import jdks
import live

COLLECTIONS = "number of Serial full collection pauses"
COUNTERS = """
SELECT c.time, c.value FROM counter c JOIN name n ON n.id = c.name WHERE n.text = '{}'
ORDER BY c.time"""
SPANS = """
SELECT count(*) FROM span s JOIN span_kind k ON k.id = s.kind JOIN name n ON n.id = s.name
WHERE k.word = 'collection' AND n.text = 'MarkSweepCompact' AND s.time BETWEEN {} AND {}"""
CYCLES = """
SELECT count(*) FROM span s JOIN span_kind k ON k.id = s.kind
WHERE k.word = 'collection' AND s.time >= {}"""
REQUESTS = 5

# Collectors that count pauses or more: their options, and the names of their counters.
ZGC = (("-XX:+UseZGC",),
       ("Z concurrent cycle pauses", "ZGC minor collection pauses", "ZGC major collection pauses"))
GENERATIONAL = (("-XX:+UseZGC", "-XX:+ZGenerational"), ZGC[1])
SHENANDOAH = (("-XX:+UseShenandoahGC",), ("Shenandoah full",))


def collectors():
    """Return each JDK with each of these collectors that it has; in the short form, the last."""
    found = [(version, which) for version, home in jdks.homes().items()
             for which in (ZGC, GENERATIONAL, SHENANDOAH)
             if jdks.has_collector(home / "bin" / "java", which[0][0][8:-2])
             and (which is not GENERATIONAL or version == 21)]
    return found if live.LONG else found[-2:]


@unittest.skipIf(jdks.missing(), jdks.missing())
class JvmCounters(live.LiveTest):
    """The program requests a full collection every 20 ms."""

    def record_program(self, version, *options):
        process = subprocess.Popen(
            jdks.command(version, "Waits", options=("-Xmx64m", *options)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.assertEqual(process.stdout.readline(), "runs\n")
        return self.record("-e", "gc", "-p", process.pid, "--duration", "3s")

    def test_collections_are_all_seen(self):
        """Between two readings, the JVM counts as many collections as there are spans."""
        for version in jdks.homes() if live.LONG else [min(jdks.homes())]:
            with self.subTest(version=version):
                trace = self.record_program(version, "-XX:+UseSerialGC")
                counted = trace.query(COUNTERS.format(COLLECTIONS))
                self.assertGreaterEqual(len(counted), 2)
                first, last = counted[0], counted[-1]
                spans = trace.one(SPANS.format(first["time"], last["time"]))
                # a collection that goes on at a reading may have been counted before it or after
                self.assertLessEqual(abs(spans - (last["value"] - first["value"])), 2)
                self.assertGreater(spans, 3)
                self.assertEqual(trace.losses("NOT_SEEN"), 0)
                self.assertGreater(trace.query(COUNTERS.format("threads live"))[0]["value"], 20)

    def counted(self, trace, names):
        """Return how much counters have grown between the first and the last reading."""
        values = [[row["value"] for row in trace.query(COUNTERS.format(f"number of {name}"))]
                  for name in names]
        return sum(v[-1] - v[0] for v in values if v)

    def test_pauses_are_all_seen(self):
        for version, (options, names) in collectors():
            with self.subTest(version=version, options=options):
                trace = self.record_program(version, *options)
                self.assertGreater(self.counted(trace, names), 10)
                self.assertEqual(trace.losses("NOT_SEEN"), 0)

    def stripped(self, version):
        """Make a JDK whose libjvm has no symbols; return its java."""
        home = self.tmp / f"stripped-{version}"
        if home.exists():
            return home / "bin/java"
        shutil.copytree(jdks.home_of(version), home, copy_function=os.symlink)
        for name in ("bin/java", "lib/libjli.so", "lib/server/libjvm.so"):
            file = home / name
            original = file.resolve()
            file.unlink()
            shutil.copy(original, file)
        subprocess.run(["strip", file], check=True)
        return home / "bin/java"

    def record_requests(self, java, *options):
        """Record a JVM that collects only when jcmd requests it, so that it is idle at the end."""
        process = self.start(java, *options, "-Xmx64m", "-cp", jdks.classes("Collect.java"),
                             "Collect", 0, 0, stdin=-1)
        jcmd = [jdks.tool("jcmd"), str(process.pid)]
        self.wait_for(lambda: not subprocess.run([*jcmd, "VM.version"], check=False,
                                                 capture_output=True).returncode)
        recording = self.begin("-e", "cpu,gc", "-p", process.pid)
        self.wait_for(lambda: live.descriptors(recording.pid, "bpf_link"))
        for _ in range(REQUESTS):
            subprocess.run([*jcmd, "GC.run"], check=True, capture_output=True)
        self.wait_for(lambda: b'sun.gc.cause="No GC"' in subprocess.run(
            [*jcmd, "PerfCounter.print"], check=True, capture_output=True).stdout)
        trace = self.finish(recording)
        process.kill()
        return trace

    @unittest.skipUnless(jdks.tool("jcmd"), "no jcmd")
    def test_what_is_missing_is_a_loss(self):
        """Without symbols, pauses and phases have no probes: only cycles are recorded."""
        for version, (options, names) in collectors():
            with self.subTest(version=version, options=options):
                trace = self.record_requests(self.stripped(version), *options)
                counted, lost = self.counted(trace, names), trace.losses("NOT_SEEN")
                self.assertGreater(counted, 0)
                if names is SHENANDOAH[1]:
                    begin = trace.query(COUNTERS.format(f"number of {names[0]}"))[0]["time"]
                    self.assertEqual(lost, counted - trace.one(CYCLES.format(begin)))
                else:
                    self.assertEqual(lost, counted)

    def test_without_counters(self):
        """A JVM that keeps none is recorded, and the recording has the reason."""
        trace = self.record_program(min(jdks.homes()), "-XX:+UseSerialGC", "-XX:-UsePerfData")
        self.assertEqual(trace.query(COUNTERS.format(COLLECTIONS)), [])
        said = trace.query("SELECT value FROM info WHERE value LIKE '%UsePerfData%'")
        self.assertEqual(len(said), 1, said)
        self.assertGreater(trace.one(SPANS.format(0, 1 << 62)), 3)


if __name__ == "__main__":
    live.main()
