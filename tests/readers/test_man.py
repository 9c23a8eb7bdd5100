# SPDX-License-Identifier: Apache-2.0
"""Test the manual pages: accepted by mandoc and groff, and complete when shown."""
import os
import re
import shutil
import subprocess
import unittest

from traces import LIMIT, ROOT, output, skein

HELP = output("--help").decode()
COMMANDS = re.findall(r"^  ([a-z]+) +\S", HELP.split("\n\nWhere", 1)[0], re.M)
PAGES = [(), *((name,) for name in COMMANDS)]
OPTION = re.compile(r"^(?:  (-\w), |      )(--[a-z-]+)(?: (\S+))?", re.M)


def page(*command, **environment):
    return output("help", "--man", *command, **environment)


def filter_through(tool, text):
    """Run a formatter; return its output and its messages."""
    done = subprocess.run(tool, input=text, capture_output=True, timeout=LIMIT, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
    return done.stdout.decode(), done.stderr.decode()


class ManTest(unittest.TestCase):
    def need(self, program):
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

    def test_mandoc_finds_nothing(self):
        self.need("mandoc")
        for command in PAGES:
            self.assertEqual(filter_through(["mandoc", "-T", "lint"], page(*command)), ("", ""),
                             command)

    def test_groff_finds_nothing(self):
        self.need("groff")
        for command in PAGES:
            tool = ["groff", "-ww", "-man", "-Tutf8", "-P-c"]
            self.assertEqual(filter_through(tool, page(*command))[1], "", command)

    def test_all_that_the_help_says(self):
        self.need("mandoc")
        for name in COMMANDS:
            shown = filter_through(["mandoc", "-T", "ascii"], page(name))[0]
            shown = re.sub(".\b", "", shown) # bold and underlined letters are typed twice
            for letter, option, argument in OPTION.findall(output(name, "--help").decode()):
                label = f"{letter}, {option}" if letter else option
                label += f" {argument}" if argument and argument.isupper() else ""
                self.assertRegex(shown, rf"(?m)^ +{re.escape(label)}(\s|\[=|$)", name)
            for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS",
                          "EXAMPLES", "SEE ALSO"):
                self.assertRegex(shown, rf"(?m)^{title}$", name)
            for other in re.findall(r"skein-([a-z]+)\(1\)", shown):
                self.assertIn(other, COMMANDS)

    def test_an_option_has_one_meaning(self):
        """No command has two options of one name or letter: the second would never be reached."""
        for name in COMMANDS:
            found = OPTION.findall(output(name, "--help").decode())
            for part in (0, 1):
                names = [option[part] for option in found if option[part]]
                self.assertEqual(len(names), len(set(names)), (name, sorted(names)))

    def test_overview_names_every_command(self):
        text = page().decode()
        for name in COMMANDS:
            self.assertIn(f".BR skein\\-{name} (1)\n", text)

    def test_same_date_same_bytes(self):
        first = page("record", SOURCE_DATE_EPOCH="86400")
        self.assertIn(b'.TH SKEIN-RECORD 1 1970-01-02 "skein ', first)
        self.assertEqual(first, page("record", SOURCE_DATE_EPOCH="86400", TZ="Asia/Tokyo"))

    def test_roff_has_no_word_of_ours(self):
        """No text is taken for a request: lines that begin with a dot are skein's own."""
        known = {"TH", "SH", "SS", "TP", "PP", "BR", "B", "br", "nf", "fi", "RS", "RE", "\\\""}
        for command in PAGES:
            text = page(*command).decode()
            found = set(re.findall(r"^['.](\\\"|\S*)", text, re.M))
            self.assertLessEqual(found, known, command)


class HelpTest(unittest.TestCase):
    def test_versions_of_python(self):
        """What the program says that it reads is what README and docs/python.md say."""
        said, = re.findall(r"CPython ([0-9.]+ to [0-9.]+)", output("version", "-v").decode())
        self.assertIn(f"(CPython {said})", (ROOT / "README.md").read_text())
        last = said.split()[-1]
        self.assertRegex((ROOT / "docs/python.md").read_text(), rf"{re.escape(last)} \|.*\| tested")

    def test_help_of_a_command(self):
        for name in COMMANDS:
            self.assertEqual(output("help", name), output(name, "--help"))
        self.assertEqual(output("help"), output("-h"))

    def test_lines_are_short(self):
        for name in COMMANDS:
            for line in output(name, "--help").decode().splitlines():
                self.assertLessEqual(len(line), 80 if not line.startswith("  s") else 100, name)

    def test_what_was_meant(self):
        for typed, meant in (("exprot", "is 'export' meant"), ("recrod", "is 'record' meant"),
                             ("reports", "is 'report' meant"), ("zzzzzz", "lists them")):
            done = skein(typed, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(meant, done.stderr.decode())
        self.assertIn("is 'record' meant", skein("help", "recrod", check=False).stderr.decode())
        done = skein("report", "--limti", "3", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is '--limit' meant?", done.stderr.decode())

    def test_no_command(self):
        done = skein(check=False)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr.decode(), HELP)
        for arguments in (["help", "nothing"], ["help", "record", "report"], ["version", "x"]):
            self.assertEqual(skein(*arguments, check=False).returncode, 2)

    def test_version(self):
        short, full = output("version").decode(), output("version", "-v").decode()
        self.assertRegex(short, r"\Askein \d+\.\d+\.\d+\n\Z")
        self.assertTrue(full.startswith(short))
        self.assertEqual(output("--version").decode(), full)
        for word in ("folded", "libbpf", "SQLite", "record"):
            self.assertIn(word, full)


if __name__ == "__main__":
    unittest.main()
