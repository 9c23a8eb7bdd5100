# SPDX-License-Identifier: Apache-2.0
"""
Test that programs of one user cannot make another user lose names: files of a file system that
does not answer, and more files than can be read. The other user's samples keep their names, the
recorder uses at most twice its resources without the attack, the recording ends in time, and it
reports the refusals and their users. Each attack is compared with a control recording.

Chance of a false alarm: in twelve runs on a machine with other users, the margin below the CPU
bound was 0.31 s with a deviation of 0.075 s when ONCE was 0.3 s; ONCE is 0.4 s, so the bound is
5.5 deviations away. The margin below the memory bound was 10 MiB, with a deviation of 1.7.
"""

import os
import re
import subprocess

import live
from live import workload

# uids of this run only, because two runs may be active at the same time
ATTACKER = 100000 + os.getpid() % 50000
VICTIM = ATTACKER + 50000
FREQUENCY = 499
VICTIMS = 12 if live.LONG else 6  # one after the other
EACH = 0.3  # s of CPU
HUNG = 100 if live.LONG else 30  # programs of a file system that does not answer
FLOODERS, FILES = 3, 15000
ONCE = 0.4  # s of CPU until 45,000 files are refused
UNITS = {"ms": 1e-3, "s": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def as_user(uid):
    return {"user": uid, "group": uid, "extra_groups": []}


def quantity(text):
    number, unit = re.fullmatch(r"([\d.,]+) (\S+)", text).groups()
    return float(number.replace(",", "")) * UNITS[unit]


class Adversaries(live.LiveTest):
    def hang(self):
        """Run programs from a file system that no longer answers."""
        mount = self.tmp / "hung"
        mount.mkdir()
        attack = self.start("nice", "-n", 19, workload("hang"), mount, workload("sleeper"),
                            ATTACKER, HUNG, 300)
        self.addCleanup(subprocess.run, ["umount", "-l", mount], stderr=subprocess.DEVNULL)
        if not attack.stdout.readline():
            self.skipTest("no FUSE file system can be mounted here")
        return [attack]

    def flood(self):
        """Let three programs map 15,000 files each; return when they have."""
        files = self.tmp / "files"
        files.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "flood", files], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", files], stderr=subprocess.DEVNULL)
        files.chmod(0o777)
        attack = [self.start("nice", "-n", 19, workload("flood"), files, FILES, 300,
                             **as_user(ATTACKER)) for _ in range(FLOODERS)]
        for process in attack:
            self.assertEqual(int(process.stdout.readline()), FILES)
        return attack

    def record_victims(self):
        """
        Record another user's programs, each a file of its own; the trace holds the time of the
        end.
        """
        victims = [self.copy("loop", f"victim-{n}") for n in range(VICTIMS)]
        recording = self.begin("-a", "-F", FREQUENCY)
        for path in victims:
            self.start(path, EACH, **as_user(VICTIM)).wait()
        return self.finish_in_time(recording)

    def cost(self, trace):
        """Return (s of CPU, resident bytes) of the recorder and its helpers."""
        cpu, own, helpers = re.search(
            r"recorder: ([\d.,]+ m?s) of CPU.*; resident at most ([\d.,]+ \S+) \(.*, and "
            r"([\d.,]+ \S+) in its helper", trace.done.err).groups()
        return quantity(cpu), quantity(own) + quantity(helpers)

    def check(self, attack, refused):
        control = self.record_victims()
        self.check_victims(control)
        processes = attack()
        trace = self.record_victims()
        for process in processes:
            self.assertIsNone(process.poll(), "the attack ended too early")
        self.check_victims(trace)
        cpu, memory = self.cost(trace)
        usual_cpu, usual_memory = self.cost(control)
        print(f"{self.id()}: CPU {cpu:.2f} s instead of {usual_cpu:.2f}, memory "
              f"{memory / 2**20:.0f} MiB instead of {usual_memory / 2**20:.0f}, the end took "
              f"{trace.ending:.2f} s")
        self.assertLess(cpu, 2 * usual_cpu + ONCE)
        self.assertLess(memory, 2 * usual_memory)
        self.assertRegex(trace.done.err, rf"refused to uid {ATTACKER}: {refused}")
        self.assertNotIn(f"refused to uid {VICTIM}", trace.done.err)
        report = subprocess.run([live.SKEIN, "report", trace.path], capture_output=True,
                                check=True, env=live.clean_environment()).stdout.decode()
        self.assertRegex(" ".join(report.split()), rf"Refused to uid {ATTACKER}: {refused}")

    def check_victims(self, trace):
        stacks = [s for s in trace.stacks() if s.process["comm"].startswith("victim-")]
        self.assertGreater(live.count(stacks), VICTIMS * EACH * FREQUENCY / 2)
        self.assertGreaterEqual(live.share(stacks, "loop_inner"), 0.99)

    def test_hung_file_system(self):
        self.check(self.hang, rf"{HUNG} files \(its file system did not answer\)")

    def test_flood_of_files(self):
        self.check(self.flood, r"4\d,\d{3} files \(more than its share\)")


if __name__ == "__main__":
    live.main()
