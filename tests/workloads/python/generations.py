# SPDX-License-Identifier: Apache-2.0
"""
Code objects that are made and freed all the time, each where the last one was, with names as long
as those of the last one; and a log of which one there was when.

  generations.py SECONDS LOG MILLISECONDS: of CPU, and how much of that each lives
"""
import json
import sys
import time

SOURCE = """
def gen_{0:08d}(end):
    total = 0
    while thread_time() < end:
        for i in range(200):
            total += i
    return total
"""


def main():
    seconds, each = float(sys.argv[1]), float(sys.argv[3]) / 1000
    log, number = [], 0
    while time.process_time() < seconds:
        number += 1
        made = {"thread_time": time.thread_time}
        exec(compile(SOURCE.format(number), "gen-%08d.py" % number, "exec"), made)
        begin = time.clock_gettime_ns(7)
        made["gen_%08d" % number](time.thread_time() + each)
        log.append((number, begin, time.clock_gettime_ns(7)))
        del made
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(log, file)


main()
