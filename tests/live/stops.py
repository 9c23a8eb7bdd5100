# SPDX-License-Identifier: Apache-2.0
"""
Compare stacks walked by skein with the same stacks walked by gdb.

gdb is attached to a process all the time (walk_with_gdb.py). Each sample of the process sends
SIGSTOP to the sampled thread from the sample's own interrupt, so the thread receives the signal
before its next instruction, or when it leaves the kernel if the sample hit the kernel. gdb catches
the signal, walks the stack, and continues the thread. So the last sample of a thread before its
stop is the one that caused the stop. Samples whose walk was not finished in the kernel stop no
thread.
"""
import dataclasses
import fnmatch
import functools
import json
import os
import re
import signal
import subprocess
import tempfile
import time

import live
from built import numbers

SCRIPT = live.ROOT / "tests" / "live" / "walk_with_gdb.py"
ATTACH_LIMIT = 60  # s: gdb reads the symbols of all libraries
WARM = 1  # s for skein to make its tables before the first stop
IN_KERNEL = 1  # enum sample_flag
UNMAPPED, NO_TABLE = (numbers("STACK_ENDS")[word] - 1 for word in ("UNMAPPED", "NO_TABLE"))
SYSCALL = 2  # bytes of the instruction
SWITCHES_STACKS = ("runtime.systemstack", "runtime.nanotime1", "runtime.walltime", "time.now",
                   "runtime.asmcgocall")
SIGRETURN = "runtime.sigreturn"
TOPS_OF_STACKS = ("runtime.mcall", "runtime.morestack", "runtime.mstart")

USER, SYSTEM_CALL, FAULT = PLACES = ("in user mode", "in system calls", "in faults and interrupts")
ZERO = "gdb adds a frame at address 0, where a coroutine or goroutine begins"
HANDLER = "a signal's handler was entered between sample and stop: it is on top of gdb's stack"
RETURNED = "the sample hit sigreturn, and the stop where that leads: one frame less in gdb's stack"
RESTARTED = "a system call that a signal had ended is done again: gdb's leaf is its instruction"
GO_STACKS = "gdb does not follow Go's runtime from the system's stack back to the goroutine's"
GO_TOPS = ("in runtime.mcall(), morestack() and mstart(), where Go itself ends stacks, gdb reads "
           "on behind the end")
GO_SIGNAL = ("gdb does not know runtime.sigreturn() of Go 1.19 as the frame of a signal: it gets "
             "lost there")
UNDESCRIBED = ("no .eh_frame describes the function: gdb guesses from its instructions, skein says "
               "'no unwind table'")
SWITCHING = ("swapcontext() has another stack pointer already, and libc's .eh_frame does not hold: "
             "gdb goes on into memory that is no code, skein says 'left mapped code'")


def common(one, other):
    """Return the length of the common prefix."""
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b),
                min(len(one), len(other)))


