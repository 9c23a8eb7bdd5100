# SPDX-License-Identifier: Apache-2.0
"""
Measure the cost of a command: CPU of its whole process tree, memory, time.

A meter process runs between this process and the command. As the tree's subreaper it waits for
every process of the tree, including those whose parent ended first or did not wait; the kernel
then adds up their CPU time to the nanosecond.
"""
import ctypes
import json
import os
import pathlib
import resource
import select
import signal
import statistics
import subprocess
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
LIBC = ctypes.CDLL(None, use_errno=True)
QUIET = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]


class BenchError(Exception):
    """A requirement of the measurement failed."""


class Spread:
    """Several measurements of one value."""

    def __init__(self, values):
        self.values = [float(v) for v in values]
        self.median = statistics.median(self.values)

    def text(self, form="{:.2f}", scale=1.0):
        low, high = min(self.values) * scale, max(self.values) * scale
        middle = form.format(self.median * scale)
        if len(self.values) == 1:
            return middle
        return f"{middle} ({form.format(low)}–{form.format(high)})"


def proc_text(*path):
    """Return a file of /proc; names in it may be invalid UTF-8."""
    return pathlib.Path("/proc", *map(str, path)).read_text(errors="replace")


def processes_below(root):
    """Return the process and all its living descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = proc_text(entry, "stat")
                children.setdefault(int(stat[stat.rindex(")"):].split()[2]), []).append(int(entry))
            except OSError:
                pass
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


class Watch:
    """Memory and CPU of a running process tree, from /proc."""

    def __init__(self, pid):
        self.pid = pid
        self.memory = {}  # pid -> (name, peak KiB, KiB of BPF maps in it)
        self.ran = {}  # tid -> ns on a CPU, as last seen
        self.points = []  # (time, ns on a CPU of the whole tree)

    def _memory(self, pid):
        fields = dict(line.split(":", 1) for line in
                      proc_text(pid, "status").splitlines() if ":" in line)
        peak = int(fields.get("VmHWM", "0").split()[0])
        known = self.memory.get(pid, ("", 0, 0))
        rings = known[2]
        if peak > known[1] or not rings:  # rings are released at the end; keep the largest value
            rings = max(rings, shared_with_kernel(pid))
        self.memory[pid] = (fields["Name"].strip(), max(peak, known[1]), rings)

    def _cpu(self, pid):
        for tid in os.listdir(f"/proc/{pid}/task"):
            self.ran[tid] = int(proc_text(pid, "task", tid, "schedstat").split()[0])

    def look(self, tree=True):
        for pid in processes_below(self.pid) if tree else [self.pid]:
            try:
                self._memory(pid)
                self._cpu(pid)
            except (OSError, ValueError, KeyError):
                pass  # it ended in the meantime
        self.points.append((time.monotonic(), sum(self.ran.values())))

    def steady(self, since, until):
        """Return the CPUs used between two times, in seconds of the monotonic clock."""
        inside = [p for p in self.points if since <= p[0] <= until]
        if len(inside) < 2:
            raise BenchError("the recording was too short to measure its steady cost")
        return (inside[-1][1] - inside[0][1]) / 1e9 / (inside[-1][0] - inside[0][0])


def shared_with_kernel(pid):
    """Return the KiB of rings that the kernel writes, which count as resident memory, too."""
    total, ours = 0, False
    for line in proc_text(pid, "smaps").splitlines():
        if "-" in line.split(" ", 1)[0]:
            ours = "bpf-map" in line or "perf_event" in line
        elif ours and line.startswith("Rss:"):
            total += int(line.split()[1])
    return total


class Cost:
    """
    The cost of one command. cpu and wall in s; watch: a Watch; begun: monotonic s; said: stderr.
    """

    def __init__(self, cpu, wall, watch, begun, said):
        self.cpu, self.wall, self.watch, self.begun, self.said = cpu, wall, watch, begun, said

    @property
    def peak(self):
        """Return the bytes of the largest process."""
        return max((kib for _, kib, _ in self.watch.memory.values()), default=0) * 1024


def _meter(command, stdout, stderr, report):
    """Code of the meter process: run, wait for all processes, report."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begun = time.monotonic()
    actions = QUIET + [(os.POSIX_SPAWN_DUP2, stdout, 1), (os.POSIX_SPAWN_DUP2, stderr, 2)]
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions,
                          setsigdef=[signal.SIGINT])
    os.write(report, f"{pid}\n".encode())
    status, wall = 1, 0
    try:
        while True:
            ended, result = os.wait()
            if ended == pid:
                status, wall = os.waitstatus_to_exitcode(result), time.monotonic() - begun
    except ChildProcessError:
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    os.write(report, json.dumps([status, wall, used.ru_utime + used.ru_stime]).encode())


