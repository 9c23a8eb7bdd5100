# SPDX-License-Identifier: Apache-2.0
"""Draw what a terminal shows as an SVG picture: text with colours, and block characters.

A run of text is as wide as its cells in every font (textLength); block characters are drawn as
shapes, so that they touch whatever font the reader has.
"""
import html
import re

CELL, LINE, SIZE = 8.4, 18, 14 # px: width and height of a cell, size of the font
MARGIN = 14
GROUND, INK = "#16191d", "#d5d9de"
BASIC = ("#3b4048", "#e06c6c", "#7fbf7f", "#d8b45f", "#6ca0dc", "#b48ad6", "#5fb8b8", "#c8ccd2",
         "#6b727c", "#ff8a80", "#a5d6a7", "#ffd479", "#90caf9", "#ce93d8", "#80deea", "#ffffff")
LEVELS = (0, 95, 135, 175, 215, 255)
SGR = re.compile(r"\x1b\[([\d;]*)m|\x1b\(B|\x0e|\x0f")
# Part of the cell that a character fills, as left, top, right and bottom in eighths.
BLOCKS = {"█": (0, 0, 8, 8), "▀": (0, 0, 8, 4), "▌": (0, 0, 4, 8), "▐": (4, 0, 8, 8),
          **{chr(0x2580 + n): (0, 8 - n, 8, 8) for n in range(1, 8)},
          **{chr(0x2590 - n): (0, 0, n, 8) for n in range(1, 8)}}
SHADES = {"░": 0.3, "▒": 0.55, "▓": 0.8}


def color(number):
    """Return one of the 256 colours of terminals."""
    if number < 16:
        return BASIC[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    number -= 16
    return "#" + "".join(f"{LEVELS[number // n % 6]:02x}" for n in (36, 6, 1))


class Pen:
    """The attributes of the next character, changed by escape sequences."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.ink, self.ground, self.bold, self.dim, self.swapped = None, None, False, False, False

    def change(self, numbers):
        numbers = [int(n) if n else 0 for n in numbers.split(";")]
        while numbers:
            n = numbers.pop(0)
            if n in (38, 48) and numbers[:1] == [5]:
                setattr(self, "ink" if n == 38 else "ground", color(numbers[1]))
                del numbers[:2]
            else:
                self.change_one(n)

    def change_one(self, n):
        if n == 0:
            self.reset()
        elif n in (1, 2, 7):
            setattr(self, {1: "bold", 2: "dim", 7: "swapped"}[n], True)
        elif n == 22:
            self.bold = self.dim = False
        elif n == 27:
            self.swapped = False
        elif n in (39, 49):
            setattr(self, "ink" if n == 39 else "ground", None)
        else:
            for first, base, what in ((30, 0, "ink"), (40, 0, "ground"), (90, 8, "ink"),
                                      (100, 8, "ground")):
                if first <= n < first + 8:
                    setattr(self, what, color(base + n - first))

    def style(self):
        """Return the colours of ink and ground, whether the ink is bold and whether it is dim."""
        ink, ground = self.ink or INK, self.ground
        if self.swapped:
            ink, ground = ground or GROUND, ink
        return ink, ground, self.bold, self.dim


def cells(line):
    """Return (character, style) of each cell of a line; all characters have one column."""
    pen, found, at = Pen(), [], 0
    for sequence in SGR.finditer(line):
        found += [(c, pen.style()) for c in line[at:sequence.start()]]
        if sequence[1] is not None:
            pen.change(sequence[1])
        at = sequence.end()
    return found + [(c, pen.style()) for c in line[at:]]


class Picture:
    def __init__(self):
        self.shapes = {} # (colour, opacity): path
        self.texts = []

    def add_shape(self, fill, opacity, x, y, width, height):
        path = self.shapes.setdefault((fill, opacity), [])
        path.append(f"M{x:.4g} {y:.4g}h{width:.3g}v{height:.3g}h{-width:.3g}z")

    def add_run(self, text, style, column, y):
        """Add cells of one style: ground, blocks, and words."""
        ink, ground, bold, dim = style
        x = MARGIN + column * CELL
        if ground:
            self.add_shape(ground, 1, x, y, len(text) * CELL, LINE)
        for part in re.finditer(r"([▀▐█▁-▏])\1*|([░▒▓])\2*|[^▀-▓\s]+(?: [^▀-▓\s]+)*", text):
            left, width = x + part.start() * CELL, len(part[0]) * CELL
            if part[1] and part[1] in "▌▐▍▎▏▋▊▉": # not as wide as the cell: one by one
                for i in range(len(part[0])):
                    self.add_block(part[1], ink, left + i * CELL, y, CELL)
            elif part[1]:
                self.add_block(part[1], ink, left, y, width)
            elif part[2]:
                self.add_shape(ink, SHADES[part[2]], left, y, width, LINE)
            else:
                more = (' font-weight="bold"' if bold else "") + (' opacity=".65"' if dim else "")
                self.texts.append(f'<text x="{left:.4g}" y="{y + 13.5:.4g}" fill="{ink}"{more} '
                                  f'textLength="{width:.4g}" lengthAdjust="spacingAndGlyphs">'
                                  f'{html.escape(part[0])}</text>')

    def add_block(self, character, ink, x, y, width):
        left, top, right, bottom = BLOCKS[character]
        if character not in "▌▐▍▎▏▋▊▉":
            self.add_shape(ink, 1, x, y + LINE * top / 8, width, LINE * (bottom - top) / 8)
        else:
            self.add_shape(ink, 1, x + CELL * left / 8, y, CELL * (right - left) / 8, LINE)

    def add_line(self, line, y):
        found, begin = cells(line), 0
        for i in range(1, len(found) + 1):
            if i == len(found) or found[i][1] != found[begin][1]:
                text = "".join(c for c, _ in found[begin:i])
                self.add_run(text, found[begin][1], begin, y)
                begin = i


def svg(shown, title):
    """Return the picture of lines with escape sequences."""
    lines = [line.rstrip() for line in shown.rstrip("\n").split("\n")]
    columns = max(len(cells(line)) for line in lines)
    width, height = 2 * MARGIN + columns * CELL, 2 * MARGIN + len(lines) * LINE
    picture = Picture()
    for i, line in enumerate(lines):
        picture.add_line(line, MARGIN + i * LINE)
    shapes = [f'<path fill="{fill}"{f""" opacity="{opacity}" """.rstrip() if opacity < 1 else ""} '
              f'd="{"".join(path)}"/>' for (fill, opacity), path in picture.shapes.items()]
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">', f"<title>{html.escape(title)}</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>', *shapes,
        f'<g font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="{SIZE}" '
        'xml:space="preserve">', *picture.texts, "</g>", "</svg>")) + "\n"
