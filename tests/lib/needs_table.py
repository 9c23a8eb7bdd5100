# SPDX-License-Identifier: Apache-2.0
"""Read what a recording needs from `skein doctor --table`."""
import re
import subprocess

from built import SKEIN

ITEM = re.compile(r"^- \*\*(?P<name>[^*]+)\*\*: (?P<what>.*?)\.\n  Without it: (?P<lost>.*?)\.\n"
                  r"(?P<fixes>\n(?:      [^\n]*\n)+)?", re.M | re.S)
FIX = re.compile(r"^      (\S.*?\S)  +(\S.*)$", re.M)


def _one_line(text):
    return " ".join(text.split())


class NeedsTable:
    """Capabilities and other needs by name, in the order of the table."""

    def __init__(self):
        self.text = subprocess.run([SKEIN, "doctor", "--table"], capture_output=True, check=True,
                                   text=True).stdout
        self.capabilities = {} # name: what is lost without it
        self.fixes = {} # name: {setting: line}
        for item in ITEM.finditer(self.text):
            name = _one_line(item["name"])
            if item["fixes"]:
                self.fixes[name] = dict(FIX.findall(item["fixes"]))
            else:
                self.capabilities[name] = _one_line(item["lost"])
        assert len(self.capabilities) + len(self.fixes) == self.text.count("Without it:")

    def all_capabilities(self, setting):
        """Return the line that gives all capabilities at once in a setting."""
        code, = re.findall(rf"^- in {re.escape(setting)}:\n\n((?:      .*\n)+)", self.text, re.M)
        return _one_line(code.replace("\\\n", "\n"))
