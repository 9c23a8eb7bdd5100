#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test inlined functions and lines, address by address, against binutils' and LLVM's addr2line."""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from traces import BUILD, Home

READER = BUILD / "tests/readers/source_places"
LONG = os.environ.get("SKEIN_LONG") == "1"
ADDRESSES = 200000 if LONG else 1500
ADDR2LINES = [tool for tool in ("addr2line", "llvm-addr2line-16") if shutil.which(tool)]
LIBC = pathlib.Path("/lib/x86_64-linux-gnu/libc.so.6")
DEBUG = pathlib.Path("/usr/lib/debug/.build-id")

C = r"""
#include <stdint.h>
#include <stdlib.h>
static inline uint64_t mix(uint64_t x) { x ^= x >> 31; return x * 0x9e3779b97f4a7c15u; }
static inline uint64_t twice(uint64_t x) { return mix(mix(x) + 1); }
static inline uint64_t deep(uint64_t x, int n)
{
	uint64_t sum = 0;
	for (int i = 0; i < n; i++) {
		if (i & 1) {
			uint64_t y = twice(x + (uint64_t)i);
			sum += y;
		} else {
			sum ^= mix(x);
		}
	}
	return sum;
}
static int compare(const void *a, const void *b)
{
	uint64_t x = mix(*(const uint64_t *)a), y = mix(*(const uint64_t *)b);
	return x < y ? -1 : x > y;
}
__attribute__((noinline)) uint64_t outer(uint64_t x, int n) { return deep(x, n) + twice(x); }
int main(int argc, char **argv)
{
	uint64_t all[64];
	for (int i = 0; i < 64; i++)
		all[i] = outer((uint64_t)argc, i);
	qsort(all, 64, sizeof(*all), compare);
	return (int)(all[0] & 1) + (argv[0] == NULL);
}
"""

CXX = r"""
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace shop {
template <typename T> struct box {
	T value;
	T get() const { return value; }
	box plus(const box &other) const { return box{get() + other.get()}; }
};
class till {
	std::vector<box<long>> boxes;
	std::map<std::string, long> names;
public:
	void add(long n) { boxes.push_back(box<long>{n}); names[std::to_string(n)] += n; }
	long sum() const
	{
		box<long> all{0};
		for (const auto &b : boxes)
			all = all.plus(b);
		return all.get();
	}
	void sort()
	{
		std::sort(boxes.begin(), boxes.end(), [](const auto &a, const auto &b) {
			return a.get() < b.get();
		});
	}
};
}
int main(int argc, char **)
{
	auto t = std::make_unique<shop::till>();
	for (int i = 0; i < 100; i++)
		t->add(argc * i % 17);
	t->sort();
	return (int)(t->sum() & 1);
}
"""

RUST = r"""
use std::collections::HashMap;
#[inline(always)]
fn mix(x: u64) -> u64 { (x ^ (x >> 31)).wrapping_mul(0x9e3779b97f4a7c15) }
fn count(words: &[u64]) -> HashMap<u64, usize> {
    let mut all = HashMap::new();
    for w in words.iter().map(|w| mix(*w) % 97) { *all.entry(w).or_insert(0) += 1; }
    all
}
fn main() {
    let words: Vec<u64> = (0..1000).filter(|i| i % 3 != 0).map(mix).collect();
    let mut counts: Vec<_> = count(&words).into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    println!("{:?}", &counts[..3]);
}
"""

GO = r"""
package main

import ("fmt"; "sort"; "strings")

func mix(x uint64) uint64 { return (x ^ x>>31) * 0x9e3779b97f4a7c15 }
func twice(x uint64) uint64 { return mix(mix(x) + 1) }

func main() {
	var all []uint64
	for i := uint64(0); i < 100; i++ { all = append(all, twice(i)) }
	sort.Slice(all, func(i, j int) bool { return mix(all[i]) < mix(all[j]) })
	fmt.Println(strings.Repeat("x", int(all[0]%7)), all[1])
}
"""


def run(*command, **more):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, timeout=240,
                          **more).stdout.decode(errors="replace")


def build_id(path):
    return re.search(r"Build ID: (\w+)", run("readelf", "-n", path))[1]


def sections(path):
    return run("readelf", "-SW", path)


def alike(chain):
    """
    Reduce a chain to the parts that tools agree on: some tools name the outermost function after
    its symbol, and they show folders differently.
    """
    lines = [os.path.basename(line) for _, line in chain]
    return [name for name, _ in chain[:-1]], lines


