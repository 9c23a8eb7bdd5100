#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes tests/replay/python-*.state anew: what tests/readers/python_state finds in every Python of
this machine in every scene of tests/programs/stopped.py, and what a few changes make of some of
them. What is to be found in those is said here, not asked of the walker.

  tests/replay/python_states.py [--build DIR]
"""
import argparse
import errno
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import python_found  # noqa: E402: found by the line above

HERE = ROOT / "tests" / "replay"
PROGRAM = ROOT / "tests" / "programs" / "stopped.py"
SCENES = ("recursion", "callbacks", "classes", "threads", "collecting", "coroutines",
          "interpreters", "alone")
CROWDS = ((3, 8), (3, 13))
UNREADABLE = 0x7000deadb000
ENTRY, NOWHERE = "entry", "-"
BROKEN, DEEP, WALKED = "Python frames unreadable", "too deep", "walked"


def is_stopped(pid):
    states = set()
    for task in os.listdir(f"/proc/{pid}/task"):
        text = pathlib.Path(f"/proc/{pid}/task/{task}/stat").read_text(errors="replace")
        states.add(text.rpartition(")")[2].split()[0])
    return states == {"T"}


def capture(build, interpreter, scene):
    """Of the crowd only the first and the last thread."""
    program = subprocess.Popen([interpreter.path, str(PROGRAM), scene], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE)
    try:
        program.stdout.readline()
        while not is_stopped(program.pid):
            time.sleep(0.01)
        tids = sorted(map(int, os.listdir(f"/proc/{program.pid}/task")))
        some = (tids[0], tids[-1]) if scene == "crowd" else ()
        return subprocess.run([build / "tests/readers/python_state", "--save", str(program.pid),
                               *map(str, some)], check=True, capture_output=True,
                              text=True).stdout
    finally:
        program.send_signal(signal.SIGKILL)
        program.wait()


class State:
    """One that is to be changed."""

    def __init__(self, text):
        self.layout, self.words, self.threads, self.note = {}, {}, [], ""
        for line in text.splitlines():
            kind, *values = line.split(" ")
            if kind == "layout":
                self.layout.update((k, None if v == "-" else int(v))
                                   for k, v in (value.split("=") for value in values))
            elif kind == "words":
                at = int(values[0], 16)
                for i, value in enumerate(values[1:]):
                    self.words[at + 8 * i] = int(value, 16)
            elif kind == "thread":
                self.threads.append([int(values[0], 16), values[1], " ".join(values[2:]), []])
                self.registers = [] # of the only thread
            elif kind == "frame":
                self.threads[-1][3].append(values)
            elif kind in ("runtime", "type"):
                setattr(self, kind, int(values[0], 16))
            elif kind == "program":
                self.program = " ".join(values)

    def text(self):
        layout = [f"{k}={NOWHERE if v is None else v}" for k, v in self.layout.items()]
        lines = ["skein-python 1", f"program {self.program}", f"# {self.note}"]
        lines += [f"layout {' '.join(layout[i:i + 5])}" for i in range(0, len(layout), 5)]
        lines += [f"runtime {self.runtime:x}", f"type {self.type:x}"]
        run = []
        for address in sorted(self.words):
            if run and (address != run[-1] + 8 or len(run) == 8):
                lines.append(self.line_of(run))
                run = []
            run.append(address)
        lines.append(self.line_of(run))
        for ident, flags, end, frames in self.threads:
            lines.append(f"thread {ident:x} {flags} {end}")
            if self.registers:
                lines.append("registers " + " ".join(f"{r:x}" for r in self.registers))
            lines += [f"frame {' '.join(f)}" if f[0] != "again" else f"again {f[1]}"
                      for f in frames]
        return "\n".join(lines) + "\n"

    def line_of(self, run):
        return f"words {run[0]:x} " + " ".join(f"{self.words[a]:x}" for a in run)

    # Where things are. Members: of self.layout.

    def get(self, address, member):
        return self.words[address + self.layout[member]]

    def put(self, address, member, value):
        self.words[address + self.layout[member]] = value

    def interpreter(self):
        return self.get(self.runtime, "runtime_interpreters")

    def thread(self):
        """The state of the only thread."""
        thread = self.get(self.interpreter(), "interpreter_threads")
        assert self.get(thread, "thread_ident") == self.threads[0][0]
        return thread

    def frames(self):
        """Addresses of its frames, shims included."""
        frame, found = self.get(self.thread(), "thread_frame"), []
        if self.layout["cframe_frame"] is not None:
            frame = self.get(frame, "cframe_frame")
        while frame:
            found.append(frame)
            frame = self.get(frame, "frame_previous")
        return found

    def code(self, index):
        return self.get(self.frames()[index], "frame_code")

    # What is to be found.

    def expect(self, frames, end, flags=None):
        thread = self.threads[0]
        thread[1], thread[2], thread[3] = flags or thread[1], end, thread[3][:frames]

    def again(self, frames):
        self.threads[0][3] = self.threads[0][3][:frames] + [["again", "1024"]]
        self.threads[0][2] = DEEP


# Each takes a state and returns what was done to it.


def cycle(s):
    frames = s.frames()
    s.put(frames[4], "frame_previous", frames[1])
    first, rest = s.threads[0][3][:1], s.threads[0][3][1:5]
    s.threads[0][3] = first + (rest * 256)[:1023]
    s.threads[0][2] = DEEP
    return "the fifth frame was called by the second"


def own_caller(s):
    s.put(s.frames()[0], "frame_previous", s.frames()[0])
    s.again(1)
    return "the innermost frame was called by itself"


def endless_shims(s):
    s.put(s.frames()[-1], "frame_previous", s.frames()[-1])
    s.threads[0][3] = s.threads[0][3] + [s.threads[0][3][-1]] * (1024 - len(s.threads[0][3]))
    s.threads[0][2] = DEEP
    return "the outermost frame of the C stack was called by itself"


def torn(s):
    s.put(s.frames()[2], "frame_previous", 0x123456789abcdef1)
    s.expect(3, BROKEN)
    return "half a pointer to the fourth frame"


def unreadable_frame(s):
    s.put(s.frames()[2], "frame_previous", UNREADABLE)
    s.expect(3, BROKEN)
    return "the fourth frame lies in memory that cannot be read"


def unreadable_code(s):
    s.put(s.frames()[3], "frame_code", UNREADABLE)
    s.expect(3, BROKEN)
    return "the fourth frame's code object lies in memory that cannot be read"


def code_in_the_kernel(s):
    s.put(s.frames()[3], "frame_code", 0xffffffff81000000)
    s.expect(3, BROKEN)
    return "the fourth frame's code object has an address of the kernel"


def wrong_type(s):
    outermost = max(i for i, frame in enumerate(s.threads[0][3]) if frame[0] != "shim")
    s.words[s.code(outermost) + 8] ^= 0x1000
    s.expect(outermost, BROKEN)
    return "the outermost function's code object is of another type"


def exchanged_offsets(s):
    s.layout["frame_previous"] = s.layout["frame_code"]
    s.expect(1, BROKEN)
    return "where a frame has its caller, there is its code object"


def no_interpreter(s):
    s.put(s.runtime, "runtime_interpreters", 0)
    s.expect(0, BROKEN, "process")
    return "the interpreter has not begun yet"


def no_runtime(s):
    del s.words[s.runtime + s.layout["runtime_interpreters"]]
    s.expect(0, BROKEN, "process")
    return "the interpreter's state cannot be read"


def no_frame(s):
    frame = s.get(s.thread(), "thread_frame")
    if s.layout["cframe_frame"] is None:
        s.put(s.thread(), "thread_frame", 0)
    else:
        s.put(frame, "cframe_frame", 0)
        s.put(frame, "cframe_previous", 0)
    s.expect(0, WALKED)
    return "the thread is one of the interpreter's, and runs no frames"


def stranger(s):
    s.threads[0][0] += 0x1000
    s.expect(0, WALKED, "process")
    return "a thread that is none of the interpreter's"


SP = 7 # DWARF number of the stack pointer on x86-64


def below_the_stack(s, distance):
    """The registers of a thread whose stack pointer is that far below the state's cframe."""
    return [0] * SP + [s.get(s.thread(), "thread_frame") - distance]


