# SPDX-License-Identifier: Apache-2.0
"""
Many threads that take turns; each has functions of its own, and all live all the time.

  crowd.py THREADS SECONDS: of CPU, all together
"""
import sys
import threading
import time

SOURCE = """
def in_thread_{0}(seconds):
    end = time.thread_time() + seconds
    total = 0
    while time.thread_time() < end:
        for i in range(1000):
            total += i
"""


def run(number, seconds, alive, done):
    made = {"time": time}
    exec(SOURCE.format(number), made)
    alive.wait()
    made["in_thread_%d" % number](seconds)
    done.wait()


def main():
    count, seconds = int(sys.argv[1]), float(sys.argv[2])
    threading.stack_size(256 * 1024)
    alive, done = threading.Barrier(count), threading.Barrier(count)
    threads = [threading.Thread(target=run, args=(i, seconds / count, alive, done))
               for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
