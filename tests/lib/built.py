# SPDX-License-Identifier: Apache-2.0
"""Where the tree, its build and skein are, and the numbers that skein gives to its words."""
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
SKEIN = os.path.abspath(os.environ.get("SKEIN", BUILD / "skein"))


def numbers(macro):
    """Return {word: number} of an enumeration in base/record.h, which is append-only."""
    text = (ROOT / "user" / "base" / "record.h").read_text()
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*\n)", text).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return {name: i + 1 for i, name in enumerate(re.findall(r"X\((\w+),", body))}
