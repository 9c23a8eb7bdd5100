# SPDX-License-Identifier: Apache-2.0
"""
The counters that a JVM keeps of itself: read without a probe, and compared with the collections
that were recorded.
"""
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


@unittest.skipIf(jdks.missing(), jdks.missing())
class JvmCounters(live.LiveTest):
    """The program requests a full collection every 20 ms."""

    def record_program(self, version, *options):
        process = subprocess.Popen(
            jdks.command(version, "Waits", options=("-Xmx64m", "-XX:+UseSerialGC", *options)),
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
                trace = self.record_program(version)
                counted = trace.query(COUNTERS.format(COLLECTIONS))
                self.assertGreaterEqual(len(counted), 2)
                first, last = counted[0], counted[-1]
                spans = trace.one(SPANS.format(first["time"], last["time"]))
                # a collection that goes on at a reading may have been counted before it or after
                self.assertLessEqual(abs(spans - (last["value"] - first["value"])), 2)
                self.assertGreater(spans, 3)
                self.assertEqual(trace.losses("NOT_SEEN"), 0)
                self.assertGreater(trace.query(COUNTERS.format("threads live"))[0]["value"], 20)

    def test_without_counters(self):
        """A JVM that keeps none is recorded, and the recording has the reason."""
        trace = self.record_program(min(jdks.homes()), "-XX:-UsePerfData")
        self.assertEqual(trace.query(COUNTERS.format(COLLECTIONS)), [])
        said = trace.query("SELECT value FROM info WHERE value LIKE '%UsePerfData%'")
        self.assertEqual(len(said), 1, said)
        self.assertGreater(trace.one(SPANS.format(0, 1 << 62)), 3)


if __name__ == "__main__":
    live.main()
