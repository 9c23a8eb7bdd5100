# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
Test on Debian 12's kernels, booted in a virtual machine: the walker of Java frames loads there,
the stacks of a running Java program are complete and have its methods, and its collections are
recorded.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "live"), str(TESTS / "lib")]
import jdks # noqa: E402
import live # noqa: E402
import vm # noqa: E402
from completeness import completeness # noqa: E402

SKEIN = os.environ.get("SKEIN", str(vm.BUILD / "skein"))
HZ = 199
LENGTHS = "10 30 90" # s, until there are enough samples
ENOUGH = 150 # samples in the second half
CHAIN = ("Shapes.main", "Shapes.chain", "Shapes.first", "Shapes.second", "Shapes.third",
         "Shapes.spin")
WARMING = 20 # rounds in which some exceptions are made before those that are counted
MADE = 60, 20 # exceptions by place: workloads/java/Made.java
MAKING = f"""
mkfifo /tmp/numbers
$java -XX:+UseSerialGC -Xmx64m -cp /classes Made </tmp/numbers >/out/made &
made=$!
exec 3>/tmp/numbers
until grep -q ready /out/made; do sleep 0.5; done
skein record -e exceptions,alloc --wait-names 60s -p $made -o /out/made.skein 2>>/out/err &
recorder=$!
# the probes are attached: by a link, or by more events than one for each CPU
until grep -qs uprobe_multi /proc/$recorder/fdinfo/* ||
    [ "$(ls -l /proc/$recorder/fd | grep -c perf_event)" -gt 3 ]; do sleep 0.5; done
for round in $(seq {WARMING}); do
    echo 1 1 1 >&3
    until [ "$(grep -c made /out/made)" = $round ]; do sleep 0.2; done
    sleep 0.5
done
echo {MADE[0]} {MADE[1]} 0 >&3
until [ "$(grep -c made /out/made)" -gt {WARMING} ]; do sleep 0.2; done
kill -INT $recorder
wait $recorder || status=$?
kill $made
"""
JOB = f"""
java=/jre/bin/java
# an emulated JVM may end before it has begun
for try in 1 2 3 4 5; do
    $java -XX:+UseSerialGC -Xmx64m -XX:CompileCommand=quiet \
        -XX:CompileCommand=dontinline,Shapes::* -cp /classes Shapes chain 10000 >/out/said 2>&1 &
    # the program is running when it has used some seconds of CPU
    while kill -0 $! && [ "$(cut -d ' ' -f 14 /proc/$!/stat)" -le 500 ]; do sleep 0.5; done
    kill -0 $! && break
    tail -n 20 /out/said
done
# a busy host gives an emulated CPU little time
for seconds in {LENGTHS}; do
    skein record -e all -F {HZ} --wait-names 60s -p $! -d ${{seconds}}s \\
        -o /out/java.skein 2>/out/err
    status=$?
    samples=$(skein query /out/java.skein --tsv "SELECT count(*) FROM sample WHERE time > \
        (SELECT start + 500000000 * $seconds FROM host)" | tail -n 1)
    [ "$samples" -lt {ENOUGH} ] || break
done
echo $seconds >/out/seconds
kill $!
skein record -e gc,jvm -o /out/gc.skein -- $java -XX:+UseSerialGC -Xmx24m \\
    -Xlog:gc:file=/out/gc.log -cp /classes Soak 2>>/out/err || status=$?
{MAKING}
cat /out/err | tr '\\r' '\\n' | tail -n 5
exit $status
"""


def runtime(folder):
    """Make a small runtime with only the base module; return its files by their path."""
    home = pathlib.Path(folder, "jre")
    subprocess.run([jdks.tool("jlink", 17), "--add-modules", "java.base", "--no-header-files",
                    "--no-man-pages", "--output", home], check=True, capture_output=True)
    return {f"/jre/{path.relative_to(home)}": path for path in home.rglob("*")
            if path.is_file() and "legal" not in path.parts}


