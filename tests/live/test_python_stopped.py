# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 300
"""
Test Python programs that stop themselves at points where they know their own stacks: skein's
walker and its reader of names, run on the programs' memory by tests/readers/python_state, find the
same frames, as does py-spy.
"""
import collections
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import live
import python_found

PROGRAM = live.ROOT / "tests" / "programs" / "stopped.py"
STATE = live.BUILD / "tests" / "readers" / "python_state"
SCENES = ("recursion", "deep", "callbacks", "classes", "threads", "crowd", "collecting",
          "coroutines", "interpreters", "alone")
READY_LIMIT = 60  # s
STOPS = 1000 if live.LONG else 20  # of each running program
MOST = 1024  # pairs of words: frames, and starts of native calls

Thread = collections.namedtuple("Thread", "flags end frames pairs")


def word(text):
    """Format a name or file as python_state prints it."""
    return text.rpartition("/")[2].replace(" ", "_") or "-"


def stacks_of(output):
    """Return {ident: Thread} from the output of python_state; frames are (name, file, line)."""
    found, thread = {}, None
    for line in output.splitlines():
        kind, *values = line.split(" ")
        if kind == "thread":
            thread = Thread(set(values[1].split(",")), " ".join(values[2:]), [], [])
            found[int(values[0], 16)] = thread
        elif kind == "frame":
            thread.pairs.append(values[0])
            if values[0] != "shim":
                thread.frames.append((values[5], values[6], int(values[4])))
    return found


class Stopped:
    """One program that has reached its scene."""

    def __init__(self, interpreter, scene):
        self.name = f"{interpreter}: {scene}"
        self.process = subprocess.Popen([interpreter.path, str(PROGRAM), scene],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=live.clean_environment())
        os.set_blocking(self.process.stderr.fileno(), False)

    def wait(self):
        """Wait until the program has printed its own stacks and has stopped."""
        self.truth = json.loads(self.process.stdout.readline() or "{}")
        self.wait_for_stop()

    def wait_for_stop(self):
        end = time.monotonic() + READY_LIMIT
        while self.truth and self.state() not in "Tt":
            if time.monotonic() > end or self.process.poll() is not None:
                self.truth = None
            time.sleep(0.01)
        if not self.truth:
            raise AssertionError(f"{self.name}: {self.process.stderr.read()}")

    def state(self):
        """Return the states of all threads; the last thread stops a little later than the first."""
        states = set()
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/stat", encoding="utf-8",
                      errors="replace") as file:
                states.add(file.read().rpartition(")")[2].split()[0])
        return states.pop() if len(states) == 1 else "?"

    def look(self):
        run = subprocess.run([STATE, str(self.process.pid)], capture_output=True, text=True,
                             timeout=60, check=False)
        if run.returncode:
            raise AssertionError(f"{self.name}: {run.stderr}")
        return stacks_of(run.stdout)

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


def py_spies():
    """Return a py-spy of the environments, else the one in the PATH."""
    for _, folder in python_found.environments():
        if (folder / "bin" / "py-spy").exists():
            return str(folder / "bin" / "py-spy")
    return shutil.which("py-spy")


