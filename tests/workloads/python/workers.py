# SPDX-License-Identifier: Apache-2.0
"""
Processes that Python starts; the pid of each and what it runs are written down.

  workers.py FOLDER MODE SECONDS
"""
import concurrent.futures
import multiprocessing
import os
import sys
import time


def burn(seconds):
    end = time.process_time() + seconds
    total = 0
    while time.process_time() < end:
        for i in range(1000):
            total += i
    return total


def note(folder, function):
    with open(os.path.join(folder, str(os.getpid())), "w", encoding="utf-8") as file:
        file.write(function)


def in_process(folder, seconds):
    note(folder, "in_process")
    burn(seconds)


def in_pool(job):
    folder, seconds = job
    note(folder, "in_pool")
    burn(seconds)
    return os.getpid()


def prefork_loop(folder, seconds):
    note(folder, "prefork_loop")
    burn(seconds)


def prefork(folder, seconds):
    children = []
    for _ in range(2):
        child = os.fork()
        if not child:
            prefork_loop(folder, seconds)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def processes(method, folder, seconds):
    context = multiprocessing.get_context(method)
    started = [context.Process(target=in_process, args=(folder, seconds)) for _ in range(2)]
    for one in started:
        one.start()
    for one in started:
        one.join()


def pool(folder, seconds):
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        return list(executor.map(in_pool, [(folder, seconds / 2)] * 4))


def main():
    folder, mode, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    if mode == "prefork":
        prefork(folder, seconds)
    elif mode == "pool":
        pool(folder, seconds)
    else:
        processes(mode, folder, seconds)


if __name__ == "__main__":
    main()
