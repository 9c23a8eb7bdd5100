# SPDX-License-Identifier: Apache-2.0
"""The code cache of a live JVM, read from its memory by HotSpot's own tables, independently of
skein's reader. Also a tool that saves pieces of it for tests/unit/test_hotspot_paths.c:

    python3 tests/lib/hotspot_vm.py PID FILE
"""
import bisect
import os
import random
import struct
import subprocess
import sys

KINDS = {"nmethod": "C", "native nmethod": "N", "I2C/C2I adapters": "A",
         "MethodHandles adapters": "L"}
# Blobs that are made while the program runs, or hold no code that runs.
SKIPPED = ("C1 temporary", "Signature Handler", "native signature", "adapters", "Interpreter")
BARE = ("vtable", "Inline")


def kind_of(name):
    """Return the letter of tests/readers/hotspot_steps.c for a blob's name."""
    if name in KINDS:
        return KINDS[name]
    if name.startswith("StubRoutines"):
        return "F"
    return "B" if name.startswith(BARE) else "f"


class Vm:
    def __init__(self, pid):
        self.memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        self.fields, self.types, self.names = {}, {}, {}
        self._find_tables(pid)
        self.load()

    def close(self):
        os.close(self.memory)

    def read(self, address, size):
        return os.pread(self.memory, size, address)

    def number(self, address, form="Q"):
        return struct.unpack("<" + form, self.read(address, struct.calcsize(form)))[0]

    def text(self, address):
        return self.read(address, 256).split(b"\0")[0].decode("latin1") if address else ""

    def _find_tables(self, pid):
        lines = [l.split() for l in open(f"/proc/{pid}/maps") if l.rstrip().endswith("libjvm.so")]
        base, path = int(lines[0][0].split("-")[0], 16), lines[0][5]
        symbols = subprocess.run(["nm", "-D", path], capture_output=True, text=True).stdout
        s = {}
        for line in symbols.splitlines():
            f = line.split()
            if len(f) == 3 and f[2].startswith("gHotSpotVM"):
                s[f[2].split("@")[0][len("gHotSpotVM"):]] = self.number(base + int(f[0], 16))
        at = s["Structs"]
        while kind := self.number(at + s["StructEntryTypeNameOffset"]):
            name = self.text(self.number(at + s["StructEntryFieldNameOffset"]))
            static = self.number(at + s["StructEntryIsStaticOffset"], "I")
            value = s["StructEntryAddressOffset" if static else "StructEntryOffsetOffset"]
            self.fields[self.text(kind), name] = self.number(at + value)
            at += s["StructEntryArrayStride"]
        at = s["Types"]
        while kind := self.number(at + s["TypeEntryTypeNameOffset"]):
            self.types[self.text(kind)] = self.number(at + s["TypeEntrySizeOffset"])
            at += s["TypeEntryArrayStride"]

    def _heaps(self):
        f = self.fields
        array = self.number(f["CodeCache", "_heaps"])
        data = self.number(array + f["GrowableArray<int>", "_data"])
        count = self.number(array + f.get(("GrowableArrayBase", "_len"), 0), "i")
        return [self.number(data + 8 * i) for i in range(count)]

    def ranges(self):
        """Return the reserved addresses of the heaps."""
        at = self.fields["CodeHeap", "_memory"]
        return [tuple(self.number(h + at + self.fields["VirtualSpace", k])
                      for k in ("_low_boundary", "_high_boundary")) for h in self._heaps()]

    def _blobs(self):
        f, v = self.fields, "VirtualSpace"
        header = self.types["HeapBlock"]
        for heap in self._heaps():
            memory, segments = heap + f["CodeHeap", "_memory"], heap + f["CodeHeap", "_segmap"]
            low, high = self.number(memory + f[v, "_low"]), self.number(memory + f[v, "_high"])
            shift = self.number(heap + f["CodeHeap", "_log2_segment_size"], "i")
            table = self.read(self.number(segments + f[v, "_low"]), (high - low) >> shift)
            for i in (i for i, byte in enumerate(table) if not byte):
                block = low + (i << shift)
                try:
                    if self.number(block + f["HeapBlock::Header", "_used"], "B"):
                        yield self._blob(block + header)
                except struct.error:  # it was freed meanwhile
                    continue

    def _blob(self, at):
        f = self.fields
        blob = {"address": at, "name": self.text(self.number(at + f["CodeBlob", "_name"])),
                "frame": self.number(at + f["CodeBlob", "_frame_size"], "i"), "entry": 0}
        if ("CodeBlob", "_code_offset") in f:
            blob["begin"] = at + self.number(at + f["CodeBlob", "_code_offset"], "i")
            blob["end"] = at + self.number(at + f["CodeBlob", "_data_offset"], "i")
            form = "h"
        else:
            blob["begin"] = self.number(at + f["CodeBlob", "_code_begin"])
            blob["end"] = self.number(at + f["CodeBlob", "_code_end"])
            form = "i"
        blob["complete"] = self.number(at + f["CodeBlob", "_frame_complete_offset"], form)
        blob["kind"] = kind_of(blob["name"])
        if blob["kind"] == "C" and self.number(at + f["nmethod", "_entry_bci"], "i") != -1:
            entry = self.number(at + f["nmethod", "_osr_entry_point"]) - blob["begin"]
            blob["entry"] = entry if 0 < entry < blob["end"] - blob["begin"] else 0
        return blob

    def codelets(self):
        """Return the interpreter's codelets as blobs."""
        f = self.fields
        queue = self.number(f["AbstractInterpreter", "_code"])
        at = self.number(queue + f["StubQueue", "_stub_buffer"])
        result = []
        for _ in range(self.number(queue + f["StubQueue", "_number_of_stubs"], "i")):
            size = self.number(at + f["InterpreterCodelet", "_size"], "i")
            name = self.text(self.number(at + f["InterpreterCodelet", "_description"]))
            begin = (at + self.types["InterpreterCodelet"] + 31) // 32 * 32
            result.append({"name": name, "begin": begin, "end": at + size, "frame": 0,
                           "complete": -1, "entry": 0,
                           "kind": "e" if "method entry point" in name else "i"})
            at += size
        return result

    def load(self):
        """Read again which code there is."""
        blobs = [b for b in self._blobs() if b["name"] != "Interpreter"] + self.codelets()
        self.blobs = sorted(blobs, key=lambda b: b["begin"])
        self.begins = [b["begin"] for b in self.blobs]

    def find(self, pc):
        for _ in range(2):
            i = bisect.bisect(self.begins, pc) - 1
            if i >= 0 and pc < self.blobs[i]["end"]:
                return self.blobs[i]
            self.load()
        return None


