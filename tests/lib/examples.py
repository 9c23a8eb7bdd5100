# SPDX-License-Identifier: Apache-2.0
"""The commands that README, pages for users and the help show as examples."""
import re
import subprocess

from built import ROOT, SKEIN

PAGES = ("README.md", "docs/questions.md", "docs/troubleshooting.md", "docs/page.md")
LINE = re.compile(r"^ {4,}(?:\$ )?((?:sudo )?(?:skein|sqlite3) \S.*)$", re.M)
HELP_LINE = re.compile(r"^  (\S.*)$", re.M) # what an example is for is indented more


def _command(line):
    """Return the command of a line without the comment after it."""
    return re.split(r"  +(?:# )?", line.strip(), maxsplit=1)[0]


def of_page(name):
    return [_command(line) for line in LINE.findall((ROOT / name).read_text())]


def _shown(*args):
    return subprocess.run([SKEIN, *args], capture_output=True, check=True, text=True).stdout


def of_help():
    """Return the examples of the overview and of every command."""
    commands, tasks = _shown("--help").split("\n\nWhere", 1)
    commands = re.findall(r"^  ([a-z]+) +\S", commands, re.M)
    found = HELP_LINE.findall(tasks)
    for command in commands:
        found += HELP_LINE.findall(_shown(command, "--help").split("Examples:\n", 1)[1]
                                   .split("\n\n", 1)[0])
    return [_command(line) for line in found]


def every():
    """Return {command: where it is shown}, each command once."""
    found = {}
    for place, commands in (*((page, of_page(page)) for page in PAGES), ("--help", of_help())):
        for command in commands:
            found.setdefault(command, place)
    return found
