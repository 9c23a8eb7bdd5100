#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test skein open: where the page goes, who can read it, and which browser gets it."""
import os
import pathlib
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from traces import LIMIT, SKEIN, Home, make_scene, output

USER = 12321 # who called sudo in these tests; no such user needs to exist
PATIENCE = 20 # s

BROWSER = """#!/bin/sh
echo "$@" >{note}.new
id -u >>{note}.new
id -G >>{note}.new
mv {note}.new {note}
exit {status}
"""


class Open(Home):
    def setUp(self):
        self.folder = self.home / self.id().rpartition(".")[2]
        self.runtime = self.folder / "run"
        self.runtime.mkdir(parents=True)
        self.runtime.chmod(0o700)
        self.home.chmod(0o755)
        self.trace = make_scene(self.folder / "a b;$(x).skein")
        self.page = self.runtime / "skein-a_b___x_.html"
        self.note = self.folder / "browser said"

    def browser(self, status=0):
        """Make a browser that notes its arguments and user."""
        path = self.folder / f"browser{status}"
        path.write_text(BROWSER.format(note=f"'{self.note}'", status=status))
        path.chmod(0o755)
        return path

    def run_open(self, *args, **environment):
        env = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": self.runtime, **environment}
        return subprocess.run([SKEIN, "open", *args, self.trace], env=env, timeout=LIMIT,
                              cwd=self.folder, capture_output=True, text=True, check=False)

    def said(self):
        end = time.monotonic() + PATIENCE
        while not self.note.exists() and time.monotonic() < end:
            time.sleep(0.02)
        return self.note.read_text().splitlines()

    def private(self, path, uid=os.geteuid()):
        found = path.lstat()
        self.assertEqual((stat.S_IMODE(found.st_mode), found.st_uid),
                         (0o700 if path.is_dir() else 0o600, uid))

    def test_address(self):
        """Without a browser the address is printed; the page is the export's."""
        for args, env in (([], {}), (["--print"], {"BROWSER": self.browser()})):
            done = self.run_open(*args, **env)
            self.assertEqual((done.returncode, done.stdout), (0, f"file://{self.page}\n"))
            self.private(self.page)
            self.assertEqual(self.page.read_bytes(), output("export", self.trace, "-f", "html"))
        self.assertFalse(self.note.exists())
        self.assertEqual([path.name for path in self.runtime.iterdir()], [self.page.name])

    def test_options(self):
        done = self.run_open("-n", "--comm", "kthreadd", "--to", "1s")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.page.read_bytes(), output(
            "export", self.trace, "-f", "html", "--comm", "kthreadd", "--to", "1s"))

    def test_browser(self):
        chosen = f"{self.folder}/nowhere:{self.browser(3)} %s --new:{self.browser()}"
        done = self.run_open(BROWSER=chosen)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn(f"file://{self.page} is open", done.stderr)
        self.assertEqual(self.said()[0], f"file://{self.page}")

    def test_browser_that_fails(self):
        done = self.run_open(BROWSER=f"{self.browser(3)} --new-window %s -x")
        self.assertEqual(self.said()[0], f"--new-window file://{self.page} -x")
        self.assertEqual((done.returncode, done.stdout), (0, f"file://{self.page}\n"))
        self.assertIn("could not be started", done.stderr)

    def test_no_shell(self):
        done = self.run_open(BROWSER=f"touch {self.folder}/harm;true $(touch {self.folder}/harm)")
        self.assertEqual(done.returncode, 0)
        self.assertFalse((self.folder / "harm").exists())

    def test_no_runtime_folder(self):
        self.runtime.chmod(0o755) # others could put links into it
        done = self.run_open(TMPDIR=self.folder)
        own = self.folder / f"skein-{os.geteuid()}"
        self.assertEqual(done.stdout, f"file://{own / self.page.name}\n")
        self.private(own)
        self.private(own / self.page.name)
        self.assertEqual(self.run_open(TMPDIR=self.folder).stdout, done.stdout)

    def test_folders_of_others(self):
        """What somebody else has put under the folder's name is not used."""
        own, target = self.folder / f"skein-{os.geteuid()}", self.folder / "target"
        target.mkdir(mode=0o700)
        for make in (lambda: own.symlink_to(target), own.touch, lambda: own.mkdir(0o777)):
            make()
            if own.is_dir() and not own.is_symlink():
                own.chmod(0o777)
            done = self.run_open(XDG_RUNTIME_DIR="", TMPDIR=self.folder)
            if done.returncode == 0: # the machine has /run/user/UID of this user
                self.assertIn(f"/run/user/{os.geteuid()}/", done.stdout)
            else:
                self.assertIn(own.name, done.stderr)
            self.assertEqual(list(target.iterdir()), [])
            if own.is_dir() and not own.is_symlink():
                self.assertEqual(list(own.iterdir()), [])
                own.rmdir()
            else:
                own.unlink()

    def test_link_in_the_folder(self):
        target = self.folder / "target"
        target.write_text("kept")
        self.page.symlink_to(target)
        done = self.run_open()
        self.assertEqual(done.returncode, 1)
        self.assertIn("symbolic link", done.stderr)
        self.assertEqual(target.read_text(), "kept")

    @unittest.skipUnless(os.geteuid() == 0, "sudo's user can be played by root only")
    def test_sudo(self):
        """Page and browser belong to the user who called sudo."""
        own = pathlib.Path(f"/tmp/skein-{USER}")
        self.addCleanup(lambda: subprocess.run(["rm", "-rf", own], check=True))
        self.folder.chmod(0o777)
        done = self.run_open(BROWSER=self.browser(), SUDO_UID=str(USER), SUDO_GID=str(USER),
                             TMPDIR=self.folder)
        page = own / self.page.name
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(self.said(), [f"file://{page}", str(USER), str(USER)])
        self.private(own, USER)
        self.private(page, USER)

    def test_errors(self):
        for args, text in ((["-x"], "-x"), (["a", "b"], "one trace"), (["--from", "x"], "x")):
            done = self.run_open(*args)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn(text, done.stderr)
        self.trace.unlink()
        done = self.run_open()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(list(self.runtime.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