def lent_state(s):
    s.registers = below_the_stack(s, 0x100)
    s.threads[0][0] += 0x1000
    return "3.12's module for interpreters: the thread runs a state that another one has made"


def lent_to_another(s):
    s.registers = below_the_stack(s, -0x1000)
    s.expect(0, WALKED, "process")
    return "3.12's module for interpreters: another thread runs a state that this one has made"


def freed_thread(s):
    thread = s.thread()
    for address in list(s.words):
        if thread <= address < thread + 0x100 and address not in (
                thread + s.layout["thread_ident"], thread + s.layout["thread_next"]):
            del s.words[address]
    s.expect(0, BROKEN, "process")
    return "the thread's state was given back to the system"


def endless_threads(s):
    s.put(s.thread(), "thread_next", s.thread())
    s.threads[0][0] += 0x1000
    s.expect(0, WALKED, "process")
    return "a list of threads without an end, and none of them is this one"


def endless_interpreters(s):
    s.put(s.interpreter(), "interpreter_next", s.interpreter())
    s.threads[0][0] += 0x1000
    s.expect(0, WALKED, "process")
    return "a list of interpreters without an end, and none of their threads is this one"


def many_interpreters(s):
    last = s.interpreter()
    for i in range(70):
        address = 0x700000000000 + 0x100000 * i
        s.put(address, "interpreter_next", s.interpreter())
        s.put(address, "interpreter_threads", 0)
        s.put(s.runtime, "runtime_interpreters", address)
    assert last
    return "70 interpreters without threads before the one that runs"


