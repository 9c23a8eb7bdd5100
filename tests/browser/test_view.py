# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test skein view as its user sees it: a browser, the real server, and a recording's timeline."""
import json
import pathlib
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING
from pages import DESK, PHONE, PICTURES, QUIET, STILL, Pages
from traces import SKEIN, folded, make_scene, make_timeline, output, skein

if MISSING:
    raise unittest.SkipTest(MISSING)

SAMPLES = "skeinPage.view.whole[1]"


class View(Pages):
    """Each test has a server of its own."""

    def serve(self, *traces):
        server = subprocess.Popen([SKEIN, "view", "-n", *traces], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.end, server)
        self.address = server.stdout.readline().strip()
        self.assertRegex(self.address, r"\Ahttp://127\.0\.0\.1:\d+/#token=[0-9a-f]{32}\Z")
        return server

    @staticmethod
    def end(server):
        server.terminate()
        server.wait()
        server.stdout.close()

    def look(self, address=None, **options):
        self.browser.open(address or self.address, {**STILL, **DESK, **options})
        self.browser.wait("Boolean(window.skeinPage)")
        self.browser.wait(QUIET)

    def samples(self, trace, *options):
        """Samples of a range by skein report."""
        return json.loads(output("report", trace, "--json", *options))["samples"]

    def test_select(self):
        """The flame graph of a selection has the samples that skein report counts there."""
        trace = make_scene(self.home / "sched.skein", "timeline")
        self.serve(trace)
        self.look()
        self.assertNotIn("token", self.browser.evaluate("location.href"))
        whole = self.browser.evaluate(SAMPLES)
        self.assertEqual(whole, self.samples(trace))
        length = self.browser.evaluate("skeinPage.timeline.trace.length")
        begin, end = length // 4, length // 2
        self.look(self.address + f"&range={begin}-{end}")
        self.assertEqual(self.browser.evaluate(SAMPLES),
                         self.samples(trace, "--from", f"{begin}ns", "--to", f"{end}ns"))

    def test_what_held_this_up(self):
        """The chain of wakers of a wait: list, arrows, and the way along it."""
        self.serve(make_scene(self.home / "chain.skein", "chain"))
        for scheme in ("light", "dark"):
            self.look(self.address + "&open=0", colorScheme=scheme)
            self.browser.evaluate("skeinPage.timeline.slice.look('11', 5e7)")
            self.browser.wait("document.querySelector('#slice .held')")
            self.browser.click("#slice .held")
            self.browser.wait("document.querySelector('#slice .held-by')")
            text = self.browser.text("#slice .held-by")
            for part in ("80 ms: 41 ms of it holder 101 (db) ran", "81.3 %: ran 41 ms",
                         "18.8 %: ran 15 ms", "That is all of the time"):
                self.assertIn(part, text)
            self.assertIsNone(self.browser.evaluate("document.querySelector('#slice b')"))
            self.browser.wait(QUIET)
            self.browser.shot(str(PICTURES / f"view-chain-{scheme}.png"))
            # the arrow from the holder to the waiter at 90 ms, and none without the chain
            drawn = """(() => {
                const { picture, rows } = skeinPage.timeline;
                const [a, b] = ['11', '12'].map((lane) => picture.edges(rows.byLane.get(lane)));
                picture.draw();
                const y = (Math.max(a[0], b[0]) - 1) * picture.dots;
                return picture.marksPen.getImageData(picture.place(9e7) - 2, y, 5, 3).data
                    .some((part, i) => i % 4 === 3 && part === 255);
            })()"""
            self.assertTrue(self.browser.evaluate(drawn))
            self.browser.click("#slice .held-by li:nth-child(2) .go")
            self.browser.wait("skeinPage.timeline.slice.shown.lane === '13'")
            self.assertEqual(self.browser.evaluate("skeinPage.timeline.slice.shown.at"),
                             24_999_999)
            self.assertIn("80 ms", self.browser.text("#slice .held-by"), "the chain stays")
            self.browser.click("#slice .close")
            self.browser.wait(QUIET)
            self.assertFalse(self.browser.evaluate(drawn))
            self.assertEqual(self.browser.evaluate("window.violations"), [])

    def test_two_recordings(self):
        """Both are compared; each has the samples that skein report counts in the same part."""
        traces = [make_scene(self.home / f"{name}.skein", "timeline") for name in "ab"]
        later = 300_000_000 # ns by which another machine recorded the second one
        db = sqlite3.connect(traces[1])
        db.execute("UPDATE host SET boot_id = 'c', realtime_offset = realtime_offset + ?", (later,))
        db.commit()
        db.close()
        self.serve(*traces)
        both = "[3, 1].map((column) => skeinPage.view.whole[column])" # before, after
        whole = self.samples(traces[0])
        self.look()
        self.assertEqual(self.browser.evaluate(both), [whole, whole])
        begin, end = 400_000_000, 1_100_000_000
        parts = [self.samples(trace, "--from", f"{begin - shift}ns", "--to", f"{end - shift}ns")
                 for trace, shift in zip(traces, (0, later))]
        self.look(self.address + f"&range={begin}-{end}")
        self.assertEqual(self.browser.evaluate(both), parts)
        self.assertNotEqual(*parts)
        for lane, samples in zip(("parallel", "bparallel"), parts):
            self.look(self.address + f"&range={begin}-{end}&lane={lane}")
            self.assertEqual(self.browser.evaluate(SAMPLES), samples)
        self.assertEqual(self.browser.evaluate("window.violations"), [])
        rows = self.browser.evaluate("skeinPage.timeline.rows.all.map(({ lane, heading }) => "
                                     "[lane, heading?.lane])")
        half = len(rows) // 2 # both have the same lanes
        self.assertEqual([["b" + lane, heading and "b" + heading] for lane, heading in rows[:half]],
                         rows[half:])

    def test_interrupts(self):
        """A row of interrupts in each CPU: folded at first, drawn, and named by a click."""
        self.serve(make_scene(self.home / "handlers.skein", "handlers"))
        for scheme in ("light", "dark"):
            self.look(colorScheme=scheme)
            self.assertNotIn("interrupts", self.browser.text("#names"))
            self.browser.click("#names .fold")
            self.browser.wait("document.querySelectorAll('#names .inside').length === 1")
            self.look(self.address + "&open=c0.c1", colorScheme=scheme)
            rows = self.browser.evaluate("skeinPage.timeline.rows.shown.map(({ label }) => label)")
            self.assertEqual(rows[0], "could have run")
            self.assertEqual(rows[1:], ["CPU 0", "interrupts", "CPU 1", "interrupts", "db 100"])
            self.assertIn("softirq", self.browser.text("#fills"))
            for lane, time, *parts in (("3", 27e6, "local timer", "5 ms", "before: softirq net_rx"),
                                       ("3", 22e6, "softirq net_rx", "after: local timer"),
                                       ("4", 61e6, "irq 24 <b>disk", "after: local timer, 1 ms"),
                                       ("4", 50e6, "nothing that is recorded", "60 ms")):
                self.browser.evaluate(f"skeinPage.timeline.slice.look('{lane}', {time})")
                self.browser.wait(f"skeinPage.timeline.slice.shown?.at === {time}")
                for part in parts:
                    self.assertIn(part, self.browser.text("#slice"))
            self.assertIsNone(self.browser.evaluate("document.querySelector('#slice b')"))
            self.browser.shot(str(PICTURES / f"view-interrupts-{scheme}.png"))
            # a click on the name of a row of interrupts selects no flame graph of the CPU
            self.browser.click("#names .inside .name")
            self.assertEqual(self.browser.evaluate("skeinPage.timeline.state.lane"), "")
            self.assertEqual(self.browser.evaluate("window.violations"), [])

    def test_interrupts_in_one_file(self):
        trace = make_scene(self.home / "handlers.skein", "handlers")
        page = self.home / "handlers.html"
        skein("export", trace, "-o", page)
        self.look(page.as_uri() + "#open=c0.c1")
        self.assertEqual(self.browser.evaluate(
            "skeinPage.timeline.feed.at('3', 27e6).facts.map(([, of]) => of).slice(0, 2)"),
            ["local timer", "0.025000 s"])
        self.assertIn("softirq", self.browser.text("#fills"))

    def test_machine(self):
        """On a desk and a phone, light and dark; the pictures are for a person to look at."""
        trace = self.home / "busy.skein"
        make_timeline(trace, 200000, 8, 60, 3, 0, 0, 0)
        self.serve(trace)
        for name, options in (("desk", DESK), ("phone", PHONE)):
            for scheme in ("light", "dark"):
                self.look(**options, colorScheme=scheme)
                self.browser.shot(str(PICTURES / f"view-{name}-{scheme}.png"))
                self.assertEqual(self.browser.evaluate("window.violations"), [])

    def test_server_ends(self):
        """What is shown stays, and the page says that its server is gone."""
        trace = self.home / "busy.skein"
        make_timeline(trace, 20000, 4, 20, 3, 0, 0, 0)
        server = self.serve(trace)
        self.look()
        server.terminate()
        server.wait()
        self.browser.evaluate("document.getElementById('nearer').click()")
        self.browser.wait("/has ended/.test(document.body.innerText)")
        self.assertGreater(self.browser.evaluate(
            "document.querySelectorAll('#names > *').length"), 0)

    def test_samples_alone(self):
        """A recording without the scheduler has its flame graph and no timeline."""
        trace = make_scene(self.home / "samples.skein")
        self.serve(trace)
        self.look()
        self.assertTrue(self.browser.evaluate("document.getElementById('timeline').hidden"))
        self.assertEqual(self.browser.evaluate(SAMPLES), sum(folded(trace).values()))


if __name__ == "__main__":
    unittest.main()
