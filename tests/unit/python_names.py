# SPDX-License-Identifier: Apache-2.0
"""Code objects that stay where they are, and some that give up their places to others.

Prints "type ADDRESS" of the type of code objects; for places in them
"code ADDRESS FIRST_LINE UNIT LINE NAME FILE" (texts in hexadecimal UTF-8, as they are to be read;
unit -1: before the first); "end". After a line of input: "taken ADDRESS FIRST_LINE 0 LINE NAME
FILE" of what has the place of one that is no more; "end". Stops at the end of its input.
"""
import argparse
import ctypes
import json
import re
import sys
import types

NAME_MAX, FILE_MAX = 511, 1023
SOURCE = """
class Caf\u00e9:
    class Inner:
        def method(self):
            return [x for x in range(3)]

        na\u00efve = lambda self: (
            self)

def \u4e2d\u6587(a,
        b):
    def \U00020000(c):
        return c
    return \U00020000

def plain():
    if 1 > 2:
        raise ValueError(
            plain)
    return 5

class Private:
    def __secret(self):
        return lambda: {x for x in range(3)}
"""

to_line = ctypes.pythonapi.PyCode_Addr2Line
to_line.argtypes = ctypes.py_object, ctypes.c_int
kept = []


def hexed(text, room):
    data = re.sub("[\ud800-\udfff\0]", "\ufffd", text).encode()
    if len(data) > room:
        data = data[:room - 3].decode(errors="ignore").encode() + "\u2026".encode()
    return data.hex()


def shown(code):
    qualified = getattr(code, "co_qualname", code.co_name)
    cut = len(hexed(qualified, 2 * NAME_MAX)) > 2 * NAME_MAX
    ends = ("." + qualified).endswith("." + code.co_name)
    return qualified if ends or cut else code.co_name


def place(word, code, unit):
    line = code.co_firstlineno if unit < 0 else max(to_line(code, 2 * unit), 0)
    print(word, hex(id(code)), code.co_firstlineno, unit, line,
          hexed(shown(code), NAME_MAX),
          hexed(code.co_filename, FILE_MAX))


def show(code):
    kept.append(code)
    for unit in range(-1, len(code.co_code) // 2, max(len(code.co_code) // 10, 1)):
        place("code", code, unit)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            show(constant)


def show_renamed():
    """Code that somebody gave another name, as numpy does: the qualified name stays the old one."""
    module = compile("class C:\n def method(self): pass\n def " + "n" * 600 + "(): pass", "x",
                     "exec")
    body = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    for code in [c for c in body.co_consts if isinstance(c, types.CodeType)]:
        for name in ("mean", "<cell line: 1>", "hod", "C.method", "\u4e2d\u6587", "a.b"):
            show(code.replace(co_name=name))


def victims(line):
    """Many, for none of them takes the very place of the one before."""
    module = "\n" * line + "def victim%d(): return 5" % line
    codes = [compile(module, "victim", "exec").co_consts for _ in range(200)]
    return [code for constants in codes for code in constants if isinstance(code, types.CodeType)]


def main():
    print(sys.version_info[0], sys.version_info[1])
    if sys.version_info < (3, 8):
        return
    print("type", hex(id(types.CodeType)))
    for file in ("a.py", "caf\u00e9.py", "\u4e2d.py", "\U0001f40d.py", "\udc80\udcff.py",
                 "long" * 500, "\u4e2d" * 500):
        show(compile(SOURCE, file, "exec"))
    show(compile("def " + "n" * 600 + "(): pass", "x", "exec"))
    show(compile("def " + "\u4e2d" * 200 + "(): pass", "x", "exec"))
    show(compile("pass", "", "exec"))
    show_renamed()
    show(victims.__code__)
    show(json.dumps.__code__)
    show(argparse.ArgumentParser.parse_args.__code__)
    codes = victims(1)
    for code in codes:
        place("code", code, 0)
    one = compile("pass", "twin", "exec")
    for code in one, one.replace(): # all that they point to is the same
        place("code", code, 0)
    print("end", flush=True)
    sys.stdin.readline()
    addresses = set(map(id, codes))
    del codes, code
    codes = victims(2)
    for code in codes:
        if id(code) in addresses:
            place("taken", code, 0)
    print("end", flush=True)
    sys.stdin.read()


main()
