# SPDX-License-Identifier: Apache-2.0
"""
Comes to a known state, writes what its threads' stacks are, and stops itself.

  stopped.py SCENE

One line of JSON: "threads": per thread (its native id, or how often it came) the frames, innermost
first, as [name, file, line]; "gil": the thread that holds the lock; "collecting". Runs on every
Python from 3.8 on.
"""
import _thread
import functools
import gc
import json
import os
import re
import signal
import sys
import threading
import time

QUALIFIED = sys.version_info >= (3, 11)
DEEP = 1500


def frames_of(frame):
    stack = []
    while frame:
        code = frame.f_code
        stack.append([code.co_qualname if QUALIFIED else code.co_name, code.co_filename,
                      frame.f_lineno])
        frame = frame.f_back
    return stack


def report(frame, collecting=False, outer=()):
    """The frames of the caller, and of all other threads."""
    me = threading.get_ident()
    threads = {str(ident): frames_of(f) for ident, f in sys._current_frames().items()}
    threads[str(me)] = frames_of(frame) + list(outer)
    print(json.dumps({"threads": threads, "gil": str(me), "collecting": collecting}), flush=True)


def stop(collecting=False):
    report(sys._getframe(), collecting), signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


def recursion(depth=20):
    return recursion(depth - 1) if depth else stop()


def deep():
    sys.setrecursionlimit(DEEP + 100)
    recursion(DEEP)


def numbers(limit):
    for i in range(limit):
        yield from inner_numbers(i)


def inner_numbers(i):
    yield i
    if i == 3:
        stop()


def key(value):
    return sum(n for n in numbers(value + 4))


def replaced(match):
    return str(functools.reduce(lambda a, b: max(key(b), a), [1, 2, 3], 0)) + match.group()


def callbacks():
    """Through C and back: re calls, sorted() calls, reduce() calls, sum() asks a generator."""
    sorted([3, 1], key=lambda n: re.sub("a+", replaced, "baab"))


class Made:
    def __init__(self, last):
        self.items = [self.größe(i) for i in range(3)]
        if last:
            {self.функция(i): i for i in range(2)}

    def größe(self, number):
        return number * 2

    @functools.lru_cache(maxsize=None)
    def функция(self, number):
        exec(compile("if number:\n  stop()", "a file.py", "exec"), {**globals(), "number": number})


def make(last):
    return Made(last)


def classes():
    """Often enough that calls of classes are specialised, and what is special has frames."""
    for i in range(200):
        make(False)
    make(True)


def wait_for(lock, ready):
    ready.append(1), lock.acquire()


def waiting(lock, ready):
    for _ in map(lambda n: wait_for(lock, ready), [1]):
        pass


def turning(lock, ready):
    any(waiting(lock, ready) for _ in range(1))


def threads(count=3):
    """They wait without the interpreter's lock."""
    lock, ready = threading.Lock(), []
    lock.acquire()
    for i in range(count):
        function = (wait_for, waiting, turning)[i % 3]
        if i % 2:
            _thread.start_new_thread(function, (lock, ready))
        else:
            threading.Thread(target=function, args=(lock, ready), daemon=True).start()
    while len(ready) < count:
        time.sleep(0.01)
    stop()


def crowd():
    threads(300)


class Cycle:
    def __init__(self):
        self.me = self

    def __del__(self):
        stop(collecting=True)


def collecting():
    gc.disable()
    Cycle()
    gc.collect()


class Later:
    def __await__(self):
        yield from ()
        stop()


async def leaf():
    await Later()


async def branch(depth):
    if depth:
        return await branch(depth - 1)
    async for _ in leaves():
        pass


async def leaves():
    await leaf()
    yield 1


async def root():
    import asyncio
    await asyncio.gather(asyncio.sleep(60), branch(3), asyncio.sleep(60))


def coroutines():
    import asyncio
    asyncio.run(root())


def spin(number):
    for i in range(20):
        number += i
    return number


def from_generator():
    return sum(spin(i) for i in range(10))


def from_key():
    return sorted(range(10), key=lambda i: spin(i))


def yielding():
    for i in range(10):
        yield spin(i)


def from_loop():
    return [i for i in yielding()]


class Spun:
    def __init__(self, number):
        self.number = spin(number)

    def __lt__(self, other):
        return spin(self.number) < other.number


def from_class():
    return [Spun(i) for i in range(3)]


def from_slot():
    return max(Spun(1), Spun(2))


def from_reduce(depth=3):
    return functools.reduce(lambda a, b: spin(a) and spin(b), range(9)) + (
        from_reduce(depth - 1) if depth else 0)


def running():
    """Goes on until it is stopped: into C and back, as often as possible."""
    gc.disable()
    print(json.dumps({"callers": {
        "spin": ["from_generator.<locals>.<genexpr>", "from_key.<locals>.<lambda>", "yielding",
                 "Spun.__init__", "Spun.__lt__", "from_reduce.<locals>.<lambda>"],
        "from_generator.<locals>.<genexpr>": ["from_generator"],
        "from_key.<locals>.<lambda>": ["from_key"],
        "yielding": ["from_loop", "from_loop.<locals>.<listcomp>"],
        "from_loop.<locals>.<listcomp>": ["from_loop"],
        "from_class.<locals>.<listcomp>": ["from_class"],
        "Spun.__init__": ["from_class", "from_class.<locals>.<listcomp>", "from_slot"],
        "Spun.__lt__": ["from_slot"],
        "from_reduce.<locals>.<lambda>": ["from_reduce"],
        "from_reduce": ["from_reduce", "running"],
        "from_generator": ["running"], "from_key": ["running"], "from_loop": ["running"],
        "from_class": ["running"], "from_slot": ["running"], "running": ["<module>"]}}), flush=True)
    while True:
        for path in (from_generator, from_key, from_loop, from_class, from_slot, from_reduce):
            path()


def module_of_interpreters():
    try:
        import _xxsubinterpreters as module
    except ImportError:
        import _interpreters as module
    return module


INSIDE = """
def inside(depth):
    if depth:
        return inside(depth - 1)
    report(sys._getframe(), outer=outer), os.kill(os.getpid(), signal.SIGSTOP)
inside(3)
"""


def interpreters():
    """Two more: one is left alone, in the other this thread runs. It gets our functions as text."""
    module = module_of_interpreters()
    run = getattr(module, "run_string", None) or module.exec
    with open(__file__, encoding="utf-8") as file:
        functions = file.read().split("def stop(")[0]
    one, two = module.create(), module.create()
    def enter():
        run(one, f"{functions}\nouter = {frames_of(sys._getframe())!r}\n{INSIDE}")
    enter()
    return two


def alone():
    """Another interpreter was made by this thread, and has a state of it without frames."""
    ident = module_of_interpreters().create()
    stop()
    return ident


if __name__ == "__main__":
    {f.__name__: f for f in (recursion, deep, callbacks, classes, threads, crowd, collecting,
                             coroutines, interpreters, alone, running)}[sys.argv[1]]()
