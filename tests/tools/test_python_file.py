# SPDX-License-Identifier: Apache-2.0
"""Test the detection of Python in files made for the test: hidden, new, or contradictory."""
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
READER = pathlib.Path(os.environ.get("BUILD", ROOT / "build")) / "tests/readers/python_file"

READ = "Python frames are read"
OLD = "Python before 3.8: native frames only"
UNKNOWN = "unknown Python: native frames only"
HIDDEN = "Python without symbols of its state: native frames only"
FREE = "free-threaded Python: native frames only"

# An interpreter as far as a file shows: its evaluation loop has a cold part that gcc splits off.
SOURCE = r"""
#include <stdint.h>
#include <stdio.h>
#ifndef HIDE
#define HIDE
#endif
#ifndef SECTION
#define SECTION
#endif
#ifndef WORDS
#define WORDS 60000
#endif
#ifdef OFFSETS
#ifndef TEXTS
#define TEXTS
#endif
HIDE uint64_t _PyRuntime[40000] SECTION = {OFFSETS, TEXTS};
#elif !defined(NO_RUNTIME)
HIDE uint64_t _PyRuntime[WORDS] SECTION;
#endif
HIDE char PyCode_Type[416] = "code";
#ifdef HEX
HIDE const unsigned long Py_Version = HEX;
#endif
#ifdef DEBUG
HIDE void _Py_NegativeRefcount(void) { puts("negative"); }
#endif
static char version[100];
HIDE const char *Py_GetVersion(void)
{
	snprintf(version, sizeof(version), "%.80s (%.80s) %.80s", TEXT, "now", version);
	return version;
}
HIDE const char *places[] = {PLACES};
#ifndef NO_LOOP
extern void seldom(void *) __attribute__((cold));
extern int more(void *, int);
HIDE long _PyEval_EvalFrameDefault(char *thread, char *frame, int throwing)
{
	volatile char room[512];
	long sum = 0;

	for (int i = 0; i < throwing; i++) {
		sum += more((void *)room, i) * thread[i] + frame[i];
		if (__builtin_expect(sum & 1, 0)) {
			seldom((void *)room);
			sum += more(frame, i) + more(thread, 2);
		}
#ifndef NO_DISPATCH
		/* as real ones go on to what comes next */
#ifdef __x86_64__
		__asm__ volatile("lea 1f(%%rip), %%rax\n\tjmp *%%rax\n1:" : : : "rax");
#else
		__asm__ volatile("adr x9, 1f\n\tbr x9\n1:" : : : "x9");
#endif
#endif
	}
	room[0] = (char)sum;
	return sum + room[0];
}
#endif
HIDE long PyEval_EvalFrameEx(char *frame)
{
	return frame[0];
}
"""


def offsets(version, free_threaded=0, **changes):
    """Return a struct _Py_DebugOffsets of 3.13 or 3.14, word by word; see python_offsets.c."""
    newer = version >> 16 > 0x30D
    runtime = [283320, 608, 632]
    interpreter = [194968, 7272, 7264, 7344, *([7352] if newer else []), 7400, 7656, 7640, 7648, 16,
                   7752, 0, 7768, 7760, *([8000, 0] if newer else [])]
    thread = [304, 0, 8, 16, 72, 152, 160, 232, 32]
    frame = [88, 8, 0, 56, 80, 74, 64, 0] if newer else [80, 8, 0, 56, 72, 70]
    code = [208, 112, 120, 128, 136, 68, 52, 96, 104, 200, *([0] if newer else [])]
    others = [16, 8, 416, 24, 88, 168, 32, 24, 16, 40, 24, 16,
              *([200, 24, 40, 32] if newer else []), 48, 32, 40, 24, 16, 32, 16, 24]
    text = [40, 16, 32, 64, 32, 16, 40, 240, 200]
    rest = [160, 24, 72, 68, 0, 8, 24, 248, 400, 0, 8, 512] if newer else []
    cookie = struct.unpack("<Q", changes.pop("cookie", b"xdebugpy"))[0]
    words = [cookie, version, free_threaded, *runtime, *interpreter, *thread, *frame, *code,
             *others, *text, *rest]
    for index, value in changes.items():
        words[int(index[1:])] = value
    return ",".join(f"{word}ull" for word in words)


def texts(*states):
    """Return the str "__init__" with each of the states, as stored in _PyRuntime."""
    name = int.from_bytes(b"__init__", "little")
    return "".join(f"[{1000 + 10 * number}]=1,0,8,~0ull,{state}ull,{name}ull,0,"
                   for number, state in enumerate(states))


