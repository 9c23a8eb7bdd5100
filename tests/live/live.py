# SPDX-License-Identifier: Apache-2.0
"""Shared base of the live tests: run skein on workloads, read traces by name."""

import collections
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from built import BUILD, ROOT, SKEIN, numbers # noqa: F401: tests take ROOT from here

LONG = os.environ.get("SKEIN_LONG") == "1"
CPUS = sorted(os.sched_getaffinity(0))
ONLINE = pathlib.Path(f"/sys/devices/system/cpu/cpu{CPUS[-1]}/online")

# A shell starts background programs with SIGINT ignored, and their children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

Stack = collections.namedtuple("Stack", "process thread names kinds count weight")
Done = collections.namedtuple("Done", "status out err path")


def workload(name):
    return str(BUILD / "tests" / "workloads" / name)


def on_terminal(*args, stderr=None, **env):
    """Run skein on a terminal to its end; return its status and what the terminal received."""
    master, slave = os.openpty()
    process = subprocess.Popen([SKEIN, *map(str, args)], stdin=slave, stdout=slave,
                               stderr=stderr or slave, env=clean_environment(TERM="xterm", **env))
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 4096):
            shown += chunk
    except OSError:
        pass  # no process has the terminal open
    os.close(master)
    return process.wait(), shown


def clean_environment(**more):
    """Return this environment without the variables that would make skein assume a sudo run."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("SUDO_")}
    env.update(more)
    return env


class Trace:
    """A .skein file read by `skein query`, with stacks joined to names."""

    def __init__(self, path):
        self.path = str(path)
        self.tables = {}
        self.known = {0: ((), ())}
        self.stolen = 0  # s that the host took from all CPUs during the recording

    def query(self, sql):
        run = subprocess.run([SKEIN, "query", "--json", self.path, sql], capture_output=True,
                             timeout=120)
        if run.returncode:
            raise AssertionError(f"{os.listdir(os.path.dirname(self.path))} query {sql!r}: "
                                 f"{run.stderr.decode(errors='replace')}")
        return json.loads(run.stdout.decode())  # strict: bytes that are no UTF-8 fail

    def table(self, name):
        """Return the rows of an entity by id."""
        if name not in self.tables:
            self.tables[name] = {r["id"]: r for r in self.query(f"SELECT * FROM {name}")}
        return self.tables[name]

    def one(self, sql):
        return next(iter(self.query(sql)[0].values()))

    def frame_name(self, ident):
        frame = self.table("frame")[ident]
        function = self.table("function").get(frame["function"])
        if function and function["name"]:
            return function["name"]
        mapping = self.table("mapping").get(frame["mapping"])
        # a function without a name is identified by its start, if known
        address = function["address"] if function else frame["address"]
        return f"[{mapping['path']}+{address:#x}]" if mapping else "[unknown]"

    def names(self, ident):
        """Return (names, kinds) of a stack, from the root, without the marks of how it ended."""
        chain = []
        while ident not in self.known:
            chain.append(ident)
            ident = self.table("stack")[ident]["parent"]
        names, kinds = self.known[ident]
        for ident in reversed(chain):
            frame = self.table("stack")[ident]["frame"]
            row = self.table("frame").get(frame)
            if not row:  # a killed recorder may not have written it
                names, kinds = names + ("[unnamed]",), kinds + (0,)
                self.known[ident] = names, kinds
                continue
            kind = row["kind"]
            if kind != FRAME_END:
                names, kinds = names + (self.frame_name(frame),), kinds + (kind,)
            self.known[ident] = names, kinds
        return self.known[ident]

    def stack(self, thread, stack, count, weight):
        thread = self.table("thread")[thread]
        process = self.table("process").get(thread["process"])
        return Stack(process, thread, *self.names(stack), count, weight)

    def stacks(self, comm=None, pid=None, thread=None):
        """
        Return sums of samples (not of waits) by thread and stack, of processes with a name or pid,
        or threads with a name.
        """
        rows = self.query("SELECT thread, stack, sum(count) AS count, sum(weight) AS weight "
                          f"FROM sum WHERE {OF_CPU_TIME} GROUP BY thread, stack")
        every = [self.stack(r["thread"], r["stack"], r["count"], r["weight"]) for r in rows]
        return [s for s in every
                if (comm is None or s.process["comm"] == comm)
                and (pid is None or s.process["pid"] == pid)
                and (thread is None or s.thread["comm"] == thread)]

    def samples(self):
        """Return (time, cpu, Stack) of every sample (not of waits), in order of time."""
        rows = self.query("SELECT time, cpu, thread, stack, weight FROM sample "
                          f"WHERE {OF_CPU_TIME} ORDER BY time")
        return [(r["time"], r["cpu"], self.stack(r["thread"], r["stack"], 1, r["weight"]))
                for r in rows]

    def excuse(self):
        """
        Return by how many seconds samples and CPU clocks may differ for recorded reasons: samples
        were lost, or the host took the CPU, and clocks and samples may attribute that time to
        different threads.
        """
        reasons = ", ".join(str(LOSS[reason]) for reason in UNSAMPLED)
        lost = self.query(f"SELECT * FROM loss WHERE reason IN ({reasons})")
        return sum(r["weight"] for r in lost) / 1e9 + self.stolen

    def unsampled(self, cpu=None):
        """Return how many samples were due and never taken, of one CPU or all."""
        return sum(self.losses(reason, cpu) for reason in UNSAMPLED)

    def losses(self, reason=None, cpu=None):
        """Return the number of lost records, by the trace's own list of reasons."""
        return sum(r["count"] for r in self.query("SELECT * FROM loss")
                   if (reason is None or r["reason"] == LOSS[reason])
                   and (cpu is None or r["cpu"] == cpu + 1))


