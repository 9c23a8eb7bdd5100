# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test record --inlines: inlined functions and lines of running programs, and failures."""
import os
import signal
import subprocess
import time

import live
from live import SKEIN

SOURCE = r"""
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
static volatile uint64_t sink;
#define INLINE static inline __attribute__((always_inline))
INLINE uint64_t turn(uint64_t x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	return x;
}
INLINE uint64_t light(uint64_t x) { return turn(x, 1000) + 1; }
INLINE uint64_t heavy(uint64_t x) { return turn(x, 3000) + 2; }
__attribute__((noinline)) void work(void) { sink = light(sink); sink = heavy(sink); }
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct timespec t;
	do {
		for (int i = 0; i < 100; i++)
			work();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds);
	return 0;
}
"""


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True).stdout


def at(function, text):
    """Return a frame as --lines shows it, at the source line that contains the text."""
    line = next(i for i, line in enumerate(SOURCE.splitlines(), 1) if text in line)
    return f"{function} (inliner.c:{line})"


def folded(trace, *options):
    """Return stacks as lists of frames, with their samples."""
    text = run(SKEIN, "export", trace.path, "-f", "folded", *options).decode()
    return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1]))
            for line in text.splitlines()]


def part(stacks, *frames):
    """Return the share of the samples whose stacks contain these frames in sequence."""
    text = ";".join(frames)
    return (sum(n for stack, n in stacks if f";{text};" in ";" + ";".join(stack) + ";")
            / sum(n for _, n in stacks))


class Inlines(live.LiveTest):
    def build(self, name="inliner", *options):
        path, source = self.tmp / name, self.tmp / "inliner.c"
        source.write_text(SOURCE)
        run("gcc", "-O2", "-g", *options, "-o", path, source)
        return path

    def profile(self, program, *options, seconds=1.2):
        return self.record("-F", 499, *options, "--", program, seconds)

    def check_shares(self, trace):
        stacks = folded(trace)
        # a quarter and three quarters: 600 samples are off by less than 0.11 in 6 sigma
        self.assertAlmostEqual(part(stacks, "work", "light", "turn"), 0.25, delta=0.12)
        self.assertAlmostEqual(part(stacks, "work", "heavy", "turn"), 0.75, delta=0.12)
        return stacks

    def test_hot_inlined_functions(self):
        trace = self.profile(self.build(), "--inlines")
        stacks = self.check_shares(trace)
        self.assertIn("inlined functions: ", trace.done.err)
        # however stacks are shown, nothing is lost and nothing is added
        for options in (["--no-inlines"], ["--lines"], ["--lines", "--no-inlines"], ["--annotate"]):
            self.assertEqual(sum(n for _, n in folded(trace, *options)),
                             sum(n for _, n in stacks))
        plain = folded(trace, "--no-inlines")
        self.assertEqual(part(plain, "turn"), 0)
        self.assertGreater(part(plain, "main", "work"), 0.95)
        lines = folded(trace, "--lines")
        calls = at("work", "void work"), at("heavy", "heavy(uint64_t")
        self.assertGreater(part(lines, *calls, at("turn", "i < n; i++")) +
                           part(lines, *calls, at("turn", "x * 636")), 0.5)
        self.assertGreater(part(folded(trace, "--annotate"), "work", "heavy_[i]", "turn_[i]"), 0.5)
        tree = run(SKEIN, "report", trace.path, "--tree").decode()
        self.assertIn("heavy (inlined)", tree)
        self.assertNotIn("work (inlined)", tree)

    def test_without_it_nothing_of_it(self):
        trace = self.profile(self.build(), seconds=0.5)
        self.assertEqual(trace.query("SELECT count(*) AS n FROM sqlite_schema "
                                     "WHERE name = 'inlined'"), [{"n": 0}])
        self.assertEqual(trace.query("SELECT count(*) AS n FROM frame JOIN function ON function.id "
                                     "= frame.function WHERE frame.line OR function.file <> ''"),
                         [{"n": 0}])
        self.assertNotIn("inlined", trace.done.err)
        self.assertEqual(part(folded(trace), "turn"), 0)

    def test_debug_file_by_link(self):
        program, debug = self.build(), self.tmp / "inliner.debug"
        run("objcopy", "--only-keep-debug", program, debug)
        run("objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", program)
        self.check_shares(self.profile(program, "--inlines"))

    def test_information_elsewhere_is_told(self):
        trace = self.profile(self.build("inliner", "-gsplit-dwarf"), "--inlines", seconds=0.5)
        self.assertIn("in .dwo files, which are not read", trace.done.err)
        self.assertGreater(part(folded(trace), "main", "work"), 0.9)

    def test_memory_that_does_not_do(self):
        trace = self.profile(self.build(), "--inlines", "--inline-memory", "1k", seconds=0.5)
        self.assertIn("inliner: it has ", trace.done.err)
        self.assertRegex(trace.done.err, r"--inline-memory \d.* would do")
        # the reader must survive with little memory to report how much it needs
        self.assertNotIn("was started again", trace.done.err)
        self.assertGreater(part(folded(trace), "main", "work"), 0.9)

    def test_memory_without_the_option(self):
        self.record("--inline-memory", "1M", "--", "true", status=2)

    def test_its_reader_is_killed(self):
        """Only requests in progress are lost and are sent again; names are not affected."""
        program = self.build()
        recording = self.begin("-F", 499, "--inlines", "-a")
        began = time.monotonic()
        child = self.start(program, 2)
        kills = 0
        while child.poll() is None and time.monotonic() - began < 60:
            done = subprocess.run(["pgrep", "-P", str(recording.pid), "skein-lines"],
                                  capture_output=True, check=False)
            for pid in done.stdout.split():
                os.kill(int(pid), signal.SIGKILL)
                kills += 1
            time.sleep(0.3)
        trace = self.finish(recording)
        self.assertGreater(kills, 2)
        mine = [(s, n) for s, n in folded(trace) if s[0] == "inliner"]
        self.assertGreater(part(mine, "work", "heavy", "turn"), 0.5)
        self.assertIn("was started again", trace.done.err)
        self.assertEqual(trace.query("SELECT count(*) AS n FROM sample"),
                         [{"n": sum(n for _, n in folded(trace, "--idle"))}])


if __name__ == "__main__":
    live.main()
