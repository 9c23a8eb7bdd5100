# SPDX-License-Identifier: Apache-2.0
# timeout: 3600
"""
Test that no JVM ends otherwise because its probes are attached: short runs with each collector,
under a recording of all runtime events, print what they print without and end with 0.
"""
import pathlib
import subprocess
import tempfile
import unittest

import jdks
import live

RUNS = 1000 if live.LONG else 12
AT_ONCE = 2
COLLECTORS = ("Serial", "Parallel", "G1", "Z", "Shenandoah")
LIMIT = 120 # s, of one run beside busy neighbours


@unittest.skipIf(jdks.missing(), jdks.missing())
class Soak(live.LiveTest):
    def test_runs_end_as_without_probes(self):
        classes = jdks.classes("Soak.java")
        kinds = [(version, name) for version in jdks.homes() for name in COLLECTORS
                 if jdks.has_collector(jdks.home_of(version) / "bin" / "java", name)]
        folder = self.enterContext(tempfile.TemporaryDirectory())

        def start(number):
            version, collector = kinds[number % len(kinds)]
            return subprocess.Popen(
                [jdks.home_of(version) / "bin" / "java", f"-XX:+Use{collector}GC", "-Xmx48m",
                 f"-XX:ErrorFile={folder}/crash-%p", "-cp", classes, "Soak"],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder)

        def outcome(run):
            said, _ = run.communicate(timeout=LIMIT)
            return run.returncode, said

        expected = outcome(start(0))
        self.assertEqual(expected[0], 0, expected)
        recording = self.begin("-a", "-e", "runtime")
        for number in range(0, RUNS, AT_ONCE):
            for run in [start(n) for n in range(number, min(RUNS, number + AT_ONCE))]:
                self.assertEqual(outcome(run), expected, run.args)
        trace = self.finish(recording)
        self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
        seen = trace.one("SELECT count(DISTINCT pid) FROM spans WHERE kind = 'collection'")
        self.assertGreaterEqual(seen, RUNS)

    def test_one_after_another(self):
        """A JVM that has ended is not taken for one whose collections were not seen."""
        version = min(jdks.homes())
        run = (f"{jdks.home_of(version)}/bin/java -XX:+UseG1GC -Xmx48m "
               f"-cp {jdks.classes('Soak.java')} Soak")
        trace = self.record("-e", "all,runtime", "--", "sh", "-c", f"{run}; {run}; {run}")
        self.assertEqual(trace.losses("NOT_SEEN"), 0)
        self.assertEqual(trace.one("SELECT count(DISTINCT pid) FROM spans "
                                   "WHERE kind = 'collection'"), 3)
        # this thread of the JVM waits for work, which is no safepoint
        self.assertEqual(trace.one(
            "SELECT count(*) FROM slice s JOIN thread t ON t.id = s.value "
            "WHERE s.lane IN (SELECT id FROM lane WHERE kind = 1) "
            "AND s.wait = (SELECT id FROM wait_class WHERE word = 'safepoint') "
            "AND t.runtime_name = 'Reference Handler'"), 0)


if __name__ == "__main__":
    live.main()
