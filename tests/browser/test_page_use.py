# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test the flame graph page in a browser: use by mouse, keys and address; and malicious traces."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING
from pages import Pages
from traces import ROOT

if MISSING:
    raise unittest.SkipTest(MISSING)


class Use(Pages):
    """Use of the page by mouse, keys and address."""

    def test_zoom_and_history(self):
        self.open()
        self.click("write")
        self.assertEqual((self.zoomed(), self.selected()), ("write", "write"))
        self.assertEqual(self.browser.text("#path").split(),
                         ["all", "worker", "3", "_start", "main", "write"])
        self.click("main")
        self.assertEqual(self.zoomed(), "main")
        self.browser.back()
        self.browser.wait("nameOf(skeinPage.graph.zoomed) === 'write'")
        self.browser.back()
        self.browser.wait("skeinPage.graph.zoomed === 0")
        self.browser.forward()
        self.browser.wait("nameOf(skeinPage.graph.zoomed) === 'write'")
        self.browser.click("#reset")
        self.assertEqual(self.zoomed(), "all")
        self.harmless()

    def test_search(self):
        self.open()
        self.browser.fill("#search", "^fib$")
        # 15 of worker 3 and 15 of the truncated stacks; nested fib counts once
        nodes = self.ask("named('fib')") # the widest first
        text = f"of {len(nodes)} matches, 31.6 %"
        self.assertEqual(self.browser.text("#matched"), f"1 {text}")
        self.assertEqual(self.selected(), "fib")
        self.assertEqual(self.ask("skeinPage.graph.zoomed"), 0)
        widths = [self.ask("skeinPage.view.width[skeinPage.graph.selected]")]
        for i in range(1, len(nodes)):
            self.browser.press("Enter")
            self.assertEqual(self.browser.text("#matched").split()[0], str(i + 1))
            widths.append(self.ask("skeinPage.view.width[skeinPage.graph.selected]"))
        self.assertEqual(widths, sorted(widths, reverse=True))
        self.browser.click("#next")
        self.assertEqual(self.browser.text("#matched").split()[0], "1")
        self.browser.click("#previous")
        self.assertEqual(self.browser.text("#matched").split()[0], str(len(nodes)))
        self.browser.fill("#search", "no such function")
        self.assertEqual(self.browser.text("#matched"), "no match")
        self.assertTrue(self.ask("document.getElementById('next').disabled"))
        self.browser.fill("#search", "fib(")
        self.assertEqual(self.browser.text("#matched"), "not a regular expression")
        self.browser.fill("#search", "")
        self.assertEqual(self.browser.text("#matched"), "")
        self.harmless()

    def test_search_in_zoom(self):
        self.open()
        self.click("main")
        self.browser.fill("#search", "^write$")
        total = self.ask("skeinPage.view.total[1][skeinPage.graph.zoomed]")
        self.assertEqual(self.browser.text("#matched"),
                         f"1 of 1 match, {500 / total:.2f} % of the zoomed")

    def test_keys(self):
        self.open("scene", "#order=name")
        self.ask("document.getElementById('canvas').focus()")
        for key, name in (("ArrowDown", "worker 3"), ("ArrowDown", "_start"), ("ArrowDown", "main"),
                          ("ArrowDown", "std::vector<int, std::allocator<int> >::push_back(int&&)"),
                          ("ArrowRight", "write"), ("ArrowUp", "main"), ("ArrowDown", None)):
            self.browser.press(key)
            if name:
                self.assertEqual(self.selected(), name, key)
        self.assertIn("depth 4", self.ask("document.getElementById('spoken').textContent"))
        self.browser.press("ArrowUp")
        self.browser.press("Enter")
        self.assertEqual(self.zoomed(), "main")
        self.browser.press("Backspace")
        self.browser.wait("skeinPage.graph.zoomed === 0")
        self.browser.press("/")
        self.assertEqual(self.ask("document.activeElement.id"), "search")
        self.browser.press("n")
        self.assertEqual(self.ask("skeinPage.state.search"), "n")
        self.browser.press("Escape")
        self.browser.press("t")
        self.assertTrue(self.ask("document.getElementById('table').checkVisibility()"))
        self.browser.press("t")
        for theme in ("dark", "light"):
            self.browser.press("d")
            self.assertEqual(self.ask("document.documentElement.dataset.theme"), theme)
        self.browser.press("?")
        self.assertTrue(self.ask("document.getElementById('manual').open"))
        self.browser.press("Escape")
        self.assertFalse(self.ask("document.getElementById('manual').open"))

    def test_upward(self):
        self.open("scene", "#upward=1")
        boxes = self.ask("['main', 'write'].map((name) => skeinPage.graph.box(named(name)[0]).y)")
        self.assertGreater(*boxes)
        self.click("write")
        self.assertEqual(self.zoomed(), "write")

    def test_link(self):
        self.open()
        self.browser.choose("#split", "none")
        self.browser.choose("#order", "name")
        self.browser.press("i")
        self.browser.fill("#search", "main")
        self.click("write")
        shown = self.ask("[location.hash, skeinPage.graph.zoomed, skeinPage.graph.selected, "
                         "skeinPage.view.inverted, document.getElementById('matched').innerText]")
        self.show(self.home / "scene.html", shown[0])
        again = self.ask("[location.hash, skeinPage.graph.zoomed, skeinPage.graph.selected, "
                         "skeinPage.view.inverted, document.getElementById('matched').innerText]")
        self.assertEqual(again, shown)
        self.assertEqual(self.zoomed(), "write")
        self.assertEqual(self.ask("document.getElementById('search').value"), "main")

    def test_wrong_links(self):
        for fragment in ("#sandwich=zzz",
                         "#zoom=zzz.yyy&select=..&event=99&split=__proto__&width=x&hidden=-5",
                         "#search=((&hidden=99999999999&order=%00&table=1", "#%%%",
                         "#zoom=" + "a." * 5000):
            self.open("scene", fragment)
            self.assertEqual(self.ask("skeinPage.view.whole[1]"), 95)
            self.harmless()

    def test_tooltip(self):
        self.open()
        self.browser.hover(*self.ask("middle(named('write')[0])"))
        tip = self.browser.text("#tip")
        self.assertIn("write", tip)
        self.assertIn("5.26 %, 50.0 ms, 5 samples", tip)
        self.browser.hover(2, 2)
        self.assertTrue(self.ask("document.getElementById('tip').hidden"))

    def test_phone(self):
        self.open("scene", viewport={"width": 360, "height": 740}, hasTouch=True, isMobile=True,
                  deviceScaleFactor=2)
        self.assertEqual(self.ask("document.documentElement.scrollWidth"), 360)
        self.ask("document.getElementById('canvas').scrollIntoView({block: 'center'})")
        self.browser.tap(*self.ask("middle(named('main')[0])"))
        self.browser.wait("nameOf(skeinPage.graph.zoomed) === 'main'")
        self.picture("phone", fullPage=True)
        self.harmless()

    def test_pane_is_there_while_something_is_selected(self):
        """The graph has the room of the pane until a frame is selected: 30 rows at 1440 x 900."""
        self.open("flames", viewport={"width": 1440, "height": 900})
        rows = "Math.floor(document.getElementById('scroll').clientHeight / 20)"
        pane = "document.getElementById('details').checkVisibility()"
        self.assertFalse(self.ask(pane))
        whole = self.ask(rows)
        self.assertGreaterEqual(whole, 30)
        self.ask("skeinPage.select(skeinPage.widestChild(0))")
        self.assertTrue(self.ask(pane))
        self.browser.wait(f"{rows} < {whole}")
        self.browser.click("#details .close")
        self.assertFalse(self.ask(pane))
        self.browser.wait(f"{rows} === {whole}")
        self.assertNotIn("select", self.ask("location.hash"))

    def test_widest_come_first(self):
        for fragment in ("", "#inverted=1"):
            self.open("scene", fragment)
            self.assertTrue(self.ask("""[...Array(skeinPage.view.count).keys()].every((node) => {
                const { end, width } = skeinPage.view;
                return end[node + 1] >= end[node] || node + 1 >= end[node]
                    || width[node + 1] >= width[end[node + 1]];
            })"""))
        self.browser.choose("#order", "name")
        names = list(self.ask("children(0)"))
        self.assertEqual(names, sorted(names))

    def test_chains_at_the_root_are_folded(self):
        """Frames that pass on all of their time stand in one box, until it is unfolded."""
        self.open("mixed")
        chain = self.ask("""(() => {
            const { view } = skeinPage, first = view.folded.findIndex((length) => length > 0);
            const names = Array.from({ length: view.folded[first] }, (_, i) => nameOf(first + i));
            return { first, names, after: nameOf(first + names.length) };
        })()""")
        first, names, after = chain["first"], chain["names"], chain["after"]
        self.assertEqual((len(names), names[0]), (4, "_start"))
        depths = f"[...skeinPage.view.depth.slice({first - 1}, {first + len(names) + 1})]"
        self.assertEqual(self.ask(depths), [1, 2, 2, 2, 2, 3])
        place = f"middle({first})"
        self.browser.hover(*self.ask(place))
        self.assertIn(" › ".join(names), self.browser.text("#tip"))
        self.ask("document.getElementById('canvas').focus()")
        self.ask(f"skeinPage.select({first - 1})")
        for key, name in (("ArrowDown", names[0]), ("ArrowDown", after), ("ArrowUp", names[0])):
            self.browser.press(key)
            self.assertEqual(self.selected(), name)
        self.assertIn(" › ".join(names), self.browser.text("#details .chain"))
        self.ask(f"skeinPage.searchFor({names[2]!r})")
        self.assertTrue(self.ask(f"skeinPage.graph.matched({first})"))
        whole = self.ask("[...skeinPage.view.whole]")
        left, _ = self.ask(f"(({{ x }}) => [x, 0])(skeinPage.graph.box({first}))")
        edge = self.ask("document.getElementById('canvas').getBoundingClientRect().x")
        self.browser.mouse(edge + left + 8, self.ask(place)[1])
        self.assertEqual(self.ask(depths), [1, 2, 3, 4, 5, 6])
        self.assertEqual(self.ask("[...skeinPage.view.whole]"), whole)
        self.assertEqual(self.selected(), names[0])
        self.browser.press("f")
        self.assertEqual(self.ask(depths), [1, 2, 2, 2, 2, 3])
        self.browser.press("i")
        self.assertFalse(self.ask("skeinPage.view.folded.some(Boolean)"))
        self.harmless()

    def open_on_phone(self, name):
        self.open(name, viewport={"width": 390, "height": 844}, hasTouch=True, isMobile=True,
                  deviceScaleFactor=2)

    def test_first_screen_of_a_phone(self):
        for name in ("scene", "server"):
            self.open_on_phone(name)
            self.assertEqual(self.ask("document.documentElement.scrollWidth"), 390)
            self.assertEqual(self.ask("document.documentElement.scrollHeight"), 844)
            edge = "document.getElementById('scroll').getBoundingClientRect()"
            # with scheduler records, the timeline is above the graph
            lanes = self.ask("document.getElementById('timeline').getBoundingClientRect().height")
            self.assertGreater(self.ask(f"{edge}.height") + lanes, 0.6 * 844)
            self.assertGreater(self.ask(f"{edge}.height"), 0.3 * 844)
            self.assertLessEqual(self.ask(f"{edge}.bottom"), 844)
            self.assertFalse(self.ask("document.getElementById('split').checkVisibility()"))
            self.browser.click("#more")
            self.assertTrue(self.ask("document.getElementById('split').checkVisibility()"))
            self.assertIn("Samples", self.browser.text("#facts"))
            self.assertEqual(self.ask("document.documentElement.scrollWidth"), 390)
            self.picture(f"phone-{name}-options")
            self.browser.click("#more")
            self.assertFalse(self.ask("document.getElementById('split').checkVisibility()"))

    def test_gestures(self):
        self.open_on_phone("scene")
        x, y = self.ask("middle(named('main')[0])")
        value = "((x) => skeinPage.graph.from + (x - skeinPage.graph.canvas" \
                ".getBoundingClientRect().x) * skeinPage.graph.span / skeinPage.graph.wide)"
        whole, held = self.ask("skeinPage.graph.span"), self.ask(f"{value}({x})")
        self.browser.touch("touchStart", [[x - 30, y], [x + 30, y]])
        for apart in (40, 50, 60):
            self.browser.touch("touchMove", [[x - apart, y], [x + apart, y]])
        self.browser.touch("touchEnd", [])
        self.assertAlmostEqual(self.ask("skeinPage.graph.span") / whole, 0.5, delta=0.02)
        self.assertAlmostEqual(self.ask(f"{value}({x})") / held, 1, delta=0.05)
        self.assertEqual(self.ask("[skeinPage.graph.zoomed, skeinPage.graph.selected]"), [0, 0])
        begin = self.ask("skeinPage.graph.from")
        self.browser.touch("touchStart", [[x, y]])
        for aside in (20, 40, 60):
            self.browser.touch("touchMove", [[x - aside, y]])
        self.browser.touch("touchEnd", [])
        self.assertGreater(self.ask("skeinPage.graph.from"), begin)
        self.browser.click("#reset")
        self.assertEqual(self.ask("[skeinPage.graph.from, skeinPage.graph.span]"), [0, whole])
        self.browser.touch("touchStart", [[x, y]])
        self.browser.wait("skeinPage.graph.selected > 0")
        self.browser.touch("touchEnd", [])
        self.assertEqual((self.selected(), self.zoomed()), ("main", "all"))
        self.assertIn("main", self.browser.text("#details h2"))
        self.browser.click("#details .close")
        self.browser.tap(*self.ask("middle(named('main')[0])"))
        self.browser.wait("nameOf(skeinPage.graph.zoomed) === 'main'")
        self.assertEqual(self.ask("skeinPage.graph.selected"), 0)
        self.browser.click("#help")
        rows = self.ask("[...document.querySelectorAll('#manual tr')].map((row) => "
                        "[...row.cells].map((cell) => cell.innerText))")
        self.assertIn("pinch", [name for name, _ in rows])
        manual = (ROOT / "docs/page.md").read_text()
        for gesture, what in rows:
            self.assertIn(f"| {gesture} | {what} |", manual)
        self.harmless()

    # Boxes whose middle, left end or right end has not the colour of their function in the picture.
    WRONG_BOXES = """(() => {
        const { graph, view } = skeinPage, { canvas, dots } = graph, wrong = [];
        const colour = document.createElement("canvas").getContext("2d");
        const seen = (pen, x, y) => [...pen.getImageData(x, y, 1, 1).data.slice(0, 3)];
        let checked = 0;
        for (let node = 0; node < view.count; node++) {
            const { x, y, width } = graph.box(node);
            if (width < 5 || view.folded[node] < 0 || y < 0 || y + 20 > graph.high)
                continue;
            colour.fillStyle = graph.fill(node);
            colour.fillRect(0, 0, 1, 1);
            const wanted = seen(colour, 0, 0);
            checked++;
            for (const at of [x + 1.5, x + width / 2, x + width - 2.5]) {
                const found = seen(graph.pen, Math.floor(at * dots), Math.floor((y + 2) * dots));
                if (found.some((value, i) => Math.abs(value - wanted[i]) > 2))
                    wrong.push([nameOf(node), at, found, wanted]);
            }
        }
        return [checked, wrong];
    })()"""

    def test_boxes_are_where_they_are_said_to_be(self):
        """The picture has each box at the place that the pointer finds, in its colour."""
        for name, fragment, dots in (("scene", "", 1), ("scene", "#upward=1", 2),
                                     ("python", "#order=name", 1.5), ("flames", "", 1)):
            self.open(name, fragment, deviceScaleFactor=dots)
            self.browser.wait("!skeinPage.graph.stale")
            checked, wrong = self.ask(self.WRONG_BOXES)
            self.assertGreater(checked, 20)
            self.assertEqual(wrong, [])

    def test_names_are_cut_in_their_middle(self):
        """A name loses its parameters first, as in a report, then the brackets, too."""
        self.open("scene", "#search=push_back")
        node = "named('std::vector<int, std::allocator<int> >::push_back(int&&)')[0]"
        self.assertEqual(self.ask(f"skeinPage.graph.formsOf({node})"),
                         ["std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(…)",
                          "std::vector<int>::push_back"])
        written = """(() => {
            const { graph } = skeinPage, { pen } = graph.painter, texts = [];
            const forms = graph.formsOf(%s);
            pen.fillText = (text, x, y, most) => texts.push(text);
            for (let px = 400; px > 0; px -= 4)
                graph.write(forms, 0, 0, px);
            delete pen.fillText;
            return [...new Set(texts)];
        })()""" % node
        texts = self.ask(written)
        self.assertEqual(texts[:2], ["std::vector<int>::push_back(int&&)",
                                     "std::vector<int>::push_back(…)"])
        for text in texts[3:]:
            front, back = text.split("…")
            self.assertTrue("std::vector<int>::push_back".startswith(front), text)
            self.assertTrue("std::vector<int>::push_back".endswith(back), text)
        self.assertIn("std::vector…sh_back", texts)

    def test_python_names_without_files_where_these_do_not_fit(self):
        self.open("python")
        forms = self.ask("skeinPage.labels.forms.filter((_, i) => "
                         "skeinPage.labels.kind[i] === 4)")
        files = [names for names in forms if re.search(r" \(\S+\.py:\d+\)$", names[0])]
        self.assertTrue(files)
        for names in files:
            self.assertEqual(names[-1], names[0].rpartition(" (")[0])

    def test_looks(self):
        for theme in ("light", "dark"):
            self.open("scene", colorScheme=theme)
            self.assertEqual(self.ask("document.documentElement.dataset.theme"), theme)
            self.click("fib")
            self.picture(theme)

    def test_print(self):
        self.open("scene", colorScheme="dark")
        self.browser.media({"media": "print"})
        self.browser.wait("skeinPage.graph.printing > 0")
        self.assertEqual(self.ask("document.documentElement.dataset.theme"), "light")
        self.assertFalse(self.ask("document.getElementById('tools').checkVisibility()"))
        self.picture("print", fullPage=True)
        self.browser.media({"media": "screen"})
        self.browser.wait("skeinPage.graph.printing === 0")
        self.assertEqual(self.ask("document.documentElement.dataset.theme"), "dark")


