#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Test malicious debugging information: its reader stays within time and memory limits, and
continues.
"""
import pathlib
import re
import struct
import subprocess
import sys
import time
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from traces import BUILD, Home

WORKER = BUILD / "tests/readers/ask_sources"
MEMORY = 256 << 20
CODE = 0x1000
SIZE = 0x1000

# DWARF tags, attributes and forms.
UNIT, SUBPROGRAM, INLINED, BLOCK = 0x11, 0x2e, 0x1d, 0x0b
SIBLING, NAME, STATEMENTS, LOW, HIGH, ORIGIN, CALL_LINE, RANGES = (
    0x01, 0x03, 0x10, 0x11, 0x12, 0x31, 0x59, 0x55)
ADDR, DATA8, STRING, REF4, SEC_OFFSET, DATA1 = 0x01, 0x07, 0x08, 0x13, 0x17, 0x0b


def leb(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def abbreviations(*lists):
    """
    Encode abbreviations: for each its tag, whether it has children, and (attribute, form) pairs.
    """
    out = b""
    for code, (tag, children, attributes) in enumerate(lists, 1):
        out += leb(code) + leb(tag) + bytes([children])
        for attribute, form in attributes:
            out += leb(attribute) + leb(form)
        out += b"\0\0"
    return out + b"\0"


def unit(entries, length=None):
    """Encode a unit of DWARF 4."""
    body = struct.pack("<HIB", 4, 0, 8) + entries
    return struct.pack("<I", len(body) if length is None else length) + body


HEAD = 11 # bytes of a unit before its first entry
ROOT = (UNIT, 1, [(LOW, ADDR), (HIGH, DATA8)])
FUNCTION = (SUBPROGRAM, 1, [(NAME, STRING), (LOW, ADDR), (HIGH, DATA8)])


def root():
    return leb(1) + struct.pack("<QQ", CODE, SIZE)


def function(name=b"f"):
    return leb(2) + name + b"\0" + struct.pack("<QQ", CODE, SIZE)


def make(path, sections, compressed=()):
    """Make an ELF file with a segment of code and the sections."""
    names, at = b"\0", CODE + SIZE
    headers, bodies = [bytes(64)], b""
    for name, data in sections.items():
        flags = 0x800 if name in compressed else 0
        headers.append(struct.pack("<IIQQQQIIQQ", len(names), 1, flags, 0, at, len(data), 0, 0, 1,
                                   0))
        names += name.encode() + b"\0"
        bodies += data
        at += len(data)
    headers.append(struct.pack("<IIQQQQIIQQ", len(names), 3, 0, 0, at, len(names) + 10, 0, 0, 1,
                               0))
    names += b".shstrtab\0"
    bodies += names
    at += len(names)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, at, 0, 64, 56, 1, 64, len(headers), len(headers) - 1)
    segment = struct.pack("<IIQQQQQQ", 1, 5, CODE, CODE, CODE, SIZE, SIZE, 0x1000)
    path.write_bytes((head + segment).ljust(CODE, b"\0") + b"\x90" * SIZE + bodies
                     + b"".join(headers))
    return path


def good():
    abbrev = abbreviations(ROOT, FUNCTION, (INLINED, 0, [(ORIGIN, REF4), (LOW, ADDR), (HIGH, DATA8),
                                                          (CALL_LINE, DATA1)]))
    inner = function(b"inner") + b"\0"
    inlined = leb(3) + struct.pack("<IQQB", HEAD + len(root()), CODE, SIZE, 7)
    return {".debug_abbrev": abbrev,
            ".debug_info": unit(root() + inner + function(b"outer") + inlined + b"\0\0")}


def origins_in_a_circle():
    """Functions that are inlined copies of each other, and of themselves."""
    abbrev = abbreviations(ROOT, FUNCTION,
                           (INLINED, 1, [(ORIGIN, REF4), (LOW, ADDR), (HIGH, DATA8)]))
    at = HEAD + len(root()) + len(function())
    size = 1 + 4 + 16
    entries = b"".join(leb(3) + struct.pack("<IQQ", at + (i ^ 1) * size, CODE, SIZE)
                       for i in range(64))
    return {".debug_abbrev": abbrev, ".debug_info": unit(root() + function() + entries + bytes(66))}


def deep():
    """Three hundred thousand nested scopes that all contain the address."""
    abbrev = abbreviations(ROOT, FUNCTION, (BLOCK, 1, [(LOW, ADDR), (HIGH, DATA8)]))
    block = leb(3) + struct.pack("<QQ", CODE, SIZE)
    return {".debug_abbrev": abbrev,
            ".debug_info": unit(root() + function() + block * 300000 + bytes(300002))}


def functions_in_functions():
    """Many functions on every level, which may make a search take quadratic time."""
    abbrev = abbreviations(ROOT, FUNCTION)
    return {".debug_abbrev": abbrev,
            ".debug_info": unit(root() + function() * 100000 + bytes(100001))}


def siblings_backwards():
    abbrev = abbreviations(ROOT, (SUBPROGRAM, 1, [(SIBLING, REF4), (NAME, STRING), (LOW, ADDR),
                                                  (HIGH, DATA8)]))
    entry = leb(2) + struct.pack("<I", HEAD + len(root())) + b"f\0" + struct.pack("<QQ", CODE, SIZE)
    return {".debug_abbrev": abbrev, ".debug_info": unit(root() + (entry + b"\0") * 100 + b"\0")}


def lines(program):
    header = bytes([1, 1, 1, 0xfb, 14, 13]) + b"\0\1\1\1\1\0\0\0\1\0\0\1" + b"\0" + b"a.c\0\0\0\0\0"
    body = struct.pack("<HI", 4, len(header)) + header + program
    return struct.pack("<I", len(body)) + body


def with_lines(program):
    abbrev = abbreviations((UNIT, 1, [(LOW, ADDR), (HIGH, DATA8), (STATEMENTS, SEC_OFFSET)]),
                           FUNCTION)
    entries = root() + struct.pack("<I", 0) + function() + b"\0\0"
    return {".debug_abbrev": abbrev, ".debug_info": unit(entries), ".debug_line": lines(program)}


def huge_advance():
    set_address = b"\0\x09\x02" + struct.pack("<Q", CODE)
    return with_lines(set_address + (b"\2" + leb((1 << 63) - 1) + b"\x20") * 1000 + b"\0\1\1")


def endless_lines():
    """Eight million rows from as many bytes: far more memory than the size of the file."""
    set_address = b"\0\x09\x02" + struct.pack("<Q", CODE)
    return with_lines(set_address + b"\x14" * 8000000 + b"\0\1\1")


def number_without_end():
    return {".debug_abbrev": abbreviations(ROOT), ".debug_info": unit(b"\x80" * 1000000)}


def ranges_without_end():
    abbrev = abbreviations((UNIT, 1, [(LOW, ADDR), (RANGES, SEC_OFFSET)]), FUNCTION)
    entries = leb(1) + struct.pack("<QI", 0, 0) + function() + b"\0\0"
    return {".debug_abbrev": abbrev, ".debug_info": unit(entries),
            ".debug_ranges": struct.pack("<QQ", CODE, CODE + 1) * 1000000}


def unit_of_any_length():
    made = good()
    return dict(made, **{".debug_info": struct.pack("<I", 0xfffffff0) + made[".debug_info"][4:]})


def empty_units():
    return {".debug_abbrev": abbreviations(ROOT), ".debug_info": bytes(4000000)}


def packed(size, data=b"x" * 100):
    return struct.pack("<IIQQ", 1, 0, size, 1) + zlib.compress(data)


CASES = [origins_in_a_circle, deep, functions_in_functions, siblings_backwards, huge_advance,
         endless_lines, number_without_end, ranges_without_end, unit_of_any_length, empty_units]


class Hostile(Home):
    def ask(self, *files, memory=MEMORY, offsets=range(CODE, CODE + SIZE, 64)):
        """
        Query the files; return {name: (status, needed, asked, found)}, and how often the worker
        was lost.
        """
        done = subprocess.run([WORKER, str(memory), *map(str, files)], timeout=200, check=True,
                              input="\n".join("%x" % o for o in offsets).encode(),
                              capture_output=True)
        text = done.stdout.decode()
        # no file makes the worker exceed its limit
        resident = int(re.search(r"^resident (\d+)$", text, re.M)[1]) << 10
        self.assertLess(resident, memory + (32 << 20))
        made = {pathlib.Path(m[5]).name: tuple(map(int, m.groups()[:4]))
                for m in re.finditer(r"^(\d+) (\d+) (\d+) (\d+) (.+)$", text, re.M)}
        return made, int(re.search(r"^restarts (\d+)$", text, re.M)[1])

    def test_what_is_made_is_understood(self):
        """
        The generated files are valid; otherwise the others would be rejected for a different
        reason.
        """
        made, restarts = self.ask(make(self.home / "good", good()))
        self.assertEqual(made["good"][0], 0)
        self.assertEqual(made["good"][3], made["good"][2])
        self.assertEqual(restarts, 0)

    def test_each(self):
        fine = make(self.home / "fine", good())
        for case in CASES:
            with self.subTest(case=case.__name__):
                began = time.monotonic()
                bad = make(self.home / case.__name__, case())
                made, restarts = self.ask(bad, fine)
                # the next file is read normally
                self.assertEqual(made["fine"][0], 0)
                self.assertEqual(made["fine"][3], made["fine"][2])
                self.assertIn(case.__name__, made)
                print(f"{case.__name__}: {made[case.__name__]}, {restarts} restarts, "
                      f"{time.monotonic() - began:.1f} s")
                bad.unlink()

    def test_false_sizes(self):
        """A compressed section that claims more than it holds."""
        abbrev = good()[".debug_abbrev"]
        for size, status in ((1 << 40, 7), (100 << 20, 74), ((1 << 64) - 1, 7), (10, 74)):
            with self.subTest(size=size):
                bad = make(self.home / "packed", {".debug_abbrev": abbrev,
                                                  ".debug_info": packed(size)}, (".debug_info",))
                made, restarts = self.ask(bad)
                self.assertEqual(made["packed"][0], status)
                self.assertEqual(restarts, 0)

    def test_a_bomb(self):
        """A section a thousand times as large as the file, within the limit."""
        bad = make(self.home / "bomb", {".debug_abbrev": good()[".debug_abbrev"],
                                        ".debug_info": packed(100 << 20, bytes(100 << 20))},
                   (".debug_info",))
        self.assertLess(bad.stat().st_size, 1 << 20)
        made, restarts = self.ask(bad, make(self.home / "fine", good()))
        self.assertEqual(made["fine"][0], 0)
        self.assertEqual(restarts, 0)

    def test_no_compression_that_is_known(self):
        bad = make(self.home / "packed", {".debug_info": struct.pack("<IIQQ", 9, 0, 10, 1)},
                   (".debug_info",))
        self.assertEqual(self.ask(bad)[0]["packed"][0], 74)

    def test_a_file_that_is_too_large_is_told_at_once(self):
        bad = make(self.home / "large", dict(good(), **{".debug_str": bytes(MEMORY)}))
        made, restarts = self.ask(bad)
        self.assertEqual(made["large"][0], 7)
        self.assertGreater(made["large"][1], MEMORY)
        self.assertEqual(restarts, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
