# SPDX-License-Identifier: Apache-2.0
"""
Functions and files with names that are hard on who reads or shows them.

  names.py SECONDS: of CPU, all together
"""
import sys
import time

NAMES = {
    "latin": "größe_ñ", "greek": "λόγος", "wide": "名前_函数", "astral": "𐌰𐌱_𐌲",
    "huge": "huge_" + "x" * 20000, "huge_wide": "巨_" + "大" * 5000,
    "escape": "red_\x1b[31m_\x1b]0;title\x07", "newline": "two\nlines\r_\t_", "nul": "be\0hind",
    "surrogate": "lone_\ud800_\udfff", "override": "left_\u202e_right", "empty": "",
    "markup": "<script>alert('\"&amp;')</script>", "semicolon": "a;b c 7 (d:1)",
    "controls": "".join(map(chr, range(1, 32))) + "\x7f\x80\x9f",
}
FILES = {"plain": "plain.py", "wide": "/路径/файл.py", "hostile": "/a\nb\x1b[2J;c d.py",
         "surrogate": "/\udcff\udc80.py", "huge": "/" + "d" * 8000 + "/f.py"}
SOURCE = """
def {0}(seconds):
    end = time.process_time() + seconds
    total = 0
    while time.process_time() < end:
        for i in range(1000):
            total += i
"""


def made(name, file):
    space = {"time": time}
    exec(SOURCE.format("f"), space)
    new = {"co_name": name, "co_filename": file}
    if hasattr(space["f"].__code__, "co_qualname"):
        new["co_qualname"] = name
    space["f"].__code__ = space["f"].__code__.replace(**new)
    return space["f"]


def main():
    every = [made(name, FILES["plain"]) for name in NAMES.values()]
    every += [made("file_" + kind, file) for kind, file in FILES.items()]
    for one in every:
        one(float(sys.argv[1]) / len(every))


main()
