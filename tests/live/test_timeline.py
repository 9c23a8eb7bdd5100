# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test that the timeline in the terminal shows the same as SQL."""

import re
import subprocess

import live
from live import SKEIN, workload

ROW = re.compile(r"^(?P<title>.*?\S) +(?P<share>[<>]?\d+)% (?P<lane>.*)$")


class Timeline(live.LiveTest):
    def draw(self, trace, *args, locale="C"):
        env = live.clean_environment(COLUMNS="100", LC_ALL=locale)
        run = subprocess.run([SKEIN, "report", "--timeline", trace.path, *map(str, args)],
                             capture_output=True, env=env, timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr.decode())
        return run.stdout.decode("ascii" if locale == "C" else "utf8")

    def rows(self, text):
        """Return {title: (share, drawn cells)}."""
        found = {}
        for line in text.splitlines():
            match = ROW.match(line)
            if match:
                found[match["title"].strip()] = (match["share"], match["lane"])
        return found

    def check_share(self, shown, truth):
        """Check a share in whole percents, computed from cells with a resolution of 1/127."""
        if shown[0] in "<>":
            self.assertLess(abs(truth - (0 if shown[0] == "<" else 100)), 2)
        else:
            self.assertLess(abs(truth - int(shown)), 2)

    def test_shares_are_those_of_the_slices(self):
        cpu = live.CPUS[-1]
        busy = self.start(workload("loop"), 100, cpu=cpu)
        asleep = self.start("sleep", 100)
        live.time.sleep(0.5)
        trace = self.record("-e", "sched", "-d", "1s")
        host = trace.query("SELECT * FROM host")[0]
        length = host["end"] - host["start"]
        rows = self.rows(self.draw(trace, "-p", f"{busy.pid},{asleep.pid}", "--color", "never"))
        ran = trace.one(f"""SELECT sum(s.end - s.time) FROM slice s JOIN thread t ON t.id = s.value
                            WHERE s.state = 1 AND t.tid = {busy.pid}""")
        for title, (share, lane) in rows.items():
            with self.subTest(title):
                if title.endswith(f"loop {busy.pid}"):
                    self.check_share(share, 100 * ran / length)
                elif title.endswith(f"sleep {asleep.pid}"):
                    self.assertEqual(share, "0")
                    self.assertEqual(set(lane), {"-"})
                else:
                    number = int(title.removeprefix("CPU "))
                    of_cpu = trace.one(f"""SELECT sum(s.end - s.time) FROM slice s
                                           JOIN lane l ON l.id = s.lane WHERE s.state = 1
                                           AND l.kind = 1 AND l.number = {number}""")
                    self.check_share(share, 100 * of_cpu / length)
        self.assertEqual(len(rows), len(live.CPUS) + 2)

    def test_every_zoom(self):
        self.start(workload("loop"), 100)
        trace = self.record("-e", "sched", "-d", "1s")
        for to in ("1s", "510ms", "501ms", "500.01ms", "500.001ms", "500.000001ms"):
            with self.subTest(to):
                text = self.draw(trace, "--from", "500ms", "--to", to)
                lanes = {len(lane) for _, lane in self.rows(text).values()}
                self.assertEqual(len(lanes), 1)
                self.assertLessEqual(max(len(line) for line in text.splitlines()), 100)

    def test_names_that_harm(self):
        self.start(workload("renamer"), 0.15)
        trace = self.record("-e", "sched", "-d", "2s")
        for locale in ("C", "C.UTF-8"):
            with self.subTest(locale):
                text = self.draw(trace, "-n", 0, locale=locale)
                self.assertFalse([c for c in text if ord(c) < 32 and c != "\n"])


if __name__ == "__main__":
    live.main()
