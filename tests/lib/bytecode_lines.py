# SPDX-License-Identifier: Apache-2.0
"""Rewrite class files so that each bytecode has a line of its own: that of index N is N + 1."""
import pathlib
import struct

SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4,
         19: 2, 20: 2}  # bytes of a constant behind its tag
LINES_MOST = 65535


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(form)))[0]


def _constants(r):
    """Skip the constants; return their texts by index."""
    texts, index, count = {}, 1, r.number("H")
    while index < count:
        tag = r.number("B")
        if tag == 1:
            texts[index] = r.take(r.number("H"))
        else:
            r.take(SIZES[tag])
        index += 2 if tag in (5, 6) else 1
    return texts


def _attributes(r, texts, change):
    """Return the bytes of a list of attributes, each changed by change(name, content)."""
    out, count = b"", r.number("H")
    for _ in range(count):
        name = r.take(2)
        content = r.take(r.number("I"))
        content = change(texts[struct.unpack(">H", name)[0]], content)
        out += name + struct.pack(">I", len(content)) + content
    return struct.pack(">H", count) + out


def _code(texts):
    def change_code(name, content):
        if name != b"Code":
            return content
        r = _Reader(content)
        head = r.take(4)
        size = r.number("I")
        body = r.take(size)
        exceptions = r.number("H")
        table = r.take(8 * exceptions)
        lines = min(size, LINES_MOST)
        every = struct.pack(">H", lines) + b"".join(struct.pack(">HH", i, i + 1)
                                                    for i in range(lines))
        rest = _attributes(r, texts, lambda name, old: every if name == b"LineNumberTable" else old)
        return (head + struct.pack(">I", size) + body + struct.pack(">H", exceptions) + table
                + rest)
    return change_code


def _members(r, texts, change):
    count = r.number("H")
    return struct.pack(">H", count) + b"".join(
        r.take(6) + _attributes(r, texts, change) for _ in range(count))


def number_bytecodes(data):
    """Return a class file's bytes with a line for each index of a bytecode."""
    r = _Reader(data)
    r.take(8)
    texts = _constants(r)
    r.take(6)
    r.take(2 * r.number("H"))
    head = data[:r.at]
    fields = _members(r, texts, lambda name, content: content)
    return head + fields + _members(r, texts, _code(texts)) + data[r.at:]


def number_all(folder):
    for path in pathlib.Path(folder).rglob("*.class"):
        path.write_bytes(number_bytecodes(path.read_bytes()))
