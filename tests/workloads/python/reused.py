# SPDX-License-Identifier: Apache-2.0
"""
Code that lives for milliseconds: each turn compiles one of a few sources, runs it, and frees it, so
that the next code object takes its address. The sources differ in one thing only: the name of a
function, where it differs in its first characters or in its last; the file; or the class of a
method. A log says what ran when.

  reused.py SECONDS LOG SEED: of CPU
"""
import gc
import json
import random
import sys
import time

BOOTTIME = 7
KINDS = 4  # sources of each sort
LONG = "a_name_of_which_the_end_differs_"

# {sort: (what differs, the source with it, the file with it)}
SORTS = {
    "name": ("fn_%d", "def {0}():\n    burn()\n{0}()\n", "<names>"),
    "long name": (LONG + "%d", "def {0}():\n    burn()\n{0}()\n", "<names>"),
    "file": ("/made/by/nobody/and/long/enough/%d/module.py", "burn()\n", "{0}"),
    "short file": ("f%d.py", "burn()\n", "{0}"),
    "class": ("Class_%d", "class {0}:\n    def run(self):\n        burn()\n{0}().run()\n",
              "<classes>"),
}


def burn(until):
    while time.thread_time_ns() < until:
        pass


def turn(pick):
    """One code object of a kind: (sort, number, begin, end), in ns of CLOCK_BOOTTIME."""
    sort, number = pick.choice(list(SORTS)), pick.randrange(KINDS)
    what, source, file = SORTS[sort]
    what = what % number
    code = compile(source.format(what), file.format(what), "exec")
    length = int(pick.expovariate(1 / 4e6))  # ns of CPU, mean
    begin = time.clock_gettime_ns(BOOTTIME)
    until = time.thread_time_ns() + length
    exec(code, {"burn": lambda: burn(until)})
    end = time.clock_gettime_ns(BOOTTIME)
    del code
    gc.collect(0)  # classes
    return sort, number, begin, end


def main():
    seconds, path, pick = float(sys.argv[1]), sys.argv[2], random.Random(int(sys.argv[3]))
    log = []
    gc.disable()
    while time.thread_time_ns() < seconds * 1e9:
        log.append(turn(pick))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(log, file)


main()
