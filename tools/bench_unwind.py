# SPDX-License-Identifier: Apache-2.0
"""Measure the cost of unwinding apart from samples: tables, their memory, the start."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import struct
import sys
import time

from bench_measure import SLOW, output_of
from bench_meter import (BenchError, Load, Recorder, Spread, cost_of, proc_text, processes_below,
                         shared_with_kernel)

CROWD = 1000
LIBRARIES = 300
MMAPABLE = 1 << 10  # BPF_F_MMAPABLE of the kernel's interface
FOLDERS = ("/usr/lib", "/lib", "/opt")
# This program maps the code of files as the dynamic linker does, and runs none of it.
MAPPER = """
import mmap, os, sys, time
kept = []
for line in sys.stdin:
    offset, size, path = line.rstrip("\\n").split(" ", 2)
    fd = os.open(path, os.O_RDONLY)
    kept.append(mmap.mmap(fd, int(size), mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC,
                          offset=int(offset)))
    os.close(fd)
time.sleep(3600)
"""


CHUNK = 1 << 20  # bytes: skein's arena consists of shared maps of this size


class Footprint:
    """Memory of a recorder now, KiB: of its processes, and of its BPF maps in the kernel."""

    def __init__(self, pid):
        self.own = sum(self._resident(p) for p in processes_below(pid))
        held = [self._map(info) for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir()]
        self.maps = sum(memlock for memlock, _ in held) / 1024
        spans = re.findall(r"^(\w+)-(\w+) .*bpf-map", proc_text(pid, "maps"), re.M)
        chunks = [1 for begin, end in spans if int(end, 16) - int(begin, 16) == CHUNK]
        # other maps of that size are also held as descriptors; chunks of the arena are not
        self.arena = (len(chunks) - sum(size == CHUNK for _, size in held)) * CHUNK / 1024

    @staticmethod
    def _resident(pid):
        try:
            match = re.search(r"VmRSS:\s*(\d+)", proc_text(pid, "status"))
            return int(match.group(1)) - shared_with_kernel(pid) if match else 0
        except OSError:
            return 0

    @staticmethod
    def _map(info):
        """Return (bytes of kernel memory, bytes that can be shared); zeros if it is no map."""
        try:
            fields = dict(re.findall(r"^(\w+):\s*(\w+)", info.read_text(), re.M))
        except OSError:
            return 0, 0
        number = {key: int(fields.get(key, "0"), 0)
                  for key in ("memlock", "map_flags", "value_size", "max_entries")}
        shared = number["value_size"] * number["max_entries"]
        return number["memlock"], shared if number["map_flags"] & MMAPABLE else 0


def crowds(bench):
    """Return [(what, Footprint before, after)] of processes that started during a recording."""
    commands = {
        "forked": [bench.bare, "crowd", CROWD],
        "each with a program of its own": [
            "sh", "-c", f"for i in $(seq {CROWD}); do sleep 3600 & done; wait"],
    }
    rows = []
    for what, crowd in commands.items():
        command, _ = bench.recording("skein", SLOW, 60, "crowd")
        with Recorder(command, bench.events("skein")) as recorder:
            time.sleep(2)
            before = Footprint(recorder.pid)
            with Load(crowd, 1) as load:
                _wait_for_crowd(load.running[0].pid)
                after = Footprint(recorder.pid)
        bench.say(f"{CROWD} processes, {what}: {before.own:.0f} -> {after.own:.0f} KiB, maps "
                  f"{before.maps:.0f} -> {after.maps:.0f}, arena {before.arena:.0f} -> "
                  f"{after.arena:.0f}")
        rows.append((what, before, after))
    return rows


def _wait_for_crowd(pid):
    end = time.monotonic() + 60
    while len(processes_below(pid)) < CROWD:
        if time.monotonic() > end:
            raise BenchError(f"{CROWD} processes did not start within a minute")
        time.sleep(0.2)
    time.sleep(3)  # their mappings are processed, and nothing is pending


def code_of(path):
    """Return (offset, size) of an ELF file's first executable segment, or None."""
    with open(path, "rb") as f:
        head = f.read(64)
        if head[:6] != b"\x7fELF\x02\x01":
            return None
        start, size, count = (*struct.unpack_from("<Q", head, 32),
                              *struct.unpack_from("<HH", head, 54))
        f.seek(start)
        for header in struct.iter_unpack("<IIQQQQQQ", f.read(size * count)):
            kind, flags, offset, _, _, length = header[:6]
            if kind == 1 and flags & 1:
                begin = offset // mmap_unit() * mmap_unit()
                return begin, offset + length - begin
    return None