class Harm(Pages):
    """The page shows the texts of a malicious trace as text only."""

    def test_hostile_names(self):
        self.open("hostile")
        for change in ("{}", "{split: 'thread'}", "{split: 'container', inverted: true}",
                       "{sandwich: skeinPage.labels.hash(skeinPage.view.label[2])}",
                       "{sandwich: ''}",
                       "{table: true}", "{search: '<script'}"):
            self.ask(f"skeinPage.change({change})")
            self.ask("(() => { for (let i = 1; i < skeinPage.view.count; i += 7) "
                     "skeinPage.select(i); })()")
        self.assertEqual(self.ask("window.harmed ?? null"), None)
        for tags, count in (("script, img, iframe, object, embed", 1), ("svg", 1)):
            self.assertEqual(self.ask(f"document.querySelectorAll('{tags}').length"), count)
        self.harmless()

    def test_names_are_shown(self):
        self.open("hostile", "#table=1")
        shown = self.browser.text("#table")
        for name in ("</script><script>window.harmed = 1</script>", "__proto__", "constructor",
                     "<img src=x onerror='window.harmed = 1'>", "@DATA@", "\ufffdgnp.live"):
            self.assertIn(name, shown)
        self.assertNotRegex(shown, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")
        self.assertNotRegex(shown, "[\u202a-\u202e\u2066-\u2069\u200b\u2028\u2029]")
        self.assertIn("</script>", self.ask("document.title"))

    def test_file_is_clean(self):
        """The markup of the page does not depend on the trace."""
        self.trace("hostile")
        self.trace("scene")
        pages = [(self.home / f"{name}.html").read_bytes() for name in ("hostile", "scene")]
        outside = [re.sub(rb'(<script id="data"[^>]*>).*?</script>', rb"\1", page, count=1,
                          flags=re.S) for page in pages]
        self.assertEqual(*outside)
        data = re.search(rb'<script id="data"[^>]*>(.*?)</script>', pages[0], flags=re.S)[1]
        self.assertNotRegex(data, rb"[<>&]")
        self.assertNotRegex(data.decode(), "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")

    def test_policy(self):
        """
        The page's content security policy blocks injected scripts, images, styles and requests.
        """
        self.open()
        self.ask("""(() => {
            const script = document.createElement("script");
            script.textContent = "window.harmed = 1";
            document.body.append(script);
            const image = document.createElement("img");
            image.src = "http://127.0.0.1:9/x.png";
            document.body.append(image);
            const style = document.createElement("style");
            style.textContent = "* { color: red }";
            document.body.append(style);
            fetch("http://127.0.0.1:9/").catch(() => {});
        })()""")
        self.browser.wait("window.violations.length >= 4")
        self.assertEqual(self.ask("window.harmed ?? null"), None)
        kinds = {text.split()[0] for text in self.browser.noted()["violations"]}
        self.assertEqual(kinds, {"script-src-elem", "img-src", "style-src-elem", "connect-src"})


if __name__ == "__main__":
    unittest.main()
