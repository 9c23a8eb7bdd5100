# SPDX-License-Identifier: Apache-2.0
"""
Several interpreters in one process, beside the first one: the first of them runs in the main
thread, the others in threads of their own. Before 3.12 all run in the main thread, one after the
other: there an interpreter keeps the thread's state that it was made with, which names the thread
that made it, whichever runs it.

  interpreters.py COUNT SECONDS: of CPU, all together
"""
import sys
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

SOURCE = """
import time

def in_interpreter_{0}(seconds):
    end = time.thread_time() + seconds
    total = 0
    while time.thread_time() < end:
        for i in range(1000):
            total += i

in_interpreter_{0}({1})
"""


def run(ident, number, seconds):
    interpreters.run_string(ident, SOURCE.format(number, seconds))


def in_first(seconds):
    end = time.thread_time() + seconds
    total = 0
    while time.thread_time() < end:
        for i in range(1000):
            total += i


def main():
    count, seconds = int(sys.argv[1]), float(sys.argv[2])
    made = [interpreters.create() for _ in range(count)]
    here = 1 if sys.version_info >= (3, 12) else count
    each = seconds / (count + 2)
    threads = [threading.Thread(target=run, args=(made[i], i, each)) for i in range(here, count)]
    for thread in threads:
        thread.start()
    for i in range(here):
        run(made[i], i, each)
    in_first(2 * each)
    for thread in threads:
        thread.join()


main()
