#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Run one unittest file and write the results of its cases as JSON (for tests/run).

  run_cases.py FILE RESULT
"""
import importlib.util
import json
import os
import sys
import time
import unittest


def cpu_seconds():
    """Return the CPU time of this process and of all children that were waited for."""
    return sum(os.times()[:4])


class Result(unittest.TextTestResult):
    passed = 0

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.costs = [] # of each case: its name, seconds, and CPU seconds
        self.began = self.began_cpu = 0.0

    def startTest(self, test):
        super().startTest(test)
        self.began, self.began_cpu = time.monotonic(), cpu_seconds()

    def stopTest(self, test):
        super().stopTest(test)
        self.costs.append((test.id(), round(time.monotonic() - self.began, 2),
                           round(cpu_seconds() - self.began_cpu, 2)))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.passed += 1


def main():
    path, out = sys.argv[1:]
    sys.path[:0] = [os.path.dirname(os.path.abspath(path)), os.path.dirname(__file__)]
    name = os.path.basename(path).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except unittest.SkipTest as skip:
        print(skip)
        sys.exit(77)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Result).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skips = [f"{test.id()}: {reason}" for test, reason in result.skipped]
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"passed": result.passed, "failed": failed, "skips": skips,
                   "costs": result.costs}, file)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
