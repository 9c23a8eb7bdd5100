#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows of a long trace: how long one takes, and what writing and reading cost.

The trace is that of a made-up machine (tests/unit/machine.h: 64 CPUs, 2,000 threads in bursts),
written by the trace writer. Windows are rendered by a reader of the trace, and asked of skein view.
Prints rows of a Markdown table.

    tools/bench_timeline.py [--build DIR] [--slices N] [--windows N] [--json FILE]
                            [--view-of TRACE]

With --view-of, only skein view is measured, of a trace that exists: tests/readers/make_timeline
TRACE 100000000 writes one of 100 million slices in two minutes.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANES = 100
WIDTH = 1920
SHORTEST = 1_000_000  # ns, of the windows asked of skein view
ASKED = 3  # times that a window is asked: the least CPU counts, as other programs only add to it


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command[0]}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def forget_pages(path):
    """Drop the file from the page cache."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def windows_of(build, path, kind, count, cold):
    """Return the reader's output as a dict, times in ms."""
    if cold:
        forget_pages(path)
    rows = run(build / "tests/readers/time_windows", path, count, LANES, WIDTH, kind)
    windows = [row for row in rows if "ms" in row]
    result = {"kind": kind, "cold": cold, "windows": windows}
    for row in rows:
        if "ms" not in row:
            result.update(row)
    return result


class Server:
    """A server of skein view."""

    def __init__(self, build, path):
        self.started = time.monotonic()
        self.process = subprocess.Popen([build / "skein", "view", "-n", path], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        address = self.process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=(.*)\n", address)
        if not found:
            raise SystemExit(f"skein view does not serve {path}")
        self.token = found[2]
        self.connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=120)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, what):
        self.connection.request("GET", "/api/" + what, headers={"X-Skein-Token": self.token})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"skein view: {body.decode().strip()}")
        return body

    def cpu_ms(self):
        """The CPU time of all threads so far."""
        threads = pathlib.Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e6

    def peak_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])


def cpu_of_answer(server, what):
    least = float("inf")
    for _ in range(ASKED):
        before = server.cpu_ms()
        server.ask(what)
        least = min(least, server.cpu_ms() - before)
    return least


def asked_windows(build, path, kinds, count):
    """Ask for windows of all lengths, of LANES lanes: those of the first kind come first."""
    chance = random.Random(1)
    with Server(build, path) as server:
        trace = json.loads(server.ask("trace"))
        lanes = [row["lane"] for kind in kinds for row in trace["rows"] if row["kind"] == kind]
        server.ask(f"window?from=0&to={trace['length']}&columns={WIDTH}"
                   f"&lanes={','.join(lanes[:LANES])}")
        first = {"ms": (time.monotonic() - server.started) * 1e3, "cpu_ms": server.cpu_ms()}
        cpu = []
        for _ in range(count):
            length = int(trace["length"] * (SHORTEST / trace["length"]) ** chance.random())
            begin = chance.randrange(trace["length"] - length + 1)
            what = f"window?from={begin}&to={begin + length}&columns={WIDTH}"
            cpu.append({"ns": length, "cpu_ms": cpu_of_answer(
                server, f"{what}&lanes={','.join(lanes[:LANES])}")})
        return {"kinds": kinds, "windows": cpu, "first": first, "peak_kib": server.peak_kib()}


def asked_views(build, path, count):
    return [asked_windows(build, path, kinds, count)
            for kinds in (("cpu", "thread"), ("thread",))]


def measure(build, path, slices, count):
    writer = run(build / "tests/readers/make_timeline", path, slices)[0]
    readers = [windows_of(build, path, kind, count, cold)
               for kind in ("cpu", "thread") for cold in (True, False)]
    return {"writer": writer, "readers": readers, "views": asked_views(build, path, count)}


def writer_rows(w):
    own = (w["cpu"] - w["cpu_without_writer"]) / w["slices"] * 1e9
    yield "slices, edges", f"{w['slices']:,}, {w['edges']:,} in {w['seconds']:,.0f} s"
    yield "file, chunks alone", (f"{w['file_bytes'] / w['slices']:.2f}, "
                                 f"{w['chunk_bytes'] / w['slices']:.2f} bytes per slice")
    yield "writing, CPU", f"{own:,.0f} ns per slice"
    yield "writing, resident at most", f"{w['peak_kib'] / 1024:.0f} MiB"


def reader_rows(r):
    times = [row["ms"] for row in r["windows"]]
    cpu = [row["cpu_ms"] for row in r["windows"]]
    what = f"{LANES} {r['kind']} lanes × {WIDTH}, {'cold' if r['cold'] else 'warm'}"
    yield f"{what}: open", f"{r['open_ms']:.1f} ms"
    yield f"{what}: window", (f"median {percentile(times, 0.5):.1f} ms,"
                              f" p99 {percentile(times, 0.99):.1f}, worst {max(times):.1f};"
                              f" CPU {percentile(cpu, 0.5):.1f},"
                              f" {percentile(cpu, 0.99):.1f}, {max(cpu):.1f}")
    yield f"{what}: resident at most", f"{r['peak_kib'] / 1024:.0f} MiB"


def view_rows(v):
    cpu = [row["cpu_ms"] for row in v["windows"]]
    what = f"skein view, {LANES} {' and '.join(v['kinds'])} lanes × {WIDTH}"
    yield f"{what}: window, CPU", (f"median {percentile(cpu, 0.5):.1f} ms,"
                                   f" p95 {percentile(cpu, 0.95):.1f}, worst {max(cpu):.1f}")
    yield f"{what}: from the start to the whole recording", (
        f"{v['first']['ms']:.0f} ms, CPU {v['first']['cpu_ms']:.0f}")
    yield f"{what}: resident at most", f"{v['peak_kib'] / 1024:.0f} MiB"


def rows(result):
    if "writer" in result:
        yield from writer_rows(result["writer"])
    for reader in result.get("readers", []):
        yield from reader_rows(reader)
    for view in result["views"]:
        yield from view_rows(view)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--slices", type=int, default=100_000_000)
    parser.add_argument("--windows", type=int, default=200)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--view-of", type=pathlib.Path, metavar="TRACE")
    args = parser.parse_args()
    if args.view_of:
        result = {"views": asked_views(args.build, args.view_of, args.windows)}
    else:
        with tempfile.TemporaryDirectory() as folder:
            result = measure(args.build, pathlib.Path(folder) / "long.skein", args.slices,
                             args.windows)
    if args.json:
        args.json.write_text(json.dumps(result))
    for name, value in rows(result):
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
