# SPDX-License-Identifier: Apache-2.0
"""Test the pictures of terminals: colours, blocks, widths, and text that stays text."""
import pathlib
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import terminal_svg # pylint: disable=wrong-import-position
from terminal_svg import CELL, LINE, MARGIN, svg # pylint: disable=wrong-import-position

NAME = "{http://www.w3.org/2000/svg}"


def drawn(shown):
    return xml.etree.ElementTree.fromstring(svg(shown, "a title"))


def texts(picture):
    return [(element.text, element.get("fill")) for element in picture.iter(f"{NAME}text")]


class TerminalSvgTest(unittest.TestCase):
    def test_colours(self):
        shown = "\x1b[31mred\x1b[0m plain \x1b[38;5;77mgreen\x1b[39m \x1b[1;7mswapped\x1b[m"
        red, plain, green, swapped = texts(drawn(shown))
        self.assertEqual(red, ("red", terminal_svg.BASIC[1]))
        self.assertEqual(plain, ("plain", terminal_svg.INK))
        self.assertEqual(green, ("green", "#5fd75f"))
        self.assertEqual(swapped, ("swapped", terminal_svg.GROUND))

    def test_a_run_is_as_wide_as_its_cells(self):
        text, = drawn("  two words").iter(f"{NAME}text")
        self.assertAlmostEqual(float(text.get("x")), MARGIN + 2 * CELL, 1)
        self.assertAlmostEqual(float(text.get("textLength")), 9 * CELL, 1)

    def test_blocks_are_shapes(self):
        path, = drawn("██▌").iter(f"{NAME}path")
        self.assertEqual(path.get("d"), f"M{MARGIN} {MARGIN}h{2 * CELL:.3g}v{LINE}h{-2 * CELL:.3g}z"
                         f"M{MARGIN + 2 * CELL:.4g} {MARGIN}h{CELL / 2:.3g}v{LINE}"
                         f"h{-CELL / 2:.3g}z")
        self.assertEqual(texts(drawn("██▌")), [])

    def test_text_stays_text(self):
        self.assertEqual(texts(drawn("<script>&amp;"))[0][0], "<script>&amp;")

    def test_size(self):
        picture = drawn("12345\n\n1")
        self.assertAlmostEqual(float(picture.get("width")), 2 * MARGIN + 5 * CELL, 0)
        self.assertEqual(float(picture.get("height")), 2 * MARGIN + 3 * LINE)


if __name__ == "__main__":
    unittest.main()
