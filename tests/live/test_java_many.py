# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""
Test many JVMs at once, of all JDKs, each in namespaces of its own as in a container, that come and
go: each has its own names and no other's, although they use the same addresses, and the kernel
memory for them is bounded.

False alarms: each JVM uses a second of CPU time before it ends, at least a tenth of it in the code
that is looked for.
"""
import collections
import pathlib
import re
import unittest

import jdks
import live

COUNT = 64 if live.LONG else 6 # JVMs at a time
WAVES = 3 if live.LONG else 1 # in each, half of the JVMs end, and as many others begin
FREQUENCY = 999
ENOUGH = 5 # samples of each JVM in code that was compiled or interpreted
EACH = 2 << 20 # most bytes of kernel memory for each JVM: 1 MiB, and a chunk that is not full
ALL = 16 << 20
OPTIONS = ["-Xmx16m", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:TieredStopAtLevel=1",
           "-XX:ReservedCodeCacheSize=8m"]
NUMBER = re.compile(r"[THmp](\d{8})\b")
ISOLATED = ["unshare", "--pid", "--mount-proc", "--uts", "--ipc", "--net", "--cgroup", "--fork",
            "--kill-child"]


def map_bytes(pid):
    """The kernel memory of a process's BPF maps."""
    found = {}
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text = info.read_text()
        except OSError:
            continue # it was closed meanwhile
        if ident := re.search(r"^map_id:\s+(\d+)", text, re.M):
            found[ident[1]] = int(re.search(r"^memlock:\s+(\d+)", text, re.M)[1])
    return sum(found.values())


@unittest.skipIf(jdks.missing(), jdks.missing())
class ManyJvms(live.LiveTest):
    def begin_jvm(self, number):
        versions = sorted(jdks.homes())
        command = jdks.command(versions[number % len(versions)], "Turns", "one", number,
                               options=OPTIONS)
        return self.start(*ISOLATED, *command)

    def begin_wave(self, count):
        """Begin JVMs; return {pid of the JVM: (its parent, its number)} when they run."""
        begun = {}
        for _ in range(count):
            self.number += 1
            begun[self.number] = self.begin_jvm(self.number)
        found = {}
        for number, process in begun.items():
            # before, some warn that they cannot use the file of counters that pid 1 has
            self.assertIn(b"ready\n", iter(process.stdout.readline, b""))
            found[live.child_named(process.pid, "java")] = (process, number)
        return found

    def run_waves(self):
        """Run JVMs in waves; return {pid: number} of all."""
        alive, every, half = {}, {}, COUNT // 2
        alive.update(self.begin_wave(COUNT - half))
        for _ in range(WAVES):
            alive.update(self.begin_wave(COUNT - len(alive)))
            every.update({pid: number for pid, (_, number) in alive.items()})
            self.wait_for(lambda: all(live.cpu_seconds(pid) >= 1 for pid in alive), 300)
            for pid in list(alive)[:half]:
                self.end(alive.pop(pid)[0])
        for process, _ in alive.values():
            self.end(process)
        return every

    def test_each_has_its_own_names(self):
        self.number = 0
        recording = self.begin("-a", "-F", FREQUENCY)
        before = map_bytes(recording.pid)
        every = self.run_waves()
        grown = map_bytes(recording.pid) - before
        trace = self.finish(recording)
        right, wrong, unknown, spinning = (collections.Counter() for _ in range(4))
        for stack in trace.stacks(comm="java"):
            number = every.get(stack.process["pid"])
            if number is None:
                continue # a JVM of somebody else
            shown = {int(n) for name in stack.names for n in NUMBER.findall(name)}
            java = [n for n, k in zip(stack.names, stack.kinds) if k == live.FRAME["JAVA"]]
            unknown[number] += stack.count * any(n.startswith("[") for n in java)
            if "Turns.runOne" in java:
                spinning[number] += stack.count
            right[number] += stack.count * (shown == {number})
            wrong[number] += stack.count * bool(shown - {number})
        few = [number for number in every.values() if right[number] < ENOUGH]
        print(f"{len(every)} JVMs: {right.total()} samples with names of {spinning.total()}, "
              f"{unknown.total()} with unknown methods; maps grew by {grown / 1024:.0f} KiB")
        self.assertFalse(+wrong)
        self.assertEqual(few, [], {n: (right[n], spinning[n]) for n in few})
        self.assertLessEqual(unknown.total(), 0.001 * spinning.total() + 2)
        self.assertLessEqual(grown, min(ALL, EACH * COUNT))


if __name__ == "__main__":
    live.main()
