# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 300
"""
Test stacks of every shape: through signal handlers, PLT, alloca, deep recursion, code without
unwind information, vfork and exec, every kind of linking and of C library.

Each program is built in the usual way, optimized and without frame pointers, and runs twice: with
symbols, which show the order of its functions, and stripped. All run in one recording for each way
in which the BPF programs can walk (loops and tail calls; stripped programs by loops only), and the
results must be equal.
"""
import concurrent.futures
import dataclasses
import math
import os
import pathlib
import shutil
import subprocess
import tempfile

import live
from completeness import completeness

SOURCES = live.ROOT / "tests" / "workloads" / "shapes"
SECONDS = 2 if live.LONG else 0.12
ENDLESS = 1000  # s
FREQUENCY = 1999
WHOLE = 0.995
FLAGS = ("-D_GNU_SOURCE", "-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-g0")
NO_CFI = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
VARIANTS = {"loop": "", "tail-calls": "tail-calls"}


@dataclasses.dataclass(frozen=True)
class Shape:
    """
    A program and its expected stacks. name: of the program, at most 13 characters. args follow the
    seconds; {dir} is the folder of all programs, {build} that of the build. order: functions that
    follow one another from the root to the leaf in all stacks that contain the last one; "*"
    stands for any. running: the program exists before the recording starts; the first samples of a
    new program are finished from a copy of 64 KiB, which a deep stack, or one of two parts,
    exceeds. objects: sources with flags of their own. undescribed: some code has neither unwind
    information nor frame pointers; the known frames must be right, and the stack must end with a
    reason.
    """
    name: str
    source: str
    args: tuple = ()
    order: tuple = ()
    flags: tuple = ()
    compiler: str = "gcc"
    running: bool = False
    objects: tuple = ()
    undescribed: bool = False


def depth(name, frames, how=(), **more):
    start = {"thread": ("depth_pthread", "depth_thread"), "clone": ("depth_thread",)}
    above = start[how[0]] if how else ("main", "depth_thread")
    return Shape(name, "depth.c", (frames, *how),
                 above + ("depth_descend",) * (frames + 1) + ("depth_leaf",), **more)


MUSL = {"compiler": "musl-gcc", "undescribed": True}
BECOME = ("main", "become_outer", "become_leaf")
NO_CFI_ORDER = ("main", "described_main", "nocfi_outer", "nocfi_inner", "described_leaf")

SHAPES = (
    Shape("signal", "signals.c",
          order=("main", "interrupted_outer", "*", "signal_handler", "signal_leaf")),
    Shape("altstack", "signals.c", ("alt",), running=True,
          order=("main", "interrupted_outer", "*", "signal_handler", "signal_leaf")),
    depth("deep50", 50),
    depth("deep500", 500, running=True),
    depth("deep1000", 1000, running=True),
    depth("thread", 20, ("thread",)),
    depth("clone", 20, ("clone",)),
    depth("static", 20, flags=("-static",)),
    depth("static-thr", 20, ("thread",), flags=("-static",)),
    depth("static-pie", 20, flags=("-static-pie",)),
    depth("no-pie", 20, flags=("-no-pie",)),
    depth("musl", 20, **MUSL),
    depth("musl-thread", 20, ("thread",), **MUSL),
    depth("musl-static", 20, **MUSL, flags=("-static",)),
    depth("musl-st-thr", 20, ("thread",), **MUSL, flags=("-static",)),
    depth("frame-ptr", 20, flags=("-fno-omit-frame-pointer",)),
    depth("size", 20, flags=("-Os",)),
    Shape("alloca", "odd.c", ("alloca",), ("main", "alloca_outer", "alloca_inner", "odd_leaf")),
    Shape("aligned", "odd.c", ("aligned",),
          ("main", "aligned_outer", "aligned_inner", "odd_leaf")),
    Shape("noreturn", "odd.c", ("noreturn",),
          ("main", "noreturn_start", "noreturn_outer", "noreturn_inner", "odd_leaf")),
    Shape("long", "odd.c", ("long",), ("main", "long_outer", "long_function")),
    Shape("plt", "odd.c", ("plt",), ("main", "plt_caller"), flags=("-fno-builtin",)),
    Shape("plt-lazy", "odd.c", ("plt",), ("main", "plt_caller"),
          flags=("-fno-builtin", "-Wl,-z,lazy", "-fcf-protection=full")),
    Shape("vfork", "become.c", ("vfork",), ("main", "vfork_shape", "vfork_leaf")),
    Shape("exec", "become.c", ("exec",), BECOME),
    Shape("memfd", "become.c", ("memfd",), BECOME),
    Shape("deleted", "become.c", ("deleted",), BECOME),
    Shape("replaced", "become.c", ("replaced", "{dir}/other/{name}"), BECOME),
    Shape("chroot", "become.c", ("chroot", "{dir}/other", "/{name}"), BECOME, ("-static",)),
    Shape("setuid", "become.c", ("run",), BECOME),
    Shape("nocfi-fp", "nocfi_main.c", (), NO_CFI_ORDER,
          objects=(("nocfi.c", NO_CFI + ("-fno-omit-frame-pointer",)),)),
    Shape("nocfi", "nocfi_main.c", (), NO_CFI_ORDER[-2:], objects=(("nocfi.c", NO_CFI),),
          undescribed=True),
    Shape("too-deep", "depth.c", (5000,), ("depth_descend",) * 1000 + ("depth_leaf",),
          running=True),
    Shape("plugins", "plugins.c",
          (40, "{build}/tests/workloads/lib/plugin_first.so",
           "{build}/tests/workloads/lib/plugin_second.so"),
          ("main", "with_second", "plugin_run", "burn_in_second"), flags=("-rdynamic",)),
)


