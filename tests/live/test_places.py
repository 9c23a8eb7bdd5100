# SPDX-License-Identifier: Apache-2.0
"""
Record where a part of the machine is missing or goes away: a pid namespace that ends, a container
without its root, a /proc that hides processes, and other mounts of control groups. Every lack has
a reason, and no process has the name of another.
"""

import json
import pathlib
import shutil
import subprocess

import live
import test_namespaces
from completeness import completeness
from live import SKEIN, workload
from needs_table import NeedsTable
from test_privileges import RECORDER, with_capabilities

NS_LAST_PID = "/proc/sys/kernel/ns_last_pid"
PRIVATE = ["unshare", "--mount", "--propagation=private", "sh", "-c"]


class Places(test_namespaces.NamespaceTest):
    def in_place(self, mounts, *args, prefix=(), **more):
        """Run skein where some mounts were made, maybe as another user."""
        script = f'{mounts} && exec "$@"'
        return subprocess.run([*PRIVATE, script, "sh", *prefix, SKEIN, *map(str, args)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=90, check=False, env=live.clean_environment(**more))

    def findings(self, mounts, **more):
        done = self.in_place(mounts, "doctor", "--json", **more)
        return {c["check"]: c for c in json.loads(done.stdout)["checks"]}

    def check_own_names(self, trace, comm, others):
        """A program's stacks have no function of others; what has no name has brackets."""
        names = live.functions(trace.stacks(comm=comm))
        self.assertEqual(names & others, set())

    def in_nested(self, init, pid, program):
        """Start a program as first process of a namespace below init's; it has that pid there."""
        script = f'echo {pid - 1} >{NS_LAST_PID}; exec "$@"'
        holder = self.start(*self.enter(init, "sh", "-c", script, "sh", "unshare", "--pid",
                                        "--fork", "--kill-child", workload(program), 100))
        found = {}

        def begun():
            shell = live.child_named(holder.pid, "unshare")
            found["pid"] = shell and live.child_named(shell, program)
            return found["pid"]
        self.wait_for(begun)
        return holder, found["pid"]

    def test_reused_numbers(self):
        """A namespace ends while it is recorded, and all of its numbers go to other programs."""
        _, init = self.namespace()
        recording = self.begin_inside(init, "-F", 499)
        before, first = self.in_nested(init, 5000, "loop")
        outer = [line for line in pathlib.Path(f"/proc/{first}/status").read_text().splitlines()
                 if line.startswith("NSpid:")][0].split()[2]
        live.time.sleep(0.5)
        live.os.kill(first, 9)
        before.wait()
        _, second = self.in_nested(init, 5000, "execafter")
        again = pathlib.Path(f"/proc/{second}/status").read_text()
        live.time.sleep(0.5)
        trace = self.finish(recording)
        self.assertIn(f"\t{outer}\t", again)  # the very numbers of the first
        self.check_named(trace, "loop", "main")
        self.check_own_names(trace, "loop", {"after_exec"})
        self.check_own_names(trace, "execafter", {"loop_inner"})
        pids = {s.process["global_pid"] for s in trace.stacks(comm="loop")}
        self.assertEqual(pids, {first})
        self.assertGreaterEqual(live.share(trace.stacks(comm="execafter"), "after_exec"), 0.9)

    def test_own_namespace_ends(self):
        """
        The recorder's own namespace ends, and the recorder with it: its file has what was recorded
        up to the last second, and says that the recording did not end.
        """
        holder, init = self.namespace()
        self.start_inside(init, workload("loop"), 100)
        recording = self.begin_inside(init, "-F", 499)
        live.time.sleep(3)
        self.end(holder)
        recording.process.wait(10)
        recording.wait()
        done = subprocess.run([SKEIN, "report", recording.path], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Unfinished", done.stdout)
        trace = live.Trace(recording.path)
        self.assertGreater(live.share(trace.stacks(comm="loop"), "loop_inner"), 0.9)

    def test_root_is_gone(self):
        """A container's files are removed and its root is unmounted, while its process lives."""
        root = self.tmp / "root"
        root.mkdir()
        copied = ('mount -t tmpfs none "$0" && mkdir "$0/lib64" "$0/lib" && '
                  'cp "$1" "$0/loop" && for l in $(ldd "$1" | grep -o "/[^ ]*"); do '
                  'mkdir -p "$0$(dirname "$l")" && cp -L "$l" "$0$l"; done && '
                  'exec chroot "$0" /loop 100')
        process = self.start("unshare", "--mount", "--propagation=private", "sh", "-c", copied,
                             root, workload("loop"))
        comm = pathlib.Path(f"/proc/{process.pid}/comm")
        self.wait_for(lambda: comm.read_text() == "loop\n")
        for gone in (f"/proc/{process.pid}/root/loop", f"/proc/{process.pid}/root/lib"):
            path = pathlib.Path(gone)
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        subprocess.run(["nsenter", "-t", str(process.pid), "-m", "umount", "-l", root],
                       check=True)
        trace = self.record("-p", process.pid, "-F", 499, "-d", 1)
        stacks = trace.stacks(comm="loop")
        self.assertGreater(live.count(stacks), 60)
        self.assertGreaterEqual(live.share(stacks, "loop_inner"), 0.99)
        found = completeness(SKEIN, trace.path, "loop")
        self.assertLessEqual(found.samples - found.complete, 0.005 * found.samples, str(found))

    def test_hidden_processes(self):
        """/proc with hidepid=2: nothing changes for CAP_SYS_PTRACE; else it is missing."""
        home = self.tmp / "home"
        home.mkdir()
        live.os.chown(home, RECORDER, RECORDER)
        self.start(workload("loop"), 100)
        hide = "mount -t proc -o hidepid=2 proc /proc"
        every = list(NeedsTable().capabilities)
        for names in (every, [n for n in every if n != "CAP_SYS_PTRACE"]):
            whole, path = names == every, home / f"{len(names)}.skein"
            prefix = with_capabilities(names)
            more = {"HOME": str(home), "XDG_CACHE_HOME": ""}
            done = self.in_place(hide, "record", "-F", 499, "-d", 1, "-o", path, prefix=prefix,
                                 **more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("CAP_SYS_PTRACE is missing" in done.stderr, not whole)
            stacks = [s for s in live.Trace(path).stacks() if "loop_inner" in s.names]
            self.assertEqual({s.process["comm"] for s in stacks} - {"loop"}, set())
            self.assertEqual(bool(stacks), whole)
            checks = self.findings(hide, prefix=prefix, **more)
            for check in ("names and tables", "its own samples", "others' files"):
                found = checks[check]
                self.assertEqual(found["verdict"], "ok" if whole else "missing", found)
                if not whole:
                    self.assertEqual(found["needs"], "CAP_SYS_PTRACE")
            if not whole:
                self.assertIn("hidepid", checks["names and tables"]["found"])

    def test_control_groups(self):
        """Without control groups, and with one hierarchy of version 1, programs have names."""
        self.start(workload("loop"), 100)
        none = "umount -l /sys/fs/cgroup"
        one = (f"{none} && mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/cpu && "
               "mount -t cgroup -o cpu none /sys/fs/cgroup/cpu")
        places = ((none, "no cgroup file system is mounted"), (one, "v1 cpu, at "))
        for mounts, words in places if live.LONG else places[:1]:
            with self.subTest(words):
                if subprocess.run([*PRIVATE, mounts], capture_output=True, check=False).returncode:
                    self.skipTest(f"cannot be mounted here: {mounts}")
                path = self.file()
                done = self.in_place(mounts, "record", "-F", 499, "-d", 0.5, "-o", path)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check_named(live.Trace(path), "loop", "main")
                self.assertIn(words, self.findings(mounts)["control groups"]["found"])
        done = self.in_place(none, "record", "--cgroup", "some", "-d", 1, "-o", self.file())
        self.assertEqual(done.returncode, 1)
        self.assertIn("no cgroup 'some': no cgroup file system is mounted", done.stderr)


if __name__ == "__main__":
    live.main()
