# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test the flame graph page in a browser: it shows what other formats show."""
import collections
import contextlib
import json
import pathlib
import shutil
import sqlite3
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING
from pages import Pages
from traces import ROOT, folded, output, skein

if MISSING:
    raise unittest.SkipTest(MISSING)


class Content(Pages):
    """The page shows the same data as other formats."""

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
        for split, options, depth in (("process", ["--pids"], 1),
                                      ("container", ["--containers"], 1),
                                      ("service", ["--services"], 1),
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

    def test_without_collections(self):
        shown = "!document.getElementById('nogc').hidden"
        self.open("scene")
        self.assertFalse(self.ask(shown))
        self.open("runtime")
        self.assertTrue(self.ask(shown))
        whole = {"com.shop.Main.main": 2, "G1CollectedHeap::collect": 1, "VMThread::run": 1}
        self.assertEqual(self.ask("leaves()"), whole)
        self.browser.click("#nogc")
        self.assertEqual(self.ask("leaves()"), {"com.shop.Main.main": 2})
        self.assertIn("nogc=1", self.ask("location.hash"))
        self.browser.click("#nogc")
        self.assertEqual(self.ask("leaves()"), whole)

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
        self.assertEqual(self.ask("[named('do_syscall_64').length, skeinPage.view.whole[1]]"),
                         [0, samples])
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
                     "cpu-clock, 100 Hz", "950 ms", "67.4 %", "12.0 % of samples", "95"):
            self.assertIn(fact, head)
        self.assertIn("raise --buffer", self.browser.text("#warning"))

    def test_switches_that_are_lost_are_no_samples(self):
        copy, page = self.home / "switches.skein", self.home / "switches.html"
        shutil.copy(self.trace("scene"), copy)
        with contextlib.closing(sqlite3.connect(copy)) as trace:
            trace.execute("DELETE FROM loss WHERE id <> (SELECT min(id) FROM loss)")
            trace.execute("UPDATE loss SET event = 0, reason = 8, count = 4000")
            trace.commit()
        skein("export", copy, "-o", page)
        self.show(page)
        self.assertIn("4,000 records", self.browser.text("#facts"))
        self.assertTrue(self.ask("document.getElementById('warning').hidden"))

    def test_legend_counts_stacks_as_head_and_report_do(self):
        for options in ([], ["--comm", "worker 3"], ["--comm", "kthreadd"]):
            page, trace = self.home / "legend.html", self.trace("scene")
            skein("export", trace, "-o", page, *options)
            self.show(page)
            stacks = json.loads(output("report", "--json", trace, *options))["stacks"]
            complete, due = stacks["complete"], stacks["due"]
            self.assertIn(f"{100 * complete / due:.1f} %" if due else "no user stacks",
                          self.browser.text("#facts"))
            mark = "#legend [data-kind='6']"
            if complete == due:
                self.assertFalse(self.ask(f'Boolean(document.querySelector("{mark}"))'))
                continue
            broken = 100 * (due - complete) / due
            self.assertEqual(self.browser.text(mark).split(maxsplit=1)[1],
                             f"{broken:.{2 if broken < 10 else 1}f} % of stacks")
            self.assertIn(f"({due - complete} of {due})", self.ask(
                f'document.querySelector("{mark}").title'))

    def test_named_share_is_that_of_the_report(self):
        copy, page = self.home / "named.skein", self.home / "named.html"
        shutil.copy(self.trace("scene"), copy)
        fact = ("[...document.querySelectorAll('#facts dt')].filter((e) => e.textContent === "
                "'Named').map((e) => [e.nextSibling.textContent, e.parentNode.title])[0]")
        for change in (None, "UPDATE function SET name = ''"):
            with contextlib.closing(sqlite3.connect(copy)) as trace:
                if change:
                    trace.execute(change)
                    trace.execute("UPDATE mapping SET path = '/lib/<b>x', build_id = 'ab<i>'")
                    trace.commit()
            skein("export", copy, "-o", page)
            self.show(page)
            named = json.loads(output("report", "--json", copy))["named"]
            shown, more = self.ask(fact)
            percent = 100 * named["share"]
            self.assertEqual(shown.split(" (")[0], f"{percent:.{2 if percent < 10 else 1}f} %")
            self.assertEqual("symbolize" in shown, "advice" in named)
            self.assertEqual("<b>x (build-id ab<i>)" in more, bool(change))

    def test_legend_counts_stacks_with_a_kind(self):
        self.open()
        marked = folded(self.trace("scene"), "--annotate")
        whole = sum(marked.values())
        kernel = sum(count for stack, count in marked.items()
                     if any(frame.endswith("_[k]") for frame in stack))
        self.assertEqual(self.browser.text("#legend [data-kind='2']").split(maxsplit=1)[1],
                         f"{100 * kernel / whole:.1f} % of stacks")
        self.browser.click("#legend [data-kind='2']") # a hidden kind is counted, too
        self.assertIn(f"{100 * kernel / whole:.1f} %",
                      self.browser.text("#legend [data-kind='2']"))

    def test_colours_of_modules(self):
        self.open()
        fills = "(() => { const { palette, labels } = skeinPage; return Array.from(labels.name, " \
                "(_, i) => [labels.kind[i], labels.shortModule(i), palette.fill(i)]); })()"
        self.browser.choose("#colour", "module")
        colours = collections.defaultdict(set)
        for kind, module, fill in self.ask(fills):
            if kind != 7: # a group has no module
                colours[module].add(fill)
        self.assertEqual({module for module, found in colours.items() if len(found) > 1}, set())
        chips = self.ask("[...document.querySelectorAll('#legend .module')].map((chip) => "
                         "chip.innerText.trim())")
        self.assertGreaterEqual(len(chips), 3)
        self.assertEqual(len(set().union(*(colours[chip] for chip in chips))), len(chips))
        self.browser.click("#legend .module")
        self.assertIn("match", self.browser.text("#matched"))
        self.picture("modules")
        self.browser.choose("#colour", "")
        self.assertEqual(self.ask("document.querySelectorAll('#legend .module').length"), 0)
        self.harmless()

    def test_losses_are_compared_with_the_machines_samples(self):
        """One process has few of the samples, so its losses must not be compared with them."""
        copy, page = self.home / "account.skein", self.home / "account.html"
        shutil.copy(self.trace("scene"), copy)
        skein("export", copy, "-o", page, "--comm", "worker 3")
        self.show(page)
        warning = self.browser.text("#warning")
        self.assertIn("12.0 % of the machine's samples are lost (14 of 117)", warning)
        with contextlib.closing(sqlite3.connect(copy)) as trace:
            trace.execute("UPDATE account SET due = due + 5000, filtered = filtered + 5000")
            trace.commit()
        skein("export", copy, "-o", page, "--comm", "worker 3")
        self.show(page)
        self.assertTrue(self.ask("document.getElementById('warning').hidden"))
        self.assertIn("0.07 % of samples", self.browser.text("#facts"))

    def test_losses_of_a_page_of_some_threads(self):
        """The threads of lost samples are unknown: of these as many as of all, 14 of 117."""
        page = self.home / "some.html"
        for options in (["--comm", "worker 3"], ["--comm", "kthreadd"]):
            skein("export", self.trace("scene"), "-o", page, *options)
            self.show(page)
            shown = self.ask("skeinPage.view.whole[1]")
            self.assertTrue(0 < shown < 95)
            lost = round(shown * 14 / 103)
            self.assertIn(f"(14 of 117), about {lost} of the {shown + lost} due on this page: ",
                          self.browser.text("#warning"))

    def test_losses_of_the_pages_part_of_the_time(self):
        """All losses of the scene fall into its first second."""
        page = self.home / "part.html"
        skein("export", self.trace("scene"), "-o", page, "--to", "1s")
        self.show(page)
        self.assertIn("21.5 % of the machine's samples in this time are lost (about 14 of 65)",
                      self.browser.text("#warning"))
        skein("export", self.trace("scene"), "-o", page, "--from", "1.5s")
        self.show(page)
        self.assertTrue(self.ask("document.getElementById('warning').hidden"))

    def test_details(self):
        self.open()
        self.click("fib")
        details = self.browser.text("#details")
        for fact in ("fib", "/usr/bin/worker", "main.c:30", "Called by", "main", "Native"):
            self.assertIn(fact, details)
        # 15 of the 95 samples end below this frame of fib; recursion counts once
        self.assertIn("15.8 %, 150 ms, 15 samples", details)

    def test_lines(self):
        self.open("python")
        label = self.ask("skeinPage.labels.ran.findIndex((lines) => lines?.length > 1)")
        self.ask(f"skeinPage.select(skeinPage.view.label.indexOf({label}))")
        first = self.ask(f"skeinPage.labels.ran[{label}][0].line")
        self.assertRegex(self.browser.text("#details .lines"), rf"%\s+\S+\.py:{first}\n")

    def test_table(self):
        self.open("scene", "#table=1")
        first = self.browser.text("#table tbody tr:first-child")
        self.assertIn("push_back", first)
        self.assertIn("25.3 %", first) # 24 of 95
        self.browser.click("#table [data-key=function]")
        names = self.ask("[...document.querySelectorAll('#table td.function')]"
                         ".map((cell) => cell.innerText)")
        self.assertEqual(names, sorted(names))
        self.assertTrue(self.browser.text("th[aria-sort=ascending]").startswith("Function"))
        self.browser.click("#table tbody tr:first-child button")
        self.assertEqual(self.selected(), names[0])

    def test_sandwich(self):
        """The trees of callers and callees of a function have the sums of the folded stacks."""
        self.open("scene", "#inverted=1")
        name, above, below, whole = "fib", collections.Counter(), collections.Counter(), 0
        for stack, count in folded(self.trace("scene")).items():
            if name not in stack:
                continue
            at = stack.index(name) # recursion counts once, at its outermost frame
            whole += count
            for depth in range(1, at + 1):
                above[stack[at - depth:at][::-1]] += count
            for depth in range(at + 2, len(stack) + 1):
                below[stack[at + 1:depth]] += count
        self.ask(f"skeinPage.select(named({name!r})[0])")
        self.browser.press("s")
        paths = """((view) => Array.from({ length: view.count - 1 }, (_, i) => {
            const path = [];
            for (let at = i + 1; at > 0; at = view.parent[at])
                path.unshift(skeinPage.labels.name[view.label[at]]);
            return [path, view.total[1][i + 1]];
        }))"""
        for half, expected in (("callers", above), ("callees", below)):
            said = self.ask(f"{paths}(skeinPage.sandwich.{half}.view)")
            # the folded format writes some names differently
            self.assertEqual(sorted((len(path), count) for path, count in said),
                             sorted((len(path), count) for path, count in expected.items()), half)
            self.assertLessEqual({("main",), ("main", "_start")} if half == "callers" else
                                 {("fib",), ("fib", "fib")}, {tuple(path) for path, _ in said})
            self.assertEqual(self.ask(f"skeinPage.sandwich.{half}.view.total[1][0]"), whole)
        self.assertIn(f"{whole} samples", self.browser.text("#middle"))
        self.assertFalse(self.ask("document.getElementById('graph').checkVisibility()"))
        place = """(() => {
            const { callers } = skeinPage.sandwich, box = callers.box(1);
            const edge = callers.canvas.getBoundingClientRect();
            return [edge.x + box.x + box.width / 2, edge.y + box.y + 10];
        })()"""
        caller = self.ask("skeinPage.labels.name[skeinPage.sandwich.callers.view.label[1]]")
        self.browser.wait("skeinPage.sandwich.callers.wide > 0")
        self.browser.mouse(*self.ask(place))
        self.assertIn(caller, self.browser.text("#middle"))
        self.browser.fill("#search", "^write$")
        self.browser.press("Enter")
        self.assertIn("write", self.browser.text("#middle"))
        shown = self.ask("location.hash")
        self.show(self.home / "scene.html", shown)
        self.assertIn("write", self.browser.text("#middle"))
        self.picture("sandwich")
        self.browser.click("#as-graph")
        self.assertTrue(self.ask("document.getElementById('graph').checkVisibility()"))
        self.assertTrue(self.ask("skeinPage.view.inverted"))
        self.harmless()

    def test_names_in_the_table_fit_and_are_whole_on_request(self):
        whole = "std::vector<int, std::allocator<int> >::push_back(int&&)"
        self.open("scene", "#table=1")
        first = "document.querySelector('#table tbody .name')"
        self.assertEqual(self.ask(f"[{first}.innerText, {first}.title]"),
                         ["std::vector<int>::push_back(int&&)", whole])
        self.browser.click("#full")
        self.assertEqual(self.ask(f"{first}.innerText"), whole)
        self.browser.click("#table tbody .name")
        self.assertIn(whole, self.browser.text("#details h2"))
        self.browser.click("#details h2 [aria-pressed]")
        self.assertIn("std::vector<int>::push_back(int&&)", self.browser.text("#details h2"))
        self.harmless()

    def test_table_on_a_phone_has_functions_in_the_window(self):
        self.open("scene", "#table=1", viewport={"width": 390, "height": 844}, isMobile=True)
        left = "document.querySelector('#table tbody .name').getBoundingClientRect()"
        names = self.ask("[...document.querySelectorAll('#table .name')].map((name) => "
                         "name.innerText)")
        self.assertIn("std::vector<…sh_back", names) # the end of a name is what it does
        self.assertLess(self.ask(f"{left}.x"), 200)
        self.assertLessEqual(self.ask(f"{left}.right"), 390)
        self.browser.click("#more")
        self.assertIn("Self time", self.browser.text("#table thead"))

    def test_table_breaks_no_word(self):
        """Names and figures stay in one line each, however narrow the window is."""
        for width in (1440, 700, 390):
            self.open("flames", "#table=1", viewport={"width": width, "height": 844})
            self.assertEqual(self.ask("""[...document.querySelectorAll("#table td")].filter(
                (cell) => cell.clientHeight > 40).length"""), 0, width)
            self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), width)

    def test_events(self):
        self.open("flames")
        events = collections.defaultdict(int)
        for stack, count in folded(self.trace("flames")).items():
            events[stack[0]] += count
        self.assertEqual(self.ask("skeinPage.view.whole[1]"), events["cpu-clock"])
        self.assertEqual(self.browser.text("#title"), "Flame graph of flames")
        self.browser.choose("#event", "page-faults")
        self.assertEqual(self.ask("[...skeinPage.view.whole]"),
                         [1000 * events["page-faults"], events["page-faults"]])

    def test_machines(self):
        """
        In a merged trace every machine has its own event of the same name; the page shows one.
        """
        merged, live = self.home / "merged.skein", self.trace("flames")
        skein("merge", "-o", merged, self.trace("scene"), live)
        skein("export", merged, "-o", self.home / "merged.html")
        self.show(self.home / "merged.html")
        stacks = folded(merged)
        self.assertEqual(self.ask("skeinPage.views.events.map((event) => event.name)"),
                         ["cpu-clock", "page-faults"])
        self.assertEqual(self.ask("skeinPage.view.whole[1]"),
                         sum(count for stack, count in stacks.items() if stack[0] == "cpu-clock"))
        self.assertIn("and 1 other", self.browser.text("#title"))
        self.assertIn("12.0 % of samples", self.browser.text("#facts"))

    def test_empty(self):
        self.open("empty")
        self.assertIn("no samples", self.browser.text("#empty"))
        self.assertIn("sudo skein record", self.browser.text("#empty li"))
        page = self.home / "nothing.html"
        for options, text in ((["--python", "gc"], "options of the export left all"),
                              (["--from", "1.9999s"], "without --from and --to")):
            skein("export", self.trace("scene"), "-o", page, *options)
            self.show(page)
            self.assertIn(text, self.browser.text("#empty"))
        self.picture("empty")
        self.harmless()

    def test_same_bytes(self):
        trace = self.trace("scene")
        self.assertEqual(output("export", trace, "-f", "html"),
                         (self.home / "scene.html").read_bytes())

    def test_manual_has_all_keys(self):
        self.open()
        self.browser.press("?")
        rows = self.ask("[...document.querySelectorAll('#manual tr')].map((row) => "
                        "[...row.cells].map((cell) => cell.innerText))")
        manual = (ROOT / "docs/page.md").read_text()
        self.assertGreater(len(rows), 10)
        for keys, what in rows:
            self.assertIn(f"| {keys} | {what} |", manual)


if __name__ == "__main__":
    unittest.main()
