# SPDX-License-Identifier: Apache-2.0
"""The flame graph page in a browser: what it shows, how it is used, what it must not do."""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING, Browser
from traces import BUILD, LIMIT, ROOT, make_scene, output, skein

if MISSING:
    raise unittest.SkipTest(MISSING)

PICTURES = BUILD / "tests/pages" # to be looked at
STILL = {"reducedMotion": "reduce", "colorScheme": "light"}

# What tests ask the page for, beside what it has: nodes by name, where they are, sums.
HELPERS = """
window.named = (name) => {
    const found = [], { view, labels } = skeinPage;
    for (let i = 1; i < view.count; i++)
        if (labels.name[view.label[i]] === name) found.push(i);
    return found.sort((a, b) => view.width[b] - view.width[a]);
};
window.middle = (node) => {
    const box = skeinPage.graph.box(node), edge = document.getElementById("canvas").getBoundingClientRect();
    const left = Math.max(0, box.x), right = Math.min(edge.width, box.x + box.width);
    return [edge.x + (left + right) / 2, edge.y + box.y + box.height / 2];
};
window.nameOf = (node) => node ? skeinPage.labels.name[skeinPage.view.label[node]] : "all";
window.children = (node) => {
    const found = {}, { view } = skeinPage;
    for (let i = node + 1; i < view.end[node]; i = view.end[i])
        found[nameOf(i)] = (found[nameOf(i)] ?? 0) + view.total[1][i];
    return found;
};
window.leaves = () => {
    const found = {}, { view } = skeinPage;
    for (let i = 1; i < view.count; i++)
        if (view.self[1][i]) found[nameOf(i)] = (found[nameOf(i)] ?? 0) + view.self[1][i];
    return found;
};
undefined
"""


def folded(trace, *options):
    """Samples by stack, as folded stacks tell it."""
    stacks = collections.Counter()
    for line in output("export", trace, "-f", "folded", *options).decode().splitlines():
        stack, _, count = line.rpartition(" ")
        stacks[tuple(stack.split(";"))] += int(count)
    return stacks


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.home = pathlib.Path(cls.folder.name)
        cls.traces = {}
        PICTURES.mkdir(parents=True, exist_ok=True)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.end()
        cls.folder.cleanup()

    def trace(self, name):
        if name not in self.traces:
            self.traces[name] = make_scene(self.home / f"{name}.skein", name)
            skein("export", self.traces[name], "-o", self.home / f"{name}.html")
        return self.traces[name]

    def open(self, name="scene", fragment="", **options):
        self.trace(name)
        self.show(self.home / f"{name}.html", fragment, **options)

    def show(self, path, fragment="", **options):
        self.browser.open(f"file://{path}{fragment}", {**STILL, **options})
        self.browser.wait("window.skeinPage && skeinPage.graph.wide !== undefined || "
                          "window.skeinPage && skeinPage.view.count < 2")
        self.browser.evaluate(HELPERS)

    def ask(self, expression):
        return self.browser.evaluate(expression)

    def zoomed(self):
        return self.ask("nameOf(skeinPage.graph.zoomed)")

    def selected(self):
        return self.ask("nameOf(skeinPage.graph.selected)")

    def click(self, name):
        """On the widest frame of that name."""
        self.browser.mouse(*self.ask(f"middle(named({name!r})[0])"))

    def picture(self, name, **options):
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.browser.shot(str(PICTURES / f"{name}.png"), options)

    def harmless(self):
        """No request but for the page, nothing that its policy forbids, no error."""
        noted = self.browser.noted()
        self.assertEqual(len(noted["requests"]), 1, noted)
        self.assertEqual((noted["violations"], noted["errors"]), ([], []))


