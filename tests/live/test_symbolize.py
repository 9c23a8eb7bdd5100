# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Names for a program without symbols: afterwards by skein symbolize, and from debuginfod servers,
Debian's own and some that are slow, hang, lie or send without end.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import debuginfod_servers as servers
import live
from live import SKEIN

SOURCE = r"""
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline, noclone)) static void hash_blocks(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink = sink * 31 + i;
}
__attribute__((noinline, noclone)) static void parse_input(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink ^= i * i;
	hash_blocks(n);
}
%s
int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	for (unsigned long i = 0; i < rounds; i++)
		parse_input(100000);
	return 0;
}
"""
ROUNDS = 2000 # about half a second


def run(*args, **more):
    return subprocess.run([str(a) for a in args], check=True, capture_output=True, **more)


class Program:
    """A program without symbols, and its debug file in another folder."""

    def __init__(self, folder, name="busy", more="", rename=None):
        self.path, self.debug = folder / name, folder / "debug" / f"{name}.debug"
        self.debug.parent.mkdir(exist_ok=True)
        source, made = folder / f"{name}.c", folder / f"{name}.o"
        source.write_text(SOURCE % more)
        run("gcc", "-O1", "-g", "-c", "-o", made, source)
        if rename:
            run("objcopy", f"--redefine-sym={rename}", made)
        run("gcc", "-o", self.path, made)
        run("objcopy", "--only-keep-debug", self.path, self.debug)
        run("strip", "-s", self.path)
        notes = run("readelf", "-n", self.path, env=dict(os.environ, LC_ALL="C")).stdout.decode()
        self.build_id = notes.split("Build ID:")[1].split()[0]


