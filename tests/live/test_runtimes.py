# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test what is said about programs of runtimes whose frames skein does not read: the runtime, its
share of the samples, and what gives names; and that nothing is said when there are names.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import jdks
import live
import stops

FREQUENCY = 199
ENOUGH = 20  # samples
TRIES = 6
LIBJVM = "lib/server/libjvm.so"
SPIN = "const t = Date.now(); let x = 0; while (Date.now() - t < %d) " \
    "for (let i = 0; i < 1e5; i++) x = (x * 31 + i) %% 1000003; console.log(x);"
RUBY = "t = Time.now; x = 0; while Time.now - t < %d / 1000.0; " \
    "100000.times { |i| x = (x * 31 + i) %% 1000003 }; end; puts x"
ERLANG = "F = fun F(0) -> ok; F(N) -> F(N - 1) end, " \
    "G = fun G(T) -> case erlang:monotonic_time(millisecond) < T of true -> F(100000), G(T); " \
    "_ -> ok end end, G(erlang:monotonic_time(millisecond) + %d), halt()."

# name of the runtime, program, arguments with the program's text, setting that gives names
CASES = {
    "Node.js": ("node", lambda ms, *more: ["node", *more, "-e", SPIN % ms], "--perf-basic-prof"),
    "Ruby": ("ruby", lambda ms, *more: ["ruby", *more, "-e", RUBY % ms], "--yjit-perf"),
    "Erlang": ("erl", lambda ms, *more: ["erl", *more, "-noshell", "-eval", ERLANG % ms],
               "+JPperf true"),
}


def shown(*args):
    return subprocess.run([live.SKEIN, *args], capture_output=True, text=True, timeout=120,
                          check=True, env=live.clean_environment()).stdout


def in_doctor(pid_of, name):
    """Return what doctor says about the processes of one program."""
    path = f"/proc/{pid_of.pid}/exe"
    return [r["support"] for r in json.loads(shown("doctor", "--json"))["runtimes"]
            if r["name"] == name and os.path.realpath(path) == r["path"]]