class Content(Pages):
    """What the page says is what other formats say."""

    def test_totals(self):
        self.open()
        stacks = folded(self.trace("scene"))
        samples = sum(stacks.values())
        self.assertEqual(self.ask("[...skeinPage.view.whole]"), [samples * 10000000, samples])
        programs = collections.Counter()
        for stack, count in stacks.items():
            programs[stack[0]] += count
        self.assertEqual(sorted(self.ask("children(0)").values()), sorted(programs.values()))
        self.assertEqual(self.ask("children(0)")["kthreadd"], programs["kthreadd"])
        self.harmless()

    def test_functions(self):
        self.open()
        leaves = collections.Counter()
        for stack, count in folded(self.trace("scene")).items():
            leaves[stack[-1]] += count
        said = self.ask("leaves()")
        plain = ["main", "fib", "kthread", "do_syscall_64", "ext4_file_write_iter"]
        self.assertEqual({name: said.get(name) for name in plain},
                         {name: leaves[name] for name in plain})

    def test_splits(self):
        self.open()
        samples = self.ask("skeinPage.view.whole[1]")
        for split, options, depth in (("process", ["--pids"], 1), ("container", ["--containers"], 1),
                                      ("thread", ["--threads", "--pids"], 2)):
            groups = collections.Counter()
            for stack, count in folded(self.trace("scene"), *options).items():
                groups[stack[:depth]] += count
            self.browser.choose("#split", split)
            said = self.ask("children(0)")
            self.assertEqual(sum(said.values()), samples)
            self.assertEqual(sorted(said.values()), sorted(groups.values()), split)
        self.browser.choose("#split", "none")
        self.assertIn("_start", self.ask("children(0)"))
        self.assertEqual(sum(self.ask("children(0)").values()), samples)

    def test_inverted(self):
        self.open()
        leaves = self.ask("leaves()")
        self.browser.choose("#split", "none")
        self.browser.press("i")
        self.assertEqual(self.ask("children(0)"), leaves)
        self.assertEqual(self.ask("children(named('ext4_file_write_iter')[0])"),
                         {"do_syscall_64": 5})

    def test_hiding(self):
        self.open()
        samples = self.ask("skeinPage.view.whole[1]")
        self.browser.click("#legend [data-kind='2']")
        self.assertEqual(self.ask("[named('do_syscall_64').length, skeinPage.view.whole[1]]"), [0, samples])
        self.assertEqual(self.ask("skeinPage.view.self[1][named('write')[0]]"), 5)
        self.assertEqual(self.ask("children(named('kthreadd')[0])"), {"[hidden]": 6})
        self.assertEqual(self.browser.text("#legend [aria-pressed=false]").split()[0], "Kernel")
        self.browser.click("#legend [data-kind='2']", {"modifiers": ["Control"]})
        self.assertEqual(self.ask("[named('fib').length, skeinPage.view.whole[1]]"), [0, samples])
        self.assertEqual(self.ask("children(named('kthreadd')[0])"), {"kthread": 6})

    def test_head(self):
        self.open()
        head = self.browser.text("#facts")
        for fact in ("web-1", "6.1.0-18-amd64 x86_64", "2023-11-14 22:13:21 UTC", "2.00 s",
                     "cpu-clock, 100 Hz", "950 ms", "67.4 %", "14 records", "95"):
            self.assertIn(fact, head)
        self.assertIn("raise --buffer", self.browser.text("#warning"))

    def test_details(self):
        self.open()
        self.click("fib")
        details = self.browser.text("#details")
        for fact in ("fib", "/usr/bin/worker", "main.c:30", "Called by", "main", "Native"):
            self.assertIn(fact, details)
        # 15 samples end below this frame of fib, of 95; recursion counts once
        self.assertIn("15.8 %, 150 ms, 15 samples", details)

    def test_table(self):
        self.open("scene", "#table=1")
        first = self.browser.text("#table tbody tr:first-child")
        self.assertIn("push_back", first)
        self.assertIn("25.3 %", first) # 24 of 95
        self.browser.click("#table [data-key=function]")
        names = self.ask("[...document.querySelectorAll('#table td.function')].map((e) => e.innerText)")
        self.assertEqual(names, sorted(names))
        self.assertEqual(self.ask("document.querySelector('th[aria-sort=ascending]').innerText[0]"), "F")
        self.browser.click("#table tbody tr:first-child button")
        self.assertEqual(self.selected(), names[0])

    def test_events(self):
        self.open("flames")
        events = collections.defaultdict(int)
        for stack, count in folded(self.trace("flames")).items():
            events[stack[0]] += count
        self.assertEqual(self.ask("skeinPage.view.whole[1]"), events["cpu-clock"])
        self.browser.choose("#event", "1")
        self.assertEqual(self.ask("[...skeinPage.view.whole]"),
                         [1000 * events["page-faults"], events["page-faults"]])

    def test_empty(self):
        self.open("empty")
        self.assertIn("no samples", self.browser.text("#empty"))
        self.harmless()

    def test_same_bytes(self):
        trace = self.trace("scene")
        self.assertEqual(output("export", trace, "-f", "html"), (self.home / "scene.html").read_bytes())

    def test_manual_has_all_keys(self):
        self.open()
        self.browser.press("?")
        rows = self.ask("[...document.querySelectorAll('#manual tr')].map((row) => "
                        "[...row.cells].map((cell) => cell.innerText))")
        manual = (ROOT / "docs/page.md").read_text()
        self.assertGreater(len(rows), 10)
        for keys, what in rows:
            self.assertIn(f"| {keys} | {what} |", manual)