def name_of(s):
    qualified = s.layout["code_qualified_name"] is not None
    return s.get(s.code(0), "code_qualified_name" if qualified else "code_name")


def reported(s, error):
    s.threads[0][3][0][4:] = ["0", f"[-{error}]", NOWHERE]


def no_name(s):
    del s.words[name_of(s) + s.layout["text_length"]]
    reported(s, errno.EFAULT)
    return "the innermost function's name cannot be read"


def endless_name(s):
    s.put(name_of(s), "text_length", 1 << 62)
    reported(s, errno.EFAULT)
    return "the innermost function's name is longer than memory"


def no_lines(s):
    lines = s.get(s.code(0), "code_lines")
    s.put(lines, "bytes_size", 1 << 40)
    s.threads[0][3][0][4] = "0"
    return "the innermost function's table of lines is longer than memory"


def early_cframe(s):
    """As the evaluation loop of 3.11 has it for a few instructions."""
    cframe = s.get(s.thread(), "thread_frame")
    new = cframe - 0x1000
    s.put(new, "cframe_frame", UNREADABLE)
    s.put(new, "cframe_previous", UNREADABLE)
    s.put(s.thread(), "thread_frame", new)
    s.registers = [1, new, cframe]
    return "a call of the loop: its cframe is linked, but empty; the one before is in a register"


def early_frame(s):
    """The same of 3.12, which links the frame with a shim before."""
    new, frames = s.get(s.thread(), "thread_frame") - 0x1000, s.frames()
    shim = new + 0x100
    for offset in range(0, 72, 8):
        s.words[shim + offset] = 0
    s.words[shim + 64] = 3 << 48
    s.put(shim, "frame_previous", frames[1])
    s.put(frames[0], "frame_previous", shim)
    s.put(new, "cframe_frame", 0)
    s.put(new, "cframe_previous", UNREADABLE)
    s.put(s.thread(), "thread_frame", new)
    s.registers = [0, 0, 0, frames[0]]
    s.threads[0][3].insert(1, s.threads[0][3][-1])
    return "a call of the loop: its cframe is linked, but empty; the frame is in a register"


