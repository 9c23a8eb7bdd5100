# SPDX-License-Identifier: Apache-2.0
"""
Functions of known CPU share: each of the parts is run in turn, as often as makes its share what
it is, and what it took is measured by the thread's own clock. A call takes a millisecond or so:
what the measuring takes is no part of it.

  shares.py SECONDS TRUTH: of CPU
"""
import asyncio
import functools
import json
import re
import resource
import sqlite3
import sys
import threading
import time
import zlib

BOOTTIME = 7
MS = 1000000
TEXT = "".join("name-%d: value %d, " % (i, i * i) for i in range(400))
OBJECT = [{"name": "n%d" % i, "values": list(range(8)), "text": "ä" * 5} for i in range(60)]
PATTERN = re.compile(r"(\w+)-(\d+): (?:\w+) (\d+), ")
DATA = TEXT.encode() * 3
BASE = sqlite3.connect(":memory:", check_same_thread=False)
BASE.execute("CREATE TABLE t (a INTEGER, b TEXT)")
BASE.executemany("INSERT INTO t VALUES (?, ?)", [(i, "text %d" % (i % 17)) for i in range(500)])


def work(n=200):
    total = 0
    for i in range(n):
        total += i * i
    return total


def pure():
    return work(15000)


def recursion(depth=40):
    return recursion(depth - 1) + 1 if depth else work(15000)


def generated():
    for _ in range(100):
        yield work(100)


def generator():
    return sum(generated())


def decorator(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


@decorator
@decorator
def decorated():
    return work(15000)


def comprehension():
    made = ([i * i for i in range(5000)], {i: i for i in range(3000)}, {i for i in range(3000)})
    total = len(made) + sum(i for i in range(5000))
    del made  # what goes with a frame goes when the caller's is on top again
    return total


async def awaited(n):
    for _ in range(4):
        await asyncio.sleep(0)
        work(n)


async def gathering():
    await asyncio.gather(*(awaited(600) for _ in range(4)))


def asynchronous():
    LOOP.run_until_complete(gathering())


def of_json():
    return sum(len(json.loads(json.dumps(OBJECT))) for _ in range(5))


def of_re():
    return sum(len(PATTERN.findall(TEXT)) for _ in range(5))


def of_zlib():
    return sum(len(zlib.decompress(zlib.compress(DATA, 1))) for _ in range(5))


def of_sqlite():
    return sum(len(BASE.execute("SELECT b, count(*), max(a) FROM t GROUP BY b ORDER BY 2")
                   .fetchall()) for _ in range(5))


# ms of each in a turn
PARTS = {pure: 9, recursion: 7, generator: 5, decorated: 6, comprehension: 4, asynchronous: 8,
         of_json: 5, of_re: 6, of_zlib: 4, of_sqlite: 6}


def turn(used):
    """Calls go on until the part has had its time."""
    for part, ms in PARTS.items():
        had = 0
        while had < ms * MS:
            begin = time.thread_time_ns()
            part()
            had += time.thread_time_ns() - begin
        used[part.__name__] += had


def measured(seconds):
    used = dict.fromkeys((part.__name__ for part in PARTS), 0)
    turns, begin = 0, time.thread_time_ns()
    while time.thread_time_ns() - begin < seconds * 1e9:
        turn(used)
        turns += 1
    return used, time.thread_time_ns() - begin, turns


class Worker(threading.Thread):
    """One of several that share the interpreter's lock; they all run till the same has run."""

    def __init__(self, part, size):
        super().__init__()
        self.part, self.size, self.used = part, size, 0

    def run(self):
        GO.wait()
        begin = time.thread_time_ns()
        while not DONE.is_set():
            self.part(self.size)
        self.used = time.thread_time_ns() - begin


def thread_small(n):
    return work(n)


def thread_middle(n):
    return work(n)


def thread_large(n):
    return sum(work(10) for _ in range(n))


def thread_zlib(n):
    return len(zlib.compress(DATA * n, 6))  # without the lock


GO, DONE = threading.Event(), threading.Event()


def threads(seconds):
    workers = [Worker(*pair) for pair in ((thread_small, 15000), (thread_middle, 60000),
                                          (thread_large, 1000), (thread_zlib, 4))]
    for worker in workers:
        worker.start()
    begin = time.process_time()
    GO.set()
    while time.process_time() - begin < seconds:
        time.sleep(0.01)
    DONE.set()
    for worker in workers:
        worker.join()
    return {worker.part.__name__: worker.used for worker in workers}


def switches():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_nivcsw + used.ru_nvcsw


def main():
    global LOOP
    LOOP = asyncio.new_event_loop()
    seconds, path = float(sys.argv[1]), sys.argv[2]
    before, stamps = switches(), [time.clock_gettime_ns(BOOTTIME)]
    used, total, turns = measured(seconds * 2 / 3)
    stamps.append(time.clock_gettime_ns(BOOTTIME))
    borders = 2 * (turns + switches() - before)
    before = switches()
    stamps.append(time.clock_gettime_ns(BOOTTIME))
    shared = threads(seconds / 3)
    stamps.append(time.clock_gettime_ns(BOOTTIME))
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"stamps": stamps, "parts": used, "total": total, "borders": borders,
                   "threads": shared, "thread_borders": 2 * (switches() - before)}, file)


if __name__ == "__main__":
    main()
