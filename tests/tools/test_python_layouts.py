# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""Compare skein's layouts of the installed Pythons with debug information and disassembly."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import python_found

ROOT = pathlib.Path(__file__).resolve().parents[2]
READER = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "tests/readers/python_file"
INSIDE = pathlib.Path(__file__).with_name("python_inside.py")
UNREACHABLE = 8 # bytes that gcc emits for __builtin_unreachable() in a switch without default
SECONDARY = re.compile(r"_PyEval_EvalFrameDefault(\.\w+)*")


def load_tool():
    loader = importlib.machinery.SourceFileLoader("python_layouts",
                                                  str(ROOT / "tools/python-layouts"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


TOOL = load_tool()


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True,
                          timeout=120).stdout


def loops_of(facts):
    return [tuple(map(int, line.split())) for line in facts["loop"]]


def jumps_out(path, start, end):
    """Return the targets outside the range of direct jumps from start to end, by objdump."""
    text = output("objdump", "-d", "--no-show-raw-insn", f"--start-address={start}",
                  f"--stop-address={end}", str(path))
    targets = {int(to, 16) for to in re.findall(r"\tj\w+ +([0-9a-f]+)\b", text)}
    return {to for to in targets if not start <= to < end}


def functions(path):
    """Return (start, end, bytes of stack at the start) of the functions in .eh_frame."""
    text = output("readelf", "--debug-dump=frames-interp", str(path))
    found = []
    for block in text.split("\n\n"):
        head = re.search(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)\n", block)
        row = re.search(r"^[0-9a-f]{16} (\S+)", block, re.M)
        if head and row:
            found.append((int(head[1], 16), int(head[2], 16), row[1]))
    return sorted(found)


@unittest.skipUnless(READER.exists(), f"{READER} is not built")
class Layouts(unittest.TestCase):
    def test_offsets(self):
        if not shutil.which("gdb"):
            self.skipTest("there is no gdb")
        for file in TOOL.installed():
            with self.subTest(file=str(file)):
                lines = []
                self.assertEqual(TOOL.compare(READER, file, lines.append), [], "\n".join(lines))

    def test_from_inside(self):
        """Each Python reads its own memory, also without debug information."""
        for one in python_found.supported() + python_found.fetched():
            facts = TOOL.told_by(READER, TOOL.interpreter_file(one))
            layout = {name: int(values[0]) for name, values in facts.items()
                      if re.fullmatch(r"-?\d+", values[0])}
            layout["code_id"] = [int(word) for word in facts["code_id"][0].split()]
            run = subprocess.run([one.path, "-I", str(INSIDE)], input=json.dumps(layout),
                                 capture_output=True, text=True, timeout=60, check=False)
            with self.subTest(python=str(one)):
                self.assertEqual((run.stdout.split("\n"), run.stderr, run.returncode),
                                 (["", ""], "", 0))

    def test_all_minor_versions(self):
        seen = {one.version for one in python_found.supported()
                if TOOL.has_debug_information(TOOL.interpreter_file(one))}
        # these contain their own layout, and are checked from inside
        seen |= {one.version for one in python_found.fetched()}
        missing = [f"{major}.{minor}" for major, minor in python_found.SUPPORTED
                   if (major, minor) not in seen]
        if missing:
            self.skipTest(f"no Python {', '.join(missing)} with debug information: "
                          "their layouts were not compared")

    def test_versions(self):
        for one in python_found.interpreters() + python_found.fetched():
            with self.subTest(python=str(one)):
                facts = TOOL.told_by(READER, TOOL.interpreter_file(one))
                self.assertEqual(facts["version"], [".".join(map(str, one.full))])
                old = one.version < (3, 8)
                self.assertEqual(facts["support"], ["Python before 3.8: native frames only" if old
                                                    else "Python frames are read"])


@unittest.skipUnless(READER.exists(), f"{READER} is not built")
class Loops(unittest.TestCase):
    def test_symbols(self):
        """The symbols named like the loop, and no others, are found."""
        checked = 0
        for one in python_found.supported() + python_found.fetched():
            file = TOOL.interpreter_file(one)
            listing = output("nm", "-S", str(file)) if not one.debian else ""
            named = {(int(at, 16), int(at, 16) + int(size, 16)) for at, size, name in
                     re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tT] (\S+)$", listing, re.M)
                     if SECONDARY.fullmatch(name)}
            if not named:
                continue
            checked += 1
            with self.subTest(file=str(file)):
                self.assertEqual(set(loops_of(TOOL.told_by(READER, file))), named)
        if not checked:
            self.skipTest("no Python with symbols")

    @unittest.skipUnless(os.uname().machine == "x86_64", "jumps are followed on x86-64 only")
    def test_jumps(self):
        """The loop jumps only within the loop, or to another whole function (a tail call)."""
        for one in python_found.supported() + python_found.fetched():
            file = TOOL.interpreter_file(one)
            loops = loops_of(TOOL.told_by(READER, file))
            starts = {}
            for start, _, stack in functions(file):
                starts[start] = stack
            outside = {to for to in jumps_out(file, *loops[0])
                       if not any(start <= to < end for start, end in loops)}
            with self.subTest(file=str(file)):
                strays = [hex(to) for to in outside if starts.get(to) != "rsp+8"]
                self.assertEqual(strays, [])
                # parts of functions begin in the middle of a frame
                for start, _ in loops[1:]:
                    self.assertNotEqual(starts.get(start), "rsp+8")

    def test_stripped(self):
        """Without symbols the result is the same, except for parts that are no jump target."""
        for one in python_found.supported() + python_found.fetched():
            file = TOOL.interpreter_file(one)
            facts = TOOL.told_by(READER, file)
            with tempfile.TemporaryDirectory(prefix="skein-python-") as folder:
                stripped = pathlib.Path(folder) / "stripped"
                output("strip", "-o", str(stripped), str(file))
                bare = TOOL.told_by(READER, stripped)
            unused = [line for line, (start, end) in zip(facts["loop"], loops_of(facts))
                      if end - start <= UNREACHABLE]
            facts["loop"] = [line for line in facts["loop"] if line not in unused]
            with self.subTest(file=str(file)):
                self.assertEqual(bare, facts)


if __name__ == "__main__":
    unittest.main()
