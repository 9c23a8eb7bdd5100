# SPDX-License-Identifier: Apache-2.0
"""Run a query by skein, by SQLite's shell and by Python's sqlite3, the last two with skein.so."""
import functools
import json
import os
import shutil
import subprocess
import unittest

from traces import BUILD, LIMIT, output

EXTENSION = BUILD / "skein.so"

# The interpreter that runs the tests may lack support for extensions; Debian's has it.
PYTHONS = ("/usr/bin/python3", shutil.which("python3"))
PROBE = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"

PROGRAM = """
import json, sqlite3, sys
extension, statements, paths = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
database = sqlite3.connect(f"file:{paths[0]}?mode=ro", uri=True)
database.enable_load_extension(True)
database.load_extension(extension)
database.enable_load_extension(False)
database.text_factory = lambda text: text.decode(errors="replace")
database.execute("PRAGMA trusted_schema = OFF")
for i, path in enumerate(paths[1:]):
    database.execute(f"ATTACH ? AS {'before' if not i else 'other'}", (path,))
try:
    for statement in statements:
        cursor = database.execute(statement)
        names = [column[0] for column in cursor.description or ()]
        rows = cursor.fetchall()
except sqlite3.Error as error:
    sys.exit(f"Error: {error}")
print(json.dumps([dict(zip(names, row)) for row in rows]))
"""


@functools.cache
def loading_python():
    for python in filter(None, PYTHONS):
        if os.access(python, os.X_OK) and not subprocess.run(
                [python, "-c", PROBE], capture_output=True, check=False).returncode:
            return python
    raise unittest.SkipTest("no Python here can load extensions of SQLite")


class Refused(Exception):
    """The error of a tool instead of rows."""


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False,
                          timeout=LIMIT, cwd="/")
    if done.returncode < 0:
        raise AssertionError(f"{command[0]} was ended by signal {-done.returncode}")
    if done.returncode or done.stderr:
        raise Refused(done.stderr.decode(errors="replace"))
    return done.stdout.decode(errors="replace")


def by_shell(*statements, traces):
    """Return the rows of the last statement, run by SQLite's shell."""
    if not shutil.which("sqlite3"):
        raise unittest.SkipTest("sqlite3 is not installed")
    attach = [f"ATTACH '{path}' AS {name}" for path, name in zip(traces[1:], ("before", "other"))]
    text = run(["sqlite3", "-readonly", "-bail", traces[0], f".load {EXTENSION}",
                "PRAGMA trusted_schema = OFF", *attach, ".mode list", ".output /dev/null",
                *statements[:-1], ".output stdout", ".mode json", statements[-1]])
    return json.loads(text or "[]")


def by_python(*statements, traces):
    return json.loads(run([loading_python(), "-c", PROGRAM, EXTENSION, json.dumps(statements),
                           *traces]))


TOLERANT = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[2])
database.enable_load_extension(True)
database.load_extension(sys.argv[1])
for statement in sys.argv[3:]:
    try:
        for row in database.execute(statement):
            pass
    except (sqlite3.Error, UnicodeError):
        pass
"""


def withstand(trace, *statements):
    """
    Run all statements with both tools, whether they fail or not; no tool may be ended by a signal.
    """
    lines = "".join(f"{line};\n" for line in statements)
    for command, text in ((["sqlite3", trace], f".load {EXTENSION}\n{lines}"),
                          ([loading_python(), "-c", TOLERANT, EXTENSION, trace, *statements], "")):
        done = subprocess.run([str(word) for word in command], input=text.encode(), check=False,
                              timeout=LIMIT, capture_output=True)
        if done.returncode < 0:
            raise AssertionError(f"{command[0]} was ended by signal {-done.returncode}")


def by_skein(sql, trace):
    return json.loads(output("query", "--json", trace, sql))


def rounded(rows):
    """Round numbers, because the tools print different numbers of digits."""
    return [{name: float(f"{value:.10g}") if isinstance(value, float) else value
             for name, value in row.items()} for row in rows]