@functools.lru_cache
def readelf(what, path):
    command = ["readelf", what, path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def described(path, offset):
    """Return whether the file's .eh_frame describes the code at a file offset."""
    loads = re.findall(r"LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", readelf("-lW", path))
    for start, address, size in ([int(number, 16) for number in load] for load in loads):
        if start <= offset < start + size:
            offset += address - start
            break
    covered = re.findall(r"FDE .*pc=(\w+)\.\.(\w+)", readelf("-wF", path))
    return any(int(begin, 16) <= offset < int(end, 16) for begin, end in covered)


@dataclasses.dataclass
class Pair:
    """One stack, walked twice: (path, offset) of each frame, leaf first."""
    kernel: list  # names, if the sample hit the kernel
    skein: list
    names: list  # of skein's frames
    skein_end: int  # enum stack_end if skein reports missing frames, else -1
    gdb: list
    signals: list  # which of gdb's frames are signal frames
    begins: list  # the functions that begin at the addresses of gdb's frames
    gdb_end: str

    def place(self):
        """Return where the sample hit the thread: user code, a system call or a fault."""
        if not self.kernel:
            return USER
        return SYSTEM_CALL if any("SYSCALL_64" in name for name in self.kernel) else FAULT

    def same(self):
        return self.skein == self.gdb and self.skein_end < 0

    def why(self):
        """
        Return the known causes of a difference, each proven by the frames; None if there is an
        unknown one.
        """
        causes, gdb = ([ZERO], self.gdb[:-1]) if self.gdb[-1:] == [("", -1)] else ([], self.gdb)
        # only the return from a system call removes a frame
        returning = self.place() == SYSTEM_CALL
        for left in range(1 + returning):
            for entered in [0, *(i + 1 for i, signal in enumerate(self.signals) if signal)]:
                rest = self._rest(left, gdb[entered:], entered > 0)
                if rest is not None:
                    return causes + [RETURNED] * left + [HANDLER] * (entered > 0) + rest
        if any(begins.startswith(SIGRETURN) and not signal
               for begins, signal in zip(self.begins, self.signals)):
            return causes + [GO_SIGNAL]
        return None

    def _rest(self, left, gdb, interrupted):
        """
        Return the causes for the frames below, without skein's first frame if the thread has left
        it.
        """
        skein, names, causes = self.skein[left:], self.names[left:], []
        if gdb and skein and gdb[0] == (skein[0][0], skein[0][1] - SYSCALL) \
                and (interrupted or self.place() == SYSTEM_CALL):
            gdb, causes = [skein[0], *gdb[1:]], [RESTARTED]
        same = common(skein, gdb)
        if self.skein_end == UNMAPPED and same == len(skein) < len(gdb) and not gdb[same][0]:
            return causes + [SWITCHING]
        if self.skein_end == NO_TABLE and same == len(skein) and not described(*skein[-1]):
            return causes + [UNDESCRIBED]
        if self.skein_end >= 0 or not same:
            return None
        if same < len(skein) and names[same - 1].startswith(SWITCHES_STACKS):
            return causes + [GO_STACKS]
        if same == len(skein) < len(gdb) and names[-1].startswith(TOPS_OF_STACKS):
            return causes + [GO_TOPS]
        return causes if skein == gdb else None

    def __str__(self):
        at = common(self.skein, self.gdb)
        shown = [" ".join(f"{os.path.basename(path)}+{offset:#x}"
                          for path, offset in stack[max(at - 1, 0):at + 3])
                 for stack in (self.skein, self.gdb)]
        return (f"{len(self.skein)} frames, gdb {len(self.gdb)}, from frame {at} on: {shown[0]} "
                f"(end {self.skein_end}); gdb: {shown[1]} ({self.gdb_end}); "
                f"kernel: {' '.join(self.kernel[:6])}")


class Gdb:
    """gdb, attached to a process, which waits for go()."""

    def __init__(self, pid, count, out):
        self.out = out
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-x", SCRIPT,
             "-ex", f"python walk_with_gdb({pid}, {count}, {str(out)!r})"],
            stdin=subprocess.PIPE, stdout=self.log, stderr=self.log,
            env=live.clean_environment(LC_ALL="C.UTF-8"))

    def attached(self):
        """Wait until gdb is attached; return False if the process ended first."""
        end = time.monotonic() + ATTACH_LIMIT
        while not self._wrote():
            if self.process.poll() is not None:
                return False
            if time.monotonic() > end:
                raise AssertionError(f"gdb did not attach: {self.said()}")
            time.sleep(0.05)
        return True

    def _wrote(self):
        return self.out.exists() and self.out.read_bytes().startswith(b"attached\n")

    def go(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def wait(self, seconds):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()

    def end(self):
        """Kill gdb; a tracee continues when its tracer is killed."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.log.close()

    def said(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-2000:]

    def stops(self):
        lines = self.out.read_text(encoding="utf-8").split("\n")[1:-1]
        return [json.loads(line) for line in lines]


def parts(trace, ident):
    """
    Return (the kernel's names, [(path, offset)], their names, how the stack ended), leaf first;
    without Python's frames, which gdb does not show.
    """
    kernel, user, names, end = [], [], [], -1
    while ident:
        row = trace.table("stack")[ident]
        frame, ident = trace.table("frame")[row["frame"]], row["parent"]
        mapping = trace.table("mapping").get(frame["mapping"], {"path": "", "kind": 0})
        if frame["kind"] == live.FRAME_END:
            end = frame["address"]
        elif frame["kind"] == live.FRAME["KERNEL"]:
            kernel.append(trace.frame_name(frame["id"]))
        elif frame["kind"] != live.FRAME["PYTHON"]:
            of_file = mapping["kind"] != live.MAPPING["JIT"]
            user.append((mapping["path"] if of_file else "", frame["address"]))
            names.append(trace.frame_name(frame["id"]))
    return kernel, user, names, end


def samples_by_thread(trace):
    found = {}
    for row in trace.query("SELECT time, thread, stack, flags FROM sample ORDER BY time"):
        found.setdefault(trace.table("thread")[row["thread"]]["tid"], []).append(row)
    return found


def pairs_of(trace, stops):
    samples, before, found = samples_by_thread(trace), {}, []
    for stop in stops:
        tid, time_of_stop = stop["tid"], stop["time"]
        mine = [s for s in samples.get(tid, ()) if before.get(tid, 0) < s["time"] <= time_of_stop]
        before[tid] = time_of_stop
        if not mine:  # a signal that gdb uses to stop the other threads
            continue
        kernel, user, names, end = parts(trace, mine[-1]["stack"])
        in_kernel = mine[-1]["flags"] & IN_KERNEL
        frames = stop["frames"]
        found.append(Pair((kernel or ["?"]) if in_kernel else [], user, names, end,
                          [(f["path"], f["offset"]) for f in frames],
                          [f["signal"] for f in frames], [f["begins"] for f in frames],
                          stop["end"]))
    return found


def stop_often(case, pid, count, frequency, seconds):
    """
    Return pairs from the stops of a process, by samples of its present threads, until there are
    `count` pairs or the seconds are over. case is the LiveTest. The process continues afterwards.
    """
    gdb = Gdb(pid, count, case.tmp / f"stops-{pid}-{time.monotonic_ns()}")
    case.addCleanup(gdb.end)
    if not gdb.attached():
        return []
    threads = ",".join(os.listdir(f"/proc/{pid}/task"))
    recording = case.begin("-t", threads, "-F", frequency,
                           env=live.clean_environment(SKEIN_DEBUG_WALK="stop"))
    time.sleep(WARM)
    gdb.go()
    gdb.wait(seconds)
    trace = case.finish(recording)
    try:
        os.kill(pid, signal.SIGCONT)  # the stop of the last sample, which nothing has waited for
    except ProcessLookupError:
        pass
    return pairs_of(trace, gdb.stops())


def stat(pid):
    """Return (name, parent, CPU ticks); raise ProcessLookupError if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None
    fields = rest.split()
    return name, int(fields[1]), int(fields[11]) + int(fields[12])


def descendants():
    """Return {pid: (name, CPU ticks)} of all descendants of this process."""
    every = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            every[int(pid)] = stat(pid)
        except ProcessLookupError:
            pass

    def ours(pid):
        while pid in every and pid != os.getpid():
            pid = every[pid][1]
        return pid == os.getpid()
    return {pid: (name, ticks) for pid, (name, _, ticks) in every.items() if ours(pid)}


def busiest(comms):
    """Return the pids of our descendants with one of the names, most CPU time first."""
    before = descendants()
    time.sleep(0.3)
    used = {pid: ticks - before[pid][1] for pid, (name, ticks) in descendants().items()
            if pid in before and any(fnmatch.fnmatchcase(name, c) for c in comms)}
    return sorted((pid for pid in used if used[pid]), key=used.get, reverse=True)
