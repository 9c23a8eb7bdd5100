# SPDX-License-Identifier: Apache-2.0
"""
Which stacks a program can have: it runs once under a tracer, which notes the stack before every
instruction, then for as long as it is to be profiled without. What it does must not depend on
how often it was done, and nothing may run by itself: no collector of garbage, no signals.
"""
import bisect
import dis
import gc
import json
import sys
import threading
import time

BOOTTIME = 7  # CLOCK_BOOTTIME, which time names from 3.7 on


def name_of(code):
    """As skein shows it: the qualified name, unless the code was given another name."""
    qualified = getattr(code, "co_qualname", code.co_name)
    ends = not code.co_name or ("." + qualified).endswith("." + code.co_name)
    return qualified if ends else code.co_name


def line_starts(code):
    """Offsets of instructions from which on a line counts, and these lines; None: of no line."""
    if hasattr(code, "co_lines"):
        rows = [(start, line) for start, _, line in code.co_lines()]
    else:
        rows = list(dis.findlinestarts(code))
    return [start for start, _ in rows], [line for _, line in rows]


class Oracle:
    def __init__(self):
        self.starts = {}  # id of a code object to itself, which keeps it, and its line_starts()
        self.frames = {}  # (name, file, line, first line) to its number
        self.stacks = set()  # tuples of these numbers, root first
        self.times = []

    def line_of(self, frame):
        """
        By the table of lines, as a traceback without a tracer says it. The f_lineno of a frame that
        is traced (up to 3.10) follows line events, of which there is none where a jump leads into
        the middle of a line's instructions, as to the end of a finally block.
        """
        code = frame.f_code
        if id(code) not in self.starts:
            self.starts[id(code)] = code, *line_starts(code)
        _, starts, lines = self.starts[id(code)]
        at = bisect.bisect_right(starts, frame.f_lasti) - 1
        return (lines[at] if at >= 0 else code.co_firstlineno) or 0

    def number(self, frame):
        code = frame.f_code
        key = (name_of(code), code.co_filename, self.line_of(frame), code.co_firstlineno)
        return self.frames.setdefault(key, len(self.frames))

    def trace(self, frame, event, _):
        frame.f_trace_opcodes = True
        stack = []
        while frame:
            stack.append(self.number(frame))
            frame = frame.f_back
        self.stacks.add(tuple(reversed(stack)))
        return self.trace

    def begin(self):
        if sys.version_info < (3, 7):
            return
        frame = sys._getframe(1)
        while frame:
            frame.f_trace = self.trace
            frame.f_trace_opcodes = True
            frame = frame.f_back
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    @staticmethod
    def end():
        sys.settrace(None)
        threading.settrace(None)

    def run(self, turn, seconds, small, large):
        """turn(size) twice with the small size, then with the large one for CPU seconds."""
        gc.disable()
        for step in range(3):
            if step == 2:
                self.end()
                self.times.append(time.clock_gettime(BOOTTIME))
            end = time.process_time() + (seconds if step == 2 else 0)
            while True:
                if step < 2:
                    self.begin()
                turn(large if step == 2 else small)
                if time.process_time() >= end:
                    break
        self.times.append(time.clock_gettime(BOOTTIME))

    def write(self, path):
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump({"frames": list(self.frames), "stacks": sorted(self.stacks),
                       "times": [int(t * 1e9) for t in self.times]}, file)
