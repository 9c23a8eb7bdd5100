# SPDX-License-Identifier: Apache-2.0
"""Test make install and make uninstall: the installed files, and that none stays."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from traces import BUILD, LIMIT, ROOT, output

COMMANDS = re.search(r"^commands: +(.*)$", output("--version").decode(), re.M)[1].split()


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def make(self, target, root=None, **variables):
        """Run make. -o all: the tested program is built already and must not be rebuilt."""
        words = [f"{name}={value}" for name, value in variables.items()]
        subprocess.run(["make", "-s", "-o", "all", f"O={BUILD}", f"DESTDIR={root or self.root}",
                        *words, target], cwd=ROOT, check=True, timeout=LIMIT,
                       env={**os.environ, "MAKEFLAGS": "", "SOURCE_DATE_EPOCH": "86400"})

    def files(self, root=None):
        root = root or self.root
        return {str(path.relative_to(root)): path for path in root.rglob("*")
                if not path.is_dir()}

    def test_where_things_lie(self):
        self.make("install")
        files = self.files()
        own = {name for name in files if "/share/doc/" not in name}
        share = "usr/local/share"
        pages = {f"{share}/man/man1/skein-{name}.1" for name in COMMANDS}
        self.assertEqual(own, pages | {
            "usr/local/bin/skein", "usr/local/lib/skein/skein.so", f"{share}/man/man1/skein.1",
            f"{share}/bash-completion/completions/skein", f"{share}/zsh/site-functions/_skein",
            f"{share}/fish/vendor_completions.d/skein.fish",
            "usr/local/lib/systemd/system/skein.service",
            "usr/local/lib/systemd/system/skein.socket"})
        self.assertIn(b"\nExecStart=/usr/local/bin/skein serve\n",
                      files["usr/local/lib/systemd/system/skein.service"].read_bytes())
        for name, path in files.items():
            mode = 0o755 if name == "usr/local/bin/skein" else 0o644
            self.assertEqual(path.stat().st_mode & 0o7777, mode, name)
        self.assertIn(b"1970-01-02", files[f"{share}/man/man1/skein.1"].read_bytes())
        self.assertEqual(files[f"{share}/zsh/site-functions/_skein"].read_bytes(),
                         output("completions", "zsh"))

    def test_it_runs_from_there(self):
        self.make("install", PREFIX="/opt/skein")
        done = subprocess.run([self.root / "opt/skein/bin/skein", "--version"], check=True,
                              capture_output=True, timeout=LIMIT)
        self.assertEqual(done.stdout, output("--version"))

    def test_folders_of_a_distribution(self):
        self.make("install", PREFIX="/usr", LIBDIR="/usr/lib/here", ZSH_DIR="/z", MANDIR="/m",
                  DOCDIR="/d", BINDIR="/b", BASH_DIR="/bash", FISH_DIR="/fish",
                  UNIT_DIR="/units")
        files = self.files()
        self.assertLessEqual({"b/skein", "usr/lib/here/skein/skein.so", "z/_skein",
                              "m/man1/skein.1", "d/README.md", "bash/skein",
                              "fish/skein.fish", "units/skein.service"}, set(files))
        self.assertEqual([name for name in files if name.startswith("usr/")],
                         ["usr/lib/here/skein/skein.so"])

    def test_links_between_pages(self):
        self.make("install")
        docs = self.root / "usr/local/share/doc/skein/docs"
        pages = [path for name, path in self.files().items() if name.endswith(".md")]
        self.assertGreater(len(pages), 5)
        for page in pages:
            for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                target = pathlib.Path(os.path.normpath(page.parent / link))
                if docs in target.parents: # otherwise a link in the sources
                    self.assertTrue(target.exists(), f"{page.name}: {link}")

    def test_same_again(self):
        self.make("install")
        with tempfile.TemporaryDirectory() as other:
            self.make("install", other)
            there = self.files(pathlib.Path(other))
            for name, path in self.files().items():
                self.assertEqual(path.read_bytes(), there[name].read_bytes(), name)

    def test_nothing_stays(self):
        self.make("install")
        (self.root / "usr/local/share/man/man1/other.1").touch()
        self.make("uninstall")
        self.assertEqual(set(self.files()), {"usr/local/share/man/man1/other.1"})
        self.assertFalse((self.root / "usr/local/share/doc/skein").exists())
        self.assertFalse((self.root / "usr/local/lib/skein").exists())


if __name__ == "__main__":
    unittest.main()
