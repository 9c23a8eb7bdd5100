# SPDX-License-Identifier: Apache-2.0
"""Ask the Firefox Profiler's command line about a file (installed by tools/deps readers)."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from trace_processor import CACHE
from traces import LIMIT

PROFILER = CACHE / "skein/readers/profiler-cli-0.10.0/profiler-cli.js"
NODE = shutil.which("node")
MISSING = (None if NODE and PROFILER.is_file() else
           "no command line of the Firefox Profiler: tools/deps readers, and Node")


def wait_for(word, log, process):
    until, said = time.monotonic() + LIMIT, ""
    while word not in said:
        if process.poll() is not None or "Failed" in said or time.monotonic() > until:
            raise AssertionError(f"the Firefox Profiler: {said}")
        time.sleep(0.1)
        said = log.read_text() if log.exists() else ""


def ask(file, *questions):
    """Return the answers about a file, question by question."""
    with tempfile.TemporaryDirectory() as home:
        sessions = pathlib.Path(home) / "sessions"
        sessions.mkdir()
        env = {**os.environ, "HOME": home, "NODE_NO_WARNINGS": "1",
               "PROFILER_CLI_SESSION_DIR": str(sessions)}
        # Run it in the foreground, and ask when it is ready: its own "load" gives up after half a
        # second, and a question that is too early makes it take the session for a dead one.
        reader = subprocess.Popen([NODE, PROFILER, "--daemon", file, "--session", "test"], env=env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for("Profile loaded successfully", sessions / "test.log", reader)
            answers = [subprocess.run([NODE, PROFILER, *question, "--session", "test"], env=env,
                                      timeout=LIMIT, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT) for question in questions]
        finally:
            reader.terminate()
            reader.wait(LIMIT)
    for answer in answers:
        if answer.returncode:
            raise AssertionError(answer.stdout.decode())
    return [answer.stdout.decode() for answer in answers]
