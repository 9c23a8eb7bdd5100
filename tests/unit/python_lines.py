# SPDX-License-Identifier: Apache-2.0
"""The tables of lines of many code objects, and the lines that the interpreter itself finds by
them: for each a line FIRST_LINE HEX-OF-TABLE LINE:UNITS,... (0: no line)."""
import ast
import ctypes
import dis
import os
import sys
import types

# what compilers make of these is all that tables have
STRANGE = """
def far(a,
        b=None):
    return f(a,
             b,
""" + "\n" * 700 + """
             g(b),
    ) + (a
         .b
         .c)

def back():
    for i in (
""" + "\n" * 200 + """
            range(10)):
        f(
""" + "\n" * 300 + """
            i)
    with x as y, z as w:
        del i
        try:
            pass
        finally:
            return (y,
                    w)

class C:
    async def method(self, a: int = 1) -> None:
        async with self as b:
            yield [x async for x in b if
                   x]
"""
MODULES = ("argparse", "ast", "asyncio/base_events", "calendar", "collections/__init__", "copy",
           "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "functools", "heapq",
           "inspect", "json/decoder", "logging/__init__", "os", "pickle", "random", "subprocess",
           "tarfile", "textwrap", "threading", "traceback", "typing", "unittest/mock")

to_line = ctypes.pythonapi.PyCode_Addr2Line
to_line.argtypes = ctypes.py_object, ctypes.c_int


def lines_of_dis(code):
    """A line per unit, as co_lines() or (up to 3.9) dis.findlinestarts() have it."""
    lines = [0] * (len(code.co_code) // 2)
    if hasattr(code, "co_lines"):
        ranges = [(start, end, line) for start, end, line in code.co_lines()]
    else:
        starts = list(dis.findlinestarts(code))
        ends = [start for start, _ in starts[1:]] + [len(code.co_code)]
        ranges = [(start, end, line) for (start, line), end in zip(starts, ends)]
    for start, end, line in ranges:
        lines[start // 2:end // 2] = [line or 0] * (end // 2 - start // 2)
    return lines


def lines_of_traceback(code):
    return [max(to_line(code, unit * 2), 0) for unit in range(len(code.co_code) // 2)]


def show(code):
    lines = lines_of_dis(code)
    assert lines == lines_of_traceback(code), code
    runs = []
    for line in lines:
        if runs and runs[-1][0] == line:
            runs[-1][1] += 1
        else:
            runs.append([line, 1])
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    print(code.co_firstlineno, table.hex() or "-",
          ",".join("%d:%d" % (line, count) for line, count in runs))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            show(constant)


def without_columns(source):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if hasattr(node, "col_offset"):
            node.col_offset = node.end_col_offset = -1
    return tree


def main():
    print(sys.version_info[0], sys.version_info[1])
    if sys.version_info < (3, 8):
        return
    show(compile(STRANGE, "strange", "exec"))
    show(compile(without_columns(STRANGE), "columns", "exec"))
    show(compile("f(" + " " * 3000 + "a)", "wide", "exec"))
    for module in MODULES:
        path = os.path.join(os.path.dirname(os.__file__), module + ".py")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                show(compile(f.read(), path, "exec", dont_inherit=True))


main()
