# SPDX-License-Identifier: Apache-2.0
"""
All the ways in which Python functions come to run, each down to one that burns.

  chains.py SECONDS TRUTH [LIBRARY]: CPU seconds to run, the file for the oracle's stacks,
  callback.c made a library
"""
import contextlib
import ctypes
import functools
import json
import re
import sys
import threading

from oracle import Oracle

NATIVE = ctypes.CDLL(sys.argv[3]) if len(sys.argv) > 3 else None
CALLED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


def burn(n):
    total = 0
    for i in range(n):
        total += i * i
        total ^= (
            i
            + n
        )
    return total


def chain_c(n):
    total = 0
    while n > 0:
        n -= 1
        total += n * n
    return total


def chain_b(n):
    return chain_c(n) + 1


def chain_a(n):
    before = n
    after = chain_b(
        before)
    return after


def recursion(n, depth):
    if depth == 0:
        return burn(n)
    return recursion(n, depth - 1) + 1


def generator_inner(n):
    for i in range(3):
        yield burn(n) + i


def generator_outer(n):
    yield burn(n)
    yield from generator_inner(n)


def generators(n):
    total = 0
    for value in generator_outer(n):
        total += value
    return total


def decorator(function):
    @functools.wraps(function)
    def wrapper(*args, **more):
        return function(*args, **more)
    return wrapper


@decorator
@decorator
def decorated(n):
    return burn(n)


def comprehensions(n):
    one = [burn(n) for _ in range(2)]
    two = {i: burn(n) for i in range(2)}
    three = {burn(n) for _ in range(2)}
    four = sum(burn(n) for _ in range(2))
    five = [[burn(n) for _ in range(1)] for _ in range(2)]
    return one, two, three, four, five


def sorts(n):
    three = [3, 1, 2]
    three.sort(key=lambda i: burn(n) * 0 + i)
    return sorted(three, key=lambda i: burn(n) * 0 - i)


class Base:
    def __init__(self, n):
        self.n = n
        burn(n)

    def method(self):
        return burn(self.n)


class Derived(Base):
    def __init__(self, n):
        super().__init__(n)
        self.kept = self.method()

    @property
    def value(self):
        return burn(self.n)

    @staticmethod
    def static(n):
        return burn(n)

    @classmethod
    def made(cls, n):
        return cls(n)

    def __call__(self):
        return burn(self.n)

    def __add__(self, other):
        return burn(self.n)

    def __getitem__(self, key):
        return burn(self.n)

    def __eq__(self, other):
        return burn(self.n) < 0

    def __getattr__(self, name):
        return burn(self.n)

    class Inner:
        def method(self, n):
            return (lambda: burn(n))()


def classes(n):
    one = Derived.made(n)
    one.value
    one.static(n)
    one()
    one + one
    one[0]
    one in [0]
    one.missing
    return one.Inner().method(n)


def in_reduce(n, one, other):
    return burn(n) * 0 + one + other


def in_re(n, match):
    return str(burn(n) * 0) + match.group()


def in_json(n, value):
    return burn(n)


def called_by_c(n):
    functools.reduce(functools.partial(in_reduce, n), [1, 2, 3])
    re.sub("[a-z]", lambda match: in_re(n, match), "a-b")
    json.dumps([object()], default=lambda value: in_json(n, value))
    list(map(lambda _: burn(n), [1, 2]))
    return max([1, 2], key=lambda _: burn(n))


def called_by_native(value):
    return burn(value) & 1


def through_native(n):
    if NATIVE:
        NATIVE.callback_outer(NATIVE_CALLS, n)


NATIVE_CALLS = CALLED(called_by_native)


@contextlib.contextmanager
def managed(n):
    try:
        burn(n)
        yield
    finally:
        burn(n)


def raises(n):
    burn(n)
    raise ValueError


def exceptions(n):
    with managed(n):
        try:
            raises(n)
        except ValueError:
            burn(n)
        finally:
            burn(n)


class Await:
    def __await__(self):
        yield burn(0)


async def coroutine_inner(n):
    await Await()
    return burn(n)


async def coroutine(n):
    return await coroutine_inner(n) + burn(n)


def coroutines(n):
    one = coroutine(n)
    try:
        while True:
            one.send(None)
    except StopIteration:
        pass


# functions whose lines are far apart, and go back, as tables of lines have them in other forms
FAR = {"burn": burn}
exec(compile("\n" * 300 + "def far(n):\n" + "\n" * 500 + "    burn(n)\n" + "\n" * 100000
             + "    return (" + "\n" * 140 + "        n and\n        burn(n))\n",
             "/nowhere/far.py", "exec"), FAR)
exec("def same(n): burn(n); return burn(n)", FAR)


def thread_main(n):
    return chain_a(n) + recursion(n, 5)


def threads(n):
    started = [threading.Thread(target=thread_main, args=(n,)) for _ in range(2)]
    for one in started:
        one.start()
    for one in started:
        one.join()


def turn(n):
    chain_a(2 * n)
    recursion(n, 60)
    generators(n)
    decorated(n)
    comprehensions(n)
    sorts(n)
    classes(n)
    called_by_c(n)
    through_native(n)
    exceptions(n)
    coroutines(n)
    FAR["far"](n)
    FAR["same"](n)
    threads(n)


def main():
    oracle = Oracle()
    oracle.run(turn, float(sys.argv[1]), 2, 1500)
    oracle.write(sys.argv[2])


if __name__ == "__main__":
    main()
