# SPDX-License-Identifier: Apache-2.0
"""
A program that becomes one of another Python, and again: each says when it began and ended.

  execs.py LOG SECONDS PYTHON... : the rest are what is still to come
"""
import os
import sys
import time

STAGE = len(sys.argv) - 3
SOURCE = """
def stage_%d(seconds):
    end = time.process_time() + seconds
    total = 0
    while time.process_time() < end:
        for i in range(1000):
            total += i
"""
exec(compile(SOURCE % STAGE, "stage-%d.py" % STAGE, "exec"))


def main():
    log, seconds = sys.argv[1], float(sys.argv[2])
    begin = time.clock_gettime_ns(7)
    globals()["stage_%d" % STAGE](seconds)
    with open(log, "a", encoding="utf-8") as file:
        file.write("%d %d %d\n" % (STAGE, begin, time.clock_gettime_ns(7)))
    if sys.argv[3:]:
        os.execv(sys.argv[3], [sys.argv[3], __file__, log, str(seconds), *sys.argv[4:]])


main()
