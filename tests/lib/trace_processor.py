# SPDX-License-Identifier: Apache-2.0
"""Query skein's exports with Perfetto's own trace processor (installed by tools/deps readers)."""
import json
import os
import pathlib
import shutil
import subprocess

from traces import LIMIT, ROOT

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
ASSETS = CACHE / "skein/readers/trace-processor-0.25.2"
RUNNER = ROOT / "tests/readers/trace_processor.mjs"
MISSING = (None if ASSETS.is_dir() and shutil.which("node") else
           "no Perfetto trace processor: tools/deps readers, and Node")


def ask(trace, *queries):
    """Return the rows of each query, as dicts."""
    lines = "\n".join(" ".join(query.split()) for query in queries)
    done = subprocess.run(["node", RUNNER, ASSETS, trace], input=lines.encode(), timeout=LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise AssertionError(f"trace processor, {trace}: {done.stderr.decode()[-2000:]}")
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


COMPLAINTS = "select name, value from stats where severity != 'info' and value > 0"


def complaints(rows):
    return {row["name"]: row["value"] for row in rows}