def begin_call(s):
    """As early_cframe, but the loop's last call, in the same place, had the second frame."""
    cframe, frames = s.get(s.thread(), "thread_frame"), s.frames()
    assert s.threads[0][3][1][0] == ENTRY
    s.put(cframe, "cframe_frame", frames[1])
    s.put(cframe, "cframe_previous", cframe + 0x1000)
    s.put(cframe + 0x1000, "cframe_frame", frames[2])
    s.put(cframe + 0x1000, "cframe_previous", cframe + 0x2000)
    s.put(cframe + 0x2000, "cframe_previous", cframe + 0x3000)
    s.threads[0][3] = s.threads[0][3][2:]
    s.registers = [cframe + 0x1000]
    return frames[1]


def early_generator(s):
    s.put(begin_call(s), "frame_previous", 0)
    return "a call of the loop: its cframe has the last call's frame, a generator without a caller"


def early_entry(s):
    s.words[begin_call(s) + 64] &= ~(0xff << 32)
    return ("a call of the loop: its cframe has the last call's frame, used again, "
            "but not yet marked")


def early_yield(s):
    """From 3.12 on a generator's loop is its caller's: no native call begins with it."""
    frames = s.frames()
    s.put(s.get(s.thread(), "thread_frame"), "cframe_frame", frames[1])
    s.put(frames[1], "frame_previous", 0)
    s.threads[0][3] = s.threads[0][3][1:2]
    s.threads[0][2] = BROKEN
    return "a generator that yields: it has no caller any more, and is the innermost frame still"


def new_thread(s):
    """Up to 3.11 it has its maker's ident until it runs."""
    old, new = s.thread(), s.thread() + 0x100000
    s.put(s.interpreter(), "interpreter_threads", new)
    s.put(new, "thread_next", old)
    s.put(new, "thread_ident", s.threads[0][0])
    s.put(new, "thread_interpreter", s.interpreter())
    if s.layout["cframe_frame"] is None:
        s.put(new, "thread_frame", 0)
    else:
        s.put(new, "thread_frame", new + 0x200)
        s.put(new + 0x200, "cframe_frame", 0)
        s.put(new + 0x200, "cframe_previous", 0)
    return "the thread has just made another one, which has not run yet"


RECURSION = (own_caller, torn, unreadable_frame, unreadable_code, code_in_the_kernel, wrong_type,
             no_frame, stranger, endless_threads)
CHANGES = {
    "3.8-recursion": (cycle, new_thread, *RECURSION),
    "3.11-recursion": (*RECURSION, early_cframe, new_thread),
    "3.11-callbacks": (early_generator, early_entry),
    "3.12-callbacks": (early_yield,),
    "3.12-recursion": (endless_shims, exchanged_offsets, no_interpreter, no_runtime, freed_thread,
                       endless_interpreters, many_interpreters, no_name, endless_name,
                       no_lines, early_frame, lent_state, lent_to_another, *RECURSION),
    "3.13-recursion": (*RECURSION, endless_interpreters),
}


def write(name, text):
    (HERE / f"python-{name}.state").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    build = parser.parse_args().build
    for interpreter in python_found.supported():
        version = "{}.{}".format(*interpreter.version)
        for scene in SCENES + (("crowd",) if interpreter.version in CROWDS else ()):
            if interpreter.debian and scene != "callbacks":
                continue
            text = capture(build, interpreter, scene)
            write(f"debian-{version}-{scene}" if interpreter.debian else f"{version}-{scene}", text)
    for name, changes in CHANGES.items():
        for change in changes:
            state = State((HERE / f"python-{name}.state").read_text())
            state.note = change(state)
            write(f"made-{name.split('-')[0]}-{change.__name__.replace('_', '-')}", state.text())


if __name__ == "__main__":
    main()
