# SPDX-License-Identifier: Apache-2.0
"""
Garbage in cycles, collected on request, and how long that took by its own clock.

  collector.py SECONDS TRUTH
"""
import gc
import json
import resource
import sys
import time


class Node:
    pass


def garbage(n):
    for _ in range(n):
        one, other = Node(), Node()
        one.other, other.other = other, one


def collected():
    begin = time.thread_time_ns()
    gc.collect()
    return time.thread_time_ns() - begin


def main():
    gc.disable()
    seconds, spent, turns = float(sys.argv[1]) * 1e9, 0, 0
    first, begin = time.clock_gettime_ns(7), time.thread_time_ns()
    while time.thread_time_ns() - begin < seconds:
        garbage(20000)
        spent += collected()
        turns += 1
    total, last = time.thread_time_ns() - begin, time.clock_gettime_ns(7)
    used = resource.getrusage(resource.RUSAGE_SELF)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({"times": [first, last], "collecting": spent, "total": total,
                   "borders": 2 * (turns + used.ru_nvcsw + used.ru_nivcsw)}, file)


main()
