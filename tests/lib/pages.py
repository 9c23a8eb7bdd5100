# SPDX-License-Identifier: Apache-2.0
"""
Shared base of the tests of the flame graph page: pages of generated traces, open in a browser.
"""

from browser import Browser
from traces import BUILD, Home, make_scene, skein

PICTURES = BUILD / "tests/pages" # pictures for a person to look at
STILL = {"reducedMotion": "reduce", "colorScheme": "light"}
DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "hasTouch": True, "isMobile": True,
         "deviceScaleFactor": 2}
# Whether a timeline shows all that it has asked its server for.
QUIET = """(({ timeline }) => timeline.trace && !timeline.asked && !timeline.windows.flights.size &&
    (timeline.windows.layers.length || !timeline.trace.rows.length) &&
    document.getElementById("chosen").ariaBusy !== "true")(skeinPage)"""

# JavaScript helpers for the tests: nodes by name, their positions, sums.
HELPERS = """
window.named = (name) => {
    const found = [], { view, labels } = skeinPage;
    for (let i = 1; i < view.count; i++)
        if (labels.name[view.label[i]] === name) found.push(i);
    return found.sort((a, b) => view.width[b] - view.width[a]);
};
window.middle = (node) => {
    const box = skeinPage.graph.box(node);
    const edge = document.getElementById("canvas").getBoundingClientRect();
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


class Pages(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.traces = {}
        PICTURES.mkdir(parents=True, exist_ok=True)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.end)

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
        self.browser.wait("window.skeinPage && (skeinPage.graph.wide !== undefined || "
                          "skeinPage.state.sandwich || skeinPage.view.count < 2)")
        self.browser.evaluate(HELPERS)

    def ask(self, expression):
        return self.browser.evaluate(expression)

    def zoomed(self):
        return self.ask("nameOf(skeinPage.graph.zoomed)")

    def selected(self):
        return self.ask("nameOf(skeinPage.graph.selected)")

    def click(self, name):
        """Click on the widest frame with a name."""
        self.browser.mouse(*self.ask(f"middle(named({name!r})[0])"))

    def picture(self, name, **options):
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.browser.shot(str(PICTURES / f"{name}.png"), options)

    def harmless(self):
        """
        Check that there was no request except for the page, no violation of the policy, and no
        error.
        """
        noted = self.browser.noted()
        self.assertEqual(len(noted["requests"]), 1, noted)
        self.assertEqual((noted["violations"], noted["errors"]), ([], []))