class Use(Pages):
    """By mouse, keys and address."""

    def test_zoom_and_history(self):
        self.open()
        self.click("write")
        self.assertEqual((self.zoomed(), self.selected()), ("write", "write"))
        self.assertEqual(self.browser.text("#path").split(), ["all", "worker", "3", "_start", "main", "write"])
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
        # 15 of worker 3 and 15 of the truncated; fib in fib counts once
        self.assertEqual(self.browser.text("#matched"), "31.6 % matched")
        self.browser.press("Enter")
        first = self.ask("skeinPage.graph.selected")
        self.assertEqual(self.selected(), "fib")
        self.browser.click("#next")
        self.assertNotEqual(self.ask("skeinPage.graph.selected"), first)
        self.browser.click("#previous")
        self.assertEqual(self.ask("skeinPage.graph.selected"), first)
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
        self.assertEqual(self.browser.text("#matched"), f"{500 / total:.2f} % of the zoomed matched")

    def test_keys(self):
        self.open()
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
        self.browser.choose("#order", "weight")
        self.browser.press("i")
        self.browser.fill("#search", "main")
        self.click("write")
        told = self.ask("[location.hash, skeinPage.graph.zoomed, skeinPage.graph.selected, "
                        "skeinPage.view.inverted, document.getElementById('matched').innerText]")
        self.show(self.home / "scene.html", told[0])
        again = self.ask("[location.hash, skeinPage.graph.zoomed, skeinPage.graph.selected, "
                         "skeinPage.view.inverted, document.getElementById('matched').innerText]")
        self.assertEqual(again, told)
        self.assertEqual(self.zoomed(), "write")
        self.assertEqual(self.ask("document.getElementById('search').value"), "main")

    def test_wrong_links(self):
        for fragment in ("#zoom=zzz.yyy&select=..&event=99&split=__proto__&width=x&hidden=-5",
                         "#search=((&hidden=99999999999&order=%00&table=1", "#%%%", "#zoom=" + "a." * 5000):
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
    """A trace made to harm is text and nothing else."""

    def test_hostile_names(self):
        self.open("hostile")
        for change in ("{}", "{split: 'thread'}", "{split: 'container', inverted: true}", "{table: true}",
                       "{search: '<script'}"):
            self.ask(f"skeinPage.change({change})")
            self.ask("(() => { for (let i = 1; i < skeinPage.view.count; i += 7) skeinPage.select(i); })()")
        self.assertEqual(self.ask("window.harmed ?? null"), None)
        self.assertEqual(self.ask("document.querySelectorAll('img, iframe, object, embed, script').length"), 1)
        self.assertEqual(self.ask("document.querySelectorAll('svg').length"), 1)
        self.harmless()

    def test_names_are_shown(self):
        self.open("hostile", "#table=1")
        shown = self.browser.text("#table")
        for name in ("</script><script>window.harmed = 1</script>", "__proto__", "constructor",
                     "<img src=x onerror='window.harmed = 1'>", "@DATA@", "\ufffdgnp.live"):
            self.assertIn(name, shown)
        self.assertNotRegex(shown, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u2028\u2029]")
        self.assertIn("</script>", self.ask("document.title"))

    def test_file_is_clean(self):
        """The markup of the page is the same, whatever the trace says."""
        self.trace("hostile")
        self.trace("scene")
        pages = [(self.home / f"{name}.html").read_bytes() for name in ("hostile", "scene")]
        outside = [re.sub(rb'(<script id="data"[^>]*>).*?(</script>)', rb"\1\2", page, count=1, flags=re.S)
                   for page in pages]
        self.assertEqual(*outside)
        data = re.search(rb'<script id="data"[^>]*>(.*?)</script>', pages[0], flags=re.S)[1]
        self.assertNotRegex(data, rb"[<>&]")
        self.assertNotRegex(data.decode(), "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")

    def test_policy(self):
        """It does refuse what nobody should ever get into the page."""
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


class Speed(Pages):
    """100,000 different stacks. Bounds are wide: others use this machine, too."""

    def test_many_stacks(self):
        self.open("flames")
        opened = self.ask("skeinPage.opened")
        stacks = self.ask("new Set(skeinPage.data.now.sums.node).size")
        self.assertGreaterEqual(stacks, 100000)
        draws = self.ask("""(() => {
            const { graph } = skeinPage, times = [];
            for (let i = 0; i < 60; i++) {
                const begin = performance.now();
                graph.draw();
                times.push(performance.now() - begin);
            }
            return times.sort((a, b) => a - b);
        })()""")
        began = "const begin = performance.now(); "
        search = self.ask(f"(() => {{ {began} skeinPage.change({{search: 'read'}}); "
                          "return performance.now() - begin; })()")
        print(f"{stacks} stacks: open {opened:.0f} ms, redraw {draws[30]:.1f} ms (best {draws[0]:.1f}), "
              f"search {search:.0f} ms, {(self.home / 'flames.html').stat().st_size / 1e6:.1f} MB")
        self.assertLess(opened, 20000)
        self.assertLess(draws[0], 60)
        self.harmless()


class Comparison(Pages):
    """The page of two recordings."""

    def compare(self, after, before, fragment=""):
        path = self.home / f"{after}-{before}.html"
        with open(path, "wb") as out:
            subprocess.run([BUILD / "tests/readers/make_page", self.trace(after), self.trace(before)],
                           stdout=out, check=True, timeout=LIMIT)
        self.show(path, fragment)

    def test_the_same(self):
        self.compare("scene", "scene")
        self.assertEqual(self.ask("skeinPage.graph.most"), 0)
        self.assertEqual(self.ask("[...skeinPage.view.whole]"), 2 * [1000000000, 100]) # idle ones are not left out here
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


if __name__ == "__main__":
    unittest.main()