def save(vm, path, methods=120):
    """Save codelets of entries and returns, stubs and some methods, as tests/unit reads them: per
    piece a line "KIND FRAME COMPLETE ENTRY BYTES NAME" and the bytes."""
    chosen = [b for b in vm.blobs if b["kind"] in "eFf" and not b["name"].startswith(SKIPPED)]
    chosen += [b for b in vm.blobs if b["kind"] == "i" and
               b["name"] in ("ireturn", "areturn", "return", "invokevirtual", "exception handling",
                             "result handlers for native calls", "iadd", "goto")]
    for kind, count in (("C", methods), ("N", 8), ("A", 8)):
        some = [b for b in vm.blobs if b["kind"] == kind and b["end"] - b["begin"] < 3000]
        chosen += random.Random(3).sample(some, min(count, len(some)))
    raw = path.removesuffix(".zst")
    with open(raw, "wb") as out:
        for b in chosen:
            code = vm.read(b["begin"], b["end"] - b["begin"])
            out.write(f"{b['kind']} {b['frame']} {b['complete']} {b['entry']} {len(code)} "
                      f"{b['name']}\n".encode() + code)
    subprocess.run(["zstd", "-19", "-q", "-f", "--rm", raw, "-o", path], check=True)


if __name__ == "__main__":
    save(Vm(int(sys.argv[1])), sys.argv[2])
