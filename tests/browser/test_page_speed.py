# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test how fast the flame graph page of many stacks opens and is drawn."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from browser import MISSING
from pages import Pages

LONG = os.environ.get("SKEIN_LONG") == "1"

if MISSING:
    raise unittest.SkipTest(MISSING)


class Speed(Pages):
    """
    Opening a trace of 100,000 different stacks. The bounds are wide, because other programs use
    this machine, too.
    """

    # Times in ms to draw the graph: all of it, each time the next part of a zoom, and the outline
    # of what is pointed at. A pixel is read, so that drawing that the browser defers is part of it.
    DRAWS = """(() => {
        const { graph } = skeinPage, whole = graph.span;
        const sorted = (run) => Array.from({ length: 100 }, (_, i) => {
            const begin = performance.now();
            run(i);
            graph.pen.getImageData(0, 0, 1, 1);
            return performance.now() - begin;
        }).sort((a, b) => a - b);
        const redraw = sorted(() => graph.draw());
        const zoom = sorted((i) => {
            graph.from = whole * i / 1000;
            graph.span = whole * (1 - i / 150);
            graph.draw();
        });
        graph.zoom(0);
        return { redraw, zoom, point: sorted((i) => { graph.pointed = i; graph.outlines(); }) };
    })()"""

    def test_redraw(self):
        """A frame of the screen is 16.7 ms; the long form wants it of 95 in 100 drawings."""
        for width, height, dots in ((1440, 900, 1), (1920, 1080, 1), (390, 844, 3)):
            self.open("flames", viewport={"width": width, "height": height},
                      deviceScaleFactor=dots)
            for what, times in self.ask(self.DRAWS).items():
                print(f"{width} x {height} at {dots}: {what} median {times[50]:.1f} ms, "
                      f"95 of 100 within {times[94]:.1f} ms")
                self.assertLess(times[94] if LONG else times[0], 16.7 if LONG else 25,
                                (width, what))

    def test_many_stacks(self):
        self.open("flames")
        opened = self.ask("skeinPage.opened")
        stacks = self.ask("new Set(skeinPage.data.now.sums.node).size")
        self.assertGreaterEqual(stacks, 100000)
        began = "const begin = performance.now(); "
        search = self.ask(f"(() => {{ {began} skeinPage.change({{search: 'read'}}); "
                          "return performance.now() - begin; })()")
        size = (self.home / "flames.html").stat().st_size / 1e6
        print(f"{stacks} stacks: {size:.1f} MB, open {opened:.0f} ms, search {search:.0f} ms")
        self.assertLess(opened, 2000 if LONG else 20000)
        self.harmless()


if __name__ == "__main__":
    unittest.main()
