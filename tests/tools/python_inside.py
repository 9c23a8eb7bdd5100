# SPDX-License-Identifier: Apache-2.0
"""
Run by each Python under test (3.8 and later): read its own memory by the layout given as JSON on
standard input, and print a line for each member that is not where it should be.
"""
import ctypes
import gc
import json
import sys
import threading
import weakref

EACH, ENTRY, SHIM = 1, 2, 3
BYTE, UNIT, POINTER = 1, 2, 3
ABSENT = -1
LIMIT = 1000

layout = json.load(sys.stdin)
wrong = []


def word(address):
    return ctypes.c_uint64.from_address(address).value


def number(address):
    return ctypes.c_int32.from_address(address).value


def check(name, found, expected):
    if found != expected:
        wrong.append(f"{name}: {found!r}, not {expected!r}")


def symbol(name):
    return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))


def chain(first, offset):
    seen = []
    while first and len(seen) < LIMIT:
        seen.append(first)
        first = word(first + offset)
    return seen


def threads():
    """Return {ident: (interpreter, thread state)}."""
    found = {}
    for interpreter in chain(word(runtime + layout["runtime_interpreters"]),
                             layout["interpreter_next"]):
        for thread in chain(word(interpreter + layout["interpreter_threads"]),
                            layout["thread_next"]):
            check("thread_interpreter", word(thread + layout["thread_interpreter"]), interpreter)
            found[word(thread + layout["thread_ident"])] = interpreter, thread
    return found


def frames():
    """Return (frame, code) of this thread, innermost first."""
    first = word(mine + layout["thread_frame"])
    if layout["cframe_frame"] != ABSENT:
        # the outermost one is a part of the thread state
        last = chain(first, layout["cframe_previous"])[-1]
        check("cframe_previous", mine < last < mine + 1024, True)
        first = word(first + layout["cframe_frame"])
    return [(frame, word(frame + layout["frame_code"]) & ~layout["executable_tag"])
            for frame in chain(first, layout["frame_previous"])]


def collecting():
    if layout["runtime_collecting"] != ABSENT:
        return number(runtime + layout["runtime_collecting"])
    return number(interpreter + layout["interpreter_collecting"])


def check_gil():
    if layout["runtime_holder"] != ABSENT:
        check("runtime_holder", word(runtime + layout["runtime_holder"]), mine)
        return
    gil = word(interpreter + layout["interpreter_gil"])
    check("gil_locked", number(gil + layout["gil_locked"]), 1)
    check("gil_holder", word(gil + layout["gil_holder"]), mine)


def check_collecting():
    seen = []
    gc.callbacks.append(lambda phase, info: seen.append(collecting()))
    check("collecting", collecting(), 0)
    gc.collect()
    gc.callbacks.clear()
    check("collecting", seen[:1], [1])
    check("collecting", collecting(), 0)


def instruction_of(frame, code):
    at = frame + layout["frame_instruction"]
    if layout["instruction"] == POINTER:
        return word(at) - code - layout["code_units"]
    return number(at) * (2 if layout["instruction"] == UNIT else 1)


def owner_of(frame):
    return ctypes.c_uint8.from_address(frame + layout["frame_owner"]).value


def check_owners(found, here):
    """Check the owners of frames; here is the index of the frame that was called from C."""
    if layout["frames"] == ENTRY:
        check("is_entry", [owner_of(found[here - 1][0]), owner_of(found[here][0])], [0, 1])
    elif layout["frames"] == SHIM:
        owners = [owner_of(frame) for frame, _ in found]
        check("owner", [owners[here + i] == layout["shim_owner"] for i in (-1, 0, 1)],
              [False, False, True])


def called_by_python(caller):
    found = frames()
    codes = [code for _, code in found]
    order = [called_by_python, called_by_c, outer]
    if not all(id(one.__code__) in codes for one in order):
        wrong.append("frames: not found")
        return
    places = [codes.index(id(one.__code__)) for one in order]
    check("frames", places, sorted(places))
    for place, frame in ((places[1], caller), (places[2], caller.f_back)):
        check("frame_instruction", instruction_of(*found[place]), frame.f_lasti)
    check_owners(found, places[1])


def called_by_c(_):
    called_by_python(sys._getframe())
    return 0


def outer():
    return sorted([0], key=called_by_c)


def text_at(address, kind):
    size = word(address + layout["text_length"])
    return ctypes.string_at(address + layout[kind], size).decode("latin-1")


def check_text():
    check("text_ascii", text_at(id("ascii"), "text_ascii"), "ascii")
    check("text_compact", text_at(id("\xe9\xe8"), "text_compact"), "\xe9\xe8")
    # how it is interned, kind:3, compact:1, ascii:1
    check("text_state", [number(id(text) + layout["text_state"]) >> layout["text_shift"] & 31
                         for text in ("ascii", "\xe9", "\u20ac", "\U0001f40d")],
          [1 | 8 | 16, 1 | 8, 2 | 8, 4 | 8])


class Class:
    def method(self):
        return self


def check_code():
    code = Class.method.__code__
    check("code_type", word(id(code) + 8), layout["code_type_address"])
    check("code_first_line", number(id(code) + layout["code_first_line"]), code.co_firstlineno)
    names = {"code_name": code.co_name, "code_file": code.co_filename}
    if layout["code_qualified_name"] != ABSENT:
        names["code_qualified_name"] = code.co_qualname
    for name, value in names.items():
        check(name, word(id(code) + layout[name]), id(value))
    lines = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    at = word(id(code) + layout["code_lines"])
    check("code_lines", ctypes.string_at(at + layout["bytes_data"],
                                         word(at + layout["bytes_size"])), lines)
    if layout["instruction"] == POINTER:
        adaptive = code._co_code_adaptive
        check("code_units", ctypes.string_at(id(code) + layout["code_units"], len(adaptive)),
              adaptive)


def busy(n):
    return sum(i * n for i in range(n)) + len(str(n))


def check_id():
    """Check that the words of the id do not change during a function's life."""
    code = busy.__code__
    before = [word(id(code) + at) for at in layout["code_id"]]
    kept = weakref.ref(code)
    for n in range(3000):
        busy(n % 7)
    sys.settrace(lambda *event: None)
    busy(5)
    sys.settrace(None)
    sys.setprofile(lambda *event: None)
    busy(5)
    sys.setprofile(None)
    code.co_code, hash(code), kept()
    other = sys._current_frames()
    check("code_id", [word(id(code) + at) for at in layout["code_id"]], before)
    del other


runtime = symbol("_PyRuntime")
layout["code_type_address"] = symbol("PyCode_Type")
check("code_type", layout["code_type_address"], id(type(outer.__code__)))
done = threading.Event()
second = threading.Thread(target=done.wait, daemon=True)
second.start()
known = threads()
interpreter, mine = known.get(threading.get_ident(), (0, 0))
check("thread_ident", sorted(known), sorted([threading.get_ident(), second.ident]))
if mine:
    check_gil()
    check_collecting()
    outer()
check_text()
check_code()
check_id()
done.set()
second.join()
print("\n".join(wrong))
