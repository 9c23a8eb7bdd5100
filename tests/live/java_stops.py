# SPDX-License-Identifier: Apache-2.0
"""
Compare Java stacks walked by skein with the same stacks walked by the JDK's Serviceability Agent.

A sample sends SIGSTOP to its own thread (SKEIN_DEBUG_WALK=stop, see stops.py), which stops the
whole JVM; a thread that was sampled is at its sample. The agent (tests/readers/java/StackAgent)
walks its stack with the registers that are read by ptrace.

The agent's walk is exact from a whole frame on, or from where the thread left Java. Where a thread
was stopped in a prologue, an epilogue or a stub, or in a leaf function of libjvm, it runs
instruction by instruction until the agent can walk. The frames that existed at the stop are those
whose return address lay above its stack pointer then.
"""
import collections
import ctypes
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import time

import jdks
import live
import stops

SOURCE = live.ROOT / "tests" / "readers" / "java" / "StackAgent.java"
PACKAGES = ("", ".code", ".debugger", ".debugger.linux", ".interpreter", ".oops", ".runtime",
            ".runtime.x86", ".types", ".types.basic")
EXPORTS = ["--add-modules=jdk.hotspot.agent",
           *(f"--add-exports=jdk.hotspot.agent/sun.jvm.hotspot{package}=ALL-UNNAMED"
             for package in PACKAGES)]
PTRACE_CONT, PTRACE_GETREGS, PTRACE_SINGLESTEP, PTRACE_DETACH = 7, 12, 9, 17
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
REGISTERS = 27
RIP, RSP = 16, 19
WALL = 0x40000000
STEPS_MOST = 4000
ASKED_MOST = 150  # questions to the agent about one stop
STOP_LIMIT = 20  # s to wait for a stop
BLOCKED = 0.2  # s that an instruction may take
RET, LEAVE = (0xc3, 0xc2), 0xc9
PUSHF = 0x9c
TRAP_FLAG = 0x100
LEAST_RUN = 100_000  # ns of CPU; a thread that was only woken and stopped again uses less
SYS_TGKILL = 234
CODE = 16  # bytes before pc, and from there on
MOV_RBX, JMP = b"\x48\xbb", b"\xe9"
FREEZE, YIELD = "jdk.internal.vm.Continuation.doYield", "jdk.internal.vm.Continuation.yield"
ENDED = "skein's walk ends with a reason"
THAWED = "frames of a virtual thread came back from the heap in the steps"
FROZEN = "frames of a virtual thread that go to the heap are already left out by the agent"
METHODS = ("interpreted", "C1", "C2", "wrapper")
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long

SCOPE = re.compile(r"(.+)\.([^.(]+)(\(\S*) (.*):(\d+)@(-?\d+)")