def mmap_unit():
    return os.sysconf("SC_PAGE_SIZE")


def largest_libraries():
    """Return [(bytes of the file, offset and size of its code, path)], each file once."""
    found = {}
    for folder in FOLDERS:
        for path in pathlib.Path(folder).rglob("*.so*"):
            with contextlib.suppress(OSError, struct.error):
                stat = path.stat()
                if path.is_file() and (stat.st_dev, stat.st_ino) not in found:
                    code = code_of(path)
                    if code:
                        found[stat.st_dev, stat.st_ino] = (stat.st_size, *code, path)
    return sorted(found.values(), reverse=True)[:LIBRARIES]


@contextlib.contextmanager
def mapping(bench, libraries):
    """Start a process that maps the code of the libraries."""
    listing = bench.folder / "libraries"
    listing.write_text("".join(f"{o} {size} {path}\n" for _, o, size, path in libraries))
    command = ["sh", "-c", 'exec "$0" -c "$1" <"$2"', sys.executable, MAPPER, listing]
    with Load(command, 1) as load:
        time.sleep(1)
        pid = load.running[0].pid
        maps = len(set(re.findall(r"r-xp.* (/.*)", proc_text(pid, "maps"))))
        if maps < len(libraries):
            raise BenchError(f"{maps} of {len(libraries)} libraries could be mapped")
        yield


class Start:
    """A very short recording. wall: s until it samples; cpu: s of all of it."""

    def __init__(self, bench, cache):
        command, path = bench.recording("skein", SLOW, 0.01, "start")
        command[command.index("-q")] = "-v"
        at = time.clock_gettime(time.CLOCK_BOOTTIME)
        cost = cost_of([*command, "--unwind-cache", cache])
        start = json.loads(output_of([bench.skein, "query", "--json", path,
                                      "SELECT start FROM host"]))[0]["start"]
        self.wall, self.cpu = start / 1e9 - at, cost.cpu
        match = re.search(r"unwind tables of (\S+) files: (.*) in (.*) of kernel memory; "
                          r"(\d+) made, (\d+) from the cache", cost.said)
        if not match:
            raise BenchError("skein's summary does not mention unwind tables")
        self.files, self.bytes, self.memory = match.group(1, 2, 3)
        self.made, self.cached = (int(n) for n in match.group(4, 5))


def _starts(bench, what, cache, rounds):
    starts = []
    for _ in range(rounds):
        if what.endswith("empty"):
            shutil.rmtree(cache, ignore_errors=True)
        starts.append(Start(bench, cache))
    last = starts[-1]
    bench.say(f"start, {what}: {last.wall:.3f} s until it samples, {last.cpu:.3f} s of CPU, "
              f"{last.made} tables made, {last.cached} from the cache")
    return what, Spread(s.wall for s in starts), Spread(s.cpu for s in starts), last


def starts(bench):
    """Return (libraries, [(what, wall, CPU, the last Start)])."""
    libraries, cache = largest_libraries(), bench.folder / "start-cache"
    rows = [_starts(bench, "without them, no cache", "", bench.rounds)]
    with mapping(bench, libraries):
        for what in ("no cache", "cache empty", "cache full"):
            rows.append(_starts(bench, what, "" if what == "no cache" else cache, bench.rounds))
    return libraries, rows


def tables(bench, libraries):
    """Return [(path, bytes of the file, s to make its table, bytes of the table)]."""
    program = bench.compile_with_library("bench_tables")
    paths = [path for *_, path in libraries if path.name == "libjvm.so"]
    paths += [path for *_, path in libraries if path.name.startswith("libLLVM")][:1]
    paths += [pathlib.Path(line.split()[-1]) for line in
              proc_text("self", "maps").splitlines() if line.endswith("/libc.so.6")][:1]
    rows = []
    for path in paths:
        ns, size = (int(n) for n in output_of([program, path, 9]).split())
        bench.say(f"table of {path}: {ns / 1e6:.1f} ms, {size} bytes")
        rows.append((path, path.stat().st_size, ns / 1e9, size))
    return rows
