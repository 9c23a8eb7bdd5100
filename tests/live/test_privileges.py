# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test that without each capability in turn exactly those features fail that the table of needs
lists.
"""

import os
import shutil
import stat
import subprocess
import unittest

import live
from live import SKEIN, workload
from needs_table import NeedsTable

TARGET, RECORDER = 2000, 1234  # uids
PYTHON = "/usr/bin/python3"
SETCAP = shutil.which("setcap", path="/usr/sbin:/sbin:/usr/bin:/bin")

PROGRAM = """
import time
def spin_in_python(end):
    while time.monotonic() < end:
        sum(range(100))
spin_in_python(time.monotonic() + 200)
"""

# Features that a capability provides, and the words of the table for their loss. lost() treats
# words about older kernels separately.
WORDS = {
    "recording": "no recording",
    "before": "ran before the recording",
    "private": "not everybody may read",
    "deleted": "deleted",
    "rooted": "own root directory",
    "python": "no Python names",
    "kernel": "kernel functions without names",
}


def with_capabilities(names, user=RECORDER):
    """Return the prefix of a command that is to have only these capabilities."""
    words = "-all" + "".join(",+" + name[len("CAP_"):].lower() for name in names)
    command = ["setpriv", f"--inh-caps={words}", f"--bounding-set={words}"]
    if user:
        command += [f"--reuid={user}", f"--regid={user}", "--clear-groups",
                    f"--ambient-caps={words}"]
    return command


def as_user(user, *command):
    """Run targets as a user with low priority, so that the recorder gets the CPUs first."""
    return ["nice", "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]


class Privileges(live.LiveTest):
    def setUp(self):
        super().setUp()
        self.table = NeedsTable().capabilities
        self.home = self.tmp / "home"
        self.home.mkdir()
        os.chown(self.home, RECORDER, RECORDER)
        self.roots = self.tmp / "roots"
        self.roots.mkdir()
        self.skein = str(self.tmp / "skein")
        shutil.copy2(SKEIN, self.skein)
        os.chmod(self.skein, 0o755)

    def program(self, name, mode=0o755):
        path = self.copy("loop", name)
        os.chown(path, TARGET, TARGET)
        path.chmod(mode)
        return path

    def start_targets(self):
        """Start {fact: process} of another user; all processes run before a recording starts."""
        mount = self.tmp / "mount"
        mount.mkdir()
        inside = ('mount -t tmpfs none "$0" && cp "$1" "$0/rooted" && shift && '
                  'exec "$@" "$0/rooted" 200')
        found = {
            "before": self.start(*as_user(TARGET, self.program("before"), 200)),
            "private": self.start(*as_user(TARGET, self.program("private", 0o700), 200)),
            "deleted": self.start(*as_user(TARGET, self.program("deleted"), 200)),
            "rooted": self.start("unshare", "--mount", "--propagation=private", "sh", "-c", inside,
                                 mount, workload("loop"), *as_user(TARGET)),
            "kernel": self.start(*as_user(TARGET, "dd", "if=/dev/zero", "of=/dev/null", "bs=64M"),
                                 stderr=subprocess.DEVNULL),
        }
        if os.path.exists(PYTHON):
            found["python"] = self.start(*as_user(TARGET, PYTHON, "-c", PROGRAM))
        for fact, process in found.items():
            name = {"kernel": "dd", "python": os.path.basename(PYTHON)}.get(fact, fact)
            self.wait_for(lambda p=process, n=name: self.comm(p) == n)
        (self.tmp / "deleted").unlink()
        return found

    @staticmethod
    def comm(process):
        with open(f"/proc/{process.pid}/comm", encoding="utf-8") as file:
            return file.read().strip()

    def run_skein(self, prefix, *args):
        return subprocess.run([*prefix, self.skein, *map(str, args)], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=90, cwd=self.home,
                              env=live.clean_environment(HOME=str(self.home), XDG_CACHE_HOME=""))

    def record_targets(self, prefix, targets, user=RECORDER):
        """
        Record the targets; repeat the recording if a target got no CPU time on a busy machine.
        """
        pids = {process.pid for process in targets.values()}
        for _ in range(4):
            path = (self.home if user else self.roots) / f"{self.files}.skein"
            self.files += 1
            done = self.run_skein(prefix, "record", "-F", 997, "-d", 0.5,
                                  "-p", ",".join(map(str, pids)), "-o", path)
            if done.returncode:
                break
            trace = live.Trace(path)
            sampled = trace.query("SELECT DISTINCT pid FROM process JOIN thread ON "
                                  "thread.process = process.id JOIN sample ON "
                                  "sample.thread = thread.id")
            if pids <= {row["pid"] for row in sampled}:
                break
        return done, path

    def works(self, trace, targets):
        """Return the facts that hold in a recording."""
        def stacks(fact):
            found = trace.stacks(pid=targets[fact].pid)
            self.assertTrue(found, f"{fact}: no sample: {trace.query('SELECT * FROM account')}")
            return found

        facts = {"recording"}
        for fact in ("before", "private", "deleted", "rooted"):
            if live.share(stacks(fact), "loop_inner") > 0.9 and \
                    live.share(stacks(fact), "main") > 0.9:
                facts.add(fact)
        if "python" in targets and any("spin_in_python" in name
                                       for name in live.functions(stacks("python"))):
            facts.add("python")
        if any(kind == live.FRAME["KERNEL"] and not name.startswith("[")
               for s in stacks("kernel") for name, kind in zip(s.names, s.kinds)):
            facts.add("kernel")
        return facts

    def promised(self, taken, targets, user):
        """Return the facts that hold without a capability, according to the table."""
        facts = {"recording", *targets}
        if taken is None:
            return facts
        said = self.table[taken]
        lost = {fact for fact, words in WORDS.items() if words in said}
        if "recording" in lost:
            return set()
        if "before" in lost: # the table says: on older kernels
            rest = [name for name in self.table if name != taken]
            maps = f"/proc/{targets['before'].pid}/maps"
            seen = subprocess.run([*with_capabilities(rest, user), "head", "-c1", maps],
                                  capture_output=True, check=False).stdout
            lost = lost - {"before"} if seen else lost | {"private", "rooted"}
        return facts - lost

    def check_without(self, taken, targets, user):
        names = [name for name in self.table if name != taken]
        done, path = self.record_targets(with_capabilities(names, user), targets, user)
        said = done.stderr.decode()
        promised = self.promised(taken, targets, user)
        if not promised:
            self.assertEqual(done.returncode, 1, said)
            self.assertIn(f"{taken} is missing", said)
            self.assertIn("'skein doctor' shows more", said)
            self.assertFalse(path.exists())
            return
        self.assertEqual(done.returncode, 0, said)
        self.assertEqual(self.works(live.Trace(path), targets), promised, said)
        warned = [name for name in self.table if f"warning: {name} is missing" in said]
        self.assertEqual(warned, [] if taken in (None, "CAP_SYS_NICE") else [taken], said)

    def test_each_taken_away(self):
        self.assertIn("CAP_SYSLOG", self.table)
        targets = self.start_targets()
        for user in (RECORDER, 0) if live.LONG else (RECORDER,):
            for taken in (None, *self.table):
                with self.subTest(taken=taken, user=user):
                    self.check_without(taken, targets, user)

    def test_root_with_these_only(self):
        targets = self.start_targets()
        self.check_without(None, targets, 0)

    def test_priority(self):
        for names, nice in ((self.table, -15), ([n for n in self.table if n != "CAP_SYS_NICE"], 0)):
            recording = self.begin("-p", os.getpid(), prefix=with_capabilities(names, 0))
            priority = os.getpriority(os.PRIO_PROCESS, recording.pid)
            self.finish(recording)
            self.assertEqual(priority, min(nice, os.getpriority(os.PRIO_PROCESS, 0)))

    def check_whole(self, prefix):
        """
        Check that a recording by a user without root is complete, belongs to the user, and keeps
        its tables for the next one.
        """
        targets = self.start_targets()
        done, path = self.record_targets(prefix, targets)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.works(live.Trace(path), targets), {"recording", *targets})
        self.assertNotIn(b"warning: CAP_", done.stderr)
        kept = self.home / ".cache" / "skein"
        for file, mode in ((path, 0o600), (kept, 0o700)):
            found = file.stat()
            self.assertEqual((found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)),
                             (RECORDER, RECORDER, mode), file)
        self.assertTrue([f for f in kept.rglob("*") if f.is_file()])

    def test_user_with_ambient_capabilities(self):
        self.check_whole(with_capabilities(self.table))

    @unittest.skipUnless(SETCAP, "there is no setcap (libcap2-bin)")
    def test_user_of_a_file_with_capabilities(self):
        """Apply the setcap line that failures and doctor print."""
        done = self.run_skein(as_user(RECORDER), "record", "-d", 1)
        if b"sudo setcap " not in done.stderr:
            self.skipTest("in a container capabilities are given by its engine")
        line = done.stderr.decode().split("sudo setcap ")[1].splitlines()[0]
        self.assertTrue(line.endswith(self.skein), line)
        if subprocess.run([SETCAP, *line.split()], capture_output=True, check=False).returncode:
            self.skipTest(f"no capabilities of files on {self.tmp}")
        self.check_whole(as_user(RECORDER))


if __name__ == "__main__":
    live.main()
