# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test the marks on the timeline where functions ran, in a browser, fed by a stub."""
import unittest

from stub_view import HOSTILE, LENGTH, MARKED_TIMES
from test_timeline import Timelines, VIEW

FOUND = "document.getElementById('found').textContent"
LOADED = ("(({ timeline: { found } }) => found.whole && "
          "document.getElementById('found').ariaBusy === 'false')(skeinPage)")
# The marked pixels of a lane at the middle of a time's column, from the lowest up.
PIXELS = """((lane, time) => {{
    const {{ timeline: {{ picture, rows, found: {{ near }} }} }} = skeinPage;
    const row = rows.byLane.get(lane), number = rows.shown.indexOf(row);
    const bottom = rows.tops[number] + rows.barOf(lane) - picture.scrolled;
    const x = Math.floor(picture.place(near.middle(near.column(time))));
    const high = Math.round(7 * picture.dots);
    const {{ data }} = picture.marksPen.getImageData(x, bottom - high, 1, high);
    const colour = [194, 24, 143];
    return Array.from({{ length: high }}, (_, y) => 4 * (high - 1 - y)).map((at) =>
        data[at + 3] && colour.every((part, i) => Math.abs(data[at + i] - part) < 3) ? 1 : 0);
}})("{}", {})"""


class Found(Timelines):
    """Marks where a function ran."""

    def found(self, fragment="search=hot&open=5", **options):
        self.view(fragment, **options)
        self.browser.wait(LOADED)
        self.quiet()

    def marked(self, lane, time):
        """The pixels of a lane at a time."""
        return self.ask(PIXELS.format(lane, time))

    def test_marks(self):
        """Some, all and none can be told apart, at every zoom and pixel ratio."""
        for ratio in (1, 2):
            for begin, end in ((0, LENGTH), (900_000_000, 1_300_000_000),
                               (1_123_000_000, 1_124_000_000)):
                self.found(f"search=hot&open=5&view={begin}-{end}", deviceScaleFactor=ratio)
                high = 7 * ratio
                at = MARKED_TIMES[0]
                self.assertEqual(sum(self.marked("1001", at)), high, (ratio, begin))
                half = self.marked("p5", at)
                self.assertEqual(half, sorted(half, reverse=True))
                self.assertIn(sum(half), range(high // 2 - 1, high // 2 + 2))
                self.assertEqual(self.marked("0", at), [1] * 2 * ratio + [0] * 5 * ratio)
                for lane, when in (("1000", at), ("1001", at + (end - begin) / 50), ("1", at)):
                    self.assertEqual(sum(self.marked(lane, when)), 0, (lane, when))
        self.picture("timeline-found")
        self.fine()

    def test_count(self):
        self.stub.delay["profile"] = 0.5 # whose event it is comes with the flame graph
        self.found()
        self.assertEqual(self.ask(FOUND), "19 of 40,112 samples shown, 1 thread")
        asked = self.stub.of("marks")
        self.assertEqual(len(asked), 1)
        self.assertEqual(asked[0]["event"], "cpu-clock")
        self.assertEqual((asked[0]["text"], asked[0]["from"], asked[0]["to"], asked[0]["by"]),
                         ("hot", "0", str(LENGTH), "thread"))
        self.stub.marks = {"share": 0.43, "left_out": 2}
        self.browser.click("#nearer")
        self.browser.wait(f"{FOUND}.includes('43')")
        self.assertIn("only the first 43 % were looked at", self.ask(FOUND))
        self.assertIn("2 lanes had no room for marks", self.ask(FOUND))
        self.browser.fill("#find", "cold")
        self.browser.wait(f"{FOUND} === 'no function has such a name'")
        self.assertEqual(self.ask("document.getElementById('find').ariaInvalid"), "true")
        self.assertTrue(self.ask("document.getElementById('mark-next').disabled"))
        self.assertEqual(sum(self.marked("1001", MARKED_TIMES[9])), 0)
        self.browser.fill("#find", "")
        self.browser.wait(f"{FOUND} === ''")
        self.fine()

    def test_both_fields_are_one_search(self):
        self.view("open=5")
        self.assertEqual(self.stub.of("marks"), [])
        self.browser.fill("#find", "hot")
        self.browser.wait(LOADED)
        self.assertEqual(self.ask("document.getElementById('search').value"), "hot")
        self.browser.fill("#search", "")
        self.browser.wait(f"{FOUND} === ''")
        self.assertEqual(self.ask("document.getElementById('find').value"), "")
        self.browser.fill("#search", "hot")
        self.browser.wait(LOADED)
        self.assertEqual(self.ask("document.getElementById('find').value"), "hot")
        self.assertIn("search=hot", self.ask("location.hash"))
        self.browser.choose("#lanes-by", "name")
        self.browser.wait(f"skeinPage.timeline.by === 'name' && {LOADED}")
        self.assertEqual(self.stub.of("marks")[-1]["by"], "name")
        self.fine()

    def test_refused_and_hostile(self):
        self.stub.refuse["marks"] = (400, f"the timeline finds plain texts {HOSTILE}\nline")
        self.view("search=a*")
        self.browser.wait(f"{FOUND}.startsWith('the timeline finds')")
        self.assertIn("<img src=x", self.ask(FOUND))
        self.assertNotIn("line", self.ask(FOUND).split(">", 1)[1])
        self.assertEqual(self.ask("document.images.length"), 0)
        del self.stub.refuse["marks"]
        self.stub.marks = {"lanes": [[HOSTILE, -5, "zz\u00e9o"], ["p5", 1e9, "ooo"], ["1001", 0]],
                           "columns": 1e12, "found": 3}
        self.browser.fill("#find", "hot")
        self.browser.wait(LOADED)
        self.browser.click("#nearer")
        self.quiet()
        self.fine("status of 400")

    def test_keys(self):
        """n and N go from mark to mark, to a row that has it."""
        self.found()
        self.focus()
        for number, key in enumerate("nnn"):
            self.browser.press(key)
            self.quiet()
            self.assertAlmostEqual(self.ask("skeinPage.timeline.found.at"), MARKED_TIMES[number],
                                   delta=LENGTH / 300)
        self.assertEqual(self.ask("skeinPage.timeline.rows.shown[skeinPage.timeline.current]"
                                  ".lane"), "p5")
        self.assertIn("3.1", self.ask("document.getElementById('timeline-spoken').textContent"))
        self.browser.press("N")
        self.assertAlmostEqual(self.ask("skeinPage.timeline.found.at"), MARKED_TIMES[1],
                               delta=LENGTH / 300)
        self.browser.click("#mark-before")
        self.browser.click("#mark-before")
        self.assertAlmostEqual(self.ask("skeinPage.timeline.found.at"), MARKED_TIMES[0],
                               delta=LENGTH / 300)
        self.assertIn("no mark before", self.ask(
            "document.getElementById('timeline-spoken').textContent"))
        self.assertEqual(self.ask(VIEW), [0, LENGTH])
        self.fine()

    def test_beyond_what_is_shown(self):
        """A mark outside of what is shown is found to the pixel, and the length shown stays."""
        self.found("search=hot&open=5&view=1500000000-1500100000")
        self.assertEqual(self.ask(FOUND), "0 of 40,112 samples shown, 1 thread")
        self.browser.fill("#find", "hot")
        self.browser.click("#mark-next")
        self.browser.wait(f"{VIEW}[0] > 2000000000")
        self.settled()
        begin, end = self.ask(VIEW)
        self.assertAlmostEqual(end - begin, 100_000, delta=2)
        self.assertTrue(begin < MARKED_TIMES[1] < end, (begin, end))
        self.browser.wait(f"{FOUND}.startsWith('1 of')")
        self.quiet()
        self.assertGreater(sum(self.marked("1001", MARKED_TIMES[1])), 0)
        self.browser.click("#mark-before")
        self.browser.wait(f"{VIEW}[0] < 1500000000")
        self.settled()
        begin, end = self.ask(VIEW)
        self.assertTrue(begin < MARKED_TIMES[0] < end, (begin, end))
        self.fine()

    def test_only_the_last_letters_are_asked_for(self):
        self.view("open=5")
        self.stub.delay["marks"] = 0.5
        for text in ("h", "ho", "hot"):
            self.browser.fill("#find", text)
        self.browser.wait(LOADED)
        self.assertEqual({query["text"] for query in self.stub.of("marks")} - {"h", "ho"}, {"hot"})
        self.assertEqual(self.ask(FOUND), "19 of 40,112 samples shown, 1 thread")
        self.fine()

    def test_dark_and_phone(self):
        self.found(colorScheme="dark")
        self.picture("timeline-found-dark")
        self.found(viewport={"width": 390, "height": 844})
        self.picture("timeline-found-phone")
        for name in ("find", "mark-next", "found"):
            box = self.ask("(({ left, right }) => [left, right])(document.getElementById("
                           f"'{name}').getBoundingClientRect())")
            self.assertTrue(0 <= box[0] < box[1] <= 390, (name, box))
        self.fine()


if __name__ == "__main__":
    unittest.main()