def fork_meter(command, stdout, stderr):
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read_end)
            _meter(command, stdout, stderr, write_end)
        finally:
            os._exit(0)
    os.close(write_end)
    return child, read_end


def _follow(report, interval, tree):
    """Watch the tree of the meter process until it reports. Return (its report, Watch or None)."""
    text, watch = b"", None
    while True:
        if select.select([report], [], [], interval)[0]:
            more = os.read(report, 4096)
            text += more
            if not more:
                return text, watch
        if watch is None and b"\n" in text:
            watch = Watch(int(text.split(b"\n")[0]))
        if watch:
            watch.look(tree)


def result_of(text, command):
    """Return (status, wall, CPU) of a meter's report."""
    try:
        return json.loads(text.split(b"\n")[1])
    except (ValueError, IndexError):
        raise BenchError(f"cannot run {command[0]}") from None


def cost_of(command, interval=0.25, tree=True):
    """
    Run a command to its end and discard its output. Its status must be 0. interval: s between
    readings of its memory and, with tree, its children's.
    """
    command = [str(word) for word in command]
    with open(os.devnull, "wb") as out, tempfile.TemporaryFile() as err:
        begun = time.monotonic()
        child, report = fork_meter(command, out.fileno(), err.fileno())
        try:
            text, watch = _follow(report, interval, tree)
        except BaseException:  # also on Ctrl-C the command must be ended
            for pid in reversed(processes_below(child)):
                os.kill(pid, signal.SIGTERM)
            raise
        finally:
            os.close(report)
            os.waitpid(child, 0)
        err.seek(0)
        said = err.read().decode(errors="replace").strip()
    status, wall, cpu = result_of(text, command)
    if status:
        raise BenchError(f"status {status} from: {' '.join(command)}: {said}")
    return Cost(cpu, wall, watch, begun, said)


class Load:
    """Programs that keep every CPU busy during a measurement."""

    def __init__(self, command, copies):
        self.command = [str(word) for word in command]
        self.copies = copies
        self.running = []

    def __enter__(self):
        for _ in range(self.copies):
            self.running.append(subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True))
        time.sleep(0.3)
        if any(p.poll() is not None for p in self.running):
            self.__exit__()
            raise BenchError(f"the load ended at once: {' '.join(self.command)}")
        return self

    def __exit__(self, *_):
        for process in self.running:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        self.running = []


def descriptors(pid, kind):
    """Return how many descriptors of a kind a process has open: perf_event, bpf_link."""
    found = 0
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                found += kind in os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                pass
    except OSError:
        pass
    return found


def heed_interrupts():
    """Undo what a shell does to SIGINT for a command that it starts with `&`: it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Recorder:
    """A recorder in the background; the constructor returns when it samples."""

    def __init__(self, command, cpus):
        self.process = subprocess.Popen([str(word) for word in command],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, preexec_fn=heed_interrupts)
        self.pid = self.process.pid
        end = time.monotonic() + 20
        while descriptors(self.pid, "perf_event") < cpus:
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                self.process.wait()
                raise BenchError(f"it did not begin to record: {' '.join(map(str, command))}")
            time.sleep(0.02)
        time.sleep(0.3)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise BenchError("a recorder did not end after a signal") from None
