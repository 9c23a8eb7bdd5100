# SPDX-License-Identifier: Apache-2.0
"""
A program that scribbles on its own function's name, file and table of lines, in memory, while
it runs: on what says how long they are, and of which kind.

  rewriter.py SECONDS
"""
import ctypes
import random
import sys
import threading
import time

DONE = threading.Event()


def victim(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def victims():
    while not DONE.is_set():
        victim(1000)


def own(function):
    """Its names are nobody else's."""
    new = {"co_name": "victim_of_scribbling", "co_filename": "scribbled-" + "file.py" * 3}
    if hasattr(function.__code__, "co_qualname"):
        new["co_qualname"] = "Qualified.victim_of_scribbling"
    function.__code__ = function.__code__.replace(**new)


def words_of(thing):
    """Length, hash and kind."""
    return (ctypes.c_uint64 * 3).from_address(id(thing) + 16)


def main():
    chance = random.Random(1)
    own(victim)
    code = victim.__code__
    table = getattr(code, "co_linetable", None) or code.co_lnotab
    # an interpreter looks at neither while a function runs, and nobody frees these
    kept = [code.co_filename, code.co_name, table, getattr(code, "co_qualname", code.co_name)]
    places = [(words_of(thing), isinstance(thing, str)) for thing in kept]
    thread = threading.Thread(target=victims)
    thread.start()
    end = time.process_time() + float(sys.argv[1])
    while time.process_time() < end:
        for place, is_text in places:
            before = list(place)
            place[0] = chance.choice((0, 1 << 62, 1 << 30, 3, (1 << 64) - 1))
            if is_text:
                place[2] ^= chance.getrandbits(8)
            victim(100)
            place[0], place[2] = before[0], before[2]
    DONE.set()
    thread.join()


main()