@unittest.skipUnless(READER.exists(), f"{READER} is not built")
class Made(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="skein-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, *flags, text='"3.12.1"', places='"lib/python3.12"', soname=None, strip=True,
              **defines):
        source, made = self.folder / "made.c", self.folder / "made.so"
        source.write_text(SOURCE)
        names = {"TEXT": text, "PLACES": places, **defines}
        words = [f"-D{name}={value}" for name, value in names.items()]
        if soname:
            words.append(f"-Wl,-soname,{soname}")
        subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "-w", *words, *flags, "-o", str(made),
                        str(source)], check=True, timeout=60)
        if strip:
            subprocess.run(["strip", str(made)], check=True, timeout=60)
        return made

    def facts(self, *flags, **defines):
        made = self.make(*flags, **defines)
        run = subprocess.run([str(READER), str(made)], capture_output=True, text=True, check=True,
                             timeout=60)
        facts = {}
        for line in run.stdout.splitlines():
            name, _, value = line.partition(" ")
            facts.setdefault(name, []).append(value)
        return facts

    def assertSupport(self, expected, version, *flags, **defines):
        facts = self.facts(*flags, **defines)
        self.assertEqual((facts["support"], facts["version"]), ([expected], [version]))
        if expected != READ:
            self.assertEqual((facts["runtime"], "layout" in facts, "loop" in facts),
                             (["0"], False, False))
        return facts

    def test_parts(self):
        """The split-off part is found by its name, and without the name by jumps."""
        named = self.assertSupport(READ, "3.12.1", strip=False)
        self.assertEqual(len(named["loop"]), 2, named["loop"])
        bare = self.facts()
        self.assertEqual(bare, named)
        listing = subprocess.run(["nm", "-S", str(self.make(strip=False))], capture_output=True,
                                 text=True, check=True).stdout
        for line, name in zip(named["loop"], ("", ".cold")):
            start, end = map(int, line.split())
            self.assertIn(f"{start:016x} {end - start:016x} {'t' if name else 'T'} "
                          f"_PyEval_EvalFrameDefault{name}\n", listing)

    def test_hash_styles(self):
        for style in ("gnu", "sysv", "both"):
            with self.subTest(style=style):
                self.assertSupport(READ, "3.12.1", f"-Wl,--hash-style={style}")

    def test_two_sources(self):
        for facts in (dict(HEX=0x030C01F0, places=""),
                      dict(HEX=0x030C01F0, places='"/usr/lib/python3.11","x"'),
                      dict(soname="libpython3.12.so.1.0", places=""),
                      dict(HEX=0x030C01F0, soname="libpython3.12.so.1.0", text='"now"')):
            with self.subTest(**facts):
                self.assertSupport(READ, "3.12.1", **facts)
        self.assertSupport(READ, "3.12.4", text='"3.12.4 | packaged by somebody |"')
        self.assertSupport(READ, "3.12.0", text='"no"', soname="libpython3.12.so.1.0")

    def test_one_source(self):
        for facts in (dict(places=""), dict(text='"now"'), dict(text='"now"', places=""),
                      dict(HEX=0x030C01F0, text='"now"', places=""),
                      dict(places='"lib/python3.12","lib/python3.11"'),
                      dict(places='"lib/python3.12x"'), dict(places='"ipython3.12"'),
                      dict(text='"3.12"'), dict(text='"3.12.1x"'), dict(text='"13.12.1"')):
            with self.subTest(**facts):
                self.assertSupport(UNKNOWN, "0.0.0", **facts)

    def test_disagreement(self):
        for facts in (dict(places='"lib/python3.11"'), dict(text='"3.11.1"'),
                      dict(HEX=0x030C01F0, text='"3.12.2"'), dict(HEX=0x030B01F0),
                      dict(soname="libpython3.8.so.1.0"),
                      dict(HEX=0x030C01F0, soname="libpython3.11.so.1.0"),
                      dict(HEX=0x030C01F0, text='"now"', OFFSETS=offsets(0x030D00F0))):
            with self.subTest(**facts):
                self.assertSupport(UNKNOWN, "0.0.0", **facts)

    def test_old(self):
        for minor, name in ((7, "libpython3.7m.so.1.0"), (6, "libpython3.6m.so.1.0")):
            self.assertSupport(OLD, f"3.{minor}.3", "-DNO_RUNTIME", text=f'"3.{minor}.3"',
                               soname=name)
        self.assertSupport(OLD, "2.7.18", "-DNO_RUNTIME", "-DNO_LOOP", text='"2.7.18"',
                           places='"lib/python2.7"')

    def test_hidden(self):
        hide = '__attribute__((visibility("hidden")))'
        section = '__attribute__((section(".PyRuntime")))'
        self.assertSupport(HIDDEN, "0.0.0", HIDE=hide, SECTION=section)
        # nothing is hidden as long as there is .symtab
        self.assertSupport(READ, "3.12.1", HIDE=hide, strip=False)
        # without the section nothing indicates a Python
        self.assertEqual(self.facts(HIDE=hide)["support"], ["no Python"])
        self.assertSupport(HIDDEN, "3.12.1", "-DNO_RUNTIME")

    def test_debug_builds(self):
        self.assertSupport(UNKNOWN, "3.12.1", "-DDEBUG")
        self.assertSupport(UNKNOWN, "3.12.1", soname="libpython3.12d.so.1.0")

    def test_no_dispatch(self):
        """A loop cut into functions that tail-call each other; or a loop found only in part."""
        for strip in (False, True):
            self.assertSupport(UNKNOWN, "3.12.1", "-DNO_DISPATCH", strip=strip)

    def test_small_runtime(self):
        for words, expected in ((172, READ), (171, UNKNOWN)): # the holder ends at byte 1376
            self.assertSupport(expected, "3.8.1", text='"3.8.1"', places='"python3.8"',
                               WORDS=words)

    def new(self, expected, hexadecimal, states=(0x39 << 2,), **changes):
        version = f"{hexadecimal >> 24}.{hexadecimal >> 16 & 255}.{hexadecimal >> 8 & 255}"
        return self.assertSupport(expected, version, text=f'"{version}"',
                                  OFFSETS=offsets(hexadecimal, **changes), TEXTS=texts(*states))

    def test_own_offsets(self):
        facts = self.new(READ, 0x030D00F0)
        self.assertEqual(facts["thread_frame"] + facts["shim_owner"] + facts["code_id"],
                         ["72", "3", "48 64 96 88 112 120 128 136"])
        facts = self.new(READ, 0x030E02F0)
        self.assertEqual(facts["executable_tag"] + facts["frame_owner"] + facts["frame_bytes"],
                         ["3", "74", "80"])
        self.assertEqual(facts["interpreter_collecting"] + facts["gil_holder"], ["7600", "8"])

    def test_state_of_texts(self):
        """The state is found in the file for any version: 3.14 has had two."""
        for version in (0x030D00F0, 0x030E00F0, 0x030E0AF0):
            for shift in (2, 8, 16):
                facts = self.new(READ, version, states=(0x39 << shift, 0x39 << shift))
                self.assertEqual(facts["text_shift"], [str(shift)])
            for states in ((), (0,), (0x39 << 2, 0x39 << 16), (0x3a << 2,)):
                with self.subTest(version=hex(version), states=states):
                    self.new(UNKNOWN, version, states=states)

    def test_refused_offsets(self):
        self.new(FREE, 0x030D01F0, free_threaded=1)
        self.new(FREE, 0x030E01F0, free_threaded=1)
        self.new(UNKNOWN, 0x030F00F0)
        self.new(UNKNOWN, 0x030D00A5)
        self.new(UNKNOWN, 0x030D00F0, free_threaded=2)
        for index, value in (("w23", 305), ("w23", 2**64 - 8), ("w10", 2**63), ("w72", 194900),
                             ("w43", 4096), ("w29", 3), ("w45", 16), ("w36", 2**32 + 120)):
            with self.subTest(word=index, value=value):
                self.new(UNKNOWN, 0x030D00F0, **{index: value})

    def test_searched_runtime(self):
        """Without a symbol and a section, the cookie shows where the state is."""
        facts = self.facts(OFFSETS=offsets(0x030D00F0), TEXTS=texts(0x39 << 2), text='"3.13.0"',
                           SECTION='__attribute__((visibility("hidden")))')
        self.assertEqual(facts["support"], [READ])
        self.assertGreater(int(facts["runtime"][0]), 0)

    def test_others(self):
        """A file that links to Python, or holds copies of its variables, contains no Python."""
        source = self.folder / "user.c"
        source.write_text("extern char PyCode_Type[416]; extern long _PyRuntime[];\n"
                          "long _PyEval_EvalFrameDefault(char *, char *, int);\n"
                          "int main(void) { return PyCode_Type[0] + _PyRuntime[0] +"
                          " _PyEval_EvalFrameDefault(0, 0, 0); }\n")
        library, program = self.make(soname="libpython3.12.so.1.0"), self.folder / "user"
        subprocess.run(["gcc", "-w", "-no-pie", "-o", str(program), str(source), str(library),
                        "-Wl,--unresolved-symbols=ignore-all"], check=True, timeout=60)
        facts = subprocess.run([str(READER), str(program)], capture_output=True, text=True,
                               check=True).stdout
        self.assertIn("support no Python\n", facts)


if __name__ == "__main__":
    unittest.main()
