# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 120
"""
Test 32-bit programs, whose user stacks are not walked. Every sample keeps the address where the
thread was and all kernel frames, and has a reason of its own; 64-bit programs at the same time
stay complete.
"""
import pathlib
import platform
import subprocess
import tempfile

import live
from completeness import completeness

SOURCE = live.ROOT / "tests" / "workloads" / "shapes" / "narrow.c"
FLAGS = ("-m32", "-O2", "-ffreestanding", "-fno-pic", "-no-pie", "-nostdlib", "-static",
         "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-g0")
REASON = "32-bit code"
SECONDS = 1
FREQUENCY = 999
# During execve(), for some microseconds, the thread has the registers of the old program. One
# recording takes a sample there with a chance of about 1 in 100, four recordings with less than 1
# in 100,000.
EXECUTING = 3


def build(folder):
    """Build the program; return "" or why it cannot be built."""
    if platform.machine() != "x86_64":
        return "32-bit programs of x86 are meant"
    done = subprocess.run(["gcc", *FLAGS, "-o", folder / "narrow", SOURCE], capture_output=True,
                          text=True)
    if done.returncode:
        return f"gcc -m32: {done.stderr}"
    try:
        subprocess.run([folder / "narrow", "0"], check=True, timeout=10)
    except OSError as error:
        return f"this kernel runs no 32-bit programs: {error}"
    return ""


class Narrow(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="narrow-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        why = build(cls.folder)
        if why:
            cls.skipTest(cls, why)

    def check(self, walk):
        command = f"'{self.folder}/narrow' {SECONDS}; '{live.workload('shares')}' {SECONDS}"
        trace = self.record("-F", FREQUENCY, "--", "sh", "-c", command,
                            env=live.clean_environment(SKEIN_DEBUG_WALK=walk))
        self.check_reason(trace)
        self.check_frames(trace)
        wide = completeness(live.SKEIN, trace.path, "shares")
        self.assertGreater(wide.samples, 0.9 * FREQUENCY * SECONDS, str(wide))
        self.assertNotIn(REASON, [reason for reason, _, _ in wide.reasons])
        self.assertGreater(wide.share, 0.98)

    def check_reason(self, trace):
        found = completeness(live.SKEIN, trace.path, "narrow")
        self.assertGreater(found.samples, 0.9 * FREQUENCY * SECONDS, str(found))
        self.assertEqual(found.complete, 0, str(found))
        modules = {}
        for reason, module, count in found.reasons:
            modules[pathlib.Path(module).name] = count if reason == REASON else 0
        named = sum(modules.values())
        self.assertGreaterEqual(named, found.samples - EXECUTING, str(found))
        # one tenth of the time reads the clock through the vDSO's system call, whose image differs
        # from that of 64-bit programs
        self.assertLessEqual({"narrow", "[vdso32]"}, set(modules), str(found))
        said = subprocess.run([live.SKEIN, "report", trace.path, "--comm", "narrow"], check=True,
                              capture_output=True, text=True, timeout=60).stdout
        self.assertIn(f"% {REASON} in narrow", said)

    def check_frames(self, trace):
        stacks = trace.stacks(comm="narrow")
        self.assertGreater(live.share(stacks, "narrow_leaf"), 0.5)
        kernel = [s for s in stacks if "read_zero" in s.names or "read_iter_zero" in s.names]
        self.assertGreater(live.count(kernel), 20)
        for stack in kernel:
            user = [n for n, kind in zip(stack.names, stack.kinds) if kind != live.FRAME["KERNEL"]]
            self.assertEqual(len(user), 1, stack.names)
            self.assertRegex(user[0], r"^\[\[vdso32\]\+0x", stack.names)
            self.assertIn("ksys_read", stack.names)
            self.assertRegex(stack.names[1], "^(entry_|__kernel|asm_)", stack.names)

    def test_loops(self):
        self.check("")

    def test_tail_calls(self):
        self.check("tail-calls")


if __name__ == "__main__":
    live.main()
