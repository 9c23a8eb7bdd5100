# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""
Test every installed Python version without any special start option: every sampled stack is
possible according to the interpreter itself, which ran the program under a tracer (names, files
and lines as in traceback), with native frames in the right places.

3.6 and 3.7 are not supported: skein reports that, and the native frames are complete.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import live
import python_found
import python_stacks
from completeness import completeness

SECONDS = 8 if live.LONG else 1.4  # CPU seconds of each
FREQUENCY = 999
SOURCES = live.ROOT / "tests" / "workloads" / "python"
# Functions that turn() calls and that samples must contain. Rare ones are left out.
SEEN = ("chain_c", "recursion", "generator_inner", "decorated", "comprehensions", "sorts",
        "classes", "called_by_c", "called_by_native", "raises", "coroutine_inner", "far", "same",
        "thread_main", "in_reduce", "in_re", "in_json")
# Prefixes of the names of native frames between two Python frames, if they have names.
BETWEEN = (("through_native", "called_by_native", ("callback_outer", "callback_inner")),
           ("sorts", "sorts.<locals>.<lambda>", ("list_sort",)),
           ("called_by_c", "in_reduce", ("functools_reduce", "partial_")))
STRIPPED = ("list_sort", "functools_reduce")  # functions that have no names in Debian's Python


def every():
    """Return all interpreters whose frames skein reads."""
    return python_found.supported() + python_found.fetched()


