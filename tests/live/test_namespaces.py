# SPDX-License-Identifier: Apache-2.0
# timeout: 1800
"""
Record in a pid namespace of skein's own, as a sidecar does: what runs there is recorded and named
as on the host, and what runs outside of it is not, unless it is requested.

The numbers of processes differ: pid 2 in the namespace is another process than pid 2 on the host.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import live
import sched_live
from completeness import completeness
from live import SKEIN, ROOT, workload

PYTHON = "import time\nend = time.time() + {}\ndef inner(): return sum(range(20000))\n" \
         "while time.time() < end: inner()\n"
CGROUPS = [pathlib.Path(f"/sys/fs/cgroup/{name}") for name in ("cpu", "unified")]
# Test files that run whole in a namespace; the rest of their loads and checks stays the same.
SHORT = ("test_selection",)
LONG = (*SHORT, "test_names", "test_life", "test_truth", "test_sched_waits", "test_sched_wakers",
        "test_python_truth")


class InsideRecording(live.Recording):
    """A recording in a namespace: the first process is nsenter, its child is skein."""

    def has_begun(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        found = children.read_text().split()
        if not found:
            return False
        self.pid = int(found[0])
        return super().has_begun()

    def stop(self, how=signal.SIGINT):
        os.kill(self.pid, how)
        return self.wait()


class NamespaceTest(live.LiveTest):
    def namespace(self, *flags):
        """Make a pid namespace with a /proc of its own; return its first process."""
        holder = self.start("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *flags,
                            "sleep", "infinity")
        init = self.wait_for(lambda: live.child_named(holder.pid, "sleep"))
        return holder, init

    @staticmethod
    def enter(init, *command):
        return ["nsenter", "-t", str(init), "-p", "-m", *map(str, command)]

    def begin_inside(self, init, *args):
        return self.begin(*args, kind=InsideRecording, prefix=self.enter(init))

    def record_inside(self, init, *args, status=0):
        path, before = self.file(), live.stolen()
        run = subprocess.run(self.enter(init, SKEIN, "record", "-o", path, *args),
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=90,
                             env=live.clean_environment(), check=False)
        err = run.stderr.decode(errors="replace")
        self.assertEqual(run.returncode, status, err)
        trace = live.Trace(path)
        trace.stolen = live.stolen() - before
        trace.done = live.Done(run.returncode, run.stdout.decode(errors="replace"), err, path)
        return trace

    def start_inside(self, init, *command, **more):
        """Start a program in the namespace; return nsenter and the program's pid on the host."""
        process = self.start(*self.enter(init, *command), **more)
        comm = os.path.basename(command[0])[:15]
        return process, self.wait_for(lambda: live.child_named(process.pid, comm))

    @staticmethod
    def inner(pid):
        """Return the pid of a process in its innermost namespace."""
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            return next(int(line.split()[-1]) for line in file if line.startswith("NSpid:"))

    def comms(self, trace):
        return {s.process["comm"] for s in trace.stacks()}

    def check_named(self, trace, comm, function=None):
        """
        Of a program's stacks 99.5 % are complete, and 99 % have names only. The function is on
        those that are not in the dynamic linker, before main().
        """
        stacks = trace.stacks(comm=comm)
        samples = live.count(stacks)
        self.assertGreater(samples, 60)
        found = completeness(SKEIN, trace.path, comm)
        self.assertLessEqual(found.samples - found.complete, 0.005 * found.samples, str(found))
        named = live.count([s for s in stacks if not any(n.startswith("[") for n in s.names)])
        # Debian's stripped loader runs for up to 2 ms, one sample at most frequencies: more than 7
        # once in a million times.
        self.assertLessEqual(samples - named, 0.01 * samples + 7,
                             {n for s in stacks for n in s.names if n.startswith("[")})
        if function:
            self.assertGreaterEqual(live.share(stacks, function), 0.9)


