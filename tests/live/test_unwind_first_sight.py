# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
Test stacks of new programs, which user space has to finish from a copy of the stack, and whose
tables are not made yet: nothing is in the cache.

Large programs are at least 99 % complete while they are new. The short form allows for chance
above 1 %: six sigma of a Poisson count, which one run in a hundred million exceeds. The long form
makes more recordings and has no allowance.
"""
import math
import shutil
import subprocess

import live
from completeness import completeness

TARGET = 0.99
LIBRARIES = 300
ROUNDS = 5 if live.LONG else 1
FREQUENCY = 999

CLANG = next((path for path in map(shutil.which, ("clang++-16", "clang++", "clang++-14")) if path),
             None)
TEMPLATES = """
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>
int main()
{
	std::map<std::string, std::vector<int>> m;
	std::unordered_map<int, std::string> u;
	std::vector<std::function<int(int)>> f;
	std::regex r("a+b*");
	for (int i = 0; i < 100; i++) { u[i] = std::to_string(i); m[u[i]].push_back(i); }
	for (int i = 0; i < 3; i++) f.push_back([i](int x) { return x + i; });
	std::sort(u[1].begin(), u[1].end());
	std::cout << std::regex_match("ab", r) << m.size() << f[0](1);
}
"""
RUST = """
fn main() {
    let mut m = std::collections::HashMap::new();
    for i in 0..100u32 { m.insert(i.to_string(), i); }
    println!("{:?} {}", m, (0..1000u64).filter(|x| x % 3 == 0).sum::<u64>());
}
"""


def rustc():
    """
    Return the path of the compiler itself; the program that rustup puts into the PATH only starts
    it.
    """
    if not shutil.which("rustc"):
        return None
    done = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True)
    return shutil.which(f"{done.stdout.strip()}/bin/rustc") if not done.returncode else None


RUSTC = rustc()


class FirstSight(live.LiveTest):
    def test_below_the_stack_pointer(self):
        """
        The copy of the stack includes the memory that the thread may use below its stack pointer.
        All stacks of the first milliseconds of each program are finished from copies.
        """
        programs = [self.copy("redzone", f"redzone-{n}") for n in range(30)]
        trace = self.record("-a", "-F", 999, "--", "sh", "-c", 'for p; do "$p" 10; done', "sh",
                            *programs)
        found = completeness(live.SKEIN, trace.path, more=("--comm", "redzone-*"))
        self.assertGreater(found.samples, 150)
        unreadable = sum(n for reason, _, n in found.reasons if reason == "unreadable stack")
        self.assertEqual(unreadable, 0, found)
        self.assertGreater(found.share, 0.98, found)

    def test_end_of_exec(self):
        """
        At its end, exec has made the new address space and not yet set the registers, for 0.9 us
        here. 2,000 times that at 9,999 Hz are 17 samples: none has a stack, or a frame of the old
        program.
        """
        script = "i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i+1)); done"
        trace = self.record("-F", 9999, "--", "sh", "-c", script)
        found = completeness(live.SKEIN, trace.path, "true")
        self.assertGreater(found.samples, 500)
        unreadable = sum(n for reason, _, n in found.reasons if reason == "unreadable stack")
        self.assertEqual(unreadable, 0, found)

    def check_new(self, comm, enough, command, *more):
        """
        Check all recordings of a command together, each with an empty cache. Before them it runs
        once: a compiler whose files come from the disk computes nothing in its first second.
        """
        complete, samples, text = 0, 0, []
        live.subprocess.run([str(word) for word in command], check=True,
                            stdout=live.subprocess.DEVNULL)
        for i in range(ROUNDS):
            cache = self.tmp / f"cache-{comm.strip('*')}-{i}"
            trace = self.record("-a", "-F", FREQUENCY, "--unwind-cache", cache, "--", *command,
                                timeout=180)
            found = completeness(live.SKEIN, trace.path, more=("--comm", comm, *more))
            complete, samples = complete + found.complete, samples + found.samples
            text.append(str(found))
        print(f"{comm}: {text}")
        self.assertGreaterEqual(samples, enough, text)
        mean = samples * (1 - TARGET)
        allowed = mean if live.LONG else mean + 6 * math.sqrt(mean)
        self.assertLessEqual(samples - complete, allowed, text)

    def test_many_libraries(self):
        """A program's first second: 300 files, and a frame larger than the copy."""
        command = self.build_wide(LIBRARIES, "-fomit-frame-pointer")
        self.check_new("wide", 100, [*command, 1], "--to", "1s")

    @live.unittest.skipUnless(CLANG, "clang++ is not installed")
    def test_clang(self):
        source = self.tmp / "templates.cc"
        source.write_text(TEMPLATES)
        self.check_new("clang*", 100, [CLANG, "-O1", "-c", source, "-o", self.tmp / "out.o"],
                       "--to", "1s")

    @live.unittest.skipUnless(RUSTC, "rustc is not installed")
    def test_rustc(self):
        """A whole run of a third of a second of CPU; half of the time has a frame of 528 KiB."""
        source = self.tmp / "hello.rs"
        source.write_text(RUST)
        self.check_new("rustc", 100, [RUSTC, "--edition", "2021", "-O", "-o", self.tmp / "out",
                                      source])


if __name__ == "__main__":
    live.main()
