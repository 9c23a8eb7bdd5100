# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test the flame graph page of a recording with samples of CPU time and stacks of waits: the switch
between them, the classes of wait with their colours and times, and what must work in each view.
"""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING
from pages import Pages

if MISSING:
    raise unittest.SkipTest(MISSING)

MS = 1_000_000
MODES = ("cpu-clock", "off-cpu", "wall", "off-cpu-wakers")
# The name of the class whose colour the widest node of a name has.
CLASS_OF = """((name) => {
    const number = skeinPage.graph.waitOf(named(name)[0]);
    return number < 0 ? "mixed" : number ? skeinPage.data.waits[number].name : "kind";
})"""


class Waits(Pages):
    def mode(self, name):
        self.browser.click(f"#modes [data-event='{name}']")

    def texts(self, selector):
        return self.ask(f"Array.from(document.querySelectorAll({selector!r}), (e) => e.innerText"
                        ".replace(/\\s+/g, ' ').trim())")

    def weights(self):
        """Return the time of each function in ms."""
        return self.ask("""Object.fromEntries(['main', 'work', 'take_lock', 'futex_wait',
            'hrtimer_nanosleep', 'give_lock'].map((name) => [name, named(name).reduce((sum, node) =>
                sum + skeinPage.view.total[0][node], 0) / 1e6]).filter(([, ms]) => ms))""")

    def classes(self, *names):
        return [self.ask(f"{CLASS_OF}({name!r})") for name in names]

    def test_times(self):
        self.open("server")
        self.assertEqual(self.texts("#modes button"), ["On-CPU", "Off-CPU", "Wall", "Wakers"])
        self.assertTrue(self.ask("document.getElementById('event-label').hidden"))
        self.assertTrue(self.ask("document.getElementById('classes').hidden"))
        self.assertEqual(self.weights(), {"main": 30, "work": 20, "take_lock": 10})
        self.mode("off-cpu")
        self.assertEqual(self.weights(), {"main": 280, "take_lock": 80, "futex_wait": 80,
                                          "hrtimer_nanosleep": 200})
        self.assertEqual(self.texts("#classes button"), ["sleep 600 ms", "lock 280 ms"])
        head = self.browser.text("#facts")
        for fact in ("off-cpu", "Waited", "880 ms", "Stacks"):
            self.assertIn(fact, head)
        self.mode("wall")
        self.assertEqual(self.weights(), {"main": 310, "work": 20, "take_lock": 90,
                                          "futex_wait": 80, "hrtimer_nanosleep": 200})
        self.assertEqual(self.texts("#classes button"),
                         ["running 30.0 ms", "sleep 600 ms", "lock 280 ms"])
        head = self.browser.text("#facts")
        for fact in ("On CPU", "30.0 ms", "Waited", "880 ms"):
            self.assertIn(fact, head)
        self.mode("off-cpu-wakers")
        self.assertEqual(self.weights(), {"main": 80, "give_lock": 80})
        self.assertEqual(self.texts("#modes [aria-pressed=true]"), ["Wakers"])
        self.harmless()

    def test_colours(self):
        """A frame has the colour of the class with more than half of its time."""
        self.open("server", "#event=off-cpu")
        self.assertEqual(self.classes("main", "take_lock", "hrtimer_nanosleep", "server"),
                         ["sleep", "lock", "sleep", "kind"])
        self.assertEqual(self.ask("skeinPage.graph.waitOf(0)"), 0)
        self.open("server", "#event=wall")
        self.assertEqual(self.classes("work", "take_lock", "futex_wait", "main"),
                         ["kind", "lock", "lock", "sleep"])
        self.browser.click("#classes [data-wait='3']") # sleep: 80 of 110 ms are left
        self.browser.click("#classes [data-wait='1']")
        self.assertEqual(self.classes("main", "take_lock"), ["kind", "kind"])
        for theme in ("dark", "light"):
            fills = self.ask("skeinPage.data.waits.filter(Boolean).map(({ number }) => "
                             "skeinPage.palette.wait(number))")
            self.assertEqual(len(set(fills)), 14, theme)
            self.browser.press("d")

    def test_mixed(self):
        """Without a class with more than half of the time, a frame is grey, with a stripe."""
        self.open("server", "#event=wall")
        said = self.ask("""(() => {
            const { view, graph } = skeinPage, node = named("take_lock")[0];
            view.total[0][node] = 160e6; // as if it ran for 80 ms
            graph.draw();
            const box = graph.box(node), { dots, pen } = graph;
            const at = (share, y) => pen.getImageData((box.x + box.width * share) * dots,
                (box.y + y) * dots, 1, 1).data.slice(0, 3).join();
            return [graph.waitOf(node), at(0.25, 17), at(0.75, 17), at(0.98, 3)];
        })()""")
        self.assertEqual(said[0], -1)
        self.assertEqual(len(set(said[1:])), 3) # running, lock, neither

    def test_classes_can_be_left_out(self):
        self.open("server", "#event=off-cpu")
        self.browser.click("#classes [data-wait='3']")
        self.assertEqual(self.weights(), {"main": 80, "take_lock": 80, "futex_wait": 80})
        self.assertEqual(self.texts("#classes [aria-pressed=false]"), ["sleep 600 ms"])
        shown = self.ask("location.hash")
        self.show(self.home / "server.html", shown)
        self.assertEqual(self.weights()["main"], 80)
        self.browser.click("#classes [data-wait='1']")
        self.assertIn("All classes of wait are hidden", self.browser.text("#empty"))
        self.browser.click("#classes [data-wait='3']", {"modifiers": ["Control"]})
        self.assertEqual(self.weights(), {"main": 200, "hrtimer_nanosleep": 200})
        self.browser.click("#classes [data-wait='3']", {"modifiers": ["Control"]})
        self.assertEqual(self.weights()["main"], 280)
        self.harmless()

    def test_zoom_stays(self):
        # high enough for all rows below the timeline
        self.open("server", viewport={"width": 1280, "height": 1200})
        self.click("take_lock")
        for mode, whole in (("off-cpu", 80), ("wall", 90), ("cpu-clock", 10)):
            self.mode(mode)
            self.assertEqual((self.zoomed(), self.selected()), ("take_lock", "take_lock"), mode)
            self.assertEqual(self.weights()["take_lock"], whole)
        self.browser.back()
        self.browser.wait("skeinPage.view.event.name === 'wall'")
        self.assertEqual(self.zoomed(), "take_lock")
        self.mode("cpu-clock")
        self.click("main")
        self.click("work")
        self.mode("off-cpu")
        self.assertEqual(self.zoomed(), "main") # nobody waits in work()
        self.mode("wall")
        self.assertEqual(self.zoomed(), "work")

    def test_keys(self):
        self.open("server")
        for key, mode in zip("2341", (*MODES[1:], MODES[0])):
            self.browser.press(key)
            self.assertEqual(self.ask("skeinPage.view.event.name"), mode)
        self.assertNotIn("event", self.ask("location.hash"))

    def test_each_view_can_be_used(self):
        self.open("server")
        for mode in MODES[:3]:
            self.mode(mode)
            self.browser.fill("#search", "take_lock")
            share = {"cpu-clock": "33.3 %", "off-cpu": "9.09 %", "wall": "9.89 %"}[mode]
            self.assertIn(share, self.browser.text("#matched"))
            self.browser.press("Escape")
            self.browser.press("n")
            self.assertEqual(self.selected(), "take_lock")
            self.assertIn("main", self.browser.text("#details"))
            self.browser.press("i")
            self.assertTrue(self.ask("skeinPage.view.inverted"))
            self.browser.press("i")
            self.browser.press("t")
            self.assertIn("take_lock", self.browser.text("#table"))
            self.browser.press("t")
            self.browser.fill("#search", "")
            self.browser.press("Escape")
            self.browser.press("0")
        self.harmless()

    def test_tooltip_and_pane(self):
        self.open("server", "#event=wall")
        self.browser.hover(*self.ask("middle(named('take_lock')[0])"))
        tip = self.browser.text("#tip")
        for text in ("9.89 %, 90.0 ms, 2 samples", "lock: 80.0 ms, 88.9 %",
                     "running: 10.0 ms, 11.1 %"):
            self.assertIn(text, tip)
        self.mode("off-cpu")
        self.browser.hover(*self.ask("middle(named('take_lock')[0])"))
        self.assertIn("9.09 %, 80.0 ms, 1 stack", self.browser.text("#tip"))
        self.click("take_lock")
        self.assertIn("lock: 80.0 ms", self.browser.text("#details"))
        self.browser.press("t")
        self.assertIn("lock, 100.0 %", self.browser.text("#table"))

    def test_split_by_class(self):
        self.open("server", "#event=wall&split=wait")
        self.assertEqual(self.ask("children(0)"), {"runs": 3, "waits: lock": 1, "waits: sleep": 1})

    def test_sizes_and_themes(self):
        for scheme in ("light", "dark"):
            for width, height in ((1440, 900), (1024, 600), (390, 844)):
                self.open("server", "", colorScheme=scheme,
                          viewport={"width": width, "height": height})
                for mode in MODES[:3]:
                    self.mode(mode)
                    self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), width)
                    self.assertGreater(self.ask("document.getElementById('canvas').clientHeight"),
                                       80)
                    self.picture(f"waits-{mode}-{width}-{scheme}")

    def test_recordings_without_waits_have_no_switch(self):
        self.open("scene")
        self.assertTrue(self.ask("document.getElementById('modes').hidden"))
        self.assertTrue(self.ask("document.getElementById('classes').hidden"))
        self.assertEqual(self.ask("skeinPage.data.now.sums.wait"), None)
        self.assertNotIn("wait", self.ask("Array.from(document.getElementById('split').options, "
                                          "(option) => option.value)"))
        self.open("server", "#event=toString&waits=-1&split=wait")
        self.assertEqual(self.ask("skeinPage.view.event.name"), "cpu-clock")
        self.harmless()


if __name__ == "__main__":
    unittest.main()