class Namespaces(NamespaceTest):
    def test_command(self):
        """A command: its samples, its time, its wait states; nothing of the host."""
        outside = self.start(workload("execafter"), 100)
        _, init = self.namespace()
        trace = self.record_inside(init, "-e", "all", "-F", 499, "--", workload("sleeper"), 2)
        self.assertIsNone(outside.poll())
        reported = live.json.loads(trace.done.out)
        self.assertEqual({comm for comm in self.comms(trace) if not comm.startswith("skein")},
                         {"sleeper"})
        self.assertAlmostEqual(
            live.weight(trace.stacks(comm="sleeper")), reported["cpu"],
            delta=live.chance(reported["turns"], 499) + trace.excuse() + 0.02)
        self.check_named(trace, "sleeper", "main")
        sleeper = next(s.process for s in trace.stacks(comm="sleeper"))
        self.assertLess(sleeper["pid"], 100)
        self.assertGreater(sleeper["global_pid"], sleeper["pid"])
        self.check_times(trace, "sleeper", reported["cpu"])

    def check_times(self, trace, comm, cpu):
        """By the scheduler's records a thread ran as long as it says, and waited in sleeps."""
        rows = {r["state"]: r for r in trace.query(
            "SELECT s.state, sum(s.end - s.time) / 1e9 AS seconds, count(*) AS n FROM slice s "
            "JOIN thread t ON t.id = s.value JOIN lane l ON l.id = s.lane AND l.kind = 1 "
            f"WHERE t.comm = '{comm}' GROUP BY s.state")}
        ran = sum(r["seconds"] for r in rows.values())
        # 20 ms before main() and after its last look at the clock; a slice includes stolen time
        stolen = trace.stolen + sched_live.STEAL_STEP / 1e9
        self.assertAlmostEqual(ran, cpu, delta=0.02 * cpu + 0.02 + stolen)

    def test_all(self):
        """-a, the default: all of the namespace and of those below it, by their numbers in it."""
        outside = self.start(workload("execafter"), 100)
        _, init = self.namespace()
        _, loop = self.start_inside(init, workload("loop"), 100)
        python = self.tmp / "busy.py"
        python.write_text(PYTHON.format(100))
        _, snake = self.start_inside(init, sys.executable, python)
        nested = self.start(*self.enter(init, "unshare", "--pid", "--fork", "--kill-child",
                                        workload("sleeper"), 100))
        trace = self.record_inside(init, "-F", 499, "-d", 3)
        self.assertEqual([p.poll() for p in (outside, nested)], [None, None])
        self.assertNotIn("execafter", self.comms(trace))
        self.check_named(trace, "loop", "main")
        self.check_named(trace, "sleeper", "main")
        snakes = trace.stacks(pid=self.inner(snake))
        self.assertGreaterEqual(live.share(snakes, "inner"), 0.95)
        looping = next(s.process for s in trace.stacks(comm="loop"))
        self.assertEqual((looping["pid"], looping["ns_pid"], looping["global_pid"]),
                         (self.inner(loop), self.inner(loop), loop))
        self.assertEqual({s.process["ns_pid"] for s in trace.stacks(comm="sleeper")}, {1})
        self.assertNotIn(0, {s.process["global_pid"] for s in trace.stacks()})
        account = trace.query("SELECT sum(due) AS due, sum(written) AS written, "
                              "sum(filtered) AS filtered FROM account")[0]
        self.assertGreater(account["filtered"], 0)

    def test_whole_host(self):
        """--host: also the others, by name, with kernel frames only."""
        self.start(workload("execafter"), 100)
        kernel = self.start("dd", "if=/dev/zero", "of=/dev/null", "bs=64M",
                            stderr=subprocess.DEVNULL)
        _, init = self.namespace()
        self.start_inside(init, workload("loop"), 100)
        trace = self.record_inside(init, "--host", "-e", "all", "-F", 499, "-d", 3)
        self.check_named(trace, "loop", "main")
        self.assertLessEqual({"execafter", "dd"}, self.comms(trace))
        for comm, pid in (("execafter", None), ("dd", kernel.pid)):
            for stack in trace.stacks(comm=comm):
                self.assertGreaterEqual(stack.process["pid"], 1 << 30)
                if pid:
                    self.assertEqual(stack.process["global_pid"], pid)
        found = completeness(SKEIN, trace.path, "execafter")
        self.assertEqual(found.samples, found.complete)
        self.assertGreater(found.no_user["outside of this pid namespace"], 100)
        kinds = {kind for s in trace.stacks(comm="dd") for kind in s.kinds}
        self.assertEqual(kinds, {live.FRAME["KERNEL"]})
        report = live.subprocess.run([SKEIN, "report", trace.path], capture_output=True,
                                     check=True).stdout.decode()
        self.assertIn("outside of this", report)

    def test_pid(self):
        """-p and -t take the numbers of the namespace, whatever has them outside."""
        _, init = self.namespace()
        _, loop = self.start_inside(init, workload("loop"), 100)
        _, other = self.start_inside(init, workload("execafter"), 100)
        trace = self.record_inside(init, "-p", self.inner(loop), "-F", 499, "-d", 1)
        self.assertEqual({s.process["global_pid"] for s in trace.stacks()}, {loop})
        trace = self.record_inside(init, "-t", self.inner(other), "-F", 499, "-d", 1)
        self.assertEqual({s.process["global_pid"] for s in trace.stacks()}, {other})
        failed = self.record_inside(init, "-p", loop, "-d", 1, status=1)
        self.assertIn(f"there is no process {loop}", failed.done.err)

    def test_births(self):
        """Programs that live briefly, and one that comes from outside while it is recorded."""
        _, init = self.namespace()
        recording = self.begin_inside(init, "-e", "all", "-F", 999)
        script = f"for i in $(seq 60); do {workload('loop')} 0.03 >/dev/null; done"
        self.start_inside(init, "/bin/sh", "-c", script)[0].wait()
        entered, pid = self.start_inside(init, workload("sleeper"), 1)
        entered.wait()
        trace = self.finish(recording)
        self.check_named(trace, "loop")
        self.assertGreaterEqual(len({s.process["global_pid"] for s in trace.stacks(comm="loop")}),
                                55)
        self.assertEqual({s.process["global_pid"] for s in trace.stacks(comm="sleeper")}, {pid})
        self.check_named(trace, "sleeper", "main")
        self.assertNotIn("", self.comms(trace))

    def test_ends_with_its_namespace(self):
        """From the host: a namespace that ends while it is recorded leaves its names."""
        recording = self.begin("-a", "-F", 499)
        holder, init = self.namespace()
        self.start_inside(init, workload("loop"), 100)
        live.time.sleep(1)
        self.end(holder)
        trace = self.finish(recording)
        self.check_named(trace, "loop", "main")

    def test_proc_of_another_namespace(self):
        """With the host's /proc no number would be right: an error that says so."""
        done = subprocess.run(["unshare", "--pid", "--fork", SKEIN, "record", "-d", "1", "-o",
                               str(self.file())], capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"/proc shows the processes of another pid namespace", done.stderr)

    def remove(self, group):
        """Remove a control group when its last process, a helper of skein, has ended."""
        self.wait_for(lambda: not (group / "cgroup.procs").read_text())
        group.rmdir()

    def test_pod(self):
        """--pod: the control group of the own pod, also where a cgroup namespace hides it."""
        top = next((c for c in CGROUPS if (c / "cgroup.procs").exists()), None)
        if not top:
            self.skipTest("no control groups")
        pod = top / "kubepods" / "burstable" / "pod6f1e2a10-1111-2222-3333-0123456789ab"
        parts = [pod / "one", pod / "two"]
        for group in (pod.parent.parent, pod.parent, pod, *parts):
            group.mkdir()
            self.addCleanup(self.remove, group)
        self.start(workload("execafter"), 100)
        join = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
        self.start("sh", "-c", join, parts[0], workload("loop"), 100)
        for flags in ([], ["unshare", "--cgroup"]):
            path = self.file()
            subprocess.run(["sh", "-c", join, str(parts[1]), *flags, SKEIN, "record", "--pod",
                            "-F", "499", "-d", "1", "-o", str(path)], check=True,
                           capture_output=True)
            comms = self.comms(live.Trace(path))
            self.assertIn("loop", comms)
            self.assertNotIn("execafter", comms)
        done = subprocess.run([SKEIN, "record", "--pod", "-d", "1"], capture_output=True,
                              check=False, cwd=self.tmp)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"skein is not in a pod", done.stderr)


class OthersInside(NamespaceTest):
    def test_other_files(self):
        """Whole test files in a namespace: every option and every name is as on the host."""
        for name in LONG if live.LONG else SHORT:
            with self.subTest(name), tempfile.TemporaryFile() as log:
                done = subprocess.run(
                    ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
                     sys.executable, str(ROOT / "tests/lib/run_cases.py"),
                     str(ROOT / f"tests/live/{name}.py"), str(self.tmp / "result.json")],
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
                log.seek(0)
                self.assertEqual(done.returncode, 0, log.read().decode(errors="replace"))


if __name__ == "__main__":
    live.main()
