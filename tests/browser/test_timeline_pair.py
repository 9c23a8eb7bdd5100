# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test the page of two traces in a browser, fed by a stub of skein view's server."""
import json
import pathlib
import re
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import stub_view
from browser import MISSING
from pages import DESK, PHONE, QUIET
from stub_view import HOSTILE, LENGTH, MAGIC, PAGE_DATA, Stub
from test_timeline import SPAN, VIEW, Timelines

if MISSING:
    raise unittest.SkipTest(MISSING)

SECOND = 1_000_000_000
OTHER = 12 * SECOND # length of the second recording, ns
AFTER = 15 * SECOND # after the begin of the first one it begins, by the clock
STEP = 40_000_000 # ns for which the lanes of the stub have one level

# What is painted of a lane: for each column the time on the axis (ns) and the level.
PAINTED = """((lane) => {
    const { windows } = skeinPage.timeline, { key } = windows.current;
    const layer = windows.layers.find((one) => one.key === key && one.has(lane));
    const strokes = layer.strokes.get(lane);
    return Array.from({ length: layer.columns }, (_, x) =>
        [layer.from + (x + 0.5) * layer.each, ...strokes.subarray(3 * x, 3 * x + 3)]);
})"""

# Whether the pixels of the lanes that no heading covers are those of the painted layers.
DRAWN = """(() => {
    const { timeline: { picture, rows, windows, colours } } = skeinPage, wrong = [];
    const { width, height } = picture.lanes, { key, from } = windows.current;
    const { data } = picture.lanesPen.getImageData(0, 0, width, height);
    const pixels = new Uint32Array(data.buffer), shift = Math.round(picture.place(from));
    const tops = rows.headings.map((row) => picture.headingTop(row));
    let seen = 0;
    rows.shown.forEach((row, number) => {
        const top = Math.round(picture.edges(row)[0] * picture.dots);
        const bottom = top + rows.barOf(row.lane);
        if (top < 0 || bottom > height || row.kind !== "trace" &&
            tops.some((at) => bottom > at - 2 && top < at + rows.strip))
            return;
        const layer = windows.layers.find((one) => one.key === key && one.has(row.lane));
        const strokes = layer.strokes.get(row.lane);
        for (let x = 0; x < width; x++) {
            const at = 3 * (x - shift), [level, bar] = strokes.subarray(at, at + 3);
            seen++;
            if (Boolean(level) !== (pixels[(bottom - 1) * width + x] === colours.bar[bar]))
                wrong.push([row.lane, x, level]);
        }
    });
    return { wrong: wrong.slice(0, 5), seen };
})()"""

# The marks of functions that are searched for.
MARKS = "skeinPage.timeline.found"


