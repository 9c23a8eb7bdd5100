# SPDX-License-Identifier: Apache-2.0
"""
Read the stacks of a trace with their Python frames, and check properties that hold for any
program.
"""
import collections
import math
import re

import live
from built import numbers

Frame = collections.namedtuple("Frame", "kind name file line first_line path flags")
Sample = collections.namedtuple("Sample", "time pid tid comm frames end flags weight")
PYTHON, NATIVE = live.FRAME["PYTHON"], live.FRAME["NATIVE"]
WHOLE = 0.995


def flags_of(macro):
    """Return {name: bit} of a list X(NAME, "text", bit) in base/record.h."""
    text = (live.ROOT / "user" / "base" / "record.h").read_text()
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*\n)", text).group(1)
    return {name: int(bit) for name, bit in re.findall(r'X\((\w+), *"[^"]*", *(\d+)\)', body)}


SAMPLE_FLAG = flags_of("SAMPLE_FLAGS")
FRAME_FLAG = flags_of("FRAME_FLAGS")
INTERPRETER = FRAME_FLAG["INTERPRETER"]
UNREAD, GIL, COLLECTING, OF_PYTHON = (SAMPLE_FLAG[name] for name in
                                      ("UNREAD", "GIL", "COLLECTING", "PYTHON"))
ENDS = list(numbers("STACK_ENDS"))


class Stacks:
    """The stacks of a live.Trace."""

    def __init__(self, trace):
        self.trace = trace
        self.known = {0: ((), None)}
        self.by_pid = None

    def _frame(self, row):
        function = self.trace.table("function").get(row["function"])
        mapping = self.trace.table("mapping").get(row["mapping"])
        return Frame(row["kind"], function and function["name"], function and function["file"],
                     row["line"], function and function["line"], mapping and mapping["path"],
                     row["flags"])

    def frames(self, ident):
        """Return (frames from the root; why frames are missing, or None)."""
        chain = []
        while ident not in self.known:
            chain.append(ident)
            ident = self.trace.table("stack")[ident]["parent"]
        frames, end = self.known[ident]
        for ident in reversed(chain):
            row = self.trace.table("frame")[self.trace.table("stack")[ident]["frame"]]
            if row["kind"] == live.FRAME_END:
                end = ENDS[row["address"]] if row["address"] < len(ENDS) else row["address"]
            else:
                frames = frames + (self._frame(row),)
            self.known[ident] = frames, end
        return self.known[ident]

    def _load(self):
        """Load {pid: samples in order of time}."""
        self.by_pid = collections.defaultdict(list)
        threads, processes = self.trace.table("thread"), self.trace.table("process")
        for row in self.trace.query("SELECT time, thread, stack, flags, weight FROM sample "
                                    "ORDER BY time"):
            thread = threads[row["thread"]]
            process = processes.get(thread["process"])
            if process:
                self.by_pid[process["pid"]].append((process["comm"], thread, row))

    def samples(self, pid=None, begin=0, end=1 << 63, comm=None):
        """
        Return samples in order of time: of a process or a name, between two times (CLOCK_BOOTTIME,
        ns).
        """
        if self.by_pid is None:
            self._load()
        rows = self.by_pid[pid] if pid is not None else \
            [row for mine in self.by_pid.values() for row in mine]
        return [Sample(row["time"], pid, thread["tid"], thread["comm"],
                       *self.frames(row["stack"]), row["flags"], row["weight"])
                for name, thread, row in rows
                if begin <= row["time"] <= end and (comm is None or name == comm)]


def python(sample):
    """Return ((name, file, line), ...) of a sample's Python frames, from the root."""
    return tuple((f.name, f.file, f.line) for f in sample.frames if f.kind == PYTHON)


def names(sample):
    return tuple(f.name for f in sample.frames if f.kind == PYTHON)


def loops(sample):
    return sum(bool(f.flags & INTERPRETER) for f in sample.frames)


def native_between(sample, outer, inner):
    """
    Return the names of the frames between the last Python frame named outer and the next one
    inwards.
    """
    at = max(i for i, f in enumerate(sample.frames) if f.kind == PYTHON and f.name == outer)
    to = next(i for i, f in enumerate(sample.frames) if i > at and f.kind == PYTHON)
    if sample.frames[to].name != inner:
        return None
    return [f.name or f.path for f in sample.frames[at + 1:to]]


def misplaced(sample, inlines):
    """
    Return how the Python frames are misplaced among the native ones, or None. inlines: whether one
    native call of the evaluation loop may run several Python frames. At the leaf, the loop may not
    have a frame yet, or may have left it.
    """
    before = None
    for i, frame in enumerate(sample.frames):
        if frame.kind == PYTHON:
            if before is None or not (before.flags & INTERPRETER or
                                      (inlines and before.kind == PYTHON)):
                return f"{frame.name} follows {before}"
        elif before is not None and before.flags & INTERPRETER:
            if any(f.flags & INTERPRETER or f.kind == PYTHON for f in sample.frames[i:]):
                return f"a loop without a Python frame calls {frame.name}"
        before = frame
    return None


def allowed(samples, share=1 - WHOLE):
    """Return how many of the samples may deviate: their share, plus 6 sigma for chance."""
    mean = samples * share
    return mean if live.LONG else mean + 6 * math.sqrt(mean)


def incomplete(samples):
    """Count the samples that lack frames, by reason."""
    return collections.Counter("UNREAD" if s.flags & UNREAD else s.end
                               for s in samples if s.end is not None or s.flags & UNREAD)


class Truth:
    """The output of oracle.py: the possible stacks, and the time in which they apply."""

    def __init__(self, said):
        self.rows = [tuple(row) for row in said["frames"]]  # (name, file, line, first line)
        self.stacks = {tuple(self.rows[i][:3] for i in stack) for stack in said["stacks"]}
        self.enters = {(name, file, line) for name, file, _, first in self.rows
                       for line in (first, 0)}
        self.callers = {stack[:-1] for stack in self.stacks}
        self.firsts = {(name, file, line): first for name, file, line, first in self.rows}
        self.begin, self.end = said["times"]

    def can_be(self, stack):
        """
        Return whether a stack is possible. Tracers do not see the instructions that enter a
        function or make a generator; those have the function's first line, or none.
        """
        return stack in self.stacks or (stack[-1] in self.enters
                                        and (stack[:-1] in self.stacks
                                             or stack[:-1] in self.callers))
