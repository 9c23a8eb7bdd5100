# SPDX-License-Identifier: Apache-2.0
"""
Which stacks a program can have: it runs once under a tracer, which notes the stack before every
instruction, then for as long as it is to be profiled without. What it does must not depend on
how often it was done, and nothing may run by itself: no collector of garbage, no signals.
"""
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


class Oracle:
    def __init__(self):
        self.frames = {}  # (name, file, line, first line) to its number
        self.stacks = set()  # tuples of these numbers, root first
        self.times = []

    def number(self, frame):
        code = frame.f_code
        key = (name_of(code), code.co_filename, frame.f_lineno or 0, code.co_firstlineno)
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