def level(time):
    """The level of all lanes at a time of their recording."""
    return 1 + int(time // STEP) * 37 % 126


class PairStub(Stub):
    """Answers for two traces, whose lanes have levels that tell the time of their recording."""

    def __init__(self, page, profile):
        super().__init__(page, profile)
        first = {**self.trace, "file": "/tmp/a/before.skein", "traces": 2, "after": None}
        first["fill_of"] = {**first["fill_of"], "program": stub_view.JAVA,
                            "others": stub_view.COLLECTION}
        second = {**first, "file": "/tmp/b/after.skein", "after": None, "length": OTHER,
                  "rows": stub_view.make_rows(6, 2, 4), "programs": [["nginx", stub_view.JAVA],
                                                                     ["java", stub_view.MYSQL]]}
        self.traces = {"1": first, "2": second}
        self.profiles = {"1": profile, "2": profile}

    @staticmethod
    def number(query):
        return query.get("trace", "1")

    def answer_trace(self, query):
        return json.dumps(self.traces[self.number(query)]).encode()

    def answer_profile(self, query):
        return (self.profiles[self.number(query)] or "").encode()

    def answer_window(self, query):
        begin, end, columns = (int(query[key]) for key in ("from", "to", "columns"))
        length = self.traces[self.number(query)]["length"]
        lanes = query["lanes"].split(",")
        if not 0 <= begin < end <= length or not columns:
            return b"" # the page must ask for what is in the recording
        bar = {"1": stub_view.RUNNING, "2": stub_view.MYSQL}[self.number(query)]
        strokes = b"".join(bytes((level(begin + (x + 0.5) * (end - begin) / columns), bar,
                                  stub_view.IDLE)) for x in range(columns))
        return struct.pack("<4I", MAGIC, columns, len(lanes), 0) + strokes * len(lanes)

    def answer_chain(self, query):
        at = int(query["time"])
        return json.dumps({"lane": query["lane"], "from": at - 1000, "to": at, "sentence": "held",
                           "links": [{"name": "waker", "text": "ran", "lane": "1001",
                                      "from": at - 1000, "to": at}]}).encode()


class Pairs(Timelines):
    """Base of the tests: two traces of a stub, together by the clock or not."""

    after = None

    def setUp(self):
        self.trace("scene")
        page = (self.home / "scene.html").read_text()
        self.stub = PairStub(page, PAGE_DATA.search(page)[0].split(">", 1)[1].rsplit("<", 1)[0])
        self.stub.traces["2"]["after"] = self.after
        self.addCleanup(self.stub.end)

    def asked(self, path):
        """The last query for each trace, by its number."""
        return {query.get("trace", "1"): {key: value for key, value in query.items()
                                          if key != "trace"} for query in self.stub.of(path)}

    def forget(self):
        self.stub.asked.clear()

    def pressed(self):
        return self.ask("document.querySelector('#chosen [aria-pressed=true]')?.textContent")

    def agrees(self, shifts, lengths=(LENGTH, OTHER)):
        """All columns of both traces tell the time at which they are on the axis."""
        for lane, shift, length in zip(("parallel", "bparallel"), shifts, lengths):
            painted = self.ask(f"{PAINTED}('{lane}')")
            each = painted[1][0] - painted[0][0]
            for time, got, _, _ in painted:
                own = time - shift
                if own < -each or own > length + each:
                    self.assertEqual(got, 0, (lane, time))
                elif each < own < length - each:
                    # ends are on whole columns, so a column is off by a half of one at most
                    self.assertIn(got, {level(own + part * each) for part in (-0.5, 0, 0.5)},
                                  (lane, time))
        self.assertEqual(self.ask(DRAWN)["wrong"], [])


class FromStart(Pairs):
    """They were not recorded at the same time: both begin at the left edge."""

    def test_first_picture(self):
        self.view()
        names = self.names()
        self.assertEqual(names[:2] + names[12:14],
                         ["before.skein", "CPU 0", "after.skein", "CPU 0"])
        self.assertEqual(self.asked("trace"), {"1": {}, "2": {}})
        self.assertEqual(self.asked("profile"), {"1": {}, "2": {}})
        windows = self.asked("window")
        columns = self.ask("document.getElementById('lanes').width")
        self.assertEqual([windows[number]["to"] for number in "12"], [str(LENGTH), str(OTHER)])
        self.assertEqual([int(windows[number]["columns"]) for number in "12"],
                         [columns, round(columns * OTHER / LENGTH)])
        self.assertEqual(windows["2"]["lanes"].split(",")[0], "parallel")
        self.assertEqual(self.ask(VIEW), [0, LENGTH])
        self.assertEqual(self.browser.text("#title"), "What changed")
        self.assertEqual(self.ask("[...document.querySelectorAll('.facts .side')].map((side) => "
                                  "side.innerText.split('\\n'))"),
                         [["After", "after.skein"], ["Before", "before.skein"]])
        self.assertEqual(self.pressed(), "Both")
        self.assertFalse(self.shown("#strip-name"))
        self.assertEqual(self.ask("[...document.querySelectorAll('#align option')].map((one) => "
                                  "[one.value, one.disabled, one.selected])"),
                         [["clock", True, False], ["start", False, True]])
        self.fine()

    def test_zoom_and_pan_move_both(self):
        self.view("open=parallel") # the first one is folded, so that the second one is visible
        self.agrees((0, 0))
        self.browser.hover(*self.row_place("b3", 0.25))
        held = self.ask("skeinPage.timeline.cursor")
        for _ in range(4):
            self.browser.wheel(0, -200)
        self.browser.wait(f"{SPAN} < {LENGTH} / 3")
        self.settled()
        self.assertAlmostEqual(self.ask("skeinPage.timeline.cursor"), held, delta=LENGTH / 500)
        self.ask("skeinPage.timeline.toggle(skeinPage.timeline.rows.byLane.get('parallel'))")
        self.quiet()
        self.agrees((0, 0))
        before = self.ask(VIEW)
        self.browser.drag(self.place(0.5, 60), self.place(0.3, 60))
        self.settled()
        self.assertGreater(self.ask(VIEW)[0], before[0])
        self.browser.press("w")
        self.browser.press("d")
        self.settled()
        self.agrees((0, 0))
        # beyond the end of the second one there is nothing of it, and nothing is asked for
        self.forget()
        self.ask(f"skeinPage.timeline.setView({OTHER} + 1e9, {OTHER} + 1.1e9)")
        self.settled()
        self.assertEqual(set(self.asked("window")), {"1"})
        self.agrees((0, 0))
        self.fine()

    def test_a_short_recording_is_never_lost(self):
        """However far out one zooms, all of it has a column."""
        self.stub.traces["2"]["length"] = 1_000_000
        self.view()
        painted = self.ask(f"{PAINTED}('bparallel')")
        self.assertEqual([column for column, one in enumerate(painted) if one[1]], [0])
        self.fine()

    def test_marks_of_both(self):
        """A function that is searched for is marked in both, at its times on the axis."""
        self.stub.traces["2"]["length"] = 20 * SECOND
        self.view("search=hot")
        self.browser.wait(f"{MARKS}.whole")
        asked = self.asked("marks")
        self.assertEqual({key: int(asked["1"][key]) for key in ("from", "to")},
                         {"from": 0, "to": LENGTH})
        self.assertEqual(int(asked["2"]["to"]), min(20 * SECOND, LENGTH))
        lanes, columns = self.ask(f"[[...{MARKS}.near.lanes.keys()], {MARKS}.near.columns]")
        first = {lane for lane in lanes if not lane.startswith("b")}
        self.assertEqual(set(lanes) - first, {"b" + lane for lane in first})
        for time in stub_view.MARKED_TIMES[:3]:
            at = self.ask(f"['1001', 'b1001'].map((lane) => {MARKS}.near.level(lane, "
                          f"{MARKS}.near.column({time})))")
            self.assertEqual(at, [63, 63], (time, columns))
        self.assertIn("38 of 80,224 samples shown, 2 threads",
                      self.ask("document.getElementById('found').textContent"))
        self.fine()

    def test_a_comparison_in_parts(self):
        """While one trace has only a part of its samples, so has the comparison."""
        for number, share in (("1", 0.25), ("2", 1)):
            data = json.loads(self.stub.profiles[number])
            self.stub.profiles[number] = json.dumps(
                {**data, "part": {"share": share, "samples": 10, "ms": 5000}})
        self.view()
        self.browser.wait("document.getElementById('more-samples')")
        self.assertIn("The first 25 %", self.ask("document.getElementById('chosen').textContent"))
        self.fine()

    def test_select_range(self):
        self.view()
        self.forget()
        self.browser.drag(self.place(0.25, 8, "axis"), self.place(0.5, 8, "axis"))
        self.quiet()
        self.browser.wait("document.getElementById('states').checkVisibility()")
        for path in ("profile", "report"):
            asked = self.asked(path)
            self.assertEqual(asked["1"], asked["2"], path)
            self.assertAlmostEqual(int(asked["1"]["from"]), LENGTH / 4, delta=LENGTH / 500)
        self.assertRegex(self.browser.text("#chosen"),
                         r"\A5\.0\d? s to 10\.0\d? s of before\.skein and after\.skein")
        self.assertEqual(self.ask("[...document.querySelectorAll('#states .name')].map((one) => "
                                  "one.textContent)"), ["before.skein", "after.skein"])
        self.assertTrue(self.ask("Boolean(skeinPage.data.before)"))
        for text, number in (("after.skein", "2"), ("before.skein", "1")):
            self.forget()
            self.ask("[...document.querySelectorAll('#chosen .segments button')]"
                     f".find((one) => one.textContent === '{text}').click()")
            self.quiet()
            self.assertEqual({key: sorted(asked) for key, asked in self.asked("profile").items()},
                             {number: ["from", "to"]})
            self.assertEqual(self.pressed(), text)
            self.assertFalse(self.ask("Boolean(skeinPage.data.before)"))
        self.browser.back()
        self.browser.wait("skeinPage.state.lane === 'bparallel'")
        # where one recording was over there are samples of the other one only
        self.ask(f"skeinPage.timeline.select({{ from: {OTHER} + 1e9, to: {OTHER} + 2e9 }}, '')")
        self.forget()
        self.quiet()
        self.browser.wait("document.getElementById('chosen').innerText.includes('no samples')")
        self.assertIn("After.skein has no samples there. Without it: 13.00 s to 14.00 s",
                      self.browser.text("#chosen"))
        self.assertNotIn("2", self.asked("profile"))
        self.fine()

    def test_select_lanes(self):
        self.view("open=parallel.bp5")
        for lane, asked in (("bp5", {"process": "5"}), ("b1002", {"lane": "1002"}),
                            ("b900", {"process": "5"}), ("bparallel", {})):
            self.forget()
            self.click_name(lane)
            self.quiet()
            self.assertEqual(self.asked("profile"), {"2": asked}, lane)
        self.assertIn("All of the time of after.skein", self.browser.text("#chosen"))
        self.click_name("b1002")
        self.quiet()
        self.assertIn("All of the time of worker 2 4713 of after.skein",
                      self.browser.text("#chosen"))
        self.assertEqual(self.ask("location.hash"), "#lane=b1002&open=parallel.bp5")
        self.forget()
        self.browser.reload()
        self.browser.wait(f"window.skeinPage && {QUIET}")
        self.assertEqual(self.asked("profile"), {"2": {"lane": "1002"}})
        self.assertEqual(self.ask("document.querySelector('[aria-selected=true] .name')"
                                  ".textContent"), "worker 2 4713")
        self.browser.click("#show-all")
        self.quiet()
        self.assertEqual(self.pressed(), "Both")
        self.fine()

    def test_filter(self):
        self.view()
        self.browser.fill("#lane-filter", "worker 3")
        self.quiet()
        self.assertEqual(self.ask("skeinPage.timeline.rows.shown.map(({ lane }) => lane)"),
                         ["parallel", "p5", "1003", "p6", "1103", "p7", "1203", "bparallel", "bp5",
                          "b1003", "bp6", "b1103"])
        self.assertEqual(self.ask(DRAWN)["wrong"], [])
        self.fine()

    def test_headings_stay_visible(self):
        self.view("open=5.6.7.bp5.bp6", viewport={"width": 1440, "height": 700})
        edges = ("(({ timeline: { rows, picture } }) => rows.headings.map((row) => "
                 "picture.edges(row)[0]))(skeinPage)")
        high = self.ask("skeinPage.timeline.picture.high")
        self.assertEqual(self.ask(edges), [0, high - 24])
        for share in (0.3, 0.7, 1):
            self.ask("(({ picture: { scroller } }) => { scroller.scrollTop = "
                     f"scroller.scrollHeight * {share}; }})(skeinPage.timeline)")
            self.quiet()
            found = self.ask(DRAWN)
            self.assertEqual(found["wrong"], [], share)
            self.assertGreater(found["seen"], 5000)
            names = self.ask("['parallel', 'bparallel'].map((lane) => { const of = document"
                             ".getElementById(`row-${skeinPage.timeline.rows.shown.findIndex((row)"
                             " => row.lane === lane)}`).getBoundingClientRect(), { y } = document"
                             ".getElementById('lanes-scroll').getBoundingClientRect();"
                             "return of.y - y; })")
            for name, edge in zip(names, self.ask(edges)):
                self.assertAlmostEqual(name, edge, delta=1)
        self.assertEqual(self.ask(edges), [0, 24])
        self.ask("skeinPage.timeline.picture.scroller.scrollTop = 0")
        self.quiet()
        self.browser.mouse(*self.row_place("bparallel")) # a click leads to its lanes
        self.browser.wait(f"{edges}[1] === 24")
        self.assertFalse(self.shown("#slice"))
        self.fine()

    def test_keyboard_only(self):
        self.view()
        self.focus()
        current = "skeinPage.timeline.rows.shown[skeinPage.timeline.current]?.lane"
        self.browser.press("ArrowDown")
        self.browser.wait(f"{current} === 'parallel'")
        self.browser.press("Space")
        self.browser.wait("skeinPage.state.open === 'parallel'")
        row = "document.getElementById('row-0')"
        self.assertEqual(self.ask(f"[{row}.ariaExpanded, {row}.ariaLevel]"), ["false", "1"])
        self.browser.press("ArrowDown")
        self.browser.wait(f"{current} === 'bparallel'")
        self.browser.press("Enter")
        self.quiet()
        self.assertEqual(self.pressed(), "after.skein")
        for _ in range(7):
            self.browser.press("ArrowDown")
        self.browser.press("Space")
        self.browser.press("ArrowDown")
        self.browser.press("ArrowDown")
        self.browser.wait(f"{current} === 'b1000'")
        self.forget()
        self.browser.press("Enter")
        self.quiet()
        self.assertEqual(self.asked("profile"), {"2": {"lane": "1000"}})
        self.browser.press("w")
        self.browser.press("r")
        self.settled()
        self.assertEqual(sorted(self.asked("profile")["2"]), ["from", "lane", "to"])
        self.browser.press("x")
        self.browser.wait("!document.getElementById('slice').hidden")
        self.assertEqual(self.asked("at")["2"]["lane"], "1000")
        self.browser.press("Escape")
        self.browser.press("Escape")
        self.quiet()
        self.assertEqual(self.pressed(), "Both")
        self.fine()

    def test_width_of_a_comparison_is_restored(self):
        self.view("width=before")
        self.assertEqual(self.ask("document.getElementById('width').value"), "before")
        self.click_name("parallel")
        self.quiet()
        self.assertEqual(self.ask("document.getElementById('width').value"), "")
        self.browser.back()
        self.browser.wait(f"{QUIET} && document.getElementById('width').value === 'before'")
        self.fine()

    def test_what_is_missing(self):
        """A trace without lanes, without samples, with a warning."""
        self.stub.traces["2"].update(rows=[], warning="it is damaged", unfinished=True)
        self.stub.profiles["1"] = None
        self.view()
        self.assertEqual(self.names()[-1], "after.skein")
        self.assertIn("no timeline", self.browser.text("#names"))
        self.assertIn("after.skein: it is damaged after.skein: The recording was not finished",
                      self.browser.text("#trace-warning"))
        self.assertIn("Before.skein has no samples there", self.browser.text("#chosen"))
        self.assertTrue(self.shown("#graph"))
        self.stub.profiles["2"] = None
        self.view()
        self.assertIn("There are no samples in all of the time of before.skein and after.skein",
                      self.browser.text("#empty"))
        self.stub.traces["1"]["rows"] = []
        self.stub.profiles.update({"1": self.stub.profile, "2": self.stub.profile})
        self.view()
        self.assertFalse(self.shown("#timeline"))
        self.assertEqual(self.browser.text("#title"), "What changed")
        self.stub.refuse["profile"] = (503, "too much")
        self.ask("document.querySelector('#chosen .segments button:last-child').click()")
        self.quiet()
        self.assertEqual(self.pressed(), "after.skein")
        self.assertIn("Not loaded", self.browser.text("#chosen"))
        self.fine("status of 503")

    def test_no_common_event(self):
        profile = json.loads(self.stub.profile)
        for event in profile["profiles"][0]["events"]:
            event["name"] = len(profile["strings"])
        profile["strings"].append("cycles")
        self.stub.profiles["2"] = json.dumps(profile)
        self.view()
        self.assertIn("There is no event that both have. Before.skein alone",
                      self.browser.text("#chosen").replace("before", "Before"))
        self.assertFalse(self.ask("Boolean(skeinPage.data.before)"))
        self.fine()

    def test_hostile_names(self):
        for trace in self.stub.traces.values():
            trace["file"] = trace["warning"] = HOSTILE
        self.view("range=1000000000-2000000000")
        for place in ("#names", "#chosen", "#facts", "#trace-warning"):
            self.assertIn("<img src=x onerror=alert(1)>\ufffdgnp", self.ask(
                f"document.querySelector('{place}').textContent"), place)
        self.assertEqual(self.ask("document.images.length"), 0)
        self.fine()

    def test_programs_have_one_colour(self):
        """java is the second program of one trace and the first of the other."""
        self.view()
        self.assertEqual(self.ask("skeinPage.timeline.trace.programs"),
                         [["java", stub_view.JAVA], ["nginx", stub_view.MYSQL]])
        self.assertEqual(self.ask(f"{PAINTED}('b3')")[5][2], stub_view.JAVA)
        self.assertIn("java", self.browser.text("#fills"))
        self.fine()


class ByClock(Pairs):
    """The second recording began while the first one still ran."""

    after = AFTER

    def test_places(self):
        self.view("open=parallel")
        self.assertEqual(self.ask("skeinPage.timeline.trace.length"), AFTER + OTHER)
        self.assertEqual(self.ask("document.getElementById('align').value"), "clock")
        for _ in range(3):
            self.agrees((0, AFTER))
            self.ask("skeinPage.timeline.toggle(skeinPage.timeline.rows.byLane.get('parallel'))")
            self.quiet()
            self.agrees((0, AFTER))
            self.ask("skeinPage.timeline.toggle(skeinPage.timeline.rows.byLane.get('parallel'))")
            self.ask(f"skeinPage.timeline.zoom(0.3, {AFTER} + 1e8, 0.4)")
            self.settled()
        self.assertRegex(self.ask("document.querySelectorAll('.row.trace')[1].title"),
                         r"\A/tmp/b/after\.skein: 12\.0 s, begins at 15\.0 s")
        self.fine()

    def test_the_second_began_first(self):
        self.stub.traces["2"]["after"] = -3 * SECOND
        self.view("open=parallel")
        self.assertEqual(self.ask("skeinPage.timeline.trace.length"), LENGTH + 3 * SECOND)
        self.ask("skeinPage.timeline.toggle(skeinPage.timeline.rows.byLane.get('parallel'))")
        self.quiet()
        self.agrees((3 * SECOND, 0))
        self.fine()

    def test_numbers_of_a_selection(self):
        begin, end = AFTER - SECOND, AFTER + 2 * SECOND
        self.view(f"range={begin}-{end}")
        self.assertEqual(self.asked("profile"),
                         {"1": {"from": str(begin), "to": str(end)},
                          "2": {"from": "0", "to": str(2 * SECOND)}})
        self.fine()

    def test_slice_and_chain(self):
        self.view(f"open=parallel.bp5&view={AFTER - SECOND}-{AFTER + SECOND}")
        self.browser.mouse(*self.row_place("b1001", 0.75))
        self.browser.wait("!document.getElementById('slice').hidden")
        asked = self.asked("at")["2"]
        self.assertEqual(asked["lane"], "1001")
        self.assertAlmostEqual(int(asked["time"]), SECOND / 2, delta=SECOND / 100)
        begin = int(asked["time"]) // 1_000_000 * 1_000_000
        self.assertEqual(self.ask("[skeinPage.timeline.slice.shown.from, "
                                  "skeinPage.timeline.slice.shown.lane]"),
                         [AFTER + begin, "b1001"])
        self.assertIn("after.skein", self.browser.text("#slice"))
        self.browser.click("#slice .go")
        self.browser.wait(f"skeinPage.timeline.slice.shown.at === {AFTER + begin + 1_000_000}")
        self.assertEqual(self.asked("at")["2"], {"lane": "1001", "time": str(begin + 1_000_000)})
        self.ask("skeinPage.timeline.slice.chain.load('b1001', "
                 f"{AFTER + SECOND // 2})")
        self.browser.wait("document.querySelector('#slice .held-by')")
        self.assertEqual(self.asked("chain"), {"2": {"lane": "1001", "time": str(SECOND // 2)}})
        self.assertEqual(self.ask("skeinPage.timeline.slice.chain.shown.links[0]"),
                         {"name": "waker", "text": "ran", "lane": "b1001",
                          "from": AFTER + SECOND // 2 - 1000, "to": AFTER + SECOND // 2})
        self.browser.double(*self.row_place("b1001", 0.8))
        self.browser.wait(f"{SPAN} < 3000000")
        shown = self.ask("[skeinPage.timeline.slice.shown.from, skeinPage.timeline.slice.shown.to]")
        self.assertTrue(self.ask(VIEW)[0] < shown[0] < shown[1] < self.ask(VIEW)[1])
        # before the recording there is nothing to tell
        self.forget()
        self.ask(f"skeinPage.timeline.slice.look('b1001', {AFTER} - 5)")
        self.browser.wait("document.getElementById('feed-line').textContent === "
                          "'Nothing was recorded there.'")
        # a request of the first click, which the second one aborted, may still arrive
        self.assertEqual([query for query in self.stub.of("at") if query.get("trace") != "2" or
                          int(query["time"]) < 0], [])
        self.fine()

    def test_alignment(self):
        """What is shown of the first trace stays; the address keeps the choice."""
        self.stub.traces["2"]["after"] = -3 * SECOND
        self.view(f"view={5 * SECOND}-{8 * SECOND}&range={6 * SECOND}-{7 * SECOND}")
        self.forget()
        self.browser.choose("#align", "start")
        self.settled()
        self.assertEqual(self.ask("skeinPage.timeline.trace.length"), LENGTH)
        self.assertEqual(self.ask(VIEW), [2 * SECOND, 5 * SECOND])
        self.assertIn("align=start", self.ask("location.hash"))
        self.assertEqual(self.asked("profile"),
                         {number: {"from": str(3 * SECOND), "to": str(4 * SECOND)}
                          for number in "12"})
        self.ask("skeinPage.timeline.toggle(skeinPage.timeline.rows.byLane.get('parallel'))")
        self.quiet()
        painted = self.ask(f"{PAINTED}('b3')")
        self.assertEqual({got == level(time) for time, got, _, _ in painted[5:-5]
                          if time % STEP > 1e7 and time % STEP < STEP - 1e7}, {True})
        self.browser.reload()
        self.browser.wait(f"window.skeinPage && {QUIET}")
        self.assertEqual(self.ask("document.getElementById('align').value"), "start")
        self.assertEqual(self.ask(VIEW), [2 * SECOND, 5 * SECOND])
        self.browser.choose("#align", "clock")
        self.settled()
        self.assertNotIn("align", self.ask("location.hash"))
        self.assertEqual(self.ask(VIEW), [5 * SECOND, 8 * SECOND])
        self.browser.back()
        self.browser.wait("document.getElementById('align').value === 'start'")
        self.settled()
        self.assertEqual(self.ask(VIEW), [2 * SECOND, 5 * SECOND])
        self.fine()


class Looks(Pairs):
    after = AFTER

    def test_pictures(self):
        for name, options in (("desk", DESK), ("phone", PHONE)):
            for theme in ("light", "dark"):
                self.view(f"open=bp5&range={AFTER}-{AFTER + SECOND}", colorScheme=theme, **options)
                self.browser.wait("document.getElementById('states').checkVisibility()")
                self.assertEqual(self.ask("document.documentElement.scrollWidth"),
                                 options["viewport"]["width"])
                self.assertGreater(self.ask("document.getElementById('graph').clientHeight"), 120)
                self.picture(f"pair-{name}-{theme}")

    def test_touch(self):
        self.view("open=parallel", **PHONE)
        self.forget()
        self.browser.tap(*self.row_place("b2", 0.8))
        self.browser.wait("!document.getElementById('slice').hidden")
        self.assertEqual(self.asked("at")["2"]["lane"], "2")
        self.fine()


if __name__ == "__main__":
    unittest.main()
