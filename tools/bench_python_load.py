#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Python program that knows where its time goes: what profilers of Python are compared on.

    bench_python_load.py single|threads    for each line N of stdin: N rounds of work, as JSON
    bench_python_load.py stacks KIND       the same, briefly, and at last the stacks that can occur
    bench_python_load.py deep N            N functions deep, for ever

Runs under every Python from 3.8 on; imports nothing but the standard library.
"""
import decimal
import gc
import json
import os
import random
import re
import sys
import threading
import time
import zlib

BODIES = [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.47], [4.84, -1.16, -0.10, 0.60, 2.81, -0.02, 0.037],
          [8.34, 4.12, -0.40, -1.01, 1.82, 0.008, 0.011]]
WORDS = [f"word{n * 7919 % 1000}" for n in range(300)]
TEXT = " ".join(WORDS)
RECORDS = [{"id": n, "name": f"record {n}", "tags": ["a", "b", "c"], "value": n / 7}
           for n in range(60)]
BYTES = bytes(random.Random(1).choices(b"abcdefgh", k=60000))
NUMBERS = random.Random(2).sample(range(100000), 700)


def nbody(times):
    for _ in range(times * 700):
        for i, (x, y, z, *_rest) in enumerate(BODIES):
            for other in BODIES[i + 1:]:
                dx, dy, dz = x - other[0], y - other[1], z - other[2]
                (dx * dx + dy * dy + dz * dz + 0.01) ** -1.5


def fannkuch(times):
    for _ in range(times):
        flips_of_all(6)


def flips_of_all(n):
    most, order, count = 0, list(range(n)), list(range(n))
    while True:
        flips, first, seen = 0, order[0], order[:]
        while first:
            seen[:first + 1] = seen[first::-1]
            flips, first = flips + 1, seen[0]
        most = max(most, flips)
        for i in range(1, n):
            order.insert(i, order.pop(0))
            count[i] -= 1
            if count[i] >= 0:
                break
            count[i] = i
        else:
            return most


def recursion(times):
    for _ in range(times):
        fibonacci(20)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


class Task:
    def __init__(self):
        self.left = 0

    def step(self):
        self.left += 1
        return self.finished()

    def finished(self):
        return self.left % 5 == 0


class Idler(Task):
    def step(self):
        self.left ^= 3
        return super().step()


def objects(times):
    tasks = [Task(), Idler(), Task(), Idler()]
    for _ in range(times * 1100):
        for task in tasks:
            task.step()


def generators(times):
    for _ in range(times * 28):
        total = sum(x * y for x, y in pairs(200))
    return total


def pairs(n):
    for i in range(n):
        yield i, element(i)


def element(i):
    return 1.0 / ((i + 1) * i // 2 + i + 1)


def comprehensions(times):
    for _ in range(times * 26):
        table = {word: len(word) for word in WORDS}
        [word.upper() for word in table if table[word] > 5]


def sorting(times):
    for _ in range(times * 6):
        sorted(NUMBERS, key=lambda n: (n % 97, n))


def decorated(f):
    def wrapper(*args):
        return f(*args)
    return wrapper


@decorated
def add(a, b):
    return a + b


def decorators(times):
    for n in range(times * 6500):
        add(n, 1)


def coroutines(times):
    for _ in range(times * 550):
        run_coroutine(outer(8))


def run_coroutine(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        pass


async def outer(n):
    for i in range(n):
        await inner(i)


async def inner(i):
    return element(i)


def documents(times):
    for _ in range(times * 5):
        json.loads(json.dumps(RECORDS))


def patterns(times):
    for _ in range(times * 13):
        re.sub(r"w(o)rd(\d+)", replaced, TEXT)


def replaced(match):
    return match.group(2)


def compression(times):
    for _ in range(times * 2):
        zlib.compress(BYTES, 1)


def decimals(times):
    value = decimal.Decimal(1)
    for n in range(times * 5000):
        value = value / 3 + n
    return value


def garbage(times):
    for _ in range(times * 28):
        for _ in range(300):
            knot = []
            knot.append(knot)
        gc.collect(0)


# (function, its share of a round in steps of about a millisecond)
MIX = ((nbody, 30), (fannkuch, 24), (recursion, 18), (objects, 28), (generators, 20),
       (comprehensions, 16), (sorting, 14), (decorators, 10), (coroutines, 12), (documents, 22),
       (patterns, 12), (compression, 16), (decimals, 8), (garbage, 6))
# The work of each thread: three need the GIL, one does not.
CREW = (MIX[:5], MIX[5:9], (*MIX[9:11], *MIX[12:]), ((compression, 100),))


class Clocked:
    """Rounds of a mix in one thread. own: ns of CPU time that each function has taken."""

    def __init__(self, mix, seed):
        self.mix, self.random = mix, random.Random(seed)
        self.own, self.total, self.short = {}, 0, False

    def run(self, rounds):
        """Run rounds; the order changes in each round, so that the work has no rhythm."""
        started = time.thread_time_ns()
        for _ in range(rounds):
            for work, times in self.random.sample(self.mix, len(self.mix)):
                begun = time.thread_time_ns()
                work(1 if self.short else times)
                took = time.thread_time_ns() - begun
                self.own[work.__name__] = self.own.get(work.__name__, 0) + took
        self.total = time.thread_time_ns() - started


def run_single(rounds, short):
    clocked = Clocked(MIX, rounds)
    clocked.short = short
    clocked.run(rounds)
    return [clocked]


def run_threads(rounds, short):
    crew = [Clocked(mix, rounds + n) for n, mix in enumerate(CREW)]
    threads = [threading.Thread(target=clocked.run, args=(rounds,)) for clocked in crew]
    for clocked, thread in zip(crew, threads):
        clocked.short = short
        thread.start()
    for thread in threads:
        thread.join()
    return crew


RUNS = {"single": run_single, "threads": run_threads}


def work_result(run, rounds, short):
    """
    Return {wall, cpu in s; own: {function: ns}, total: ns, of CPU time of the working threads}.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    crew = run(rounds, short)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    own = {}
    for clocked in crew:
        for name, ns in clocked.own.items():
            own[name] = own.get(name, 0) + ns
    return {"wall": wall, "cpu": cpu, "own": own, "total": sum(c.total for c in crew)}


