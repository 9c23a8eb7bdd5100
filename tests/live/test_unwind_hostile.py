# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 400
"""
Test programs that attack the stack walker: crafted stacks and files, and excessive numbers of
everything. The work stays bounded, nothing crashes, no name is wrong, every incomplete stack has
its reason; and another program at the same time keeps its complete stacks.
"""
import concurrent.futures
import contextlib
import math
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time

import live
from completeness import completeness

SOURCES = live.ROOT / "tests" / "workloads" / "shapes"
FLAGS = ("-D_GNU_SOURCE", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-w")
FREQUENCY = 999
SECONDS = 1 if live.LONG else 0.06  # of one attack
WHOLE = 0.995
# Reasons for stacks whose code describes its frames wrongly or not at all.
REASONS = {"too deep", "unreadable stack", "unknown root", "left mapped code", "no unwind table",
           "bad unwind row", "generated code", "longer than the copied stack"}
ATTACKERS = {"blind", "told", "stays", "sinks", "leaps", "by_rbx", "is_root", "derefs", "circles",
             "no_opcode", "signals"}
KERNEL_TROUBLE = re.compile(r"WARNING:|BUG:|Oops|stall|lockup|kernel NULL|Call Trace|\bbpf\b", re.I)


def compile_to(path, source, *flags):
    subprocess.run(["gcc", *FLAGS, *flags, "-o", path, SOURCES / source, "-lpthread", "-ldl"],
                   check=True, stderr=subprocess.DEVNULL)
    return path


def kernel_log():
    done = subprocess.run(["dmesg"], capture_output=True)
    return [line for line in done.stdout.decode(errors="replace").splitlines()
            if KERNEL_TROUBLE.search(line)]


def sections(content):
    """Return (name, offset, size) of the sections of a 64-bit ELF file."""
    at = int.from_bytes(content[0x28:0x30], "little")
    count, names = (int.from_bytes(content[i:i + 2], "little") for i in (0x3c, 0x3e))
    heads = [content[at + 64 * i:at + 64 * (i + 1)] for i in range(count)]

    def number(head, begin):
        return int.from_bytes(head[begin:begin + 8], "little")
    text = content[number(heads[names], 24):][:number(heads[names], 32)]
    for head in heads:
        first = int.from_bytes(head[:4], "little")
        yield text[first:text.index(b"\0", first)], number(head, 24), number(head, 32)


class Hostile(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = live.pathlib.Path(tempfile.mkdtemp(prefix="hostile-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for name, source in (("bystander", "depth.c"), ("crafted", "crafted.c"),
                             ("crowd", "crowd.c"), ("plugins", "plugins.c")):
            compile_to(cls.folder / name, source)

    def setUp(self):
        super().setUp()
        self.trouble = kernel_log()
        self.bystander = self.start(self.folder / "bystander", 1000, 20)

    def assert_kernel_is_well(self):
        """
        Check that the kernel log has no new lines; old ones may be gone, because the log is
        limited.
        """
        self.assertEqual([line for line in kernel_log() if line not in self.trouble], [])

    def record_during(self, what, cache="", **env):
        """Record the machine during what(). Without a cache all tables are made."""
        recording = self.begin("-a", "-F", FREQUENCY, "--unwind-cache", cache,
                               env=live.clean_environment(**env))
        what()
        began = time.monotonic()
        trace = self.finish(recording)
        self.assertLess(time.monotonic() - began, 60)  # the end is bounded
        self.assertNotIn("bad record", trace.done.err)
        self.check_bystander(trace)
        self.assert_kernel_is_well()
        return trace

    def check_bystander(self, trace):
        found = completeness(live.SKEIN, trace.path, "bystander")
        self.assertGreater(found.samples, 30)
        mean = found.samples * (1 - WHOLE)
        self.assertLessEqual(found.samples - found.complete, mean + 6 * math.sqrt(mean), str(found))
        stacks = trace.stacks(pid=self.bystander.pid)
        right = [s for s in stacks if "depth_leaf" not in s.names
                 or s.names.count("depth_descend") == 21]
        self.assertGreater(live.count(right), 0.99 * live.count(stacks))

    def run_all(self, commands):
        def run(command):
            return subprocess.run([str(word) for word in command], capture_output=True,
                                  timeout=60).returncode
        with concurrent.futures.ThreadPoolExecutor(len(live.CPUS)) as pool:
            return list(pool.map(run, commands))

    def check_attack(self, trace, stacks, name):
        """
        Check the samples of an attacker: the reason is recorded, and no other function is named.
        """
        found = completeness(live.SKEIN, trace.path, name)
        self.assertLessEqual({reason for reason, _, _ in found.reasons}, REASONS)
        led = [s for s in stacks if s.process and s.process["comm"] == name
               and (ATTACKERS & set(s.names) or live.FRAME["JIT"] in s.kinds)]
        self.assertGreater(live.count(led), 10)
        others = {n for s in led for n, kind in zip(s.names, s.kinds)
                  if kind != live.FRAME["KERNEL"]} - ATTACKERS
        # an address outside code, and generated code, have no name but may be the thread's
        # location
        self.assertEqual({n for n in others if not n.startswith("[")}, set())
        deepest = max(sum(k != live.FRAME["KERNEL"] for k in s.kinds) for s in led)
        self.assertLessEqual(deepest, 1024)
        # complete stacks are from before the attack; code that claims to be a root, as the ABI
        # defines it, is believed
        if name != "is_root":
            self.assertLess(found.complete, found.samples - live.count(led) + 1, str(found))

    def crafted_stacks(self, variant):
        program = self.folder / "crafted"
        names = subprocess.run([program, "list"], capture_output=True, text=True,
                               check=True).stdout.split()
        trace = self.record_during(lambda: self.assertEqual(
            set(self.run_all([program, SECONDS, name] for name in names)), {-signal.SIGPROF}),
            SKEIN_DEBUG_WALK=variant)
        stacks = trace.stacks()
        for name in names:
            with self.subTest(attack=name):
                self.check_attack(trace, stacks, name)

    def test_crafted_stacks(self):
        self.crafted_stacks("")

    def test_crafted_stacks_by_tail_calls(self):
        self.crafted_stacks("tail-calls")

    @staticmethod
    def damaged(content, kind, rng):
        """Return a program with a damaged .eh_frame (and its index)."""
        broken = bytearray(content)
        for name, at, size in sections(content):
            if name not in (b".eh_frame", b".eh_frame_hdr"):
                continue
            if kind == "noise":
                broken[at:at + size] = rng.randbytes(size)
            elif kind == "bits":
                for i in rng.sample(range(at, at + size), 8):
                    broken[i] ^= 1 << rng.randrange(8)
            elif kind == "itself":  # a description of -4 bytes, whose CIE is itself
                broken[at:at + 8] = struct.pack("<Ii", 0xfffffffc, 4)
            else:
                broken[at:at + size] = (b"\xff" if kind == "ones" else b"\0") * size
        return bytes(broken)

    def test_crafted_files(self):
        """.eh_frame contains nonsense; other programs are not affected."""
        content, rng = (self.folder / "bystander").read_bytes(), random.Random(4)
        commands = []
        for i in range(400 if live.LONG else 40):
            path = self.tmp / f"nonsense-{i}"
            kind = ("noise", "ones", "zeros", "bits", "itself")[i % 5]
            path.write_bytes(self.damaged(content, kind, rng))
            path.chmod(0o755)
            commands.append([path, 0.02, 10])
        trace = self.record_during(lambda: self.assertEqual(set(self.run_all(commands)), {0}))
        mine = [s for s in trace.stacks() if s.process
                and s.process["exe"].startswith(f"{self.tmp}/nonsense")]
        self.assertGreater(live.count(mine), 200)
        named = {n for s in mine for n, kind in zip(s.names, s.kinds)
                 if kind == live.FRAME["NATIVE"] and n.startswith(("depth", "main"))}
        self.assertIn("depth_leaf", named)

    @contextlib.contextmanager
    def changing(self, path):
        """Cut, overwrite, restore and replace the file continuously."""
        content, over, rounds = path.read_bytes(), threading.Event(), [0]

        def change():
            rng = random.Random(5)
            while not over.is_set():
                rounds[0] += 1
                with open(path, "r+b") as file:
                    file.truncate(rng.randrange(len(content)))
                    file.seek(rng.randrange(len(content)))
                    file.write(rng.randbytes(4096))
                    file.seek(0)
                    file.truncate()
                    file.write(content)
                other = path.with_suffix(".new")
                other.write_bytes(content)
                other.rename(path)
        thread = threading.Thread(target=change)
        thread.start()
        try:
            yield rounds
        finally:
            over.set()
            thread.join()

    def test_files_that_change_while_they_are_read(self):
        """Programs that map the changing file may crash, others may not."""
        library = self.tmp / "lib.so"
        shutil.copy(live.workload("lib/plugin_first.so"), library)

        def storm():
            end = time.monotonic() + (60 if live.LONG else 2)
            with self.changing(library) as rounds:
                while time.monotonic() < end:
                    self.run_all([[self.folder / "plugins", 0.01, 1, library, library]] * 4)
            self.assertGreater(rounds[0], 10)
        trace = self.record_during(storm)
        names = live.functions(trace.stacks(comm="plugins"))
        self.assertNotIn("burn_in_second", names)

    def test_forged_build_id(self):
        """Two programs with the same build-id keep their own tables and names."""
        forged = "-Wl,--build-id=0x" + "4e" * 20
        deep = compile_to(self.tmp / "forged-deep", "depth.c", forged)
        odd = compile_to(self.tmp / "forged-odd", "odd.c", forged, "-O1")
        for first, second in ((deep, odd), (odd, deep)):
            args = {deep: (0.2, 10), odd: (0.2, "aligned")}
            trace = self.record_during(lambda: self.run_all(
                [[first, *args[first]], [second, *args[second]]]), self.tmp / "cache")
            for comm, prefix in (("forged-deep", "depth_"), ("forged-odd", "aligned_")):
                found = completeness(live.SKEIN, trace.path, comm)
                self.assertGreater(found.samples, 30)
                self.assertLess(found.samples - found.complete, 5, str(found))
                stacks = [s for s in trace.stacks(comm=comm)
                          if any(n.endswith("_leaf") for n in s.names)]
                right = [s for s in stacks if any(n.startswith(prefix) for n in s.names)]
                self.assertEqual(live.count(right), live.count(stacks))

    def test_storm(self):
        """Processes may end at every step of their discovery."""
        trace = self.record_during(lambda: self.run_all([[live.workload("storm"), 1.5, 1000]]))
        found = completeness(live.SKEIN, trace.path, "storm")
        self.assertGreater(found.samples, 30)
        mean = 0.02 * found.samples
        self.assertLess(found.samples - found.complete, mean + 6 * math.sqrt(mean) + 3, str(found))

    def check_crowd(self, how, count, least, most_left=0.005):
        """
        Check that the walkers get all data of the crowd while it is created, so that its stacks
        are complete.
        """
        trace = self.record_during(lambda: self.assertEqual(self.run_all(
            [[self.folder / "crowd", 0.4, how, count]]), [0]))
        found = completeness(live.SKEIN, trace.path, "crowd")
        self.assertGreater(found.samples, least)
        self.assertLess(found.samples - found.complete, most_left * found.samples + 5, str(found))
        resident = re.search(r"resident at most ([0-9.]+) (K|M|G)iB", trace.done.err)
        self.assertEqual(resident[2], "M", trace.done.err)
        self.assertLess(float(resident[1]), 300, trace.done.err)
        return trace

    def test_many_mappings(self):
        self.check_crowd("mappings", 16000 if live.LONG else 10000, 100)  # the limit: 16,384

    def test_many_threads(self):
        self.check_crowd("threads", 20000 if live.LONG else 2000, 100)

    def test_many_processes(self):
        self.check_crowd("processes", 5000, 100)

    def test_many_processes_that_were_there(self):
        """Existing processes are read from /proc before the first sample."""
        crowd = subprocess.Popen([self.folder / "crowd", "1000", "processes", "5000"],
                                 stdout=subprocess.PIPE)
        self.addCleanup(self.end, crowd)
        crowd.stdout.readline()
        trace = self.record_during(lambda: time.sleep(0.5))
        found = completeness(live.SKEIN, trace.path, "crowd")
        self.assertGreater(found.samples, 30)
        self.assertLess(found.samples - found.complete, 0.005 * found.samples + 3, str(found))

    def test_many_libraries(self):
        """A program calls dlopen() and dlclose() repeatedly."""
        rounds = 20000 if live.LONG else 5000
        libraries = [live.workload(f"lib/plugin_{n}.so") for n in ("first", "second")]
        trace = self.record_during(lambda: self.assertEqual(self.run_all(
            [[self.folder / "plugins", 0.5, rounds, *libraries]]), [0]))
        found = completeness(live.SKEIN, trace.path, "plugins")
        self.assertGreater(found.samples, 200)
        self.assertLess(found.samples - found.complete, 0.005 * found.samples + 5, str(found))
        self.check_libraries(trace)

    def test_many_libraries_from_the_start(self):
        """
        A sample inside execve() finds no mappings, so /proc is read; a library that is mapped by
        then must not take the place of the one before it.
        """
        libraries = [live.workload(f"lib/plugin_{n}.so") for n in ("first", "second")]
        trace = self.record_during(lambda: self.assertEqual(set(self.run_all(
            [[self.folder / "plugins", 0.06, 20, *libraries]] * 100)), {0}))
        self.assertGreater(live.count(trace.stacks(comm="plugins")), 3000)
        self.check_libraries(trace)

    def check_libraries(self, trace):
        """Check that no function of one library is shown where the other was open."""
        for first, other in (("first", "second"), ("second", "first")):
            wrong = [s for s in trace.stacks(comm="plugins")
                     if f"with_{first}" in s.names and f"burn_in_{other}" in s.names]
            self.assertEqual(live.count(wrong), 0)

    def test_little_memory_for_tables(self):
        """
        Tables that do not fit are reported and replaced by frame pointers; stacks of the others
        are complete.
        """
        self.start("/usr/bin/python3", "-c", "while True: sorted(range(1000))")
        if shutil.which("node"):
            self.start("node", "-e", "for (;;) 'abc'.match(/b/)")
        recording = self.begin("-a", "-F", FREQUENCY, "--unwind-memory", "1M")
        time.sleep(1.5)
        trace = self.finish(recording)
        # node's stacks may be complete nevertheless, because node has frame pointers nearly
        # everywhere
        self.assertRegex(trace.done.err, "unwind tables? (was|were) given up")
        self.assertGreater(completeness(live.SKEIN, trace.path).samples, 100)
        self.assert_kernel_is_well()


if __name__ == "__main__":
    live.main()