class Program:
    """An ELF file: its code ranges, and the answers of tools for addresses."""

    def __init__(self, path, named=None):
        self.path = pathlib.Path(path)
        loads = re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", run("readelf", "-lW", path))
        self.loads = [tuple(int(n, 16) for n in l) for l in loads]
        # padding between functions belongs to none of them, and tools differ about it
        symbols = re.findall(r"^ +\d+: (\w+) +(\w+) FUNC ",
                             run("readelf", "-sW", named or path), re.M)
        self.functions = sorted({(int(a, 16), int(s, 0)) for a, s in symbols if int(s, 0)})

    def offset(self, address):
        for offset, at, size in self.loads:
            if at <= address < at + size:
                return address - at + offset
        return None

    def addresses(self, most=ADDRESSES):
        every = [a + i for a, size in self.functions for i in range(size)
                 if self.offset(a) is not None]
        every = sorted(set(every))
        return every if len(every) <= most else sorted(random.Random(1).sample(every, most))

    def ours(self, addresses, *files):
        text = "\n".join("%x" % self.offset(a) for a in addresses)
        done = subprocess.run([str(a) for a in (READER, self.path, *files)], input=text.encode(),
                              capture_output=True, check=False, timeout=120)
        if done.returncode:
            raise AssertionError(f"{self.path}: {done.stderr.decode()}")
        self.given = done.stderr.decode()
        return chains(done.stdout.decode(errors="replace"))

    def theirs(self, tool, addresses):
        return chains(run(tool, "-aif", "-e", self.path,
                          input="\n".join("0x%x" % a for a in addresses).encode()))


def plain(line):
    """Return file:line without columns and discriminators."""
    line = re.sub(r" \(discriminator \d+\)$", "", line)
    line = re.sub(r"^(.*:\d+):\d+$", r"\1", line)
    return re.sub(r":\?$", ":0", line)


def chains(text):
    """Return for each address a list of (function, file:line), the innermost first."""
    made = []
    for part in re.split(r"^0x[0-9a-f]+\n", text, flags=re.M)[1:]:
        lines = part.splitlines()
        made.append([(lines[i], plain(lines[i + 1])) for i in range(0, len(lines) - 1, 2)])
    return made


