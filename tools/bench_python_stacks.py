# SPDX-License-Identifier: Apache-2.0
"""Read the recordings of Python profilers in their formats, and compare them with the truth."""
import json
import math
import os
import re

LOAD_FILE = "bench_python_load.py"
# name (file.py:line), as in py-spy and skein; a frozen module's file is <frozen name>
PYTHON_FRAME = re.compile(r"(?P<name>.*) \((?P<file>[^()]*\.py|<[^<>()]*>)(?::\d+)?\)")
UNNAMED = re.compile(r"(0x[0-9a-f]+|\[?unknown\]?|<unknown>|\?\?)(\W.*)?|\[[^\[\]]*\]"
                     r"|\S+\+0x[0-9a-f]+( .*)?")


class Stack:
    """
    One line of a recording. python: ((file, function), …), root first, without folders, classes
    and enclosing functions; named, unnamed: numbers of frames of any kind; weight: as recorded.
    """

    def __init__(self, frames, weight):
        """frames: [(file or None, name)], root first; None for frames that are not Python's."""
        self.weight = weight
        self.python = tuple((os.path.basename(file), bare(name)) for file, name in frames if file)
        self.unnamed = sum(bool(UNNAMED.fullmatch(name)) for _, name in frames)
        self.named = len(frames) - self.unnamed


def bare(name):
    """Return the last part of a qualified name; older Pythons have only that."""
    return name.rsplit(".", 1)[-1]


def frame_of(text):
    match = PYTHON_FRAME.fullmatch(text)
    return (match["file"], match["name"]) if match else (None, text)


def folded(text, above=0):
    """
    Return [Stack] of lines `a;b;c 12`; above: frames above the stack, such as a process's name.
    """
    found = []
    for line in text.splitlines():
        frames, _, weight = line.rpartition(" ")
        parts = frames.split(";")[above:]
        found.append(Stack([frame_of(part) for part in parts], int(weight)))
    return found


AUSTIN_FRAME = re.compile(r"(?P<file>.*):(?P<name>[^:]*):-?\d+", re.S)


def austin(text):
    """Return [Stack] of lines `P1;T0:1;/folder/file.py:name:12 101`, weighted by microseconds."""
    found = []
    for line in text.splitlines():
        if line.startswith("P"):
            frames, _, weight = line.rpartition(" ")
            matches = [(AUSTIN_FRAME.fullmatch(part), part) for part in frames.split(";")[2:]]
            found.append(Stack([austin_frame(match, part) for match, part in matches],
                               int(weight)))
    return found


def austin_frame(match, part):
    """
    Return (file, name) of a frame; austinp's native frames have a library or nothing as the file.
    """
    if not match:
        return None, part
    is_python = match["file"].endswith(".py") or match["file"].startswith("<")
    return (match["file"] if is_python else None), match["name"]


class Possible:
    """The possible stacks, from the output of `bench_python_load.py stacks`."""

    def __init__(self, said):
        self.stacks = set()
        for stack in json.loads(said.splitlines()[-1]):
            frames = tuple((file, bare(name)) for file, name in stack)
            for end in range(1, len(frames) + 1):  # a caller has returned to each of them
                self.stacks.add(frames[:end])

    def __contains__(self, stack):
        """
        Return whether a stack is possible, including a thread's start in threading.py, before it
        can be watched.
        """
        begun = ("threading.py", "_bootstrap_inner")
        if stack in self.stacks:
            return True
        return begun in stack[:2] and all(file == begun[0] for file, _ in stack)


class Profile:
    """
    A recording of the load by functions. weights: {function: weight}; total: of all stacks;
    samples: weights of the lines, or number of lines if the weights are times; possible, named:
    shares.
    """

    def __init__(self, stacks, functions, possible, samples):
        self.weights = dict.fromkeys(functions, 0)
        self.total, self.samples = sum(s.weight for s in stacks), samples
        good = named = frames = 0
        for stack in stacks:
            good += stack.weight * (stack.python in possible)
            named += stack.weight * stack.named
            frames += stack.weight * (stack.named + stack.unnamed)
            for file, name in stack.python:
                if file == LOAD_FILE and name in self.weights:
                    self.weights[name] += stack.weight
                    break
        self.possible = good / self.total if self.total else 0.0
        self.named = named / frames if frames else 0.0


class Accuracy:
    """The accuracy of profiles compared with their runs. errors: {function: percentage points}."""

    def __init__(self, profiles, truths):
        """truths: as printed by the load."""
        total, took = sum(p.total for p in profiles), sum(t["total"] for t in truths)
        self.errors = {}
        for name in truths[0]["own"]:
            true = sum(t["own"][name] for t in truths) / took
            measured = sum(p.weights[name] for p in profiles) / total if total else 0.0
            self.errors[name] = 100 * (measured - true)

    @staticmethod
    def by_chance(profiles, truths):
        """Return the mean error of as many independently drawn samples."""
        samples, took = sum(p.samples for p in profiles), sum(t["total"] for t in truths)
        shares = [sum(t["own"][name] for t in truths) / took for name in truths[0]["own"]]
        spread = sum(math.sqrt(share * (1 - share)) for share in shares) / len(shares)
        return 100 * spread * math.sqrt(2 / math.pi / max(samples, 1))

    @property
    def mean(self):
        return sum(abs(e) for e in self.errors.values()) / len(self.errors)

    @property
    def worst(self):
        """Return (percentage points, function)."""
        return max((abs(error), name) for name, error in self.errors.items())
