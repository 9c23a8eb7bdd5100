# SPDX-License-Identifier: Apache-2.0
"""A program that lives for so many milliseconds of CPU, and calls new functions all the time."""
import sys
import time

SOURCE = "def new_{0}(n):\n    return old(n) + 1\n"


def old(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def main():
    end = time.process_time() + float(sys.argv[1]) / 1000 - 0.015  # what it takes to begin
    made = {"old": old}
    while time.process_time() < end:
        name = "new_%d" % (len(made) // 8)
        if name not in made:
            exec(SOURCE.format(len(made) // 8), made)
        for _ in range(20):
            made[name](300)
        made["and_%d" % len(made)] = None


main()
