# SPDX-License-Identifier: Apache-2.0
"""
Functions whose code was given another name, and functions with names of every kind that nobody
has changed. Each spins for its part of the time, one after the other.

  renamed.py SECONDS [numpy]: of CPU, all together; with what numpy makes of one function, too
"""
import sys
import time


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


def maker():
    def public_api(seconds):
        spin(seconds)
    return public_api


def renamed(name):
    function = maker()
    function.__code__ = function.__code__.replace(co_name=name)
    return function


class Private:
    def __secret(self, seconds):
        spin(seconds)

    def open(self, seconds):
        self.__secret(seconds)


def lambdas():
    return lambda seconds: spin(seconds)


def generates(seconds):
    any(spin(part) for part in [seconds])


def numpy_spins(seconds):
    import numpy
    values = numpy.arange(300)
    end = time.process_time() + seconds
    while time.process_time() < end:
        for function in (numpy.median, numpy.mean, numpy.argsort, numpy.average):
            function(values)


def main():
    functions = [renamed("mean"), renamed("<cell line: 1>"), renamed("dotted.name"), maker(),
                 Private().open, lambdas(), generates]
    if "numpy" in sys.argv[2:]:
        functions.append(numpy_spins)
    for function in functions:
        function(float(sys.argv[1]) / len(functions))


main()
