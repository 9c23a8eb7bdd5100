# SPDX-License-Identifier: Apache-2.0
"""
Functions that call each other as chance (of a known seed) has it, and a log of when: the caller
notes the time before each call and after it.

  schedule.py SECONDS LOG SEED
"""
import array
import json
import random
import sys
import time
from time import clock_gettime_ns

BOOTTIME = 7
KINDS = 12
DEPTH = 7
SOURCE = '''
def step_%d(chance, depth):
    total = 0
    for i in range(chance.randrange(200)):
        total += i * i
    for _ in range(chance.randrange(3) if depth else 0):
        which = chance.randrange(KINDS)
        note(which, clock_gettime_ns(BOOTTIME))
        %s
        note(-1, clock_gettime_ns(BOOTTIME))
    for i in range(chance.randrange(200)):
        total += i * i
    return total
'''
# how one calls the next: through Python only, through C, as a generator
CALLS = ("STEPS[which](chance, depth - 1)",
         "list(map(STEPS[which], (chance,), (depth - 1,)))",
         "sorted((1,), key=lambda _: STEPS[which](chance, depth - 1))",
         "[STEPS[which](chance, depth - 1) for _ in (1,)]")
LOG = array.array("q")  # pairs: which function is entered or -1, when


def note(which, when):
    LOG.append(which)
    LOG.append(when)


STEPS = []
for number in range(KINDS):
    exec(compile(SOURCE % (number, CALLS[number % len(CALLS)]), "steps-%d.py" % number, "exec"))
    STEPS.append(globals()["step_%d" % number])


def main():
    chance = random.Random(int(sys.argv[3]))
    end = time.process_time() + float(sys.argv[1])
    while time.process_time() < end:
        which = chance.randrange(KINDS)
        note(which, clock_gettime_ns(BOOTTIME))
        STEPS[which](chance, DEPTH)
        note(-1, clock_gettime_ns(BOOTTIME))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(LOG.tolist(), file)


if __name__ == "__main__":
    main()