@unittest.skipUnless(jdks.tool("jlink", 17), "no JDK 17 with jlink")
class OnDebian12(unittest.TestCase):
    suite = "bookworm-security"

    @classmethod
    def setUpClass(cls):
        kernel = vm.kernel_or_skip(cls.suite)
        classes = [path for source in ("Shapes.java", "Soak.java", "Made.java")
                   for path in pathlib.Path(jdks.classes(source)).glob("*.class")]
        with tempfile.TemporaryDirectory() as folder:
            files = {f"/classes/{path.name}": path for path in classes}
            cls.run_ = vm.Run(kernel, JOB, {"/bin/skein": SKEIN, **runtime(folder), **files},
                              limit=400)
        cls.addClassCleanup(cls.run_.close)
        print(f"Linux {kernel.release} on {cls.run_}")
        print(cls.run_.printed)

    def test_succeeds(self):
        self.assertEqual(self.run_.status, 0)

    def test_stacks(self):
        path = self.run_.out / "java.skein"
        half = f"{int((self.run_.out / 'seconds').read_text()) // 2}s"
        spinning = [s for s in live.Trace(path).stacks(comm="java")
                    if "Shapes.spin" in s.names]
        if live.count(spinning) < ENOUGH // 3:
            self.skipTest(f"{live.count(spinning)} samples: the host had no time for this machine")
        for stack in spinning:
            methods = tuple(name for name in stack.names if name.startswith("Shapes."))
            self.assertEqual(methods, CHAIN)
        # on the slow machine, the walker is loaded and the tables are read for seconds
        found = completeness(SKEIN, path, comm="java", more=("--from", half))
        self.assertGreaterEqual(found.share, 0.95, found)

    def test_collections(self):
        """Before Linux 6.6, probes are attached one by one; they miss no collection either."""
        trace = live.Trace(self.run_.out / "gc.skein")
        log = (self.run_.out / "gc.log").read_text()
        found = {r["name"]: r["n"] for r in trace.query(
            "SELECT name, count(*) AS n FROM spans WHERE kind = 'collection' GROUP BY name")}
        self.assertEqual(found.get("Copy", 0) + found.get("MarkSweepCompact", 0),
                         len(re.findall(r"Pause (?:Young|Full) .*ms$", log, re.M)), found)
        self.assertGreater(found["Copy"], 3)
        self.assertEqual(found["MarkSweepCompact"], len(re.findall("Pause Full .*ms$", log, re.M)))
        names = {r["runtime_name"] for r in trace.query("SELECT runtime_name FROM thread")}
        self.assertLessEqual({f"a worker with a long name {i}" for i in range(4)}, names)
        self.assertEqual(trace.losses("PROBES_LOST"), 0)

    def test_exceptions(self):
        """Each exception has the stack with the place where it was made."""
        trace = live.Trace(self.run_.out / "made.skein")
        event = trace.one("SELECT id FROM event WHERE name = 'exceptions'")
        found = [trace.stack(r["thread"], r["stack"], 1, r["weight"]).names for r in trace.query(
            f"SELECT * FROM sample WHERE event = {event} ORDER BY time")]
        lost = sum(r["count"] for r in trace.query(f"SELECT * FROM loss WHERE event = {event}"))
        places = [next((p for p in ("often", "seldom") if f"Made.{p}" in names), None)
                  for names in found]
        print(f"{len(found)} stacks of exceptions, {lost} missed; without a place: "
              f"{places.count(None)}")
        first, rest = places[:-sum(MADE)], places[-sum(MADE):]
        if lost or "seldom" not in first[-2:]:
            self.skipTest(f"{lost} stacks missed, {first}: the host had no time for this machine")
        self.assertEqual((rest.count("often"), rest.count("seldom")), MADE)
        for names in found[-sum(MADE):]:
            self.assertIn("Made.main", names)
            self.assertEqual(names[-1], "JVM_FillInStackTrace")


@unittest.skipUnless(live.LONG, "the long form: SKEIN_LONG=1")
class OnBackports(OnDebian12):
    suite = "bookworm-backports"


if __name__ == "__main__":
    unittest.main()