class Runtimes(live.LiveTest):
    def recorded(self, command, is_enough):
        """Record a program until its report has enough samples; return the trace and the report."""
        milliseconds = 1000
        for _ in range(TRIES):
            trace = self.record("-F", FREQUENCY, "--", *command(milliseconds))
            report = json.loads(shown("report", "--json", trace.path))
            if is_enough(report):
                return trace, report
            milliseconds *= 2
        self.fail("too few samples")

    def check_said(self, name, command, setting):
        def unnamed(report):
            return next((r for r in report.get("unnamed_runtimes", []) if r["name"] == name), None)

        trace, report = self.recorded(
            command, lambda r: unnamed(r) and unnamed(r)["samples"] >= ENOUGH)
        said = unnamed(report)
        self.assertIn(setting, said["names"])
        self.assertAlmostEqual(said["share"] * report["samples"], said["samples"], delta=0.5)
        self.assertRegex(shown("report", trace.path),
                         f"(?m)^{re.escape(name)} +[0-9.]+ % of samples without names")
        self.assertIn(said["names"], shown("export", "-f", "html", trace.path))

    def check_named(self, name, command):
        _, report = self.recorded(command, lambda r: r["stacks"]["due"] >= 2 * ENOUGH)
        self.assertNotIn(name, str(report.get("unnamed_runtimes")))

    def check_doctor(self, name, command, setting):
        plain = self.start(*command(600000))
        self.wait_for(lambda: any(setting in text for text in in_doctor(plain, name)))
        self.end(plain)
        named = self.start(*command(600000, *setting.split()))
        self.wait_for(lambda: "names from its perf map" in in_doctor(named, name))

    def check(self, name):
        program, words, setting = CASES[name]
        if not shutil.which(program):
            self.skipTest(f"{program} is not installed")

        def command(milliseconds, *more):
            # with its setting, Node.js writes a log into the folder in which it runs
            return ["env", "-C", str(self.tmp), *words(milliseconds, *more)]
        self.check_said(name, command, setting)
        self.check_named(name, lambda ms: command(ms, *setting.split()))
        if name != "Erlang":  # which a script of another name starts
            self.check_doctor(name, command, setting)

    def test_node(self):
        self.check("Node.js")

    def test_ruby(self):
        self.check("Ruby")

    def test_erlang(self):
        self.check("Erlang")

    def jdk_without_tables(self):
        """Return a copy of a JDK whose libjvm lacks an entry that the walker of frames needs."""
        home, copy = jdks.tool("java").resolve().parents[1], self.tmp / "jdk"
        shutil.copytree(home, copy, copy_function=os.symlink, ignore_dangling_symlinks=True)
        for name in ("bin/java", "lib/libjli.so", LIBJVM):
            (copy / name).unlink()
            shutil.copy2(home / name, copy / name)
        library = copy / LIBJVM
        library.write_bytes(library.read_bytes().replace(b"\0_frame_complete_offset\0",
                                                         b"\0_frame_complete_offsex\0"))
        return copy

    def java_in_doctor(self, home):
        return [r["support"] for r in json.loads(shown("doctor", "--json"))["runtimes"]
                if r["path"] == str(home / LIBJVM)]

    def record_spinning(self, pid, is_enough):
        """
        Record a JVM until its report and the ends of its stacks with a Shapes.spin() are enough: it
        starts, and compiles its methods, when the machine lets it.
        """
        for tries in range(TRIES):
            trace = self.record("-p", pid, "-F", FREQUENCY, "-d", f"{1 << tries}s")
            report = json.loads(shown("report", "--json", trace.path))
            stacks = [stops.parts(trace, row["stack"])
                      for row in trace.query("SELECT * FROM sample")]
            spinning = [end for _, _, names, end in stacks
                        if any("Shapes.spin" in name for name in names)]
            if is_enough(report, spinning):
                return report, spinning
        self.fail(f"after {TRIES} recordings: {report}")

    def write_perf_map(self, version, pid):
        subprocess.run([jdks.tool("jcmd", version), str(pid), "Compiler.perfmap"], check=True,
                       capture_output=True)

    @unittest.skipIf(jdks.missing() or not jdks.tool("jcmd"), "no JDK 17 or 25 with jcmd")
    def test_java_whose_frames_cannot_be_read(self):
        """What the JVM compiled has names when jcmd has made it write a perf map."""
        home = self.jdk_without_tables()
        version = jdks.release_of(home)
        program = subprocess.Popen([home / "bin" / "java",
                                    *jdks.command(version, "Shapes", "chain", 3600)[1:]])
        self.addCleanup(self.end, program)
        self.addCleanup(pathlib.Path(f"/tmp/perf-{program.pid}.map").unlink, missing_ok=True)
        self.wait_for(lambda: any("jcmd PID Compiler.perfmap" in text and "not read" in text
                                  for text in self.java_in_doctor(home)))

        report, spinning = self.record_spinning(
            program.pid, lambda report, _: sum(r["samples"] for r in
                                               report.get("unnamed_runtimes", [])) >= ENOUGH)
        self.assertEqual(spinning, [])
        self.assertIn("jcmd PID Compiler.perfmap", str(report["unnamed_runtimes"]))

        def mostly_named(report, spinning):
            due = report["stacks"]["due"]
            if due >= ENOUGH and len(spinning) >= 0.8 * due:
                return True
            self.write_perf_map(version, program.pid)  # some methods had not been compiled
            return False

        self.write_perf_map(version, program.pid)
        report, spinning = self.record_spinning(program.pid, mostly_named)
        self.assertNotIn(-1, spinning)  # frames may be missing
        self.assertIn("names from its perf map", "".join(self.java_in_doctor(home)))

    def begin_in_container(self, home):
        """
        Return the pid of a JVM that is process 1 of its own namespace, with self.tmp as its /tmp.
        """
        shutil.copytree(jdks.classes("Shapes.java"), self.tmp / "classes")
        command = jdks.command(jdks.release_of(home), "Shapes", "chain", 3600)[1:]
        command[command.index("-cp") + 1] = "/tmp/classes"
        outer = self.start("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child",
                           "sh", "-c", 'mount --bind "$1" /tmp && shift && exec "$@"', "sh",
                           self.tmp, "/tmp/jdk/bin/java", *command)
        return self.wait_for(lambda: live.child_named(outer.pid, "java"))

    @unittest.skipIf(jdks.missing() or not jdks.tool("jcmd"), "no JDK 17 or 25 with jcmd")
    def test_java_in_a_container(self):
        """The perf map is in the container's /tmp, under the number that the JVM has there."""
        home = self.jdk_without_tables()
        version, pid = jdks.release_of(home), self.begin_in_container(home)
        jcmd = ["nsenter", "--mount", "--pid", f"--target={pid}", jdks.tool("jcmd", version), "1",
                "Compiler.perfmap"]
        self.assertFalse(os.path.exists("/tmp/perf-1.map"))

        def mostly_named(report, spinning):
            due = report["stacks"]["due"]
            if due >= ENOUGH and len(spinning) >= 0.8 * due:
                return True
            subprocess.run(jcmd, check=False, capture_output=True)  # once the JVM has started
            return False

        self.record_spinning(pid, mostly_named)
        self.assertTrue((self.tmp / "perf-1.map").exists())
        self.assertFalse(os.path.exists("/tmp/perf-1.map"))


if __name__ == "__main__":
    live.main()