def compile_shape(shape, path):
    """Compile; return "" or the compiler's output."""
    sources, said = [SOURCES / shape.source], ""
    for number, (source, flags) in enumerate(shape.objects):
        made = path.with_name(f"{shape.name}-{number}.o")
        sources.append(made)
        said += subprocess.run([shape.compiler, *FLAGS, *flags, "-c", "-o", made,
                                SOURCES / source], capture_output=True, text=True).stderr
    done = subprocess.run([shape.compiler, *FLAGS, *shape.flags, "-o", path, *sources,
                           "-lpthread", "-ldl"], capture_output=True, text=True)
    return said + done.stderr


def build(shape, folder):
    """Build with symbols and without; return "" or the error."""
    if not shutil.which(shape.compiler):
        return f"no {shape.compiler}"
    path = folder / shape.name
    said = compile_shape(shape, path)
    if not said:
        subprocess.run(["strip", "-o", f"{path}-s", path], check=True)
    return said


def follow(stack, order):
    """Return whether the functions of order follow one another somewhere in the stack."""
    parts, at = [], 0
    for name in order:
        if name == "*" or not parts:
            parts.append([])
        if name != "*":
            parts[-1].append(name)
    for part in parts:
        while at <= len(stack) and list(stack[at:at + len(part)]) != part:
            at += 1
        at += len(part)
    return at <= len(stack)


