#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
"""Test the names of all code in the code caches of live JVMs, against the JVM's own lists, against
the JDK's Serviceability Agent address by address, and against the known lines of a program."""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import jdks  # pylint: disable=wrong-import-position
from traces import BUILD  # pylint: disable=wrong-import-position

READER = BUILD / "tests/readers/hotspot_names"
SOURCES = ROOT / "tests/workloads/java"
LONG = os.environ.get("SKEIN_LONG") == "1"
CHURN = 600 if LONG else 4 # s
AGENT = ["", ".code", ".debugger", ".oops", ".runtime"]
# Options of each version in the short form; in the long form, every one of OPTIONS.
DEBUG = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]
SHORT = {17: DEBUG, 21: ["-XX:+UseZGC"], 25: [*DEBUG, "-XX:+UseCompactObjectHeaders"]}
OPTIONS = [[], DEBUG, ["-XX:+UseZGC"], ["-XX:+UseSerialGC"],
           ["-XX:+UseParallelGC"], ["-XX:TieredStopAtLevel=1"], ["-XX:-TieredCompilation"],
           ["-XX:-SegmentedCodeCache"], ["-XX:ReservedCodeCacheSize=12m"], ["-Xint"]]
# "package.Class.method(ARGUMENTS)RESULT File.java:LINE@BCI", and what is inferred
FRAME = re.compile(r"(.+)\.([^.(]+)(\(\S*) (.*):(\d+)@(-?\d+)((?: inlined| inferred)*)")
Frame = collections.namedtuple("Frame", "cls method signature file line bci")


def parse_frame(text):
    found = FRAME.fullmatch(text)
    return Frame(*found.groups()[:4], int(found[5]), int(found[6]))


def without_addresses(name):
    """The name of a class as the JVM prints it, without what differs from run to run."""
    return re.sub(r"(\$\$Lambda)\$\d+$", r"\1", re.sub(r"[+/.]0x[0-9a-f]+$", "", name)) \
        if re.search(r"[+/.]0x[0-9a-f]+$", name) else name


def comparable(name):
    """A class, method and signature without the characters above U+FFFF, which jcmd garbles."""
    return tuple(re.sub("[?\N{REPLACEMENT CHARACTER}\U00010000-\U0010ffff]", "", part)
                 for part in name)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          encoding="utf-8", errors="replace", **options).stdout


