# SPDX-License-Identifier: Apache-2.0
"""A recorder in the background, and what it has cost."""
import os
import select
import signal
import tempfile
import time

from bench_meter import (BenchError, Cost, Watch, descriptors, fork_meter, processes_below,
                         result_of)


class Metered:
    """
    A recorder in the background whose cost is told afterwards, as `cost`. It is let alone for a
    while when it has so many descriptors of a kind (count 0: when it has said that word), ends by
    SIGINT, and may say so. insist: one that can miss the signal (bpftrace 0.17 does when it comes
    between two looks at its events) gets it again; to others a second one may mean more than the
    first. fine: a status that is none of failure, beside the usual ones
    """

    def __init__(self, command, kind, count, settle, insist=False, fine=0):
        self.insist, self.fine = insist, fine
        self.command = [str(word) for word in command]
        self.begun, self.cost = time.monotonic(), None
        self.said = tempfile.TemporaryFile()
        with open(os.devnull, "wb") as out:
            quiet = out if count else self.said
            self.meter, self.report = fork_meter(self.command, quiet.fileno(), self.said.fileno())
        self.text = os.read(self.report, 4096)
        if not self.text:
            self._reap()
            raise BenchError(f"cannot run {self.command[0]}")
        self.pid = int(self.text.split(b"\n")[0])
        self.watch = Watch(self.pid)
        try:
            self._wait(kind, count)
            time.sleep(settle)
        except BaseException:
            self._kill()
            raise

    def _wait(self, kind, count):
        end = time.monotonic() + 20
        while not (descriptors(self.pid, kind) >= count if count else kind in self._said()):
            if time.monotonic() > end or select.select([self.report], [], [], 0.02)[0]:
                raise BenchError(f"it did not begin to record: {' '.join(self.command)}: "
                                 f"{self._said()}")

    def _said(self):
        """Without moving the position: the recorder writes at the same one."""
        said = os.pread(self.said.fileno(), 1 << 20, 0)
        return said.decode(errors="replace").strip()

    def _reap(self):
        os.close(self.report)
        os.waitpid(self.meter, 0)
        self.said.close()

    def _kill(self):
        for pid in processes_below(self.meter)[:0:-1]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._reap()

    def cpu(self):
        """Seconds on a CPU of all its processes until now, by the scheduler's account."""
        self.watch.look()
        return self.watch.points[-1][1] / 1e9

    def ended(self):
        """Whether it has, without having been told to."""
        return bool(select.select([self.report], [], [], 0)[0])

    def _interrupt(self):
        try:
            os.kill(self.pid, signal.SIGINT)
        except ProcessLookupError:
            pass

    def _end(self):
        """Its peak of memory may come at the end: look often."""
        begun = asked = time.monotonic()
        self._interrupt()
        while time.monotonic() < begun + 120:
            if select.select([self.report], [], [], 0.02)[0]:
                more = os.read(self.report, 4096)
                self.text += more
                if not more:
                    return
            self.watch.look()
            if self.insist and time.monotonic() > asked + 1:
                asked = time.monotonic()
                self._interrupt()
        raise BenchError(f"it did not end when it was told to: {' '.join(self.command)}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self._end()
        except BaseException:
            self._kill()
            raise
        said = self._said()
        self._reap()
        if kind:
            return
        status, wall, cpu = result_of(self.text, self.command)
        if status not in (0, self.fine, -signal.SIGINT, 128 + signal.SIGINT):
            raise BenchError(f"status {status} from: {' '.join(self.command)}: {said}")
        self.cost = Cost(cpu, wall, self.watch, self.begun, said)