def ptrace(request, tid, data=None):
    if libc.ptrace(request, tid, None, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace({request})")


class Traced:
    """A thread of a process that SIGSTOP has stopped."""

    def __init__(self, tid):
        self.tid = tid
        self.returned, self.left = False, 0
        ptrace(PTRACE_SEIZE, tid)
        os.waitpid(tid, WALL)
        self.read()
        self.memory = os.open(f"/proc/{tid}/mem", os.O_RDWR)

    def read(self):
        values = (ctypes.c_ulong * REGISTERS)()
        ptrace(PTRACE_GETREGS, self.tid, values)
        self.registers = list(values)

    def step(self):
        """Run one instruction. Return False if it does not end."""
        opcode = os.pread(self.memory, 1, self.registers[RIP])[0]
        passed = 0
        while True:
            ptrace(PTRACE_SINGLESTEP, self.tid, passed)
            end = time.monotonic() + BLOCKED
            while not (got := os.waitpid(self.tid, WALL | os.WNOHANG))[0]:
                if time.monotonic() > end:
                    self.interrupt()
                    return False
            got = os.WSTOPSIG(got[1])
            if got == signal.SIGTRAP:
                break
            passed = 0 if got == signal.SIGSTOP else got  # the next sample's
        self.read()
        self.returned |= opcode in RET
        self.left += opcode == LEAVE
        if opcode == PUSHF:  # popf would set the flag again, and the trap kill the JVM
            at = self.registers[RSP] + 1
            flags = os.pread(self.memory, 1, at)[0]
            os.pwrite(self.memory, bytes([flags & ~(TRAP_FLAG >> 8)]), at)
        return True

    def interrupt(self):
        """Stop the thread inside a system call, without the trap that its end has left."""
        ptrace(PTRACE_INTERRUPT, self.tid)
        os.waitpid(self.tid, WALL)
        status = pathlib.Path(f"/proc/{self.tid}/status")
        while int(re.search(r"SigPnd:\s*(\w+)", status.read_text())[1], 16) >> 4 & 1:
            ptrace(PTRACE_CONT, self.tid)
            os.waitpid(self.tid, WALL)

    def detach(self):
        os.close(self.memory)
        ptrace(PTRACE_DETACH, self.tid)


def symbols_of(pid, file):
    """Write the addresses of libjvm's symbols in a process to a file."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        line = next(line for line in maps if line.rstrip().endswith("/libjvm.so")).split()
    base = int(line[0].split("-")[0], 16) - int(line[2], 16)
    found = {}
    for option in ("-a", "-D"):
        run = subprocess.run(["nm", option, "--defined-only", line[5]], capture_output=True,
                             text=True, check=False)
        for symbol in run.stdout.splitlines():
            words = symbol.split(" ")
            if len(words) == 3 and words[1] not in "TtUW":  # data
                found[words[2].split("@")[0]] = int(words[0], 16) + base
    file.write_text("".join(f"{at:x} {name}\n" for name, at in found.items()))


class Agent:
    """The agent of one JVM, which must be stopped whenever it is asked."""

    def __init__(self, version, pid, folder):
        classes = folder / f"agent-{version}"
        if not classes.is_dir():
            subprocess.run([jdks.tool("javac", version), *EXPORTS, "-d", classes, SOURCE],
                           check=True, capture_output=True)
        symbols_of(pid, folder / f"symbols-{pid}")
        self.process = subprocess.Popen(
            [jdks.tool("java", version), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *EXPORTS,
             "-cp", classes, "StackAgent", str(pid), folder / f"symbols-{pid}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ready(self):
        if self.process.stdout.readline() != "ready\n":
            raise AssertionError("the Serviceability Agent did not start")

    def ask(self, traced):
        """Return (lines of words, why it ended)."""
        registers = " ".join(f"{value:x}" for value in traced.registers)
        self.process.stdin.write(f"{traced.tid} {registers}\n")
        self.process.stdin.flush()
        lines = []
        while (words := self.process.stdout.readline().rstrip("\n").split("\t"))[0] != "end":
            if not self.process.stdout.readable() or self.process.poll() is not None:
                raise AssertionError("the Serviceability Agent has ended")
            lines.append(words)
        return lines, words[1]

    def close(self):
        self.process.kill()
        self.process.communicate()


Frame = collections.namedtuple("Frame", "kind address scopes")
Scope = collections.namedtuple("Scope", "name signature line bci")


def without_addresses(name):
    """Return a class's name without what differs from run to run, as skein shows it."""
    if re.search(r"[+/.]0x[0-9a-f]+$", name):
        return re.sub(r"(\$\$Lambda)\$\d+$", r"\1", re.sub(r"[+/.]0x[0-9a-f]+$", "", name))
    return name


def scope_of(text):
    found = SCOPE.fullmatch(text)
    if not found:
        return Scope(text, "", 0, 0)
    name = f"{without_addresses(found[1])}.{found[2]}"
    return Scope(name, name + found[3], int(found[5]), int(found[6]))


@dataclasses.dataclass
class Stop:
    """What the agent knows of a thread at a stop."""
    tid: int
    begun: int  # ns of CLOCK_BOOTTIME: after the stop before it
    time: int
    place: list  # of the code at pc: kind, address and name
    frames: list = None  # of methods, those that existed at the stop
    leaf_returned: bool = False  # the frame at pc is not in frames
    others: list = ()  # names of stubs
    whole: bool = False  # the first of the frames is exact
    steps: int = 0
    left: int = 0  # frames that were removed in these steps
    end: str = ""
    code: bytes = b""  # around pc, which is in its middle

    def in_call_stub(self):
        """Return whether pc is in `mov rbx, METHOD; jmp ADAPTER` of a compiled method."""
        before, after = self.code[:CODE], self.code[CODE:]
        return self.place[0] == "method" and (
            (after[:2], after[10:11]) == (MOV_RBX, JMP)
            or (before[-10:-8], after[:1]) == (MOV_RBX, JMP))


def number(text):
    return 0 if text == "null" else int(text, 16)


def look(agent, tid, begun, now):
    """Return a Stop; its frames are None if the agent could not walk."""
    traced = Traced(tid)
    stop = Stop(tid, begun, now, None)
    sp, asked, last = traced.registers[RSP], 0, None
    stop.code = os.pread(traced.memory, 2 * CODE, traced.registers[RIP] - CODE)
    try:
        while True:
            state = (traced.registers[RSP], traced.registers[RIP] >> 4)
            if state != last:
                lines, stop.end = agent.ask(traced)
                stop.place = stop.place or lines[0][1:]
                asked += 1
                last = state
                if stop.end == "ok":
                    break
            if asked >= ASKED_MOST or stop.steps >= STEPS_MOST or not traced.step():
                return stop
            stop.steps += 1
    finally:
        traced.detach()
    stop.whole, stop.left = not stop.steps, traced.left
    frames = [line for before, line in zip(lines, lines[1:])
              if line[0].split(",")[0] in METHODS and number(line[1]) >= sp
              # skein's frame of the stub stands for it, whose return barrier was put in its place
              and not (before[0] == "stub" and "ontinuation" in before[3])]
    stop.others = [line[3] for line in lines[1:] if line[0] == "stub"]
    stop.leaf_returned = traced.returned and traced.registers[RSP] > sp
    stop.frames = [Frame(line[0], number(line[2]), [scope_of(s) for s in line[3:]])
                   for line in frames]
    return stop


@dataclasses.dataclass
class Pair:
    """One stack, walked twice: innermost frame first."""
    stop: Stop
    skein: list  # Frame; kind is its flags
    skein_end: int

    def leaf(self):
        """Return how many frames skein may have before those of the agent."""
        kind = self.stop.place[0]
        if self.stop.in_call_stub():  # the method that is called has its return address already
            return (-1, 0)
        if kind == "method":
            return (1,) if self.stop.leaf_returned else (0,)
        if kind == "interpreter" and not self.stop.whole:
            return range(self.stop.left + 2)
        if kind == "stub":  # a method that is being called has its return address already
            # the stub's caller may have returned before the agent could walk
            return (-1, 0, 1) if self.stop.leaf_returned else (-1, 0)
        return (0,)

    def same(self):
        return not self.skein_end >= 0 and not self.compare(self.skein, self.stop.frames)

    def cause(self):
        """Return the known cause of a difference, proven by the frames; else how they differ."""
        ours, theirs = self.skein, self.stop.frames
        if self.skein_end >= 0:
            return ENDED
        leaves = [frames[0].scopes[-1].name if frames else "" for frames in (ours, theirs)]
        if self.stop.steps and len(ours) < len(theirs) and leaves[1].startswith(YIELD) and \
                not self.compare(ours, theirs[-len(ours):]):
            return THAWED
        if not self.stop.steps and len(ours) > len(theirs) and leaves[0] == FREEZE and \
                not self.compare(ours[-len(theirs):], theirs):
            return FROZEN
        return self.compare(ours, theirs)

    def compare(self, ours, theirs):
        """Return how stacks differ; an empty text if they do not."""
        more = len(ours) - len(theirs)
        theirs = theirs[max(0, -more):]
        if more not in self.leaf():
            return "another number of frames"
        more = max(0, more)
        if more and self.stop.place[0] == "method" and \
                ours[0].address != number(self.stop.place[1]):
            return "another innermost method"
        for i, (one, other) in enumerate(zip(ours[more:], theirs)):
            if not i and not more and self.stop.place[0] == "linker":
                continue
            if one.address != other.address:
                return "another method"
            if one.scopes[-1][:2] != other.scopes[-1][:2]:
                return "another name"
            if i == 0 and self.is_interrupted(other):
                continue
            if [s[:3] for s in one.scopes] != [s[:3] for s in other.scopes]:
                return "another bytecode"
        return ""

    def is_interrupted(self, first):
        """Return whether the first frame is where the thread was interrupted, or has run on."""
        if self.stop.steps:
            return True
        return self.stop.place[0] != "native" and first.kind != "interpreted"

    def kinds(self):
        """Return the kinds of frames in the stack, in words."""
        found = set()
        for frame in self.stop.frames:
            found.update(frame.kind.split(","))
            if len(frame.scopes) > 1:
                found.add("inlined")
        found.update("stub: continuation" for name in self.stop.others if "ontinuation" in name)
        found.update("stub: upcall" for name in self.stop.others if "upcall" in name)
        return found

    def __str__(self):
        def show(frames):
            return " ".join(f"{f.kind or '-'}:{f.address:x}:" + "<".join(
                f"{s.name}:{s.line}" for s in f.scopes) for f in frames)
        return (f"{self.cause()}: at {self.stop.place}, {self.stop.steps} steps, end "
                f"{self.skein_end}\n  skein {show(self.skein)}\n  agent {show(self.stop.frames)}")


class Trace:
    """The Java frames of a trace."""

    def __init__(self, trace):
        self.trace = trace
        self.inlined = collections.defaultdict(dict)
        for row in trace.query("SELECT * FROM inlined"):
            self.inlined[row["frame"]][row["depth"]] = row

    def scope(self, function, line):
        row = self.trace.table("function").get(function)
        return Scope(row["name"], row["system_name"], line, 0) if row else Scope("", "", line, 0)

    def frame(self, row):
        inlined = self.inlined.get(row["id"])
        if not inlined:
            return Frame(str(row["flags"]), row["address"],
                         [self.scope(row["function"], row["line"])])
        return Frame(str(row["flags"]), row["address"],
                     [self.scope(inlined[d]["function"], inlined[d]["line"])
                      for d in sorted(inlined)])

    def stack(self, ident):
        """Return (frames of methods, how the walk ended or -1)."""
        return self.parts(ident)[:2]

    def parts(self, ident):
        """The same, and the numbers of frames that native code has called."""
        frames, end, calls = [], -1, set()
        while ident:
            row = self.trace.table("stack")[ident]
            frame, ident = self.trace.table("frame")[row["frame"]], row["parent"]
            if frame["kind"] == live.FRAME_END:
                end = frame["address"]
                continue
            if frame["kind"] == live.FRAME["JAVA"]:
                found = self.frame(frame)
                if not found.scopes[-1].name or "(" in found.scopes[-1].signature:  # no stub
                    frames.append(found)
            elif frames:
                calls.add(len(frames))
        return frames, end, calls


def pairs_of(trace, found):
    samples, java, pairs = stops.samples_by_thread(trace), Trace(trace), []
    for stop in found:
        mine = [s for s in samples.get(stop.tid, ()) if stop.begun < s["time"] <= stop.time]
        if mine and stop.frames is not None:
            pairs.append(Pair(stop, *java.stack(mine[-1]["stack"])))
    return pairs


def boot_time():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def cpu_of(pid, tid):
    """Return the ns of CPU time that a thread has used; 0 if it has ended."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()[0])
    except OSError:
        return 0


class Ended(Exception):
    """The JVM has ended, by a signal."""


def wait_for_stop(pid):
    end = time.monotonic() + STOP_LIMIT
    while time.monotonic() < end:
        got, status = os.waitpid(pid, os.WUNTRACED | os.WNOHANG)
        if got and os.WIFSTOPPED(status):
            return
        if got:
            raise Ended(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)
        time.sleep(0.0003)
    raise AssertionError("no sample stops the JVM")


def threads_named(pid, names):
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        comm = pathlib.Path(f"/proc/{pid}/task/{tid}/comm").read_text(encoding="utf-8").strip()
        if comm.startswith(tuple(names)):
            found[int(tid)] = comm
    return found


class Stopping:
    """A recording that stops a JVM, a child of this process, at samples of some of its threads."""

    def __init__(self, case, pid, names, frequency):
        self.case, self.pid = case, pid
        self.used = {tid: 0 for tid in threads_named(pid, names)}
        self.recording = case.begin("-t", ",".join(map(str, self.used)), "-F", frequency,
                                    "--inlines",
                                    env=live.clean_environment(SKEIN_DEBUG_WALK="stop"))

    def stops(self, enough):
        """Yield (end of the stop before, time, threads that ran) of each stop, until enough()."""
        begun = boot_time()
        while not enough():
            wait_for_stop(self.pid)
            now, ran = boot_time(), []
            for tid, before in self.used.items():
                self.used[tid] = cpu_of(self.pid, tid)
                if before and self.used[tid] - before >= LEAST_RUN:
                    ran.append(tid)
            yield begun, now, ran
            begun = boot_time()
            os.kill(self.pid, signal.SIGCONT)

    def finish(self):
        """Return the trace; the JVM runs on."""
        self.recording.process.send_signal(signal.SIGINT)
        while self.recording.process.poll() is None:
            os.waitpid(self.pid, os.WUNTRACED | os.WNOHANG)  # the last samples still stop it
            os.kill(self.pid, signal.SIGCONT)
            time.sleep(0.01)
        os.kill(self.pid, signal.SIGCONT)
        return self.case.finish(self.recording, how=None)


def stop_often(case, version, pid, names, count, frequency):
    """
    Return (pairs, all stops) of a JVM, a child of this process, whose threads with these names are
    sampled. case is the LiveTest.
    """
    agent, found = Agent(version, pid, case.tmp), []
    case.addCleanup(agent.close)
    os.kill(pid, signal.SIGSTOP)
    wait_for_stop(pid)
    agent.ready()
    os.kill(pid, signal.SIGCONT)
    stopping = Stopping(case, pid, names, frequency)
    try:
        for begun, now, ran in stopping.stops(lambda: len(found) >= count):
            found += [look(agent, tid, begun, now) for tid in ran]
    except Ended as end:  # a popf can bring back the flag by which a thread was stepped
        if end.args[0] != signal.SIGTRAP:
            raise
        return pairs_of(case.finish(stopping.recording), found), found
    return pairs_of(stopping.finish(), found), found


# What HotSpot's own AsyncGetCallTrace found: frames are (name with signature, line), leaf first.
CallTrace = collections.namedtuple("CallTrace", "tid time count frames")


def descriptor(text):
    """Return a class's name from its signature, as skein shows it."""
    name = text[1:-1] if text.startswith("L") else text
    return without_addresses(name.replace("/", "."))


def call_traces(path):
    """Read what call_traces.c has written."""
    found, lines = [], iter(path.read_text(encoding="utf-8").splitlines())
    for line in lines:
        tid, at, count = map(int, line.split())
        words = [next(lines).rsplit(" ", 2) for _ in range(max(0, count))]
        found.append(CallTrace(tid, at, count, [(f"{descriptor(w[0])}.{w[1]}", int(w[2]))
                                                for w in words]))
    return found


def signal_often(case, process, names, count, frequency, output):
    """
    Stop a JVM that has the agent call_traces.c as stop_often() does; before it runs on, the thread
    gets SIGPROF, so that HotSpot walks its stack in the handler, from the same instruction. Return
    (skein's frames, how its walk ended, which of them native code has called, CallTrace) of each.
    """
    pid, stopping, asked = process.pid, Stopping(case, process.pid, names, frequency), []
    for begun, now, ran in stopping.stops(lambda: len(asked) >= count):
        asked += [(tid, begun, now) for tid in ran]
        for tid in ran:
            libc.syscall(SYS_TGKILL, pid, tid, signal.SIGPROF)
    trace = stopping.finish()
    process.terminate()
    process.wait()
    samples, java, found = stops.samples_by_thread(trace), Trace(trace), []
    traced = call_traces(output)
    for tid, begun, now in asked:
        mine = [s for s in samples.get(tid, ()) if begun < s["time"] <= now]
        theirs = [t for t in traced if t.tid == tid and t.time > now]
        if mine and theirs:
            found.append((*java.parts(mine[-1]["stack"]), theirs[0]))
    return found
