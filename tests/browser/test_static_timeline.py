# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 900
"""Test the timeline of the one-file page: drawn like that of skein view, without a server."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING
from pages import DESK, PHONE, PICTURES, QUIET, STILL, Pages
from stub_view import PAGE_DATA
from traces import SKEIN, make_scene, make_timeline, output, skein

if MISSING:
    raise unittest.SkipTest(MISSING)

LONG = os.environ.get("SKEIN_LONG") == "1"
SAMPLES = "skeinPage.view.whole[1]"
SHOWN = "!document.getElementById('timeline').hidden"
# A number that follows from every pixel of the lanes, and the number of colours.
PIXELS = """(({ timeline: { picture: { lanes, lanesPen } } }) => {
    const { data } = lanesPen.getImageData(0, 0, lanes.width, lanes.height), colours = new Set();
    let sum = 0;
    for (const pixel of new Uint32Array(data.buffer)) {
        sum = (Math.imul(sum, 31) + pixel) | 0;
        colours.add(pixel);
    }
    return [sum, lanes.width, lanes.height, colours.size];
})(skeinPage)"""
# The weight of each event, thread and function that was sampled.
SUMS = """(({ now, labels }) => {
    const { sums, events, threads, label } = now, found = {};
    sums.node.forEach((node, i) => {
        const key = [events[sums.event[i]].name, threads[sums.thread[i]].tid, sums.wait?.[i] ?? 0,
            node ? labels.name[label[node]] : ""].join();
        found[key] = (found[key] ?? 0) + sums.weight[i] + sums.count[i];
    });
    return found;
})(skeinPage.data)"""
# Sums of exact times, and of the same samples in slots of some ns, of ranges inside of whole slots.
SLOTS = """(async ({ data: { now }, timeline: { feed } }, slot) => {
    const exact = await feed.samplesOf(now), found = [];
    const slots = Object.assign(Object.create(exact), { slot,
        times: exact.times.map((time) => Math.floor(time / slot)) });
    for (const [from, to] of [[0, 1], [1, 3], [2, 7], [0, 8]])
        found.push([[...exact.sums({ from: from * slot, to: to * slot - 1 }).weight],
            [...slots.sums({ from: from * slot + 5, to: to * slot - 9 }).weight],
            feed.insteadOf({ from: from * slot + 5, to: to * slot - 9 }, null, slots).instead]);
    return found;
})(skeinPage, %d)"""
FACTS = "[...document.querySelectorAll('#slice dl > *')].map((of) => of.textContent)"


def memory_of_page(root):
    """Resident memory in KiB of the largest process of pages below a process."""
    of = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            facts = dict(line.split(":", 1) for line in path.read_text().splitlines())
            command = (path.parent / "cmdline").read_text()
        except (OSError, ValueError):
            continue
        of[int(facts["Pid"])] = (int(facts["PPid"]), command, facts.get("VmRSS", "0 kB"))

    def is_below(pid):
        return pid == root or pid in of and is_below(of[pid][0])
    return max(int(rss.split()[0]) for pid, (_, command, rss) in of.items()
               if "--type=renderer" in command and is_below(pid))


class StaticTimeline(Pages):
    def look(self, address, fragment="", **options):
        self.browser.open(f"{address}{fragment}", {**STILL, **DESK, **options})
        self.browser.wait("Boolean(window.skeinPage)")
        self.browser.wait(QUIET)

    def export(self, trace, *options):
        page = trace.with_suffix(".html")
        skein("export", trace, "-o", page, *options)
        return f"file://{page}"

    def machine(self, *numbers):
        trace = self.home / "machine.skein"
        make_timeline(trace, *numbers)
        return trace

    def lanes(self):
        return self.ask("skeinPage.timeline.trace.rows.map(({ lane, kind }) => [kind, lane])")

    def hide_choice(self, high):
        """Hide the choice of lanes, which the other page lacks, so that lanes get its room."""
        self.ask("document.getElementById('lanes-by-label').style.display = 'none'")
        self.browser.wait(f"skeinPage.timeline.picture.lanes.height === {high}")
        self.browser.wait(QUIET)

    def serve(self, trace):
        """Return the address of skein view."""
        server = subprocess.Popen([SKEIN, "view", "-n", trace], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        return server.stdout.readline().strip()

    def same_pixels(self, trace, opened, views):
        """Compare every pixel of the lanes with those of the same window of skein view."""
        page = self.export(trace)
        served = self.serve(trace)
        self.look(page)
        processes = [lane[1:] for kind, lane in self.lanes() if kind == "process"][:opened]
        for dots in (1, 2):
            for view in views:
                view = f"open={'.'.join(processes)}&{view}"
                self.look(page, f"#{view}", deviceScaleFactor=dots)
                expected = self.ask(PIXELS)
                self.look(served + "&", view, deviceScaleFactor=dots)
                self.hide_choice(expected[2])
                self.assertEqual(self.ask(PIXELS), expected, (dots, view))
                self.assertGreater(expected[3], 3)

    def test_pixels(self):
        """Every pixel of the lanes is that of the same window of skein view."""
        self.same_pixels(self.machine(40000, 4, 40, 3, 20, 500, 300), 1,
                         ("", "view=2000000000-2100000000", "view=5000000000-5000300000"))

    def test_pixels_of_counters(self):
        self.same_pixels(make_scene(self.home / "counters.skein", "counters"), 2,
                         ("", "view=390000000-440000000", "view=333000000-333001000"))

    def test_pictures(self):
        """On a desk and a phone, light and dark; the pictures are for a person to look at."""
        page = self.export(self.machine(200000, 8, 60, 3, 0, 0, 0))
        for name, options in (("desk", DESK), ("phone", PHONE)):
            for scheme in ("light", "dark"):
                self.look(page, **options, colorScheme=scheme)
                self.browser.shot(str(PICTURES / f"static-{name}-{scheme}.png"))
        self.harmless()

    def test_select(self):
        """A thread has its samples; a part of the time says what it lacks."""
        trace = make_scene(self.home / "timeline.skein", "timeline")
        page = self.export(trace)
        self.look(page)
        whole = self.ask(SAMPLES)
        self.assertEqual(whole, json.loads(output("report", trace, "--json"))["samples"])
        rows = self.ask("skeinPage.timeline.trace.rows")
        threads = [row for row in rows if row["kind"] == "thread"]
        found = 0
        for row in threads:
            self.look(page, f"#lane={row['lane']}")
            said = json.loads(output("report", trace, "--json", "--tid", row["id"]))["samples"]
            self.assertEqual(self.ask("skeinPage.view.count > 1 ? " + SAMPLES + ": 0"), said)
            found += said
        self.assertEqual(found, whole)
        self.harmless()

    def test_range(self):
        """A part of the time, also of a thread, has the samples and times of skein view."""
        trace = make_scene(self.home / "timeline.skein", "timeline")
        page, served = self.export(trace), self.serve(trace)
        self.look(page)
        length = self.ask("skeinPage.timeline.trace.length")
        threads = [lane for kind, lane in self.lanes() if kind == "thread"]
        found = 0
        ranges = ((0, length // 2), (length // 4, length // 2), (length // 2, length - 1),
                  (length // 3, length // 3 + 1000))
        for number, (begin, end) in enumerate(ranges):
            # in the short form each thread in one of the ranges
            for lane in ["", *(threads if LONG else threads[number::len(ranges)])]:
                part = f"range={begin}-{end}" + (f"&lane={lane}" if lane else "")
                self.look(page, f"#{part}")
                told = self.ask(SUMS)
                said = self.browser.text("#chosen")
                self.look(served + "&", part)
                self.assertEqual(told, self.ask(SUMS), part)
                self.assertEqual(said.split("\n")[0], self.browser.text("#chosen").split("\n")[0])
                found += sum(told.values()) if told else 0
        self.assertGreater(found, 0)
        said = json.loads(output("report", trace, "--json", "--from", f"{length // 4}ns", "--to",
                                 f"{length // 2}ns"))["samples"]
        self.look(page, f"#range={length // 4}-{length // 2}")
        self.assertEqual(self.ask("skeinPage.view.count > 1 ? " + SAMPLES + ": 0"), said)

    def test_slots(self):
        """Samples of slots are those of a range of whole slots, which the page names."""
        trace = make_scene(self.home / "timeline.skein", "timeline")
        self.look(self.export(trace))
        length = self.ask("skeinPage.timeline.trace.length")
        told = self.ask(SLOTS % (length // 7))
        self.assertGreater(len(told), 0)
        for exact, slots, text in told:
            self.assertEqual(exact, slots)
            self.assertIn("slots of", text)
        self.assertGreater(sum(sum(exact) for exact, _, _ in told), 0)

    def test_states(self):
        """The times of a selection's states are those of skein report."""
        trace = self.machine(20000, 4, 40, 7, 0, 0, 0)
        page = self.export(trace)
        begin, end = 3_000_000_000, 7_000_000_000
        self.look(page, f"#range={begin}-{end}")
        sched = self.ask(f"skeinPage.timeline.feed.report({{ from: '{begin}', to: '{end}' }})")
        shown = sched["sched"]["processes"][0]
        said = json.loads(output("report", trace, "--json", "--from", f"{begin}ns", "--to",
                                 f"{end}ns"))["sched"]["processes"]
        self.assertEqual(shown["running"], sum(of["running"] for of in said))
        self.assertEqual(shown["blocked"]["runnable"],
                         sum(of["runnable_woken"] + of["runnable_preempted"] for of in said))

    def test_click(self):
        """A click tells the slice; what the page does not hold is named."""
        trace = self.machine(20000, 4, 40, 7, 0, 0, 0)
        page = self.export(trace)
        self.look(page)
        row = json.loads(output(
            "query", trace, "--json", "SELECT s.time - h.start AS begin, s.\"end\" - h.start AS"
            " until, s.lane AS cpu, t.lane AS lane FROM slice s, host h, thread t WHERE s.state = 1"
            " AND t.id = s.value AND s.\"end\" - s.time > 100000 LIMIT 1"))[0]
        time = (row["begin"] + row["until"]) // 2
        told = self.ask(f"skeinPage.timeline.feed.at('{row['cpu']}', {time})")
        facts = dict(told["facts"])
        self.assertEqual(facts["state"], "running")
        self.assertEqual(told["links"][0]["lane"], str(row["lane"]))
        self.assertLessEqual(told["from"], row["begin"])
        self.assertGreaterEqual(told["to"], row["until"])
        self.ask(f"skeinPage.timeline.slice.look('{row['lane']}', {time}).then(() => 0)")
        shown = self.ask(FACTS)
        self.assertEqual(shown[:2], ["state", "running"])
        self.assertIn("on", shown)
        self.assertIn("shown by skein view machine.skein", shown)
        self.harmless()

    def test_without_lanes(self):
        """A recording of samples alone has the page as before."""
        self.open("scene")
        self.assertFalse(self.ask(SHOWN))
        self.assertNotIn("timeline", json.loads(
            PAGE_DATA.search((self.home / "scene.html").read_text())[0].split(">", 1)[1]
            .rsplit("<", 1)[0]))
        self.harmless()

    def test_size(self):
        """Two million records are shown within two seconds, in 200 MiB of memory."""
        trace = self.machine(1310000, 16, 400, 5, 0, 0, 0)
        page = self.export(trace)
        times, memories = [], []
        for _ in range(3):
            self.look(page)
            times.append(self.ask("performance.now()")) # since the page began to load
            memories.append(memory_of_page(self.browser.child.pid) >> 10)
        took, memory = min(times), min(memories)
        states = self.ask("skeinPage.timeline.feed.states.count")
        size = pathlib.Path(page[7:]).stat().st_size
        print(f"{took:.0f} ms to the first picture of {states:,} states; {size >> 20} MiB of page, "
              f"{memory} MiB of memory of its process")
        # The short form runs beside other tests, and beside whatever keeps the machine busy: when
        # the browser collects garbage is its own choice, too.
        self.assertLess(took, 2000 if LONG else 30000)
        self.assertLess(memory, 200 if LONG else 256)
        self.harmless()

    def test_cells(self):
        """A recording of more has cells: the page says which, also where something is selected."""
        page = self.export(self.machine(1700000, 8, 200, 5, 0, 0, 0))
        for scheme in ("light", "dark"):
            self.look(page, colorScheme=scheme)
            self.browser.shot(str(PICTURES / f"static-cells-{scheme}.png"))
        said = self.browser.text("#trace-warning")
        finest = self.ask("skeinPage.timeline.feed.finest")
        self.assertRegex(said, f"Finest cell: ({finest / 1e6:.3g} ms|{finest // 1000} µs)")
        self.assertIn("skein view machine.skein shows the rest", said)
        self.assertGreater(self.ask(PIXELS)[3], 3)
        thread = next(lane for kind, lane in self.lanes() if kind == "thread")
        self.look(page, f"#lane={thread}")
        self.assertIn("times by state need skein view machine.skein",
                      self.browser.text("#chosen"))
        self.ask(f"skeinPage.timeline.slice.look('{thread}', {finest * 100}).then(() => 0)")
        self.assertIn("mostly", self.ask(FACTS))
        self.harmless()


if __name__ == "__main__":
    unittest.main()