class SymbolizeTest(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if os.geteuid():
            raise unittest.SkipTest("recording needs root")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="symbolize-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.program = Program(cls.folder)
        cls.master = cls.folder / "master.skein"
        run(SKEIN, "record", "-F", 999, "--wait-names", "20s", "-o", cls.master, "--",
            cls.program.path, ROUNDS)
        # on a busy machine names of other files may not be ready by the end
        run(SKEIN, "symbolize", cls.master)

    def setUp(self):
        super().setUp()
        self.cache = self.tmp / "cache"
        self.cache.mkdir(mode=0o700)
        self.env = live.clean_environment(CACHE_DIRECTORY=str(self.cache))
        self.env.pop("DEBUGINFOD_URLS", None)

    def recorded(self):
        """Return the path of a copy of a recording of the program."""
        self.files += 1
        return pathlib.Path(shutil.copy(self.master, self.tmp / f"copy-{self.files}.skein"))

    def without_program(self):
        """Move the program away until the test ends."""
        away = self.program.path.with_suffix(".away")
        self.program.path.rename(away)
        self.addCleanup(away.rename, self.program.path)

    def symbolize(self, trace, *args, status=0, **env):
        done = subprocess.run([SKEIN, "symbolize", *map(str, args), str(trace)],
                              capture_output=True, text=True, timeout=60,
                              env=dict(self.env, **env))
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def asked(self, trace, server, status=0, program=None, **env):
        done = self.symbolize(trace, "--json", f"--debuginfod={server.url}", status=status, **env)
        result = json.loads(done.stdout)
        if program:
            self.assertIn(str(program.path), [m["path"] for m in result["modules"]])
        return result

    def module(self, result):
        return next(m for m in result["modules"] if m["path"] == str(self.program.path))

    def kept(self):
        """What the cache of files from servers holds."""
        folder = self.cache / "debuginfod"
        return sorted(p.name for p in folder.iterdir()) if folder.exists() else []

    def names(self, path):
        return live.functions(live.Trace(path).stacks(comm="busy"))

    def check_named(self, path):
        stacks = live.Trace(path).stacks(comm="busy")
        self.assertGreater(live.share(stacks, "hash_blocks"), 0.1)
        self.assertGreater(live.share(stacks, "main"), 0.9)

    def named_share(self, path):
        report = run(SKEIN, "report", "--json", path).stdout
        return json.loads(report)["named"]

    def serve(self, server):
        self.addCleanup(server.end)
        return server


class Local(SymbolizeTest):
    def debug_file(self, program):
        """Install a debug file where Debian's packages have theirs."""
        path = pathlib.Path(f"/usr/lib/debug/.build-id/{program.build_id[:2]}/"
                            f"{program.build_id[2:]}.debug")
        new = [p for p in path.parents if not p.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        self.addCleanup(lambda: [p.rmdir() for p in new])
        self.addCleanup(path.unlink, missing_ok=True)
        return path

    def test_as_a_user_would(self):
        trace = self.recorded()
        before = trace.read_bytes()
        report = run(SKEIN, "report", trace).stdout.decode()
        self.assertRegex(report, r"Names +\d+\.\d % of self time named; without: busy \d")
        self.assertIn(self.program.build_id, report)
        self.assertIn("skein symbolize", report)
        self.assertLess(self.named_share(trace)["share"], 0.5)

        done = self.symbolize(trace)  # nothing to be had yet
        self.assertRegex(done.stderr, r": 0 of \d+ frames that had no name are named now")
        self.assertIn("no debug file of it here", done.stderr)
        self.assertEqual(trace.read_bytes(), before)

        shutil.copy(self.program.debug, self.debug_file(self.program))
        trace.chmod(0o640)
        done = self.symbolize(trace)
        self.assertRegex(done.stderr, r": (\d+) of \1 frames that had no name are named now")
        self.check_named(trace)
        self.assertGreater(self.named_share(trace)["share"], 0.9)
        self.assertEqual(trace.stat().st_mode & 0o777, 0o640)
        self.assertEqual([p.name for p in self.tmp.iterdir() if "names-" in p.name], [])
        # everything but names is as it was
        old = self.tmp / "old.skein"
        old.write_bytes(before)
        for table in ("sample", "stack", "process", "mapping", "account", "loss", "info"):
            everything = f"SELECT * FROM {table}"
            self.assertEqual(live.Trace(old).query(everything), live.Trace(trace).query(everything))
        self.assertIn("has a name", self.symbolize(trace).stderr)

    def test_output(self):
        trace = self.recorded()
        before = trace.read_bytes()
        shutil.copy(self.program.debug, self.debug_file(self.program))
        named = self.tmp / "named.skein"
        named.write_text("older")
        link = self.tmp / "link"
        link.symlink_to(self.tmp)
        self.symbolize(trace, "-o", link / "named.skein")
        self.check_named(named)
        self.assertEqual(trace.read_bytes(), before)
        self.assertEqual((self.tmp / "named.skein.old").read_text(), "older")

    def test_another_build(self):
        """Neither a debug file nor a program of another build gives names."""
        trace = self.recorded()
        other = Program(self.tmp, "other", "void other(void) { sink = 7; }")
        shutil.copy(other.debug, self.debug_file(self.program))
        result = json.loads(self.symbolize(trace, "--json").stdout)
        self.assertEqual(result["named_frames"], 0)
        self.assertIn("no debug file", self.module(result)["reason"])
        self.without_program()
        shutil.copy(other.path, self.program.path)
        self.addCleanup(self.program.path.unlink, missing_ok=True)
        result = json.loads(self.symbolize(trace, "--json").stdout)
        self.assertIn("of another build", self.module(result)["reason"])
        self.program.path.unlink()
        result = json.loads(self.symbolize(trace, "--json").stdout)
        self.assertIn("no such file", self.module(result)["reason"])
        self.assertEqual(result["named_frames"], 0)

    def test_hostile_trace(self):
        """Triggers of the trace's schema do not run, and its paths are opened with care."""
        trace = self.recorded()
        shutil.copy(self.program.debug, self.debug_file(self.program))
        fifo = self.tmp / "fifo"
        os.mkfifo(fifo)
        run("sqlite3", trace,
            "CREATE TRIGGER harm AFTER UPDATE ON frame BEGIN DELETE FROM process; END;"
            "CREATE TRIGGER more AFTER INSERT ON function BEGIN DELETE FROM process; END;"
            "INSERT INTO mapping (id, host, kind, process, size, path, build_id) SELECT "
            "(SELECT max(id) + 1 FROM mapping), 1, kind, 0, 0, "
            f"'{fifo}', '../../etc' FROM mapping WHERE path LIKE '%busy';"
            "INSERT INTO frame (id, kind, mapping, address, function, line, flags) SELECT "
            "max(id) + 1, (SELECT frame.kind FROM frame JOIN mapping ON mapping.id = frame.mapping "
            "WHERE path LIKE '%busy' LIMIT 1), (SELECT max(id) FROM mapping), 4096, 0, 0, 0 "
            "FROM frame;")
        processes = live.Trace(trace).one("SELECT count(*) AS n FROM process")
        self.symbolize(trace)
        self.check_named(trace)
        self.assertEqual(live.Trace(trace).one("SELECT count(*) AS n FROM process"), processes)

    def test_mistakes(self):
        trace = self.recorded()
        for args, status, words in (
                (["--debuginfod"], 2, "which debuginfod servers?"),
                (["--debuginfod=ftp://x"], 2, "no address of a debuginfod server"),
                (["-o", self.tmp], 1, "directory"),
                (["-o", self.tmp / "no/x.skein"], 1, "cannot write")):
            done = self.symbolize(trace, *args, status=status)
            self.assertIn(words, done.stderr)
        done = self.symbolize(trace, "--debuginfod=http://127.0.0.1:1", status=1, PATH="/nowhere")
        self.assertIn("debuginfod-find is not installed", done.stderr)
        self.assertIn("apt install debuginfod", done.stderr)


@unittest.skipIf(servers.MISSING, servers.MISSING)
class Servers(SymbolizeTest):
    def debian(self):
        server = self.serve(servers.Debian(self.program.debug.parent, self.tmp / "server.log"))
        server.wait_for(self.program.build_id)
        return server

    def test_debian_server(self):
        trace, server = self.recorded(), self.debian()
        result = self.asked(trace, server)
        self.assertEqual(result["debuginfod"]["found"], 1, result)
        self.assertTrue(self.module(result)["fetched"])
        self.check_named(trace)
        self.assertEqual(self.kept(), [f"{self.program.build_id}.debug"])
        self.assertEqual((self.cache / "debuginfod").stat().st_mode & 0o777, 0o700)
        # the file is cached: no server is needed any more
        server.end = lambda: None
        servers.Debian.end(server)
        again = self.recorded()
        result = self.asked(again, server)
        self.assertEqual((result["debuginfod"]["cached"], result["debuginfod"]["bytes"]), (1, 0))
        self.check_named(again)

    def test_record_and_environment(self):
        server = self.debian()
        # without the option nobody is asked
        env = dict(self.env, DEBUGINFOD_URLS=server.url)
        trace = self.record("-F", 999, "--", self.program.path, ROUNDS, env=env).path
        self.assertLess(self.named_share(trace)["share"], 0.5)
        self.assertEqual(self.kept(), [])
        trace = self.record("-F", 999, "--debuginfod", "--", self.program.path, ROUNDS,
                            env=env).path
        self.check_named(trace)
        self.assertGreater(self.named_share(trace)["share"], 0.9)

    def test_top(self):
        server = self.debian()
        busy = subprocess.Popen([self.program.path, "100000000"])
        self.addCleanup(busy.wait)
        self.addCleanup(busy.kill)
        for _ in range(20):
            shown = subprocess.run(
                [SKEIN, "top", "-b", "-n", "2", "-d", "1s", "-F", "199", "-p", str(busy.pid),
                 f"--debuginfod={server.url}"],
                capture_output=True, text=True, env=self.env, check=True).stdout
            last = shown.rsplit("skein top:", 1)[1]
            if "hash_blocks" in last:
                break
        self.assertIn("hash_blocks", last)
        self.assertIn("of self time named", last)
        self.assertEqual(self.kept(), [f"{self.program.build_id}.debug"])

    def check_nothing(self, trace, server, reason, counted, **env):
        """The server's answer gives no names, a reason is shown, and nothing is cached."""
        before = trace.read_bytes()
        result = self.asked(trace, server, **env)
        self.assertEqual(result["named_frames"], 0, result)
        self.assertIn(reason, self.module(result)["reason"])
        self.assertGreaterEqual(result["debuginfod"][counted], 1, result)
        self.assertEqual(self.kept(), [])
        self.assertEqual(trace.read_bytes(), before)

    def test_lies(self):
        trace = self.recorded()
        other = Program(self.tmp, "other", "void other(void) { sink = 7; }")
        for data in (other.debug.read_bytes(), other.path.read_bytes(), b"\x7fELF" * 100,
                     b"#!/bin/sh\n"):
            server = self.serve(servers.Harmful(servers.sends(data)))
            self.check_nothing(trace, server, "of another build", "other_build")
            self.assertIn(self.program.build_id, server.build_ids())

    def test_lies_about_a_program(self):
        """A server's program of another build is refused, too."""
        trace = self.recorded()
        other = Program(self.tmp, "other", "void other(void) { sink = 7; }")
        self.without_program()
        server = self.serve(servers.Harmful(servers.sends(other.path.read_bytes())))
        self.check_nothing(trace, server, "of another build", "other_build")
        self.assertIn("/executable", server.requests[0])

    def test_nothing(self):
        trace = self.recorded()
        server = self.serve(servers.Harmful(lambda h: h.send_error(404)))
        self.check_nothing(trace, server, "do not have it", "none")

    def test_hangs(self):
        trace = self.recorded()
        for answer in (servers.hangs, servers.drips):
            server = self.serve(servers.Harmful(answer))
            begun = time.monotonic()
            self.check_nothing(trace, server, "in time", "silent", DEBUGINFOD_TIMEOUT="1",
                               DEBUGINFOD_MAXTIME="2")
            self.assertLess(time.monotonic() - begun, 30)

    def test_slow(self):
        """A slow server's file is used, and a recording is complete before it comes."""
        server = self.serve(servers.Harmful(servers.sends(self.program.debug.read_bytes(), 2)))
        trace = self.recorded()
        result = self.asked(trace, server)
        self.assertEqual(result["debuginfod"]["found"], 1)
        self.check_named(trace)

    def test_without_end(self):
        trace = self.recorded()
        server = self.serve(servers.Harmful(servers.sends_without_end))
        self.check_nothing(trace, server, "too large", "large", DEBUGINFOD_MAXSIZE="3000000")
        large = 64 << 20
        self.assertLess(sum(p.stat().st_size for p in self.cache.rglob("*") if p.is_file()), large)

    def test_ctrl_c(self):
        """Ctrl-C ends the search; the trace is as it was, and no process or folder is left."""
        trace = self.recorded()
        before = trace.read_bytes()
        server = self.serve(servers.Harmful(servers.hangs))
        search = subprocess.Popen([SKEIN, "symbolize", "--json", f"--debuginfod={server.url}",
                                   trace], stdout=subprocess.PIPE, text=True, env=self.env)
        self.wait_for(lambda: server.requests)
        folder = next((self.cache / "debuginfod").glob(".fetch-*"))
        self.check_helper(search.pid)
        search.send_signal(live.signal.SIGINT)
        result = json.loads(search.communicate(timeout=20)[0])
        self.assertTrue(result["cut_short"])
        self.assertEqual(trace.read_bytes(), before)
        self.assertFalse(folder.exists())
        self.assertEqual(self.kept(), [])

    def check_helper(self, pid):
        """debuginfod-find and its helper have no privileges, and a user of their own."""
        found = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/status"):
            try:
                status = dict(line.split(":\t", 1) for line in path.read_text().splitlines()
                              if ":\t" in line)
            except OSError:
                continue
            if status["Name"] not in ("skein-fetch", "debuginfod-find"):
                continue
            if status["Name"] == "skein-fetch" and int(status["PPid"]) != pid:
                continue
            found += 1
            self.assertGreaterEqual(int(status["Uid"].split()[0]), 0x70000000)
            for which in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                self.assertEqual(int(status[which], 16), 0, (status["Name"], which))
            self.assertEqual(status["NoNewPrivs"].strip(), "1")
        self.assertGreaterEqual(found, 2)

    def test_hostile_names(self):
        """A name made to harm stays text."""
        harm = Program(self.tmp, "harm", "void harm(unsigned long n) { hash_blocks(n); sink++; }"
                       "__attribute__((constructor)) static void begin(void) "
                       "{ for (int i = 0; i < 300; i++) harm(1000000); }",
                       rename="harm=x\033]0;owned\007<script>")
        trace = self.record("-F", 999, "--", harm.path, 1, env=self.env).path
        server = self.serve(servers.Debian(harm.debug.parent, self.tmp / "server.log"))
        server.wait_for(harm.build_id)
        self.asked(trace, server, program=harm)
        report = run(SKEIN, "report", trace).stdout
        self.assertNotIn(b"\x1b]0", report)
        self.assertIn(b"owned", report)
        page = self.tmp / "x.html"
        run(SKEIN, "export", trace, "-o", page)
        self.assertNotIn(b"owned\x07<script>", page.read_bytes())


if __name__ == "__main__":
    live.main()