class Recorded:
    """All versions in one recording."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="live-"))
        self.processes, self.cpu = {}, {}
        library = self.folder / "callback.so"
        subprocess.run(["gcc", "-O2", "-g", "-fPIC", "-shared", "-o", library,
                        SOURCES / "callback.c"], check=True)
        recording = live.Recording(self.folder / "trace.skein", "-a", "-F", FREQUENCY)
        try:
            for one in python_found.old() + every():
                self.processes[one] = subprocess.Popen(
                    [one.path, SOURCES / "chains.py", str(SECONDS), self.truth(one), library],
                    stdin=subprocess.DEVNULL,
                    env=live.clean_environment(PYTHONDONTWRITEBYTECODE="1"))
            for one, process in self.processes.items():
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                self.cpu[one] = used.ru_utime + used.ru_stime
        finally:
            for process in self.processes.values():
                if process.returncode is None:
                    process.kill()
                    process.wait()
            self.done = recording.stop()
        self.trace = live.Trace(recording.path)
        self.stacks = python_stacks.Stacks(self.trace)

    def truth(self, one):
        return str(self.folder / f"{one.name}.json")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Versions(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        if os.geteuid():
            return
        cls.recorded = Recorded()
        cls.addClassCleanup(cls.recorded.close)

    def ended_well(self, one):
        self.assertEqual(self.recorded.done.status, 0, self.recorded.done.err)
        self.assertEqual(self.recorded.processes[one].returncode, 0)
        return self.recorded.processes[one].pid

    def whole(self, one, pid):
        found = completeness(live.SKEIN, self.recorded.trace.path, more=("--pid", pid))
        print(f"{one}: {found}")
        self.assertGreater(found.samples, 0.8 * FREQUENCY * SECONDS)
        self.assertLessEqual(found.samples - found.complete,
                             python_stacks.allowed(found.samples), str(found))

    def samples(self, one, pid):
        """Return the complete samples at which the oracle knows every frame."""
        truth = python_stacks.Truth(json.loads(pathlib.Path(self.recorded.truth(one)).read_text()))
        every = self.recorded.stacks.samples(pid, truth.begin, truth.end)
        self.assertGreater(len(every), 0.8 * FREQUENCY * SECONDS)
        lacking = python_stacks.incomplete(every)
        self.assertLessEqual(lacking.total(), python_stacks.allowed(len(every)), lacking)
        whole = [s for s in every if s.end is None and not s.flags & python_stacks.UNREAD]
        known = [s for s in whole
                 if {"turn", "thread_main"} & set(python_stacks.names(s))]
        # the others are in a thread that starts or ends, or at the start of the next turn
        self.assertGreater(len(known), 0.9 * len(whole),
                           collections.Counter(map(python_stacks.names, whole)).most_common(5))
        empty = [s for s in whole if python_stacks.loops(s) and not python_stacks.python(s)]
        self.assertLessEqual(len(empty), python_stacks.allowed(len(whole)), empty[:2])
        return truth, known

    def check(self, one):
        pid = self.ended_well(one)
        self.whole(one, pid)
        truth, samples = self.samples(one, pid)
        wrong = collections.Counter()
        for sample in samples:
            stack = python_stacks.python(sample)
            if not truth.can_be(stack):
                wrong[stack] += 1
        self.assertFalse(wrong, f"{wrong.total()} of {len(samples)}: {wrong.most_common(3)}")
        self.check_first_lines(truth, samples)
        self.check_seen(one, samples)
        self.check_places(one, samples)

    def check_first_lines(self, truth, samples):
        for frame in {f for s in samples for f in s.frames if f.kind == python_stacks.PYTHON}:
            first = truth.firsts.get((frame.name, frame.file, frame.line), frame.first_line)
            self.assertEqual(frame.first_line, first, frame)

    def check_seen(self, one, samples):
        seen = {name.rsplit(".", 1)[-1] for s in samples for name in python_stacks.names(s)}
        self.assertFalse(set(SEEN) - seen)
        qualified = one.version >= (3, 11)
        everything = {name for s in samples for name in python_stacks.names(s)}
        self.assertEqual("Derived.Inner.method" in everything, qualified)

    def check_places(self, one, samples):
        wrong = collections.Counter(python_stacks.misplaced(s, one.inlines) for s in samples)
        del wrong[None]
        self.assertFalse(wrong, wrong.most_common(3))
        for outer, inner, between in BETWEEN:
            if one.version < (3, 11):
                inner = inner.rsplit(".", 1)[-1]
            if one.debian and set(between) & set(STRIPPED):
                continue
            self.check_between(samples, outer, inner, between)

    def check_between(self, samples, outer, inner, between):
        seen = 0
        for sample in samples:
            if inner not in python_stacks.names(sample) or \
                    outer not in python_stacks.names(sample):
                continue
            native = python_stacks.native_between(sample, outer, inner)
            if native is None:  # a lambda of the same name elsewhere
                continue
            seen += 1
            places = [next((i for i, name in enumerate(native) if name.startswith(word)), -1)
                      for word in between]
            self.assertTrue(-1 not in places and places == sorted(places), native)
        self.assertGreater(seen, 0, (outer, inner))

    def check_old(self, one):
        pid = self.ended_well(one)
        self.whole(one, pid)
        # before the exec, the process was a child of the Python that runs the tests
        begin, end = json.loads(pathlib.Path(self.recorded.truth(one)).read_text())["times"]
        samples = self.recorded.stacks.samples(pid, begin, end)
        self.assertGreater(len(samples), 0.8 * FREQUENCY * SECONDS)
        frames = [f for s in samples for f in s.frames]
        self.assertFalse([f for f in frames if f.kind == python_stacks.PYTHON])
        said = self.recorded.trace.query("SELECT value FROM info WHERE key LIKE 'python%'")
        self.assertTrue([row for row in said if "{}.{}.{}".format(*one.full) in row["value"]
                         and "before 3.8: native frames only" in row["value"]], said)


class FreeThreaded(live.LiveTest):
    def marked(self, one):
        """Make a copy whose own description claims a free-threaded build."""
        usr = pathlib.Path(one.path).parent / "usr"
        data = bytearray((usr / "bin" / pathlib.Path(one.path).name).read_bytes())
        # before _PyRuntime: its kind, its version, and whether it is free-threaded
        described = re.search(rb"xdebugpy..%c\x03\0{12}" % one.version[1], data, re.S)
        data[described.start() + 16] = 1
        path = self.tmp / "marked"
        path.write_bytes(data)
        path.chmod(0o755)
        return ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /usr && exec "$@"', usr, path]

    def test_is_named(self):
        """No frame is guessed, the native stacks are complete, and the reason is reported."""
        if not python_found.fetched():
            self.skipTest("no Python from 3.14 on here: see tools/python")
        trace = self.record("-F", FREQUENCY, "--", *self.marked(python_found.fetched()[-1]), "-c",
                            "import time\nend = time.process_time() + 1\n"
                            "while time.process_time() < end: sum(i * i for i in range(1000))")
        stacks = trace.stacks(comm="marked")
        self.assertGreater(live.count(stacks), 0.8 * FREQUENCY)
        self.assertFalse([s for s in stacks if live.FRAME["PYTHON"] in s.kinds][:2])
        found = completeness(live.SKEIN, trace.path, "marked")
        self.assertLessEqual(found.samples - found.complete, python_stacks.allowed(found.samples),
                             str(found))
        said = [row["value"] for row in
                trace.query("SELECT value FROM info WHERE key LIKE 'python%'")]
        self.assertTrue([value for value in said if "/marked: free-threaded Python: native frames "
                         "only" in value], said)
        report = subprocess.run([live.SKEIN, "report", trace.path], capture_output=True, text=True,
                                check=True, timeout=60, env=live.clean_environment(COLUMNS="200"))
        self.assertIn("free-threaded Python: native frames only", report.stdout)


def case(one, method):
    return lambda self: getattr(self, method)(one)


def absent(version):
    def skip(self):
        raise unittest.SkipTest("no Python {}.{} here".format(*version))
    return skip


for each in every():
    setattr(Versions, f"test_stacks_{each.name}", case(each, "check"))
for each in python_found.old():
    setattr(Versions, f"test_told_{each.name}", case(each, "check_old"))
for each in python_found.SUPPORTED + python_found.OLD:
    if each not in [one.version for one in every() + python_found.old()]:
        setattr(Versions, "test_of_{}_{}".format(*each), absent(each))


if __name__ == "__main__":
    live.main()
