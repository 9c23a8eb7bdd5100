# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test the flame graph page of two recordings, made by skein diff or in the page itself."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING
from pages import Pages
from traces import folded, skein

if MISSING:
    raise unittest.SkipTest(MISSING)


class Comparison(Pages):
    """The page that compares two recordings."""

    def compare(self, after, before, fragment=""):
        path = self.home / f"{after}-{before}.html"
        skein("diff", self.trace(before), self.trace(after), "-f", "html", "-o", path)
        self.show(path, fragment)

    def test_the_same(self):
        self.compare("scene", "scene")
        self.assertEqual(self.ask("skeinPage.graph.most"), 0)
        self.assertEqual(self.ask("[...skeinPage.view.whole]"), 2 * [950000000, 95])
        self.click("write")
        self.assertIn("±0.00 pp", self.browser.text("#details"))
        self.assertEqual(self.ask("document.querySelectorAll('.gone').length"), 0)

    def test_what_is_gone(self):
        self.compare("scene", "python")
        before = folded(self.trace("python"))
        self.assertEqual(self.ask("skeinPage.view.whole[3]"), sum(before.values()))
        self.assertAlmostEqual(self.ask("skeinPage.view.width[0]"), 1)
        self.browser.click(".gone")
        self.assertEqual(self.ask("skeinPage.state.width"), "both")
        gone = self.ask("[...Array(skeinPage.view.count).keys()].find((i) => "
                        "!skeinPage.view.total[1][i] && skeinPage.graph.visible(i))")
        self.ask(f"skeinPage.select({gone})")
        self.assertRegex(self.browser.text("#details"), r"gone \(−\d+\.\d\d pp\)")
        self.picture("comparison")
        self.browser.press("t")
        self.browser.click("#table [data-key=change]")
        self.assertIn("new", self.browser.text("#table tbody tr:first-child"))
        self.harmless()

    # The paths of the shown tree with their values before and after; sums, because siblings differ
    # in order.
    SHOWN = """(() => {
        const { view, labels } = skeinPage, paths = [""], found = {};
        for (let node = 1; node < view.count; node++) {
            const label = view.label[node];
            paths[node] = `${paths[view.parent[node]]};${labels.name[label]}` +
                ` ${labels.shortModule(label)}`;
            found[paths[node]] = view.total.map((column, i) =>
                column[node] + (found[paths[node]]?.[i] ?? 0));
        }
        return found;
    })()"""

    def choose(self, path):
        self.browser.attach("#other", str(path))
        self.browser.wait("skeinPage.data.before || "
                          "!document.getElementById('refused').hidden")

    def test_another_page_is_compared_as_by_the_command(self):
        """Also after renames, and for functions that have only an address in a build."""
        for before, after in (("before", "after"), ("scene", "mixed")):
            self.compare(after, before)
            expected, facts = self.ask(self.SHOWN), self.browser.text("#facts")
            self.assertGreater(len(expected), 3)
            self.open(after)
            self.choose(self.home / f"{before}.html")
            if self.browser.text("#facts") != facts: # the recordings began in another order
                self.browser.click("#swap")
            self.assertEqual(self.ask(self.SHOWN), expected)
            self.assertEqual(self.browser.text("#facts"), facts)
            self.browser.click("#swap")
            swapped = {path: values[2:] + values[:2] for path, values in expected.items()}
            self.assertEqual(self.ask(self.SHOWN), swapped)
            self.browser.click("#compare")
            self.assertFalse(self.ask("Boolean(skeinPage.data.before)"))
            self.assertEqual(self.ask("skeinPage.view.whole.length"), 2)
            self.harmless()

    def test_the_page_of_a_comparison_takes_another_recording(self):
        self.compare("scene", "python")
        whole = self.ask("skeinPage.view.whole.slice(0, 2)")
        self.open("mixed")
        mixed = self.ask("skeinPage.view.whole")
        self.show(self.home / "scene-python.html")
        self.browser.attach("#other", str(self.home / "mixed.html"))
        self.browser.wait("skeinPage.comparer.compared")
        self.assertIn(whole, self.ask("[skeinPage.view.whole.slice(0, 2), "
                                      "skeinPage.view.whole.slice(2)]"))
        self.assertIn(mixed, self.ask("[skeinPage.view.whole.slice(0, 2), "
                                      "skeinPage.view.whole.slice(2)]"))
        self.browser.click("#compare")
        self.assertEqual(self.ask("skeinPage.view.whole.slice(0, 2)"), whole)

    def test_what_cannot_be_compared_is_refused_with_the_reason(self):
        self.trace("scene")
        self.open("mixed")
        page = (self.home / "scene.html").read_text()
        other = self.home / "<img src=x onerror='window.harmed=1'>.html"
        wrong = {"it is a trace": self.trace("scene").read_bytes(),
                 "no page that skein made": b"<html></html>",
                 "it is damaged": page.replace('"commonNames":[', '"commonNames":[{},').encode(),
                 "another version": page.replace("commonNames", "others").encode()}
        for reason, data in wrong.items():
            other.write_bytes(data)
            self.choose(other)
            self.assertIn(reason, self.browser.text("#refused"))
            self.assertIn("<img src=x", self.browser.text("#refused"))
            self.ask("document.getElementById('refused').hidden = true")
            self.assertFalse(self.ask("Boolean(skeinPage.data.before)"))
            self.assertEqual(self.ask("window.harmed ?? null"), None)
        for key, damage in (("parents", "AAAAAAAAAAAAAAAA"), ("nodes", "/////////////w8=")):
            other.write_text(re.sub(rf'"{key}":"[^"]*"', f'"{key}":"{damage}"', page, count=1))
            self.choose(other)
            self.assertIn("it is damaged", self.browser.text("#refused"), key)
            self.ask("document.getElementById('refused').hidden = true")
        self.harmless()

    def test_hostile_names_of_another_page_are_text(self):
        self.trace("hostile")
        self.open("hostile")
        self.choose(self.home / "hostile.html")
        self.ask("skeinPage.change({ table: true, width: 'both' })")
        self.assertIn("<script>window.harmed = 1</script>", self.browser.text("#table"))
        self.assertEqual(self.ask("window.harmed ?? null"), None)
        self.harmless()

    def test_another_build(self):
        """
        Folders, compilers' suffixes, symbol versions and lines do not separate equal functions.
        """
        self.compare("after", "before")
        self.assertIn("10.0 % of before is gone", self.browser.text(".gone"))
        names = set(self.ask("[...skeinPage.graph.labels.name]"))
        self.assertLessEqual({"parse", "read", "render (a.py)", "[server]"}, names)
        self.assertNotIn("parse.isra.0", names)


if __name__ == "__main__":
    unittest.main()
