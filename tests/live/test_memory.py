# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""
Memory does not grow with the length of a recording: distinct stacks without
end, processes without end. Anonymous memory is what is measured; the rings are
mapped and told separately. The worker's symbol tables have a budget of their own,
and grow with the number of different programs that the machine runs meanwhile.
"""

import os
import time

import live
from live import workload

MIB = 1 << 20
LIMIT = 64 * MIB
HELPERS = 160 * MIB  # the worker's budget for tables is 128 MiB


def family(pid):
    ret = [pid]
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            ret += [int(p) for p in file.read().split()]
    except OSError:
        pass
    return ret


def anonymous(pids):
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                total += sum(int(line.split()[1]) * 1024 for line in file
                             if line.startswith("RssAnon"))
        except OSError:
            pass
    return total


class Memory(live.LiveTest):
    def watch(self, recording, workers):
        """Bytes of the recorder, ten times a second while the workers run."""
        pids = family(recording.pid)
        seen, helpers = [], 0
        while any(w.poll() is None for w in workers):
            seen.append(anonymous(pids[:1]))
            helpers = max(helpers, anonymous(pids[1:]))
            time.sleep(0.1)
        self.assertLess(helpers, HELPERS)
        return seen

    def check(self, seen):
        half = seen[len(seen) // 2:]
        told = f"peak {max(seen) / MIB:.1f} MiB, second half {min(half) / MIB:.1f} to " \
               f"{max(half) / MIB:.1f} MiB"
        self.assertLess(max(seen), LIMIT, told)
        # what grows with length grows all the time: by half as much as there is at its end
        self.assertLess(half[-1] - half[0], max(8 * MIB, max(seen) // 5), told)

    def test_distinct_stacks(self):
        """A million of them in the long form, hardly any of them seen twice."""
        seconds = 110 if live.LONG else 8
        recording = self.begin("-a", "-F", 9999)
        workers = [self.start(workload("distinct"), seconds, cpu=cpu) for cpu in live.CPUS]
        seen = self.watch(recording, workers)
        trace = self.finish(recording)
        self.check(seen)
        mine = "FROM sample WHERE thread IN (SELECT id FROM thread WHERE comm = 'distinct')"
        distinct = trace.one(f"SELECT count(DISTINCT stack) {mine}")
        samples = trace.one(f"SELECT count(*) {mine}")
        self.assertGreater(distinct, 0.5 * samples)
        if live.LONG and len(live.CPUS) > 1:
            self.assertGreater(distinct, 1000000)

    def test_processes(self):
        """100,000 of them in the long form."""
        seconds, rate = (60, 1800) if live.LONG else (5, 1000)
        recording = self.begin("-a", "-F", 999)
        storm = self.start(workload("storm"), seconds, rate, 50)
        seen = self.watch(recording, [storm])
        count = self.output(storm)["count"]
        trace = self.finish(recording)
        self.check(seen)
        self.assertGreater(count, 80000 if live.LONG else 500)
        self.assertIn("storm_child", live.functions(trace.stacks()))
        self.assertFalse(os.path.exists(recording.path + "-journal"))


if __name__ == "__main__":
    live.main()
