# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""
Test programs that fake their Python state, or change it while it is read: the work stays bounded,
the reason is recorded, nothing crashes, no name is wrong, and honest programs at the same time
have complete stacks.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

import live
import python_found
import python_stacks
from python_stacks import PYTHON

FREQUENCY = 999
SECONDS = 6 if live.LONG else 1
SOURCES = live.ROOT / "tests" / "workloads" / "python"
KINDS = ("plausible", "selves", "zeros", "threads", "interpreters", "frames", "lengths", "nowhere",
         "torn")
PLANTED = re.compile(r"(planted_name)?\W*")  # \W: characters shown for bytes that are no letters
TORN = re.compile(r"[^\x00-\x1f\x7f]{0,512}")  # whatever was there at that moment
GENERATION = re.compile(r"gen_(\d{8})")


class Hostile(live.LiveTest):
    def command(self, *command, **environment):
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                   env=live.clean_environment(PYTHONDONTWRITEBYTECODE="1",
                                                              **environment))
        self.addCleanup(self.end, process)
        return process

    def done(self, *processes):
        for process in processes:
            self.assertEqual(process.wait(300), 0, process.args)

    def honest(self, stacks, pid):
        samples = [s for s in stacks.samples(pid) if "old" in python_stacks.names(s)]
        self.assertGreater(len(samples), 0.3 * FREQUENCY * SECONDS)
        lacking = python_stacks.incomplete(samples)
        self.assertLessEqual(lacking.total(), python_stacks.allowed(len(samples)), lacking)

    def test_pretenders(self):
        """
        Every pretending program has different content, so that skein knows none of them from
        before.
        """
        program = self.tmp / "pretend"
        subprocess.run(["gcc", "-O2", "-g", "-rdynamic", "-I", live.ROOT, "-o", program,
                        SOURCES / "pretend.c", live.ROOT / "symbolizers" / "python_layout.c",
                        "-lpthread"], check=True)
        recording = self.begin("-a", "-F", FREQUENCY)
        honest = self.command(python_found.newest().path, SOURCES / "brief.py",
                              1000 * SECONDS * 2)
        pids = {}
        for kind in KINDS:
            process = self.command(program, SECONDS, kind)
            self.done(process)
            pids[kind] = process.pid
        self.done(honest)
        used = self.cpu_of(recording.pid)
        trace = self.finish(recording)
        stacks = python_stacks.Stacks(trace)
        self.honest(stacks, honest.pid)
        self.assertIn("3.11", json.dumps(trace.query(
            # skein accepted the fake state up to here
            "SELECT value FROM info WHERE key LIKE 'python%'")))
        for kind, pid in pids.items():
            with self.subTest(kind=kind):
                self.check_pretender(kind, stacks.samples(pid))
        print(f"the recorder used {used:.2f} s for {len(KINDS)} pretenders")
        self.assertLess(used, 0.5 * len(KINDS) * SECONDS + 5)

    @staticmethod
    def cpu_of(pid):
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        fields = stat.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def check_pretender(self, kind, samples):
        burnt = [s for s in samples if any(f.name == "pretend_burn" for f in s.frames)]
        # of "torn", another thread has half
        self.assertGreater(len(burnt), 0.3 * FREQUENCY * SECONDS)
        ends = collections.Counter(s.end for s in burnt)
        # before the exec, the process was a child of the Python that runs the tests
        names = collections.Counter(f.name for s in burnt for f in s.frames if f.kind == PYTHON)
        print(f"{kind}: {len(burnt)} samples; ends: {ends}; Python's names: {names}")
        # the native frames are there even if the Python frames are not
        for s in burnt:
            self.assertIn("main", [f.name for f in s.frames])
        for name in names:
            self.assertTrue(name is None or
                            (TORN if kind == "torn" else PLANTED).fullmatch(name), name)
            self.assertLess(len((name or "").encode()), 513)
        if kind in ("selves", "zeros", "threads", "interpreters"):
            self.assertFalse(names)
        if kind == "plausible":  # otherwise the other kinds would prove nothing
            self.assertGreater(names["planted_name"], len(burnt))
        elif kind not in ("torn", "frames"):
            # no sample is whole with frames that do not exist; one that was taken before the
            # interpreter was known has no Python frames at all
            self.assertEqual([s for s in burnt if s.end is None and any(
                f.name == "planted_name" for f in s.frames if f.kind == PYTHON)], [])

    def check_generations(self, one, samples, log):
        alive = {number: (begin, end) for number, begin, end in log}
        named = unnamed = 0
        for s in samples:
            for f in s.frames:
                if f.kind != PYTHON:
                    continue
                number = GENERATION.fullmatch(f.name or "")
                unnamed += f.name is None
                if not number:
                    continue
                named += 1
                # the end of the last one is not logged
                begin, end = alive.get(int(number[1]), (s.time, s.time))
                self.assertTrue(begin - 10**7 < s.time and s.time <= end,
                                f"{f.name} at {s.time}, which lived from {begin} to {end}")
                self.assertEqual(f.file, f"gen-{number[1]}.py")
                self.assertLess(f.line, 8)
        print(f"{one}: {named} generations named, {unnamed} not, of {len(log)}")
        self.assertGreater(named, 0)

    def test_generations(self):
        """A code object at the address of a freed one never gets the name of the freed one."""
        for milliseconds in (0.3, 3):
            recording, started = self.begin("-a", "-F", FREQUENCY), {}
            for one in python_found.some():
                log = self.tmp / f"{one.name}-{milliseconds}.json"
                started[one] = self.command(one.path, SOURCES / "generations.py", SECONDS, log,
                                            milliseconds), log
            self.done(*(process for process, _ in started.values()))
            stacks = python_stacks.Stacks(self.finish(recording))
            for one, (process, log) in started.items():
                with self.subTest(python=str(one), milliseconds=milliseconds):
                    self.check_generations(one, stacks.samples(process.pid),
                                           json.loads(log.read_text()))

    def test_rewriter(self):
        """
        A name whose length is overwritten during the read is shown at its current length, and not
        beyond.
        """
        recording = self.begin("-a", "-F", FREQUENCY)
        honest = self.command(python_found.newest().path, SOURCES / "brief.py", 1000 * SECONDS)
        processes = {one: self.command(one.path, SOURCES / "rewriter.py", SECONDS)
                     for one in python_found.some()}
        self.done(honest, *processes.values())
        trace = self.finish(recording)
        stacks = python_stacks.Stacks(trace)
        self.honest(stacks, honest.pid)
        for one, process in processes.items():
            samples = stacks.samples(process.pid)
            names = collections.Counter(f.name for s in samples for f in s.frames
                                        if f.kind == PYTHON)
            print(f"{one}: {names.most_common(8)}")
            with self.subTest(python=str(one)):
                self.assertGreater(names["victims"] + names["main"], 0)
                lacking = python_stacks.incomplete(samples)
                self.assertLessEqual(lacking.total(), python_stacks.allowed(len(samples), 0.02))

    def upgraded_to(self, path):
        """
        Return the newest Python if it is not the copied one, otherwise a copy with different
        bytes.
        """
        one = python_found.newest()
        if not one.debian:
            return one.path, pathlib.Path(one.path).resolve().parents[1]
        shutil.copy(os.path.realpath(one.path), path)
        with open(path, "ab") as file:
            file.write(b"other bytes")
        return str(path), "/usr"

    def test_upgraded_in_place(self):
        debian = [one for one in python_found.supported() if one.debian]
        if not debian:
            self.skipTest("Debian's python3 is not here")
        path, new = self.tmp / "python3", self.tmp / "new"
        shutil.copy(os.path.realpath(debian[0].path), path)
        # one process whose file is replaced before the recording, and one during the recording
        before = self.command(path, SOURCES / "brief.py", 4000 * SECONDS, PYTHONHOME="/usr")
        self.started(before)
        other, home = self.upgraded_to(self.tmp / "changed")
        shutil.copy(path, new)
        os.rename(new, path)
        recording = self.begin("-a", "-F", FREQUENCY)
        while_here = self.command(path, SOURCES / "brief.py", 2000 * SECONDS, PYTHONHOME="/usr")
        self.started(while_here)
        shutil.copy(os.path.realpath(other), new)
        os.rename(new, path)
        after = self.command(path, SOURCES / "brief.py", 1000 * SECONDS, PYTHONHOME=str(home))
        self.done(after, while_here, before)
        stacks = python_stacks.Stacks(self.finish(recording))
        for process in (before, while_here, after):
            with self.subTest(process=process.args):
                self.honest(stacks, process.pid)

    def started(self, process):
        """Wait until a process has become Python and has read its program."""
        end = live.time.monotonic() + 60
        command = pathlib.Path(f"/proc/{process.pid}/cmdline")
        while "brief.py" not in command.read_text(encoding="utf-8") or \
                self.cpu_of(process.pid) < 0.1:
            self.assertIsNone(process.poll())
            self.assertLess(live.time.monotonic(), end)
            live.time.sleep(0.01)


if __name__ == "__main__":
    live.main()
