# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
Test the Debian package: built, checked, installed in a minimal Debian, used there, and removed.
The package is made from the existing build; with SKEIN_LONG from the sources, as Debian builds it.
"""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from traces import BUILD, Home, LIMIT, ROOT, make_scene, output

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "skein"
LONG = "SKEIN_LONG" in os.environ
BUILD_LIMIT = 3000 if LONG else 240 # s
COMMANDS = re.search(r"^commands: +(.*)$", output("--version").decode(), re.M)[1].split()

# Files that dpkg writes for itself.
DPKG_OWN = re.compile(r"var/(lib/dpkg|log|cache/(ldconfig|debconf)|lib/pam)/|etc/ld\.so\.cache$")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], check=False, timeout=LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}:\n{done.stdout.decode()}")
    return done.stdout.decode()


class PackageTest(Home):
    @classmethod
    def setUpClass(cls):
        for program in ("dpkg-buildpackage", "dh"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed")
        super().setUpClass()
        subprocess.run([ROOT / "packaging/deb", "--from-scratch" if LONG else BUILD, cls.home],
                       check=True, timeout=BUILD_LIMIT)
        cls.deb = next(cls.home.glob("skein_*.deb"))

    def field(self, name):
        return run("dpkg-deb", "-f", self.deb, name).strip()

    def test_says_what_it_is(self):
        version = output("version").decode().split()[1]
        self.assertEqual(self.field("Version"), version)
        self.assertEqual(self.field("Package"), "skein")

    def test_lintian_finds_no_error(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        changes = next(self.home.glob("*.changes"))
        said = run("lintian", "--allow-root", "--fail-on", "error", changes)
        self.assertNotRegex(said, r"(?m)^[EW]: ")

    def test_depends_on_what_it_needs(self):
        unpacked = self.home / "unpacked"
        run("dpkg-deb", "-x", self.deb, unpacked)
        depends = {word.split()[0] for word in self.field("Depends").split(",")}
        needed = set()
        for file in (unpacked / "usr/bin/skein", *unpacked.rglob("skein.so")):
            dynamic = run("readelf", "-d", file)
            needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        self.assertIn("libbpf.so.1", needed)
        for library in needed:
            owners = run("dpkg-query", "-S", f"*/{library}")
            packages = {line.split(":")[0] for line in owners.splitlines()}
            self.assertTrue(packages & depends, f"{library} of {packages} is not in {depends}")

    def test_manual_pages_and_completions(self):
        listing = run("dpkg-deb", "-c", self.deb)
        for name in ("", *(f"-{command}" for command in COMMANDS)):
            self.assertIn(f"./usr/share/man/man1/skein{name}.1.gz\n", listing)
        for name in ("bash-completion/completions/skein", "zsh/vendor-completions/_skein",
                     "fish/vendor_completions.d/skein.fish", "doc/skein/docs/queries.md"):
            self.assertIn(f"./usr/share/{name}\n", listing)

    def small_debian(self):
        if os.geteuid():
            self.skipTest("root is needed to install a package")
        archives = list((CACHE / "roots").glob("bookworm-*.tar"))
        if not archives:
            self.skipTest("there is no small Debian: tools/deps packaging makes one from a mirror")
        root = self.home / "root"
        root.mkdir()
        run("tar", "-x", "-f", archives[0], "-C", root, "--numeric-owner", "--exclude=./dev/*")
        return root

    @staticmethod
    def files(root):
        """Return all files except those that dpkg writes."""
        found = set()
        for folder, folders, names in os.walk(root):
            inside = os.path.relpath(folder, root)
            found |= {os.path.normpath(f"{inside}/{name}") for name in (*folders, *names)}
        return {name for name in found if not DPKG_OWN.search(name)}

    def test_installed_used_and_removed(self):
        root = self.small_debian()

        def inside(*command):
            return run("env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TZ=UTC", "COLUMNS=80",
                       "LC_ALL=C.UTF-8", "chroot", root, *command)

        before = self.files(root)
        shutil.copy(self.deb, root / "skein.deb")
        inside("dpkg", "-i", "/skein.deb")
        self.assertEqual(inside("skein", "version"), output("version").decode())
        make_scene(root / "tmp/scene.skein")
        self.assertEqual(inside("skein", "report", "/tmp/scene.skein"),
                         output("report", root / "tmp/scene.skein").decode())
        rows = inside("sqlite3", "-readonly", "/tmp/scene.skein",
                      f".load {next(root.rglob('skein.so')).relative_to(root).as_posix()}",
                      "SELECT count(*) FROM sample")
        self.assertEqual(rows, "100\n")
        page = root / "usr/share/man/man1/skein-record.1.gz"
        self.assertIn(b"SKEIN-RECORD", gzip.decompress(page.read_bytes()))
        (root / "var/cache/skein").mkdir() # as made by a recording
        (root / "var/cache/skein/table").touch()
        inside("dpkg", "--purge", "skein")
        for name in ("skein.deb", "tmp/scene.skein"):
            (root / name).unlink()
        self.assertEqual(self.files(root), before)


if __name__ == "__main__":
    unittest.main()
