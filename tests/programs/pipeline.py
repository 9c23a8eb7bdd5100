# SPDX-License-Identifier: Apache-2.0
"""A pipeline of threads: a reader, four workers that compress, and a writer; 6 seconds."""
import hashlib
import os
import queue
import threading
import time
import zlib

SECONDS = 6
blocks, packed = queue.Queue(8), queue.Queue()
count = threading.Lock()


def read():
    block = os.urandom(150_000)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        blocks.put(block)
    for _ in range(4):
        blocks.put(None)


def work():
    while (block := blocks.get()) is not None:
        data = zlib.compress(block)
        with count:
            hashlib.sha256(data).digest()
        packed.put(data)
    packed.put(None)


def write():
    left = 4
    with open(os.devnull, "wb") as out:
        while left:
            data = packed.get()
            if data is None:
                left -= 1
            else:
                out.write(data)
                time.sleep(0.001)


def named(name, run):
    """Run under a name that the kernel knows."""
    path = f"/proc/self/task/{threading.get_native_id()}/comm"
    with open(path, "w", encoding="ascii") as comm:
        comm.write(name)
    run()


PARTS = [("reader", read), *((f"worker-{i}", work) for i in range(1, 5)), ("writer", write)]
threads = [threading.Thread(target=named, args=part) for part in PARTS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
