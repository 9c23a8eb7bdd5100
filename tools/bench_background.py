# SPDX-License-Identifier: Apache-2.0
"""Run a recorder in the background and measure its cost."""
import os
import select
import signal
import tempfile
import time

from bench_meter import (BenchError, Cost, Watch, descriptors, fork_meter, processes_below,
                         result_of)


class Metered:
    """
    A recorder in the background whose cost is known afterwards, as `cost`. The constructor waits
    until the recorder has `count` descriptors of a kind (with count 0: until it has printed that
    word), then `settle` seconds. The recorder is ended by SIGINT. insist: repeat the signal for a
    recorder that can miss it (bpftrace 0.17 does between two reads of its events); for others a
    second signal may have a different meaning. fine: a status that is no failure, besides the
    usual ones.
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
        """Read the output without moving the position, which the recorder's writes share."""
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
        """Return the CPU seconds of all its processes until now, by the scheduler's account."""
        self.watch.look()
        return self.watch.points[-1][1] / 1e9

    def ended(self):
        """Return whether the recorder has ended by itself."""
        return bool(select.select([self.report], [], [], 0)[0])

    def _interrupt(self):
        try:
            os.kill(self.pid, signal.SIGINT)
        except ProcessLookupError:
            pass

    def _end(self):
        """End the recorder; read its memory often, because the peak may be at the end."""
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
        raise BenchError(f"no end after a signal: {' '.join(self.command)}")

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