class Against(Home):
    def source(self, name, text):
        path = self.home / name
        path.write_text(text)
        return path

    def build(self, compiler, name, text, *options, out=None):
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        made = self.home / (out or "program")
        made.unlink(missing_ok=True)
        run(compiler, *options, "-o", made, self.source(name, text), cwd=self.home)
        return made

    def check(self, program, files=(), inlined=0.2, same=0.995):
        """
        Compare whole chains with those of the other tools. Each of these has errors of its own
        (file numbers of DWARF 5, units without an address table), so agreement with one is enough;
        but where both agree with each other, skein must agree, too.
        """
        addresses = program.addresses()
        ours = program.ours(addresses, *files)
        theirs = list(zip(*(program.theirs(tool, addresses) for tool in ADDR2LINES)))
        known = [(hex(a), alike(o), [alike(chain) for chain in t])
                 for a, o, t in zip(addresses, ours, theirs)
                 if o or any(not chain[0][1].endswith(":0") for chain in t)]
        self.assertGreater(len(known), 100)
        self.assertGreaterEqual(sum(len(o[1]) > 1 for _, o, _ in known), inlined * len(known))
        alone = [k for k in known if k[1] not in k[2]]
        self.assertLessEqual(len(alone), (1 - same) * len(known), alone[:3])
        return known

    def test_c(self):
        for compiler in "gcc", "clang-16":
            for version in 4, 5:
                with self.subTest(compiler=compiler, version=version):
                    made = self.build(compiler, "work.c", C, "-O2", "-g", f"-gdwarf-{version}")
                    known = self.check(Program(made))
                    self.assertIn(["mix", "twice", "deep"], [names for _, (names, _), _ in known])

    def test_cxx(self):
        for compiler in "g++", "clang++-16":
            for version in 4, 5:
                with self.subTest(compiler=compiler, version=version):
                    made = self.build(compiler, "work.cc", CXX, "-O2", "-g",
                                      f"-gdwarf-{version}")
                    self.check(Program(made), inlined=0.4)

    def test_rust(self):
        made = self.build("rustc", "work.rs", RUST, "-O", "-g")
        self.check(Program(made))

    def test_go(self):
        go = next((g for g in ("/usr/local/go/bin/go", "/usr/lib/go-1.19/bin/go")
                   if os.path.exists(g)), None)
        if not go:
            self.skipTest("no Go is installed")
        made = self.home / "gowork"
        run(go, "build", "-o", made, self.source("work.go", GO), cwd=self.home,
            env=dict(os.environ, GOCACHE=str(BUILD.resolve() / "tests/go-cache"), GO111MODULE="off",
                     GOTOOLCHAIN="local"))
        self.check(Program(made), inlined=0.05)

    def test_compressed(self):
        made = self.build("gcc", "work.c", C, "-O2", "-g")
        plain_chains = Program(made).ours(Program(made).addresses())
        for how in "zlib-gabi", "zstd":
            with self.subTest(how=how):
                packed = self.home / how
                done = subprocess.run(["objcopy", f"--compress-debug-sections={how}", made, packed],
                                      capture_output=True, check=False)
                if done.returncode:
                    self.skipTest(f"objcopy knows no {how}")
                self.assertIn("C", sections(packed))
                self.assertEqual(Program(packed).ours(Program(made).addresses()), plain_chains)

    def separate(self, made):
        """Make a stripped copy with a link to its debug file."""
        debug, stripped = self.home / "program.debug", self.home / "stripped"
        run("objcopy", "--only-keep-debug", made, debug)
        run("objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", made, stripped)
        return stripped, debug

    def test_separate_debug_file(self):
        made = self.build("gcc", "work.c", C, "-O2", "-g")
        expected = Program(made).ours(Program(made).addresses())
        stripped, debug = self.separate(made)
        program = Program(stripped, named=made)
        with self.assertRaisesRegex(AssertionError, "wants debug 1"):
            program.ours(program.addresses())
        self.assertEqual(program.ours(program.addresses(), debug), expected)
        # a debug file of another program is rejected
        other = self.build("gcc", "other.c", C.replace("31", "30"), "-O2", "-g", out="other")
        with self.assertRaisesRegex(AssertionError, "wants debug 1"):
            program.ours(program.addresses(), other)

    @unittest.skipUnless(shutil.which("dwz"), "dwz is not installed")
    def test_what_two_files_have_in_common(self):
        programs = [self.build("g++", f"{name}.cc", CXX.replace("17", number), "-O2", "-g",
                               out=name) for name, number in (("one", "17"), ("two", "19"))]
        expected = Program(programs[0]).ours(Program(programs[0]).addresses())
        common = self.home / "common.debug"
        run("dwz", "-m", common, *programs)
        self.assertIn(".gnu_debugaltlink", sections(programs[0]))
        program = Program(programs[0])
        self.assertEqual(program.ours(program.addresses(), "-", common), expected)
        # without it lines are still found, and the missing file is reported
        found = program.ours(program.addresses())
        self.assertIn("wants common 1", program.given)
        self.assertEqual([[l for _, l in c] for c in found], [[l for _, l in c] for c in expected])
        # another file is rejected
        program.ours(program.addresses(), "-", programs[1])
        self.assertIn("wants common 1", program.given)

    def test_split(self):
        made = self.build("gcc", "work.c", C, "-O2", "-g", "-gsplit-dwarf")
        with self.assertRaisesRegex(AssertionError, "split 1, wants debug 0"):
            Program(made).ours(Program(made).addresses())

    def test_too_large(self):
        made = self.build("g++", "work.cc", CXX, "-O2", "-g")
        with self.assertRaisesRegex(AssertionError, r"Argument list too long; needed \d{5,}"):
            run_reader = subprocess.run([READER, "--memory", "10000", made], input=b"",
                                        capture_output=True, check=False, timeout=60)
            raise AssertionError(run_reader.stderr.decode())

    def test_skein(self):
        """A program of many units whose functions call each other across units."""
        self.check(Program(BUILD / "skein"))

    def test_libc(self):
        if not LIBC.exists():
            self.skipTest("there is no libc.so.6 where Debian has it")
        debug = DEBUG / build_id(LIBC)[:2] / (build_id(LIBC)[2:] + ".debug")
        if not debug.exists():
            self.skipTest("libc6-dbg is not installed: no debug file of libc.so.6")
        self.check(Program(LIBC, named=debug), files=(debug,), inlined=0.05)


if __name__ == "__main__":
    unittest.main(verbosity=2)