LOSS = numbers("LOSS_REASONS")
FRAME = numbers("FRAME_KINDS")
MAPPING = numbers("MAPPING_KINDS")
FRAME_END = FRAME["END"]
# SQL: samples of what ran, beside which there may be stacks of waits
OF_CPU_TIME = "event NOT IN (SELECT id FROM event WHERE name LIKE 'off-cpu%')"
UNSAMPLED = ("NOT_DELIVERED", "LATE_TICK", "SKIPPED")  # reasons of losses in the kernel


def count(stacks):
    return sum(s.count for s in stacks)


def weight(stacks):
    """Return the weight in seconds."""
    return sum(s.weight for s in stacks) / 1e9


def share(stacks, function):
    """Return the share of the samples that have the function anywhere on their stack."""
    total = count(stacks)
    return count([s for s in stacks if function in s.names]) / total if total else 0.0


def functions(stacks):
    return {name for s in stacks for name in s.names}


def stolen():
    """
    Return the seconds that the host took from all CPUs so far, in steps of 10 ms; some hosts
    report none.
    """
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Return the CPU time of a process, by the clock id of clock_getcpuclockid(3)."""
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e9


def waited_for_cpu(pid):
    """Return for how many seconds a single-threaded process was runnable without a CPU."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def can_go_offline():
    """Return whether the last CPU can be taken offline; it is online afterwards."""
    try:
        return len(CPUS) > 1 and ONLINE.write_text("1") > 0
    except OSError:
        return False


def command_name(pid):
    """Return the command name of a process, or None if it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().rstrip("\n")
    except (FileNotFoundError, ProcessLookupError):
        return None


def child_named(pid, comm):
    """Return the pid of a child with a name, or None. Children may end meanwhile."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = [int(child) for child in children if command_name(child) == comm]
    return found[0] if found else None


def preemptions(pid):
    """Return how often all threads of a process left a CPU, voluntarily or not."""
    found = 0
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        found += sum(map(int, re.findall(r"ctxt_switches:\s+(\d+)", status.read_text())))
    return found


def chance(stretches, frequency):
    """
    Return by how many seconds the samples of a number of stretches may be off: 6 sigma. The number
    in each stretch is off by less than one, with a variance of 1/4 at most.
    """
    return 6 * math.sqrt((stretches + 1) / 4) / frequency


