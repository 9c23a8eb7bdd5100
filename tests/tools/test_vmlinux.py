# SPDX-License-Identifier: Apache-2.0
"""
Test tools/vmlinux: it makes a header from a kernel's BTF with the requested types and no others.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/vmlinux"

OLDER = """
typedef unsigned long long u64;
struct other { int x; };
struct list { struct list *next; };
struct inner { int a; struct list l; };
enum color { RED, GREEN = 7, BLUE };
enum { ANSWER = 42 } answer;
struct thing {
    int unwanted;
    union { u64 id; struct { int low, high; }; };
    const char *const *names[2][3];
    struct other *other;
    int (*call)(struct other *);
    struct inner inner;
    unsigned int bits : 3;
    enum color color;
    void *end[];
};
struct exact { char c; union { u64 u; struct { int v; }; }; };
struct thing *use_thing; struct exact use_exact; enum color use_color;
"""
NEWER = """
struct thing { long id; long added; };
struct thing use;
"""
WANTED = """
enum color RED BLUE   # a comment
constants ANSWER
struct thing high names other
struct thing call inner bits color end
struct exact
"""
EXPECTED = """
struct list;
struct other;

enum color {
	RED = 0,
	BLUE = 8,
};

enum {
	ANSWER = 42,
};

struct list {
	struct list *next;
};
_Static_assert(sizeof(struct list) == 8, "layout");

struct inner {
	int a;
	struct list l;
};
_Static_assert(sizeof(struct inner) == 16, "layout");

struct thing {
	int high;
	const char **names[2][3];
	struct other *other;
	void *call;
	struct inner inner;
	unsigned int bits : 3;
	enum color color;
	void *end[];
};
typedef unsigned long long u64;

struct exact {
	char c;
	union {
		u64 u;
		struct {
			int v;
		};
	};
};
_Static_assert(sizeof(struct exact) == 16, "layout");
"""


class Vmlinux(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.older = self.compile("older", OLDER)
        self.newer = self.compile("newer", NEWER)

    def compile(self, name, text):
        source, out = self.folder / f"{name}.c", self.folder / f"{name}.o"
        source.write_text(text)
        subprocess.run(["clang-16", "-target", "bpf", "-g", "-O2", "-c", source, "-o", out],
                       check=True)
        return out

    def make(self, wanted, *kernels):
        (self.folder / "types").write_text(wanted)
        out = self.folder / "vmlinux.h"
        run = subprocess.run([sys.executable, TOOL, "--types", self.folder / "types", out,
                              *kernels], capture_output=True, text=True, check=False)
        return run, out.read_text() if run.returncode == 0 else ""

    def test_only_what_is_wanted(self):
        run, text = self.make(WANTED, self.older)
        self.assertEqual(run.returncode, 0, run.stderr)
        body = text.split("apply_to = record)\n")[1].split("\n#pragma")[0]
        self.assertEqual(body.strip(), EXPECTED.strip())

    def test_members_of_several_kernels(self):
        text = self.make("struct thing id added", self.older, self.newer)[1]
        self.assertIn("struct thing {\n\tu64 id;\n\tlong added;\n};", text)
        text = self.make("struct thing id added", self.newer, self.older)[1]
        self.assertIn("struct thing {\n\tlong id;\n\tlong added;\n};", text)

    def test_says_what_no_kernel_has(self):
        for wanted in ("struct thing nothing", "struct none a", "enum color PINK",
                       "constants NEVER", "typedef absent"):
            run = self.make(wanted, self.older)[0]
            self.assertEqual(run.returncode, 1)
            self.assertIn(wanted.split()[-1 if wanted != "struct none a" else 1], run.stderr)
        self.assertIn("types:1", self.make("strukt thing", self.older)[0].stderr)

    def test_packed_image(self):
        """BTF is found in a compressed kernel after a loader."""
        image = self.folder / "vmlinuz"
        packer = zlib.compressobj(wbits=31)
        packed = packer.compress(b"Linux version 9.8.7-test (x) " + self.older.read_bytes())
        image.write_bytes(b"MZ loader \x1f\x8b\x08 no gzip " + packed + packer.flush() + b"tail")
        run, text = self.make("struct other", image)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Linux 9.8.7-test.", text)
        self.assertIn("struct other {\n\tint x;\n};", text)

    def test_no_btf(self):
        (self.folder / "empty").write_bytes(b"nothing")
        run = self.make("struct other", self.folder / "empty")[0]
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("no BTF in", run.stderr)

    @unittest.skipUnless(os.access("/sys/kernel/btf/vmlinux", os.R_OK), "the kernel has no BTF")
    def test_list_of_the_programs_on_this_kernel(self):
        """The running kernel has all types that the BPF programs use."""
        wanted = (ROOT / "vmlinux/types").read_text()
        run, text = self.make(wanted, "/sys/kernel/btf/vmlinux")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLess(text.count("\n"), 1000)
        self.assertEqual(self.make(wanted, "/sys/kernel/btf/vmlinux")[1], text)


if __name__ == "__main__":
    unittest.main()