class Shapes(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="shapes-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        with concurrent.futures.ThreadPoolExecutor(len(live.CPUS)) as pool:
            cls.unbuilt = dict(zip((s.name for s in SHAPES),
                                   pool.map(lambda s: build(s, cls.folder), SHAPES)))
        cls.traces = {variant: cls.record_shapes(variant) for variant in VARIANTS}
        cls.stacks = {variant: trace.stacks() for variant, trace in cls.traces.items()}

    @classmethod
    def copies(cls, folder):
        """
        Copy the programs to new files, some of which will be deleted; those in other/ have other
        inodes.
        """
        for to in (folder, folder / "other"):
            to.mkdir()
            for shape in cls.built():
                for name in (shape.name, f"{shape.name}-s"):
                    shutil.copy2(cls.folder / name, to)
        for path in folder.glob("setuid*"):
            os.chown(path, 65534, 65534)
            path.chmod(0o4755)

    @classmethod
    def built(cls):
        return [s for s in SHAPES if not cls.unbuilt[s.name]]

    @staticmethod
    def command(folder, shape, name):
        args = [str(word).format(dir=folder, build=live.BUILD, name=name) for word in shape.args]
        seconds = ENDLESS if shape.running else SECONDS
        words = [folder / name, seconds, *args]
        return [str(word) for word in (["nice", *words] if shape.running else words)]

    @staticmethod
    def names(shape, variant):
        return [shape.name] + [f"{shape.name}-s"] * (variant == "loop")

    @classmethod
    def commands(cls, variant, running):
        return [cls.command(cls.folder / variant, shape, name) for shape in cls.built()
                if shape.running == running for name in cls.names(shape, variant)]

    @classmethod
    def record_shapes(cls, variant):
        """Record all shapes in one recording, as many at a time as there are CPUs."""
        folder = cls.folder / variant
        cls.copies(folder)
        running = [subprocess.Popen(command) for command in cls.commands(variant, True)]
        for process in running:
            cls.addClassCleanup(cls.end, process)
        env = live.clean_environment(SKEIN_DEBUG_WALK=VARIANTS[variant])
        recording = live.Recording(folder / "trace.skein", "-p", os.getpid(), "-F", FREQUENCY,
                                   env=env)
        cls.addClassCleanup(cls.end, recording.process)
        with concurrent.futures.ThreadPoolExecutor(len(live.CPUS)) as pool:
            ended = list(pool.map(lambda command: subprocess.run(
                command, capture_output=True, timeout=60), cls.commands(variant, False)))
        done = recording.stop()
        for process in running:
            cls.end(process)
        failed = [e for e in ended if e.returncode]
        if done.status or failed:
            raise AssertionError(f"{done.err}{failed}")
        trace = live.Trace(recording.path)
        trace.done = done
        return trace

    def check_complete(self, trace, comm):
        found = completeness(live.SKEIN, trace.path, comm)
        self.assertGreater(found.samples, FREQUENCY * SECONDS / 3)
        mean = found.samples * (1 - WHOLE)
        chance = 0 if live.LONG else 6 * math.sqrt(mean)
        self.assertLessEqual(found.samples - found.complete, mean + chance,
                             f"{found}\n{trace.done.err}")

    def check_order(self, shape, stacks):
        leaf = [s for s in stacks if s.process and s.process["comm"] == shape.name
                and shape.order[-1] in s.names]
        self.assertGreater(live.count(leaf), FREQUENCY * SECONDS / 8)
        wrong = [s for s in leaf if not follow(s.names, shape.order)]
        self.assertLess(live.count(wrong), (1 - WHOLE) * live.count(leaf) + 6,
                        [" < ".join(s.names[-12:][::-1]) for s in wrong[:5]])

    def check(self, shape):
        if self.unbuilt[shape.name]:
            self.skipTest(f"{shape.name}: {self.unbuilt[shape.name]}")
        for variant, trace in self.traces.items():
            with self.subTest(variant=variant):
                self.check_order(shape, self.stacks[variant])
            for comm in self.names(shape, variant):
                with self.subTest(variant=variant, comm=comm):
                    self.check_ends(shape, trace, comm)

    def check_ends(self, shape, trace, comm):
        if shape.name == "too-deep":
            self.check_too_deep(trace, comm)
        elif not shape.undescribed:
            self.check_complete(trace, comm)

    def test_one_frame_early(self):
        """Check that a walker that ends one frame early would be detected as incomplete."""
        whole = self.traces["loop"].path
        early = self.tmp / "early.skein"
        subprocess.run([live.BUILD / "tests/readers/end_early", whole, early], check=True)
        for comm in ("deep50", "deep50-s", "thread", "static", "signal"):
            with self.subTest(comm=comm):
                found = completeness(live.SKEIN, early, comm)
                # a stack with a single user frame has no user frame left
                samples = completeness(live.SKEIN, whole, comm).samples
                self.assertAlmostEqual(found.samples, samples, delta=2 + samples // 100)
                self.assertEqual(found.complete, 0, str(found))

    def check_too_deep(self, trace, comm):
        """
        Check that the innermost 1,024 frames are there, and that the stack is marked as deeper.
        """
        found = completeness(live.SKEIN, trace.path, comm)
        deep = sum(count for reason, _, count in found.reasons if reason == "too deep")
        self.assertGreater(deep, 0.99 * found.samples, str(found))
        user = {sum(kind != live.FRAME["KERNEL"] for kind in s.kinds)
                for s in trace.stacks(comm=comm) if "depth_leaf" in s.names}
        self.assertLessEqual(user, {1024})


def case(shape):
    return lambda self: self.check(shape)


for each in SHAPES:
    setattr(Shapes, f"test_{each.name.replace('-', '_')}", case(each))


if __name__ == "__main__":
    live.main()