def threads():
    """Return (pid, tid) of every thread of the machine."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found += [(int(pid), int(tid)) for tid in os.listdir(f"/proc/{pid}/task")]
        except OSError:
            pass  # it has ended
    return found


def descriptors(pid, word):
    """Return how many open files of a process have a word in their names."""
    found = 0
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                found += word in os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                pass
    except OSError:
        pass
    return found


class Recording:
    """`skein record` in the background; the constructor returns when it records."""

    BEGUN = b"skein: recording\n"

    def __init__(self, path, *args, env=None, prefix=()):
        self.path = str(path)
        self.log = tempfile.TemporaryFile()
        self.stolen = stolen()
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*prefix, SKEIN, "record", "-v", "-o", self.path, *map(str, args)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log,
            env=env or clean_environment())
        self.pid = self.process.pid
        while self.process.poll() is None and not self.has_begun():
            if time.monotonic() > began + 60:
                self.process.kill()
                raise AssertionError("skein record did not begin within 60 s")
            time.sleep(0.02)
        self.took = time.monotonic() - began

    def has_begun(self):
        return self.BEGUN in os.pread(self.log.fileno(), 1 << 20, 0)

    def stop(self, how=signal.SIGINT):
        if self.process.poll() is None and how:
            self.process.send_signal(how)
        return self.wait()

    def wait(self, timeout=60):
        try:
            out = self.process.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"skein record did not end within {timeout} s") from None
        self.log.seek(0)
        err = self.log.read().decode(errors="replace")
        self.log.close()
        return Done(self.process.returncode, out.decode(errors="replace"), err, self.path)


class Waiting(Recording):
    """A recording that is ready, but does not record yet."""

    BEGUN = b"skein: not recording yet\n"


@unittest.skipUnless(os.geteuid() == 0, "recording needs root")
class LiveTest(unittest.TestCase):
    """A test with a folder of its own that leaves nothing behind."""

    maxDiff = None

    def setUp(self):
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="live-"))
        self.tmp.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.tmp, ignore_errors=True)
        self.files = 0

    def file(self):
        self.files += 1
        return self.tmp / f"trace-{self.files}.skein"

    def record(self, *args, status=0, timeout=90, env=None):
        """
        Run `skein record ARGS` to its end; return the trace, with the finished process as .done.
        """
        path, before = self.file(), stolen()
        run = subprocess.run([SKEIN, "record", "-v", "-o", str(path), *map(str, args)],
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout,
                             env=env or clean_environment())
        err = run.stderr.decode(errors="replace")
        self.assertEqual(run.returncode, status, err)
        trace = Trace(path)
        trace.stolen = stolen() - before
        trace.done = Done(run.returncode, run.stdout.decode(errors="replace"), err, path)
        return trace

    def begin(self, *args, kind=Recording, **more):
        recording = kind(self.file(), *args, **more)
        self.addCleanup(self.end, recording.process)
        return recording

    def finish(self, recording, status=0, how=signal.SIGINT):
        done = recording.stop(how)
        self.assertEqual(done.status, status, done.err)
        trace = Trace(recording.path)
        trace.stolen = stolen() - recording.stolen
        trace.done = done
        return trace

    def finish_in_time(self, recording, limit=2, how=signal.SIGINT):
        """
        Finish a recording, and check that it ends within `limit` seconds; trace.ending is the time
        it took. The time in which the recorder waited for a CPU, or the host ran none, does not
        count, because the limit is for a machine with idle time. The rest is up to 1.5 s of
        waiting and about 0.1 s of work.
        """
        before, begun = stolen() + waited_for_cpu(recording.pid), time.monotonic()
        waited = before
        if how:
            recording.process.send_signal(how)
        while recording.process.poll() is None and time.monotonic() < begun + 60:
            try:
                waited = max(waited, stolen() + waited_for_cpu(recording.pid))
            except OSError:
                pass  # it has ended
            time.sleep(0.005)
        took = time.monotonic() - begun
        trace = self.finish(recording, how=None)
        trace.ending = took - (waited - before)
        self.assertLess(trace.ending, limit, f"{took:.2f} s in all; {trace.done.err}")
        return trace

    @staticmethod
    def wait_for(what, limit=60, explain=lambda: "what did not come"):
        """Wait until what() is true, and return its value."""
        end = time.monotonic() + limit
        while not (found := what()):
            if time.monotonic() > end:
                raise AssertionError(f"waited {limit} s for {explain()}")
            time.sleep(0.02)
        return found

    def start(self, *args, cpu=None, wait=False, **more):
        """
        Start a workload. With wait, the process is a shell that becomes the workload at go(), so
        that its start happens while it is observed.
        """
        command = [str(a) for a in args]
        if cpu is not None:
            command = ["taskset", "-c", str(cpu), *command]
        if wait:
            command = ["sh", "-c", 'read line; exec "$@"', "sh", *command]
            more["stdin"] = subprocess.PIPE
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=clean_environment(),
                                   **more)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def go(process):
        process.stdin.write(b"\n")
        process.stdin.close()
        process.stdin = None

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()

    def container_groups(self, name):
        """
        Create a container's group in every hierarchy, as container runtimes do; return the groups.
        """
        ret = []
        with open("/proc/mounts", encoding="ascii") as mounts:
            trees = [pathlib.Path(line.split()[1]) for line in mounts
                     if line.split()[2] in ("cgroup", "cgroup2")]
        for tree in trees:
            try:
                (tree / name).mkdir()
                self.addCleanup(self.remove_group, tree / name)
                if (tree / "cpuset.cpus").exists():
                    for file in ("cpuset.cpus", "cpuset.mems"):
                        (tree / name / file).write_text((tree / file).read_text())
                ret.append(tree / name)
            except OSError:
                pass  # this hierarchy forbids it
        self.assertTrue(ret)
        return ret

    @staticmethod
    def remove_group(path):
        for _ in range(50):
            try:
                return path.rmdir()
            except OSError:
                time.sleep(0.05) # its processes are still ending
        return None

    def output(self, process):
        """Return the JSON that a workload printed, when it has ended."""
        out = process.communicate(timeout=90)[0]
        self.assertEqual(process.returncode, 0)
        return json.loads(out)

    def build_wide(self, libraries, *flags):
        """Build a program of many files that skein has not seen before; return its words."""
        library, program = self.tmp / "lib.so", self.tmp / "wide"
        shapes = ROOT / "tests" / "workloads" / "shapes"
        gcc = ["gcc", "-O2", "-fno-optimize-sibling-calls", *flags]
        subprocess.run([*gcc, "-shared", "-fPIC", "-o", library, shapes / "wide_library.c"],
                       check=True)
        subprocess.run([*gcc, "-D_GNU_SOURCE", "-o", program, shapes / "wide.c"], check=True)
        for i in range(libraries):
            shutil.copy2(library, self.tmp / f"lib-{i}.so")
        return [program, self.tmp, libraries]

    def copy(self, name, to=None):
        """Return a copy of a workload that the test may damage."""
        path = self.tmp / (to or name)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(workload(name), path)
        return path

    def export(self, path, *args):
        return subprocess.run([SKEIN, "export", str(path), *args], capture_output=True,
                              check=True, timeout=120).stdout


def main():
    unittest.main(verbosity=2 if sys.stdout.isatty() else 1)
