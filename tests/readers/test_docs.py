# SPDX-License-Identifier: Apache-2.0
"""Test README and docs: short, within 100 columns, without broken links, and complete."""
import re
import subprocess
import unittest

import examples
from traces import LIMIT, ROOT, output

README_LINES, COLUMNS = 250, 100
# Pages for users, which are also read in a terminal. The others may have wide tables.
NARROW = ("README.md", "docs/comparison.md", "docs/privileges.md", "docs/questions.md",
          "docs/runtimes.md", "docs/troubleshooting.md")
PAGES = sorted(path for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md",
                                 *(ROOT / "docs").glob("*.md")))
LINK = re.compile(r"\[[^][]*(?:\[[^]]*\][^][]*)*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```(?:.|\n)*?^```$|^ {4,}.*$|`[^`\n]*`", re.M)


def anchors(path):
    """Return the anchors of the headings of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(),
                                             flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


class DocsTest(unittest.TestCase):
    def test_readme_is_short(self):
        lines = (ROOT / "README.md").read_text().splitlines()
        self.assertLess(len(lines), README_LINES)
        self.assertTrue(next(line for line in lines[4:] if line).startswith("!["),
                        "the picture comes first")

    def test_lines_fit_a_terminal(self):
        for name in NARROW:
            for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
                self.assertLessEqual(len(line), COLUMNS, f"{name}:{number}")

    def test_links(self):
        found = 0
        for page in PAGES:
            for link in LINK.findall(CODE.sub("", page.read_text())):
                if re.match(r"[a-z]+:", link):
                    continue
                found += 1
                target, _, anchor = link.partition("#")
                path = (page.parent / target).resolve() if target else page
                self.assertTrue(path.exists(), f"{page.name}: {link}")
                if anchor:
                    self.assertIn(anchor, anchors(path), f"{page.name}: {link}")
        self.assertGreater(found, 100)

    def test_readme_names_every_page(self):
        text = (ROOT / "README.md").read_text()
        for page in (ROOT / "docs").glob("*.md"):
            self.assertIn(f"docs/{page.name}", text)

    def test_triggers(self):
        """docs/serve.md has the table of triggers, in the words of the program."""
        table = (ROOT / "user/serve/trigger.h").read_text()
        text = (ROOT / "docs/serve.md").read_text()
        rows = re.findall(r'X\([A-Z_]+, "([^"]+)", "([^"]+)", (?:\\\n\s*)?"([^"]+)"\)',
                          table.split("#define TRIGGER_KINDS", 1)[1])
        self.assertEqual(len(rows), len(re.findall(r"^\| `[a-z-]+>", text, re.M)))
        for word, form, meaning in rows:
            self.assertIn(f"| `{word}>{form}` | {meaning} |", text)

    def test_readme_names_every_command(self):
        text = (ROOT / "README.md").read_text()
        for name in re.search(r"^commands: +(.*)$", output("--version").decode(), re.M)[1].split():
            self.assertRegex(text, rf"(?m)^\|.*`(skein )?{name}`.*\|$")

    def test_make_targets(self):
        """`make help` lists the targets of README, and what they build has the version's name."""
        text = (ROOT / "README.md").read_text()
        targets = set(re.findall(r"^    make (\w+)", text, re.M)) | set(
            re.findall(r"`make (\w+)`", text))
        self.assertLessEqual({"deb", "static", "run", "install"}, targets)
        listed = subprocess.run(["make", "-C", ROOT, "-s", "help"], capture_output=True,
                                timeout=LIMIT, check=True, text=True).stdout
        self.assertLessEqual(targets, set(re.findall(r"^  (\w+) ", listed, re.M)))
        version = output("version").decode().split()[1]
        self.assertEqual(set(re.findall(r"skein_([\d.]+)_amd64\.deb", text)), {version})

    def test_examples_are_found(self):
        """tests/live/test_examples.py runs them: each page for users has some."""
        for page in examples.PAGES:
            self.assertGreaterEqual(len(examples.of_page(page)), 4, page)


if __name__ == "__main__":
    unittest.main()
