# SPDX-License-Identifier: Apache-2.0
"""
Two threads that compute, and want the interpreter's lock all the time, until the input ends. They
hand the lock over more often than usual.
"""
import sys
import threading

ends = threading.Event()


def compute():
    total = 0
    while not ends.is_set():
        for i in range(10000):
            total += i


sys.setswitchinterval(0.0005)
threads = [threading.Thread(target=compute) for _ in range(2)]
for thread in threads:
    thread.start()
print("computes", flush=True)
sys.stdin.read()
ends.set()
for thread in threads:
    thread.join()
