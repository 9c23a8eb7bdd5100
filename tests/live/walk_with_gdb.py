# SPDX-License-Identifier: Apache-2.0
"""
Runs inside gdb: attach to a process, and at each SIGSTOP write the stack of the stopped thread, as
gdb walks it. The signal is not passed on: the process never really stops.
  gdb -batch -x walk_with_gdb.py -ex "python walk_with_gdb(PID, STOPS, 'OUT')"
OUT gets a line "attached"; after a byte from stdin the process runs, and OUT gets a JSON object
for each stop: tid; time, ns of CLOCK_BOOTTIME of the stop; frames, leaf first, each with path (of
the mapping), offset (in the file), begins (the function that may begin at its pc) and signal
(whether it is a signal frame); end, why gdb found no more frames.
"""
import json
import os
import time

import gdb

SETTINGS = """
set pagination off
set confirm off
set width 0
set auto-load no
set auto-load libthread-db off
set print thread-events off
set print inferior-events off
set backtrace limit unlimited
set backtrace past-main on
set backtrace past-entry on
handle all nostop noprint pass
handle SIGSTOP stop print nopass
"""

# Frames that share the pc of another: gdb shows inlined functions and tail calls as frames, skein
# does not.
SHOWN_ONLY = (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME)
FUNCTIONS_ALIGNED = 16  # bytes


def mappings(pid):
    found = []
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            words = line.rstrip("\n").split(maxsplit=5)
            start, end = (int(number, 16) for number in words[0].split("-"))
            found.append((start, end, int(words[2], 16), words[5] if len(words) > 5 else ""))
    return found


def place(maps, pc):
    """Return (path, offset) of a pc; for memory without a file, the address itself."""
    for start, end, offset, path in maps:
        if start <= pc < end:
            return (path, pc - start + offset) if path else ("", pc)
    return ("", pc)


def begins(pc):
    """Return the function whose first instruction is at pc: a signal handler's return address."""
    if pc % FUNCTIONS_ALIGNED:
        return ""
    words = gdb.execute(f"info symbol {pc}", to_string=True).split()
    return "" if words[:1] in ([], ["No"]) or words[1:2] == ["+"] else words[0]


def walk(maps):
    """Return (frames, why there are no more)."""
    frames, frame, exact = [], gdb.newest_frame(), True
    try:
        while frame:
            kind = frame.type()
            if kind not in SHOWN_ONLY:
                # a return address belongs to the call before it
                path, offset = place(maps, frame.pc() if exact else frame.pc() - 1)
                exact = kind == gdb.SIGTRAMP_FRAME
                frames.append({"path": path, "offset": offset, "begins": begins(frame.pc()),
                               "signal": exact})
            older = frame.older()
            if not older:
                return frames, gdb.frame_stop_reason_string(frame.unwind_stop_reason())
            frame = older
    except (gdb.error, gdb.MemoryError) as error:
        return frames, str(error)
    return frames, "no frame"


def each_stop(count):
    """Yield the thread that got SIGSTOP, count times or until the process ends."""
    signals = []
    gdb.events.stop.connect(lambda event: signals.append(getattr(event, "stop_signal", None)))
    while count:
        gdb.execute("continue", to_string=True)
        thread = gdb.selected_thread()
        if not thread:
            return
        if signals[-1:] == ["SIGSTOP"]:
            yield thread.ptid[1]
            count -= 1


def walk_with_gdb(pid, count, out):
    for line in SETTINGS.strip().splitlines():
        gdb.execute(line, to_string=True)
    gdb.execute(f"attach {pid}", to_string=True)
    with open(out, "w", buffering=1, encoding="utf-8") as file:
        file.write("attached\n")
        os.read(0, 1)
        for tid in each_stop(count):
            stopped = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            frames, end = walk(mappings(pid))
            file.write(json.dumps({"tid": tid, "time": stopped, "frames": frames, "end": end})
                       + "\n")
    os._exit(0)  # the kernel releases the process when its tracer ends, faster than gdb would