class Jvm:
    """A JVM that runs a class of a folder, from when it has printed "ready"."""
    def __init__(self, version, folder, name, options=()):
        self.process = subprocess.Popen( # pylint: disable=consider-using-with
            [jdks.home_of(version) / "bin/java", "-Dfile.encoding=UTF-8", *options, "-cp", folder,
             name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        if self.process.stdout.readline() != "ready\n":
            self.__exit__()
            raise AssertionError(f"JDK {version} with {options}: the program did not get ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def stopped(self, work):
        """The result of work() while the process is stopped."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            while not re.search(r"^State:\s+T", pathlib.Path(
                    f"/proc/{self.pid}/status").read_text(), re.M):
                time.sleep(0.001)
            return work()
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def codelist(self):
        """Compile id -> class, method and signature, as the JVM itself lists its code."""
        lines = run(jdks.tool("jcmd"), self.pid, "Compiler.codelist").splitlines()
        found = [re.match(r"(\d+) +\S+ +\S+ +(\S+)\.([^.(]+)(\(\S*) \[", line) for line in lines]
        return {int(f[1]): comparable((without_addresses(f[2]), f[3], f[4])) for f in found if f}


class Reading:
    """What the reader prints of a stopped JVM."""
    def __init__(self, jvm, *options):
        self.text = run(READER, *options, jvm.pid)
        self.rows = [line.split("\t") for line in self.text.splitlines()]

    def of(self, kind):
        return [row[1:] for row in self.rows if row[0] == kind]

    def frames_at_pcs(self):
        for address, offset, *frames in self.of("pc"):
            yield (address, offset), [parse_frame(frame) for frame in frames]


def marked_lines():
    """Name of a mark in Names.java -> its line."""
    lines = (SOURCES / "Names.java").read_text(encoding="utf-8").splitlines()
    return {found[1]: number for number, line in enumerate(lines, 1)
            if (found := re.search(r"// line: (\w+)", line))}


class JavaNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not jdks.tool("javac"):
            raise unittest.SkipTest("there is no JDK")
        missing = [version for version in jdks.VERSIONS if not jdks.home_of(version)]
        if missing:
            print(f"no JDK {missing}: not tested with it")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="skein-java-"))
        for source, options in (("Plain", ["-g:none"]), ("Names", []), ("Churn", [])):
            run(jdks.tool("javac"), "--release", 17, "-encoding", "UTF-8", "-cp", cls.folder,
                "-sourcepath", SOURCES, "-d", cls.folder, *options, SOURCES / f"{source}.java")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_names_of_all_code(self):
        for version in filter(jdks.home_of, jdks.VERSIONS):
            for options in OPTIONS if LONG else [SHORT[version]]:
                with self.subTest(version=version, options=options), \
                        Jvm(version, self.folder, "Names", options) as jvm:
                    self.check_jvm(version, options, jvm)

    def check_jvm(self, version, options, jvm):
        before = jvm.codelist()
        reading = jvm.stopped(lambda: Reading(jvm, "--pcs"))
        agreed = {code: name for code, name in jvm.codelist().items() if before.get(code) == name}
        self.check_code(reading, agreed, 0 if "-Xint" in options else 30)
        self.check_program(reading, options)
        if jdks.tool("jhsdb", version):
            self.check_agent(version, jvm)

    def check_code(self, reading, agreed, least):
        """All code that the JVM lists before and after has the same name."""
        names = {}
        for _, code, frame in reading.of("code"):
            self.assertRegex(frame, FRAME)
            names[int(code)] = comparable(parse_frame(frame)[:3])
        self.assertGreaterEqual(len(agreed), least)
        self.assertEqual({code: names.get(code) for code in agreed}, agreed)
        self.assertFalse("another id was accepted" in reading.text)
        for _, _, frame in reading.of("method"):
            self.assertRegex(frame, FRAME)
        self.assertIn(" found, 0 stale, 0 failed,", reading.text.splitlines()[-1])

    def check_program(self, reading, options):
        """Methods of each kind have the names and lines that the program has."""
        marks = marked_lines()
        methods = {parse_frame(row[2])[:3] for row in reading.of("method")}
        frames = dict(reading.frames_at_pcs())
        seen = {frame[:3] + (frame.line,) for stack in frames.values() for frame in stack}
        if "-Xint" in options:
            return
        for name in (("Names", "outer"), ("Names$Nested", "<init>"), ("Names", "grüße_𝒳"),
                     ("Names$Nested$Deeper", "get"), ("Names$Template", "applyAsInt"),
                     ("Names$$Lambda", "applyAsInt"), ("Plain", "work")):
            self.assertIn(name, {method[:2] for method in methods})
        self.assertIn(("java.lang.Thread", "yield" if ("java.lang.Thread", "yield") in {
            m[:2] for m in methods} else "yield0"), {method[:2] for method in methods})
        for frame in (frame for stack in frames.values() for frame in stack):
            if frame.cls == "Plain":
                self.assertEqual((frame.file, frame.line), ("", 0))
        for what in (("Names", "outer", "(I)I"), ("Names", "lambda$main$0", "(I)I"),
                     ("Names$Template", "applyAsInt", "(I)I")):
            mark = {"outer": "outer", "lambda$main$0": "lambda", "applyAsInt": "hidden"}[what[1]]
            self.assertTrue(any(s[:3] == what and abs(s[3] - marks[mark]) <= 2 for s in seen), what)
        if "-XX:+DebugNonSafepoints" in options:
            wanted = [("leaf", marks["leaf"]), ("middle", marks["middle"]),
                      ("outer", marks["outer"])]
            self.assertIn(wanted, [[(f.method, f.line) for f in stack]
                                   for stack in frames.values()])

    def check_agent(self, version, jvm):
        """At every address the JDK's own agent finds the same methods, bytecodes and lines."""
        exports = ["--add-modules=jdk.hotspot.agent",
                   *(f"--add-exports=jdk.hotspot.agent/sun.jvm.hotspot{package}=ALL-UNNAMED"
                     for package in AGENT)]
        out = self.folder / f"agent-{version}"
        if not out.is_dir():
            run(jdks.tool("javac", version), *exports, "-d", out,
                ROOT / "tests/readers/java/Scopes.java")

        def both():
            ours = dict(Reading(jvm, "--pcs").frames_at_pcs())
            query = "".join(f"{address}\t{offset}\n" for address, offset in ours)
            return ours, run(jdks.tool("java", version), "-Dfile.encoding=UTF-8", *exports, "-cp",
                             out, "Scopes", jvm.pid, input=query)
        ours, theirs = jvm.stopped(both)
        agent = {}
        for line in theirs.splitlines():
            address, offset, *frames = line.split("\t")
            parsed = [parse_frame(frame) for frame in frames]
            agent[address, offset] = [f._replace(cls=without_addresses(f.cls)) for f in parsed]
        self.assertEqual(ours, agent)

    def test_code_that_is_freed_never_has_another_name(self):
        for version in filter(jdks.home_of, jdks.VERSIONS):
            with self.subTest(version=version), \
                    Jvm(version, self.folder, "Churn",
                        ["-XX:ReservedCodeCacheSize=12m", "-Xmx64m"]) as jvm:
                for tries in range(5): # beside others, there may be too few names in this time
                    text = run(READER, "--churn", jvm.pid, CHURN << tries)
                    if self.checked_in(text) > 1000:
                        break
                self.check_churn(text)

    @staticmethod
    def checked_in(text):
        return int(re.search(r"^# (\d+) checked$", text, re.M)[1])

    def check_churn(self, text):
        numbers = re.findall(r"^Churn\$T(\d+)\.[mp](\d+)$", text, re.M)
        self.assertGreater(len({number for number, _ in numbers}), 50)
        self.assertEqual([pair for pair in numbers if pair[0] != pair[1]], [])
        checked = self.checked_in(text)
        wrong = re.findall(r"^# wrong .*", text, re.M)
        kinds = dict(collections.Counter(line.split()[2] for line in wrong))
        print(f"{len(wrong)} of {checked} names were others up to 100 ms later: {kinds}")
        self.assertGreater(checked, 1000)
        self.assertEqual(wrong[:5], [])


if __name__ == "__main__":
    unittest.main()
