# SPDX-License-Identifier: Apache-2.0
"""
A thread that holds the interpreter's lock, and two that do their work in C without it.

  unlocked.py SECONDS: of the first thread's CPU
"""
import sys
import threading
import time
import zlib

DONE = threading.Event()
DATA = bytes(i * i % 251 for i in range(1 << 20))


def without_lock():
    while not DONE.is_set():
        zlib.compress(DATA, 6)


def with_lock(seconds):
    end = time.thread_time() + seconds
    total = 0
    while time.thread_time() < end:
        for i in range(1000):
            total += i
    return total


def main():
    threads = [threading.Thread(target=without_lock) for _ in range(2)]
    for thread in threads:
        thread.start()
    with_lock(float(sys.argv[1]))
    DONE.set()
    for thread in threads:
        thread.join()


main()