def serve(kind, short=False):
    run = RUNS[kind]
    run(1, short)  # warm up work that is done only once
    print(os.getpid(), flush=True)
    for line in sys.stdin:
        print(json.dumps(work_result(run, int(line), short)), flush=True)


# Functions that create a coroutine or generator run by another function. Their frames are on the
# stack for a moment that sys.setprofile() does not report.
MAKERS = {"coroutines": "outer", "generators": "pairs"}


class Stacks:
    """Every stack from which a function was called, root first, as ((file, function), …)."""

    def __init__(self):
        self.seen = set()
        threading.setprofile(self.note)
        sys.setprofile(self.note)

    def print_result(self):
        sys.setprofile(None)
        threading.setprofile(None)
        made = {(*stack, (stack[-1][0], MAKERS[stack[-1][1]])) for stack in self.seen
                if stack[-1][1] in MAKERS}
        print(json.dumps(sorted(self.seen | made)))

    def note(self, frame, event, _arg):
        if event == "call":
            self.seen.add(self.stack_of(frame))

    @staticmethod
    def stack_of(frame):
        found = []
        while frame:
            code = frame.f_code
            found.append((os.path.basename(code.co_filename), code.co_name))
            frame = frame.f_back
        return tuple(reversed(found))


def deep(depth):
    """Make functions with code objects of their own, each of which calls the next."""
    lines = ["def f0():", "    while True:", "        for _ in range(1000000): pass"]
    for n in range(1, depth):
        lines += [f"def f{n}():", f"    f{n - 1}()"]
    names = {}
    exec(compile("\n".join(lines), "deep.py", "exec"), names)
    names[f"f{depth - 1}"]()


def main():
    if len(sys.argv) == 2 and sys.argv[1] in RUNS:
        serve(sys.argv[1])
    elif len(sys.argv) == 3 and sys.argv[1] == "stacks" and sys.argv[2] in RUNS:
        noted = Stacks()
        serve(sys.argv[2], True)
        noted.print_result()
    elif len(sys.argv) == 3 and sys.argv[1] == "deep":
        deep(int(sys.argv[2]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
