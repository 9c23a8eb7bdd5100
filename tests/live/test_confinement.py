# SPDX-License-Identifier: Apache-2.0
"""
Test the helpers of a running recording: their privileges and resources; and that killing a worker
a hundred times only costs time. What a worker may not do is tested in tests/unit/test_confine.c.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time

import live
from live import workload

NOBODY = 65534
DRAWN = range(0x70000000, 0x7ffffffe)  # uids of helpers: base/own_user.h
# Capabilities of the opener: DAC_READ_SEARCH, SYS_PTRACE, PERFMON, CHECKPOINT_RESTORE.
OPENERS = sum(1 << number for number in (2, 19, 38, 40))
KILLS = 1000 if live.LONG else 100
BITS_OF_WRITING = os.O_WRONLY | os.O_RDWR


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return dict(line.rstrip("\n").split(":", 1) for line in file)


def numbers(status, key):
    return [word for word in status[key].split()]


def descriptors(pid):
    """Return {number: (file that it refers to, flags)}."""
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as file:
                flags = int(re.search(r"flags:\s+(\d+)", file.read())[1], 8)
            found[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}"), flags
        except FileNotFoundError:
            pass # closed in the meantime
    return found


class Confinement(live.LiveTest):
    def children(self, pid):
        """Return {name: pid} of the helpers; the later one while a helper is being replaced."""
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            pids = [int(word) for word in file.read().split()]
        found = {}
        for child in pids:
            try:
                status = status_of(child)
            except OSError:
                continue
            if not status["State"].strip().startswith("Z"):
                found[status["Name"].strip()] = child
        return found

    def helper(self, recording, name, other_than=None):
        def look():
            pid = self.children(recording.pid).get(name)
            return pid if pid != other_than else None
        return self.wait_for(look)

    def check_worker(self, pid, user):
        status = status_of(pid)
        for key in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(status[key], 16), 0, key)
        self.assertEqual(status["NoNewPrivs"].strip(), "1")
        self.assertEqual(status["Seccomp"].strip(), "2")
        if user is None:
            self.check_own_user(status)
            self.assertEqual(int(status["CapBnd"], 16), 0)
        else:
            self.assertEqual(set(numbers(status, "Uid") + numbers(status, "Gid")), {user})
            self.assertEqual(numbers(status, "Groups"), [])
        with open(f"/proc/{pid}/limits", encoding="ascii") as file:
            limits = file.read()
        for name in ("Max file size", "Max core file size", "Max processes"):
            self.assertRegex(limits, rf"{name}\s+0\s+0\s")

    def check_own_user(self, status):
        """Check that all uids and gids are one number of the reserved range; return it."""
        found = set(numbers(status, "Uid") + numbers(status, "Gid"))
        self.assertEqual(len(found), 1, found)
        self.assertIn(int(next(iter(found))), DRAWN)
        self.assertEqual(numbers(status, "Groups"), [])
        return next(iter(found))

    def check_descriptors(self, pid):
        """Check that the helper has only its socket, and readable files that were passed to it."""
        held = descriptors(pid)
        kind, _ = held.pop(0)
        self.assertTrue(kind.startswith("socket:"), kind)
        self.assertGreater(len(held), 0)
        for what, flags in held.values():
            self.assertRegex(what, r"^/")
            self.assertEqual(flags & BITS_OF_WRITING, 0, what)

    def check_memory(self, pid):
        """Check that no memory is shared."""
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            self.assertEqual([line for line in file if re.match(r"\S+ \S{3}s", line)], [])

    def test_worker_of_root(self):
        self.start(workload("loop"), 100)
        recording = self.begin("-a", "-e", "all")
        worker = self.helper(recording, "skein-names")
        self.wait_for(lambda: len(descriptors(worker)) > 1)
        self.check_worker(worker, None)
        self.check_descriptors(worker)
        self.check_memory(worker)
        # the recorder forks the next one after it has opened all its rings
        os.kill(worker, signal.SIGKILL)
        worker = self.helper(recording, "skein-names", worker)
        self.wait_for(lambda: status_of(worker)["Seccomp"].strip() == "2")
        self.check_worker(worker, None)
        self.check_memory(worker)
        self.finish(recording)

    def test_opener_of_root(self):
        """
        The opener has four of the recorder's capabilities, and none of its descriptors and memory.
        """
        recording = self.begin("-a", "-e", "all")
        opener = self.helper(recording, "skein-opener")
        os.kill(opener, signal.SIGKILL)
        opener = self.helper(recording, "skein-opener", opener)
        self.wait_for(lambda: status_of(opener)["Seccomp"].strip() == "2")
        status = status_of(opener)
        self.assertEqual(status["NoNewPrivs"].strip(), "1")
        for key in ("CapPrm", "CapEff"):
            self.assertEqual(int(status[key], 16), OPENERS, key)
        for key in ("CapInh", "CapAmb", "CapBnd"):
            self.assertEqual(int(status[key], 16), 0, key)
        self.check_own_user(status)
        self.check_memory(opener)
        held = [what for what, _ in descriptors(opener).values() if not what.startswith("/")]
        self.assertEqual(len(held), 1)
        self.assertTrue(held[0].startswith("socket:"), held)
        self.finish(recording)

    def signalled(self, user, pids):
        """
        Return the "PID SIGNAL" lines of signals that a program of a user can send to the
        processes.
        """
        script = ("for pid; do for s in STOP KILL SEGV TERM; do "
                  "kill -$s $pid 2>/dev/null && echo $pid $s; done; done; true")
        return subprocess.run(["sh", "-c", script, "sh", *map(str, pids)], user=user, group=user,
                              extra_groups=[], check=True, capture_output=True, text=True).stdout

    def test_nobody_can_signal_helpers(self):
        """
        No other user can signal helpers, not even nobody, the user of many programs that drop
        their privileges. Only our helpers are tested, because other recordings on this machine
        have some, too.
        """
        self.start(workload("loop"), 100)
        self.start(sys.executable, "-c", "while True: pass")  # whose names have a helper
        recording = self.begin("-a", "--inlines")
        helpers = [self.helper(recording, name)
                   for name in ("skein-names", "skein-memory", "skein-lines", "skein-opener")]
        for pid in helpers:
            self.wait_for(lambda pid=pid: status_of(pid)["Seccomp"].strip() == "2")
        users = {self.check_own_user(status_of(pid)) for pid in helpers}
        self.assertEqual(len(users), len(helpers))
        for user in (NOBODY, 2000):
            self.assertEqual(self.signalled(user, helpers), "")
        # control: a program with the same user can
        victim = self.start("sleep", 60, user=2000, group=2000, extra_groups=[])
        self.assertIn(str(victim.pid), self.signalled(2000, [victim.pid]))
        self.finish(recording)

    def test_worker_of_a_user(self):
        """Without root the worker keeps the recorder's user, but not its capabilities."""
        caps = "-all,+bpf,+perfmon"
        self.tmp.chmod(0o777)
        recording = self.begin("-a", prefix=[
            "setpriv", "--reuid=1234", "--regid=1234", "--clear-groups", f"--inh-caps={caps}",
            f"--ambient-caps={caps}", f"--bounding-set={caps}"],
            env=live.clean_environment(HOME=str(self.tmp)))
        worker = self.helper(recording, "skein-names")
        self.wait_for(lambda: status_of(worker)["Seccomp"].strip() == "2")
        self.check_worker(worker, "1234")
        self.finish(recording)

    def fresh_program(self, name):
        """Run a file that no worker has seen for a moment, which gives the worker work."""
        path = self.copy("loop", name)
        return self.start("nice", path, 0.1)

    def lasting(self, pid):
        """Return the recorder's descriptors that do not belong to profiled files."""
        return sorted(re.sub(r"\d+", "", what) for what, _ in descriptors(pid).values()
                      if not what.startswith("/"))

    def zombies(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
        return [c for c in children if os.path.exists(f"/proc/{c}/status")
                and status_of(c)["State"].strip().startswith("Z")]

    def kill_workers(self, recording, chance):
        worker = None
        for number in range(KILLS):
            worker = self.helper(recording, "skein-names", worker)
            if number % 5 == 0:
                self.fresh_program(f"fresh-{number}")
            time.sleep(chance.uniform(0, 0.08))
            os.kill(worker, chance.choice((signal.SIGKILL, signal.SIGSEGV)))

    def test_worker_killed_a_hundred_times(self):
        """While the worker is killed, samples and names continue, and nothing accumulates."""
        target = self.start("nice", workload("loop"), 300)
        # a helper of its own reads names of Python code; it is to be there before we look
        self.start("nice", sys.executable, "-c", "while True: pass")
        recording = self.begin("-a", "-F", 499)
        self.helper(recording, "skein-names")
        memory = self.helper(recording, "skein-memory")
        self.wait_for(lambda: len(descriptors(memory)) > 1)
        before, began = self.lasting(recording.pid), time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.kill_workers(recording, random.Random(41))
        ended = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.helper(recording, "skein-names")
        late = self.start(self.copy("loop", "late"), 0.5)
        late.wait()
        self.wait_for(lambda: not self.zombies(recording.pid))
        self.wait_for(lambda: self.lasting(recording.pid) == before,
                      explain=lambda: f"{self.lasting(recording.pid)} instead of {before}")
        trace = self.finish(recording)
        # three workers in a row may have died over the target's requests
        self.assertGreater(live.share(trace.stacks(pid=late.pid), "loop_inner"), 0.9)
        self.assertIn("helper processes were started again: names", trace.done.err)
        reported = int(re.search(r"names (\d+) times", trace.done.err)[1])
        self.assertGreaterEqual(reported, KILLS)
        times = [row["time"] for row in trace.query(
            "SELECT time FROM sample JOIN thread ON thread.id = sample.thread "
            f"JOIN process ON process.id = thread.process WHERE pid = {target.pid}")]
        for tenth in range(10):
            start = began + (ended - began) * tenth // 10
            end = began + (ended - began) * (tenth + 1) // 10
            self.assertTrue(any(start <= t < end for t in times), f"no sample in part {tenth}")


if __name__ == "__main__":
    live.main()
