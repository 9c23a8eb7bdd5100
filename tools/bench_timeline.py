#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows of a long trace: how long one takes, and what writing and reading cost.

The trace is that of a made-up machine (tests/unit/machine.h: 64 CPUs, 2,000 threads in bursts),
written by the trace writer. Prints rows of a Markdown table.

    tools/bench_timeline.py [--build DIR] [--slices N] [--windows N] [--json FILE]
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANES = 100
WIDTH = 1920


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


def measure(build, path, slices, count):
    writer = run(build / "tests/readers/make_timeline", path, slices)[0]
    readers = [windows_of(build, path, kind, count, cold)
               for kind in ("cpu", "thread") for cold in (True, False)]
    return {"writer": writer, "readers": readers}


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


def rows(result):
    yield from writer_rows(result["writer"])
    for reader in result["readers"]:
        yield from reader_rows(reader)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--slices", type=int, default=100_000_000)
    parser.add_argument("--windows", type=int, default=200)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(args.build, pathlib.Path(folder) / "long.skein", args.slices,
                         args.windows)
    if args.json:
        args.json.write_text(json.dumps(result))
    for name, value in rows(result):
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
