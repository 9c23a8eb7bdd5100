# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test `skein record --save-bad-stacks`: stacks saved by kernels that walk by loops and by tail calls
give the same result when walked again, and saving costs no sample.
"""
import os
import shutil
import subprocess
import unittest

import live

REPLAY = live.BUILD / "tests" / "readers" / "replay"
# Without frame pointers, and with its unwind information removed.
BARE = """
__attribute__((noinline)) static long leaf(long n)
{
    long sum = 0;
    for (volatile long i = 0; i < n; i++)
        sum += i;
    return sum;
}
int main(void)
{
    for (int i = 0; i < 4000; i++)
        if (leaf(100000) == 1)
            return 1;
    return 0;
}
"""


class SaveStacks(live.LiveTest):
    def bare(self):
        source, program = self.tmp / "bare.c", self.tmp / "bare"
        source.write_text(BARE)
        subprocess.run(["gcc", "-O1", "-fomit-frame-pointer", "-o", program, source], check=True)
        subprocess.run(["objcopy", "-R", ".eh_frame", "-R", ".eh_frame_hdr", program], check=True)
        return program

    def save(self, *command, words=""):
        env = live.clean_environment(SKEIN_DEBUG_WALK=words)
        kept = self.tmp / f"kept-{self.files}"
        trace = self.record("-F", 499, "--save-bad-stacks", kept, "--", *command, env=env)
        self.assertGreater(trace.one("SELECT count(*) AS n FROM sample"), 50)
        self.assertEqual(trace.losses("RING_FULL"), 0)
        self.assertEqual(kept.stat().st_mode & 0o7777, 0o700)
        files = sorted(kept.iterdir())
        for file in files:
            self.assertEqual(file.stat().st_mode & 0o7777, 0o600)
            self.assertLess(file.stat().st_size, 16384)
        return files

    def same(self, files):
        run = subprocess.run([REPLAY, *files], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)

    @unittest.skipUnless(shutil.which("objcopy"), "no objcopy")
    def test_bad_stacks(self):
        program = self.bare()
        for words in "", "tail-calls":
            files = self.save(program, words=words)
            bad = [f for f in files if f.name.startswith("no-unwind-table-bare-")]
            self.assertEqual(len(bad), 20, files)
            self.same(bad)
            self.assertRegex(bad[0].read_text(), r"\nframe [0-9a-f]+ bare\+[0-9a-f]+\n")

    def test_whole_stacks(self):
        """Complete stacks are sampled in user mode and in system calls."""
        for words in "save-good", "save-good,tail-calls":
            files = self.save(live.workload("syscalls"), "0.5", words=words)
            whole = [f for f in files if f.name.startswith("whole-syscalls-")]
            self.assertGreater(len(whole), 10, files)
            self.same(whole)

    def test_refused(self):
        (self.tmp / "file").touch()
        run = subprocess.run([live.SKEIN, "record", "-d", "100ms", "-o", self.file(),
                              "--save-bad-stacks", self.tmp / "file"], capture_output=True,
                             text=True, env=live.clean_environment())
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot open the directory", run.stderr)
        self.assertFalse(os.path.exists(self.tmp / f"trace-{self.files}.skein"))


if __name__ == "__main__":
    live.main()
