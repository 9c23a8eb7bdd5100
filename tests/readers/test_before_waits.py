# SPDX-License-Identifier: Apache-2.0
"""
Test traces of a skein that knew no stacks of waits: their samples have no columns for them. Every
command reads them as before, and says what they lack where waits are asked for.
"""
import ctypes
import ctypes.util
import json
import shutil
import sqlite3

import traces
from traces import make_scene, output, skein

WAIT_COLUMNS = ("length", "wait", "address", "other")  # the last ones of a sample
SCALED, OF_COLUMN, AS_LAST = 8, 16 | 32, 128  # bits of a column's form, docs/trace-format.md
CHECKSUM = 201  # ZSTD_c_checksumFlag

ZSTD = ctypes.CDLL(ctypes.util.find_library("zstd"))
for name in ("ZSTD_compress2", "ZSTD_decompress", "ZSTD_compressBound"):
    getattr(ZSTD, name).restype = ctypes.c_size_t
ZSTD.ZSTD_createCCtx.restype = ctypes.c_void_p


def decompressed(data, size):
    out = ctypes.create_string_buffer(size)
    got = ZSTD.ZSTD_decompress(out, ctypes.c_size_t(size), data, ctypes.c_size_t(len(data)))
    assert got == size
    return out.raw


def compressed(data):
    context = ctypes.c_void_p(ZSTD.ZSTD_createCCtx())
    ZSTD.ZSTD_CCtx_setParameter(context, CHECKSUM, 1)
    out = ctypes.create_string_buffer(ZSTD.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    size = ZSTD.ZSTD_compress2(context, out, ctypes.c_size_t(len(out)), data,
                               ctypes.c_size_t(len(data)))
    ZSTD.ZSTD_freeCCtx(context)
    return out.raw[:size]


def varint(data, at):
    """Return the number at a place, and the place after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 128:
            return value, at


def without_last_columns(data, dropped):
    """Return a chunk without so many of its last columns, as an older skein would have made it."""
    _, at = varint(data, 1)  # records
    head, (columns, at) = data[:at], varint(data, at)
    assert columns > dropped and columns - dropped < 128
    begin = at
    for _ in range(columns - dropped):
        form = data[at]
        at += 1 + bool(form & SCALED)
        for bits in (OF_COLUMN, AS_LAST):
            if form & bits:
                assert data[at] < columns - dropped
                at += 1
        length, at = varint(data, at)
        at += length
    return head + bytes([columns - dropped]) + data[begin:at]


class BeforeWaits(traces.Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.new = make_scene(cls.home / "new.skein")
        cls.old = cls.home / "old.skein"
        shutil.copy(cls.new, cls.old)
        db = sqlite3.connect(cls.old)
        cls.changed = 0
        for ident, size, data in db.execute("SELECT id, bytes_raw, data FROM chunk "
                                            "WHERE kind = 'sample'").fetchall():
            older = without_last_columns(decompressed(data, size), len(WAIT_COLUMNS))
            db.execute("UPDATE chunk SET bytes_raw = ?, data = ? WHERE id = ?",
                       (len(older), compressed(older), ident))
            cls.changed += 1
        db.commit()
        db.close()

    def refused(self, *args):
        done = skein(*args, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    def test_columns_are_zero(self):
        self.assertGreater(self.changed, 0)
        columns = ", ".join(WAIT_COLUMNS)
        rows = json.loads(output("query", "--json", self.old, f"SELECT {columns} FROM sample"))
        self.assertGreater(len(rows), 0)
        self.assertEqual({tuple(r.values()) for r in rows}, {(0, 0, 0, 0)})
        everything = "SELECT * FROM sample ORDER BY time"
        self.assertEqual(output("query", "--json", self.old, everything),
                         output("query", "--json", self.new, everything))

    def test_other_commands(self):
        for command in (("report",), ("report", "--tree"), ("report", "--json"),
                        ("export", "-f", "folded", "-o", "-"), ("export", "-f", "json", "-o", "-")):
            with self.subTest(command=command):
                old, new = (output(*command, path).decode() for path in (self.old, self.new))
                self.assertEqual(old.replace("old.skein", "new.skein"), new)

    def test_waits_are_missing(self):
        self.assertIn("-e off-cpu", self.refused("report", "--off-cpu", self.old))
        for command in (("export", "--event", "off-cpu", "-f", "folded", "-o", "-", self.old),
                        ("report", "--event", "off-cpu", self.old),
                        ("diff", "--event", "off-cpu", self.old, self.new)):
            with self.subTest(command=command):
                self.assertIn("off-cpu", self.refused(*command))

    def test_merged(self):
        """A trace with both, in which the old samples wait for nothing."""
        merged = self.home / "merged.skein"
        skein("merge", "-o", merged, self.old, self.new)
        sums = json.loads(output("query", "--json", merged,
                                 "SELECT count(*) AS n, sum(length) AS length FROM sample"))[0]
        self.assertEqual(sums["length"], 0)
        self.assertGreater(sums["n"], 0)


if __name__ == "__main__":
    traces.unittest.main()
