# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test the names of frames: from every source of names, and never a wrong one."""

import lzma
import os
import shutil
import signal
import subprocess
import sys

import live
from live import FRAME, MAPPING, SKEIN, workload

STARTS = ("_start", "clone", "clone3", "__clone3")
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"


def run(*args, **more):
    return subprocess.run([str(a) for a in args], check=True, capture_output=True, **more)


def build_id(path):
    for line in run("readelf", "-n", path).stdout.decode().splitlines():
        if "Build ID:" in line:
            return line.split()[-1]
    return None


class Names(live.LiveTest):
    def profile(self, *command, hz=499):
        return self.record("-F", hz, "--", *command)

    def loop(self, program, seconds=0.5):
        return self.profile(program, seconds).stacks(comm=os.path.basename(program))

    def check_named(self, stacks):
        self.assertGreater(live.share(stacks, "loop_inner"), 0.9)
        self.assertGreater(live.share(stacks, "loop_outer"), 0.9)
        self.assertGreater(live.share(stacks, "main"), 0.9)

    def test_kernel(self):
        trace = self.profile(workload("syscalls"), 0.6)
        stacks = trace.stacks(comm="syscalls")
        self.assertGreater(live.share(stacks, "kernel_work"), 0.9)
        kernel = [s for s in stacks if FRAME["KERNEL"] in s.kinds]
        self.assertGreater(live.count(kernel), 0.8 * live.count(stacks))
        read = [s for s in kernel
                if any("read_zero" in n or "read_iter_zero" in n for n in s.names)]
        self.assertGreater(live.count(read), 0.8 * live.count(kernel))
        self.assertGreater(live.share(kernel, "ksys_read"), 0.7)
        # the kernel frames are above the user frames
        for s in kernel:
            first = s.kinds.index(FRAME["KERNEL"])
            self.assertEqual(set(s.kinds[first:]), {FRAME["KERNEL"]}, s.names)
        unnamed = [s for s in kernel if any(n.startswith("[") and k == FRAME["KERNEL"]
                                            for n, k in zip(s.names, s.kinds))]
        self.assertLess(live.count(unnamed), 0.02 * live.count(kernel), unnamed[:3])

    def test_vdso(self):
        trace = self.profile(workload("vdso"), 0.5)
        stacks = trace.stacks(comm="vdso")
        vdso = {r["id"] for r in trace.query("SELECT * FROM mapping")
                if r["kind"] == MAPPING["VDSO"]}
        self.assertTrue(vdso)
        named = [s for s in stacks if any("clock_gettime" in n for n in s.names)]
        self.assertGreater(live.count(named), 0.5 * live.count(stacks))
        inside = trace.query("SELECT function.name AS name FROM frame JOIN function "
                             "ON function.id = frame.function WHERE frame.mapping IN (%s)"
                             % ",".join(map(str, vdso)))
        self.assertTrue(any("clock_gettime" in r["name"] for r in inside), inside)

    def forget_map(self, pid):
        path = live.pathlib.Path(f"/tmp/perf-{pid}.map")
        self.addCleanup(path.unlink, missing_ok=True)
        return path

    def check_jit(self, stacks, reported, prefix, samples=()):
        functions = live.functions(stacks)
        self.assertLessEqual({f"{prefix} first (a b)", f"{prefix} second", f"{prefix} third"},
                             functions)
        self.assertNotIn(f"{prefix} never shown", functions)
        self.assertGreater(live.share(stacks, "run_phase"), 0.9)
        second = [t for t, _, s in samples if f"{prefix} second" in s.names]
        self.assertTrue(all(reported["first"] <= t <= reported["second"] for t in second))
        self.assertGreater(len(second), 100)
        # skein reads the map about once a second; afterwards the later line counts
        late = [s for t, _, s in samples if reported["third"] - 1e9 < t < reported["third"]]
        self.assertGreater(live.share(late, f"{prefix} third"), 0.9)
        self.assertNotIn(f"{prefix} first (a b)", live.functions(late))

    def test_perf_map(self):
        trace = self.profile(workload("jit"), 0.5, "jitted")
        reported = live.json.loads(trace.done.out)
        stacks = trace.stacks(comm="jit")
        self.forget_map(stacks[0].process["pid"])
        self.check_jit(stacks, reported, "jitted", trace.samples())
        kinds = {k for s in stacks for n, k in zip(s.names, s.kinds) if n.startswith("jitted")}
        self.assertEqual(kinds, {FRAME["JIT"]})

    def test_perf_map_that_is_there_before(self):
        target = self.start(workload("jit"), 0.4, "early")
        path = self.forget_map(target.pid)
        self.wait_for(path.exists)
        target.send_signal(signal.SIGSTOP)
        recording = self.begin("-p", target.pid, "-F", 499)
        target.send_signal(signal.SIGCONT)
        target.wait()
        functions = live.functions(self.finish(recording).stacks())
        self.assertIn("early third", functions)
        self.assertNotIn("early never shown", functions)

    def test_perf_maps_of_two_containers(self):
        """
        Both processes are pid 1 of their own namespace and write /tmp/perf-1.map to their own
        /tmp.
        """
        script = ('mkdir "$1" && mount -t tmpfs none "$1" && cp "$2" "$1/jit" && '
                  'mount --bind "$1" /tmp && exec unshare -p --fork /tmp/jit 0.3 "$3"')
        recording = self.begin("-a", "-F", 499)
        running = [self.start("unshare", "-m", "sh", "-c", script, "sh", self.tmp / name,
                              workload("jit"), name) for name in ("inner-one", "inner-two")]
        reported = [self.output(p) for p in running]
        trace = self.finish(recording)
        self.assertFalse(os.path.exists("/tmp/perf-1.map"))
        stacks = [s for s in trace.stacks(comm="jit") if s.process["exe"] == "/tmp/jit"]
        by_process = {}
        for s in stacks:
            by_process.setdefault(s.process["pid"], []).append(s)
        self.assertEqual(len(by_process), 2)
        seen = set()
        for mine in by_process.values():
            names = {n.split()[0] for n in live.functions(mine) if n.startswith("inner-")}
            self.assertEqual(len(names), 1, names)
            seen |= names
            self.assertEqual({s.process["ns_pid"] for s in mine}, {1})
            self.assertIn(f"{min(names)} second", live.functions(mine))
        self.assertEqual(seen, {"inner-one", "inner-two"})
        self.assertEqual(len(reported), 2)

    def perf_map_of_another(self, harm):
        """Start a loop of anonymous code whose perf map is damaged before skein reads the map."""
        target = self.start(workload("jit"), 100, "harmed")
        path = self.forget_map(target.pid)
        self.wait_for(lambda: path.exists() and "first (a b)\n" in path.read_text())
        text = path.read_text()
        harm(path, text)
        trace = self.record("-p", target.pid, "-F", 499, "-d", 0.7)
        self.end(target)
        return trace

    def test_perf_map_of_another_owner(self):
        trace = self.perf_map_of_another(lambda path, text: os.chown(path, 65534, 65534))
        self.assertNotIn("harmed first (a b)", live.functions(trace.stacks()))

    def test_perf_map_behind_a_symlink(self):
        def harm(path, text):
            secret = self.tmp / "secret"
            secret.write_text(text)
            path.unlink()
            path.symlink_to(secret)
        trace = self.perf_map_of_another(harm)
        self.assertNotIn("harmed first (a b)", live.functions(trace.stacks()))

    def test_perf_map_that_is_a_fifo(self):
        def harm(path, _):
            path.unlink()
            os.mkfifo(path)
        trace = self.perf_map_of_another(harm)
        self.assertGreater(live.count(trace.stacks()), 10)

    def test_perf_map_with_bad_lines(self):
        def harm(path, text):
            with path.open("wb") as file:
                file.write(b"not a line\nffffffffffffffff ffffffffffffffff wraps\n\0\0\0\n"
                           b"10 0 empty\n" + b"x" * 100000 + b"\n" + text.encode() + b"7f00 10 ha")
        trace = self.perf_map_of_another(harm)
        self.assertIn("harmed first (a b)", live.functions(trace.stacks()))

    def test_imports_are_one_line_of_a_tree(self):
        code = ("import sys, time\n"
                "def again():\n"
                "    end = time.monotonic() + 1\n"
                "    while time.monotonic() < end:\n"
                "        for name in [m for m in sys.modules if m.split('.')[0] == 'email']:\n"
                "            del sys.modules[name]\n"
                "        import email.mime.text\n"
                "again()\n")
        trace = self.record("-F", 499, "--", sys.executable, "-c", code)
        tree = run(SKEIN, "report", "--tree", trace.path).stdout.decode()
        self.assertRegex(tree, r"again \(<string>:2\)\n.*  \[importlib: \d+ frames\]\n", tree)
        self.assertNotIn("_call_with_frames_removed", tree)
        self.assertNotIn("exec_module", tree)
        self.assertIn("\n--full-names shows", tree)
        tree = run(SKEIN, "report", "--tree", "--full-names", trace.path).stdout.decode()
        self.assertIn("_call_with_frames_removed (<frozen importlib", tree)
        self.assertNotIn("[importlib: ", tree)

    def test_cxx(self):
        stacks = self.profile(workload("cxxnames"), 0.5).stacks(comm="cxxnames")
        self.assertGreater(
            live.share(stacks, "demo::Burner<unsigned long>::burn_in_template(unsigned long)"), 0.9)

    @live.unittest.skipUnless(os.path.exists(workload("rustnames")), "rustc is not installed")
    def test_rust(self):
        stacks = self.profile(workload("rustnames"), 0.5).stacks(comm="rustnames")
        functions = live.functions(stacks)
        wanted = "<rustnames::demo::Furnace as rustnames::demo::Burns>::burn_in_trait"
        self.assertTrue(any(n.startswith(wanted) for n in functions), sorted(functions))
        self.assertTrue(any("rustnames::demo::burn_in_generic" in n for n in functions))
        self.assertFalse([n for n in functions if n.startswith("_R") or n.startswith("_ZN")])

    def split(self, name):
        """Copy loop and move its symbols into NAME.debug."""
        path = self.copy("loop", name)
        debug = path.with_name(name + ".debug")
        run("objcopy", "--only-keep-debug", path, debug)
        run("strip", path)
        return path, debug

    def test_stripped(self):
        """
        Without symbols a frame has module and offset, never the name of a neighbouring function.
        """
        path, debug = self.split("bare")
        debug.unlink()
        hidden = live.pathlib.Path("/usr/lib/debug/.build-id") / build_id(path)[:2]
        self.assertFalse((hidden / (build_id(path)[2:] + ".debug")).exists())
        stacks = self.loop(path)
        functions = live.functions(stacks)
        self.assertFalse({"loop_inner", "loop_outer"} & functions)
        module = [s for s in stacks if any(n.startswith(f"[{path}+0x") for n in s.names)]
        self.assertGreater(live.count(module), 0.9 * live.count(stacks))
        folded = self.export(self.tmp / f"trace-{self.files}.skein", "-f", "folded").decode()
        self.assertIn("[bare", folded)

    def test_debuglink_beside_it(self):
        path, debug = self.split("linked")
        run("objcopy", f"--add-gnu-debuglink={debug}", path)
        self.check_named(self.loop(path))

    def test_debuglink_in_its_folder(self):
        path, debug = self.split("linked")
        run("objcopy", f"--add-gnu-debuglink={debug}", path)
        (self.tmp / ".debug").mkdir()
        debug.rename(self.tmp / ".debug" / debug.name)
        self.check_named(self.loop(path))

    def test_debuglink_of_another_file(self):
        """
        A debug file with the right name and a wrong checksum belongs to another build and is not
        used.
        """
        path, debug = self.split("linked")
        run("objcopy", f"--add-gnu-debuglink={debug}", path)
        run("objcopy", "--only-keep-debug", workload("execafter"), debug)
        functions = live.functions(self.loop(path))
        self.assertFalse({"loop_inner", "after_exec"} & functions)

    def test_debuglink_among_wrong_files(self):
        """Among several candidate debug files the matching one is used, in any order."""
        for name in ("beside", "below"):
            with self.subTest(right=name):
                path, debug = self.split(f"linked-{name}")
                run("objcopy", f"--add-gnu-debuglink={debug}", path)
                below = self.tmp / ".debug" / debug.name
                below.parent.mkdir(exist_ok=True)
                if name == "below":
                    debug.rename(below)
                wrong = below if name == "beside" else debug
                run("objcopy", "--only-keep-debug", workload("execafter"), wrong)
                self.check_named(self.loop(path))

    def test_debug_file_by_build_id(self):
        path, debug = self.split("by-id")
        ident = os.urandom(20).hex()
        # use a build-id of our own, so that no file of this machine is affected
        note = self.tmp / "note"
        note.write_bytes(b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0" + bytes.fromhex(ident))
        for file in (path, debug):
            run("objcopy", "--update-section", f".note.gnu.build-id={note}",
                "--set-section-flags", ".note.gnu.build-id=alloc,contents,readonly", file)
        folder = live.pathlib.Path("/usr/lib/debug/.build-id") / ident[:2]
        made = [p for p in (folder, *folder.parents) if not p.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for part in reversed(made):
            self.addCleanup(part.rmdir)
        target = folder / f"{ident[2:]}.debug"
        shutil.copy2(debug, target)
        self.addCleanup(target.unlink)
        debug.unlink()
        self.assertEqual(build_id(path), ident)
        self.check_named(self.loop(path))

    def test_gnu_debugdata(self):
        """The small symbol table that Fedora adds to stripped programs is used."""
        path, debug = self.split("mini")
        small = self.tmp / "small"
        run("objcopy", "-S", "--remove-section=.comment", "--keep-symbol=loop_inner",
            "--keep-symbol=loop_outer", "--keep-symbol=main", debug, small)
        packed = self.tmp / "small.xz"
        packed.write_bytes(lzma.compress(small.read_bytes()))
        debug.unlink()
        run("objcopy", f"--add-section=.gnu_debugdata={packed}", path)
        self.check_named(self.loop(path))

    def test_read_where_the_binaries_are_gone(self):
        """A copy of the trace gives the same names when the recorded files no longer exist."""
        path = self.copy("loop", "bin/here-today")
        plugin = self.copy("lib/plugin_first.so", "bin/plugin.so")
        trace = self.record("-a", "-F", 499, "--", "sh", "-c", '"$0" 0.3; "$1" 0.3 "$2"', path,
                            workload("dlopener"), plugin)
        before = self.export(trace.path, "-f", "folded")
        self.assertIn(b"loop_inner", before)
        self.assertIn(b"burn_in_first", before)
        copy = self.tmp / "elsewhere.skein"
        shutil.copy2(trace.path, copy)
        shutil.rmtree(self.tmp / "bin")
        os.unlink(trace.path)
        script = ('mount -t tmpfs none /usr/lib/debug 2>/dev/null; mount --bind /dev/null '
                  '/proc/kallsyms; exec "$0" export "$1" -f folded')
        after = run("unshare", "-m", "sh", "-c", script, SKEIN, copy).stdout
        self.assertEqual(before, after)
        report = run(SKEIN, "report", copy).stdout.decode()
        self.assertIn("loop_inner", report)

    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(p) for p in file.read().split()]

    @staticmethod
    def capabilities(pid):
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        return int(status["CapEff"], 16), int(status["Seccomp"]), int(status["NoNewPrivs"])

    def test_worker_has_no_privileges(self):
        recording = self.begin("-a")
        found = [self.capabilities(pid) for pid in self.children(recording.pid)]
        self.finish(recording)
        self.assertIn((0, 2, 1), found)

    def test_killed_worker(self):
        """
        Each helper is killed in turn; the recording goes on and has all its names. The one that
        forks the others is killed first, and the recorder forks them from then on.
        """
        target = self.start(workload("loop"), 100)
        recording = self.begin("-a", "-F", 499)
        helpers = {pid: live.command_name(pid) for pid in self.children(recording.pid)}
        forks = next(pid for pid, name in helpers.items() if name == "skein-fork")
        helpers.pop(forks)
        os.kill(forks, signal.SIGKILL)
        for pid, name in helpers.items():
            os.kill(pid, signal.SIGKILL)
            self.wait_for(lambda gone=pid, same=name:
                          live.child_named(recording.pid, same) not in (None, gone))
        late = self.start(workload("execafter"), 0.3)
        late.wait()
        trace = self.finish(recording)
        self.assertGreater(live.share(trace.stacks(pid=target.pid), "loop_inner"), 0.9)
        self.assertGreater(live.share(trace.stacks(pid=late.pid), "after_exec"), 0.9)

    @live.unittest.skipUnless(os.path.exists(LIBC), "libc lies elsewhere")
    def test_forged_build_id(self):
        """
        An object with libc's build-id that is seen first does not name frames of other processes.
        """
        source, forged = self.tmp / "forged.c", self.tmp / "libc.so.6"
        size = 0x200000  # covers the file offsets of libc's code
        source.write_text(
            '__asm__(".text\\n.globl forged\\n.type forged, @function\\nforged:\\n'
            f'.skip {size}, 0x90\\nret\\n.size forged, . - forged\\n");\n'
            'void forged(void);\n'
            'void plugin_run(unsigned long ns) { for (unsigned long i = 0; i < ns / 500000; i++)'
            ' forged(); }\n')
        run("gcc", "-O1", "-fno-omit-frame-pointer", "-shared", "-fPIC",
            f"-Wl,--build-id=0x{build_id(LIBC)}", "-o", forged, source)
        self.assertEqual(build_id(forged), build_id(LIBC))
        recording = self.begin("-a", "-F", 499)
        first = self.start(workload("dlopener"), 0.4, forged)
        first.wait()
        self.start(workload("libcuser"), 0.5).wait()
        trace = self.finish(recording)
        self.assertIn("forged", live.functions(trace.stacks(comm="dlopener")))
        user = trace.stacks(comm="libcuser")
        others = [s for s in trace.stacks() if s.process["comm"] != "dlopener"]
        self.assertNotIn("forged", live.functions(others))
        libc = [s for s in user if {"random", "random_r"} & set(s.names)]
        self.assertGreater(live.count(libc), 0.8 * live.count(user))

    def test_stacks_that_do_not_reach_their_root(self):
        """
        libc has no frame pointers where threads start, so these stacks are marked as incomplete.
        """
        self.record("-F", 499, "--", workload("threads"), 0.8)
        folded = self.export(self.tmp / f"trace-{self.files}.skein", "-f", "folded").decode()
        mine = [line for line in folded.splitlines() if "_work" in line]
        self.assertGreater(len(mine), 2)
        for line in mine:
            root = line.rsplit(" ", 1)[0].split(";")[1]
            # a thread that ends has no memory any more
            self.assertTrue(root.startswith("[truncated: ") or root == "[no address space]" or
                            root in STARTS, line)

    def test_stacks_that_are_whole(self):
        """A program with frame pointers from its first instruction on has complete stacks."""
        source, program = self.tmp / "whole.c", self.tmp / "whole"
        source.write_text("void inner(void) { for (volatile long i = 0; i < 1000000000; i++) ; }\n"
                          "void outer(void) { for (;;) inner(); }\n"
                          '__asm__(".globl _start\\n_start:\\n"\n'
                          "#ifdef __x86_64__\n"
                          '"xor %ebp, %ebp\\ncall outer\\nhlt\\n"\n'
                          "#else\n"
                          '"mov x29, #0\\nbl outer\\n"\n'
                          "#endif\n"
                          '".type _start, %function\\n.size _start, . - _start\\n");\n')
        run("gcc", "-O0", "-fno-omit-frame-pointer", "-nostdlib", "-static", "-o", program, source)
        target = self.start(program)
        trace = self.record("-p", target.pid, "-F", 499, "-d", 0.6)
        folded = self.export(trace.path, "-f", "folded").decode()
        whole = [line for line in folded.splitlines()
                 if line.startswith("whole;_start;outer;inner")]
        total = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
        self.assertGreater(sum(int(line.rsplit(" ", 1)[1]) for line in whole), 0.95 * total)
        self.assertNotIn("[truncated", folded)


if __name__ == "__main__":
    live.main()