@unittest.skipUnless(os.geteuid() == 0, "reading other processes needs root")
class StoppedPython(unittest.TestCase):
    maxDiff = None

    def start(self, interpreter, scene):
        stopped = Stopped(interpreter, scene)
        self.addCleanup(stopped.end)
        return stopped

    def check_thread(self, stopped, ident, frames, found):
        """Check one thread; frames are the thread's own account."""
        own = [(word(name), word(file), line) for name, file, line in frames]
        flags = {"process", "thread"}
        if ident == stopped.truth["gil"]:
            flags |= {"gil", "collecting"} if stopped.truth["collecting"] else {"gil"}
        self.assertEqual(found.flags, flags, f"{stopped.name}: thread {ident}")
        if len(found.pairs) == MOST:
            self.assertEqual(found.end, "too deep", stopped.name)
            self.assertGreater(len(own), len(found.frames), stopped.name)
            own = own[:len(found.frames)]
        else:
            self.assertEqual(found.end, "walked", stopped.name)
            # the outermost frame is at the start of a native call
            self.assertIn(found.pairs[-1], ("entry", "shim"), stopped.name)
        self.assertEqual(found.frames, own, f"{stopped.name}: thread {ident}")

    def check(self, stopped):
        found = stopped.look()
        for ident, frames in stopped.truth["threads"].items():
            self.check_thread(stopped, ident, frames, found.pop(int(ident)))
        self.assertEqual({t.frames for t in found.values() if t.frames}, set(), stopped.name)

    def check_all(self, interpreter):
        programs = [self.start(interpreter, scene) for scene in SCENES]
        for stopped in programs:
            stopped.wait()
            self.check(stopped)
            stopped.end()

    def check_spy(self, spy, stopped):
        """Check py-spy's frames, which have unqualified names; py-spy hides some frames."""
        run = subprocess.run([spy, "dump", "--nonblocking", "--json", "--pid",
                              str(stopped.process.pid)], capture_output=True, text=True,
                             timeout=60, check=False)
        self.assertEqual(run.returncode, 0, f"{stopped.name}: {run.stderr}")
        found = stopped.look()
        for thread in json.loads(run.stdout):
            spied = [(f["name"].rpartition(".")[2], word(f["filename"]), f["line"])
                     for f in thread["frames"]]
            own = [(name.rpartition(".")[2], file, line)
                   for name, file, line in found[thread["thread_id"]].frames]
            self.assertEqual(own, spied, stopped.name)

    def why_impossible(self, frames, callers):
        """Return why the frames cannot be a stack, or None. Before 3.11 names are not qualified."""
        names = [name for name, _, _ in frames]
        for callee, caller in zip(names, names[1:]):
            if not any(caller in (own, own.rpartition(".")[2])
                       for known, allowed in callers.items()
                       if callee in (known, known.rpartition(".")[2]) for own in allowed):
                return f"{caller} called {callee}: {names}"
        return None if names[-1:] == ["<module>"] else f"not from the root: {names}"

    def check_running(self, interpreter):
        """
        Stop a running program at any point; stacks that skein finds complete must be possible.
        """
        program = self.start(interpreter, "running")
        callers = json.loads(program.process.stdout.readline())["callers"]
        program.truth = True
        broken = collections.Counter()
        for i in range(STOPS):
            time.sleep(0.001 * (i % 7))
            program.process.send_signal(signal.SIGSTOP)
            program.wait_for_stop()
            (thread,) = program.look().values()
            if thread.end == "walked":
                self.assertIsNone(self.why_impossible(thread.frames, callers), program.name)
                self.assertEqual(thread.flags, {"process", "thread", "gil"}, program.name)
            else:
                broken[thread.end] += 1
            program.process.send_signal(signal.SIGCONT)
        print(f"{program.name}: {STOPS} stops, not whole: {dict(broken) or 'none'}")
        self.assertLessEqual(broken.total(), STOPS / 10, program.name)
        program.end()

    def test_every_stop_is_possible(self):
        for interpreter in python_found.supported():
            self.check_running(interpreter)

    def test_py_spy_agrees(self):
        spy = py_spies()
        if not spy:
            self.skipTest("py-spy is not there: its stacks were not compared")
        for interpreter in python_found.supported():
            for scene in ("callbacks", "threads", "coroutines"):
                stopped = self.start(interpreter, scene)
                stopped.wait()
                self.check_spy(spy, stopped)
                stopped.end()


def test_of(interpreter):
    return lambda self: self.check_all(interpreter)


for one in python_found.supported():
    setattr(StoppedPython, f"test_agrees_with_{one.name}", test_of(one))


if __name__ == "__main__":
    unittest.main()
