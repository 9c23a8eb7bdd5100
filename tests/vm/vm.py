# SPDX-License-Identifier: Apache-2.0
"""
Boot a Debian kernel in qemu and run a script in it.

The machine has no disk and no network. Its root is an initramfs with busybox, the given programs
(with the shared libraries that they need) and /job, the script. Serial port 1 is the console, 2
carries the output of the script, 3 a tar of the files in /out.
"""
import collections
import functools
import io
import lzma
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
QEMU = "qemu-system-x86_64"
START = b"vm: started\n"
# s until a machine reaches the job, which took 70 s beside 18 runnable threads, and s without a
# sign of life after that: it sends one to its console every 2 s. Emulated CPUs sometimes all stand
# still together with their clocks.
TO_START, TO_SIGN = 180, 60
# s after which a machine that has ended its job, and writes no more files, is ended: one that was
# suspended does not power off, and would be waited for as for one that stands still.
TO_POWER_OFF = 5
STALE = re.compile(r"Oops: int3")
# of 40 s or more, as the kernel reports each minute or so of a machine whose CPUs all stand
STARVED = re.compile(rb"rcu_preempt kthread starved for \d{5,} jiffies")
END = re.compile(rb"\nvm: exit status (\d+)\r?\n\Z")

INIT = """#!/bin/sh
export PATH=/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
while usleep 2000000; do printf . >/dev/ttyS0; done &
chmod 1777 /tmp
for port in 1 2; do stty raw -echo </dev/ttyS$port; done
cd /tmp
printf 'vm: started\\n' >/dev/ttyS1
sh /job </dev/null >/dev/ttyS1 2>&1
status=$?
tar -c -C /out . >/dev/ttyS2
printf '\\nvm: exit status %d\\n' $status >/dev/ttyS1
stty -F /dev/ttyS2 sane # waits until the port is empty
stty -F /dev/ttyS1 sane
poweroff -f
"""

class Way(collections.namedtuple("Way", "accel cpu command options kernel_options")):
    """How a machine is run: the emulator's command and options, and the kernel's options."""

    __slots__ = ()

    def __new__(cls, accel, cpu, command=(QEMU,), options=(), kernel_options=""):
        return super().__new__(cls, accel, cpu, command, options, kernel_options)

    def __str__(self):
        return " ".join(map(str, (self.accel, "-cpu", self.cpu, *self.options)))


# The features of KVM differ between hosts, especially where KVM itself is virtual.
PROBES = (
    Way("kvm", "host"),
    Way("kvm", "host,-arch-capabilities"),
    Way("kvm", "EPYC,-arch-capabilities"),
)
# The cmpxchg16b of qemu 7.2 treats some flags as known that are not, and leaves half a pointer in
# EFLAGS (its nested-task bit, or its direction bit): Linux 6.12 crashes during its start.
EMULATED = Way("tcg,thread=multi", "max,-cx16")

# The clocks of such a machine count the instructions of all its CPUs together, 1 ns each, and
# stand still while the host runs other programs; time in which all CPUs idle is skipped. Random
# numbers and the date are the same in every run.
COUNTED_OPTIONS = ("-icount", "shift=0,sleep=off", "-seed", "1",
                   "-rtc", "base=2026-01-01,clock=vm")
# Each of these waits, or takes instructions, once per CPU: the delay loop's calibration, the pause
# of a CPU's start, grace periods.
COUNTED_KERNEL = ("lpj=4000000 cpu_init_udelay=0 mitigations=off nowatchdog "
                  "rcupdate.rcu_expedited=1")

# The kernel would take an emulated TSC for unstable, and its two clocks would differ by percents;
# on a busy host the timer's interrupts are too late for the kernel's test of their wiring.
KERNEL_OPTIONS = "panic=-1 oops=panic tsc=reliable no_timer_check"


class Failed(Exception):
    """The machine failed; the message contains its console output."""


class NoStart(Failed):
    """The machine did not reach the job, because of the emulator or the kernel."""


class Stale(Failed):
    """
    An emulated CPU hit a breakpoint by which the kernel guards code while patching it, after the
    kernel had removed the breakpoint. Multi-threaded emulation can do that, a real CPU cannot.
    """


class StoodStill(Failed):
    """
    The machine gave no sign of life for TO_SIGN seconds after it had reached the job, or only the
    kernel's complaints that nothing runs any more.
    """


class NoKernel(Exception):
    """The kernel could not be downloaded."""


class NoEmulator(Exception):
    """The emulator could not be downloaded."""


def missing():
    """Return why no machine can be run here, or None."""
    if platform.machine() != "x86_64":
        return "the virtual machine is x86-64"
    for tool in (QEMU, "busybox", "cpio", "ldd", "dpkg-deb", "apt-get"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    return None


class Kernel:
    """Debian's cloud kernel of a suite."""

    def __init__(self, suite):
        run = subprocess.run([ROOT / "tools/kernel", "amd64", suite, BUILD / "kernels"],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            raise NoKernel(f"no kernel to boot: {run.stderr.strip()}")
        self.root = pathlib.Path(run.stdout.strip())
        self.image = next((self.root / "boot").glob("vmlinuz-*"))
        self.release = self.image.name.removeprefix("vmlinuz-")

    def module(self, name):
        packed = next((self.root / "lib/modules").rglob(f"{name}.ko*"))
        module = packed.with_suffix("") if packed.suffix == ".xz" else packed
        if not module.exists():
            module.write_bytes(lzma.decompress(packed.read_bytes()))
        return module


def kernel_or_skip(suite):
    """Return the kernel of a suite; skip the tests if no machine can be run here."""
    why = missing()
    if why:
        raise unittest.SkipTest(why)
    try:
        return Kernel(suite)
    except NoKernel as error:
        raise unittest.SkipTest(str(error)) from error


def libraries(program):
    """Return the shared libraries of a program, and its loader; none if it is static."""
    run = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return re.findall(r"(/\S+) \(0x", run.stdout) if run.returncode == 0 else []


def install(tree, source, path):
    target = tree / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy(source, target)


def make_tree(tree, job, files):
    """
    Make the root folder. files maps a path in the machine to a local path. Programs are copied
    with their libraries.
    """
    for folder in ("bin", "proc", "sys", "dev", "tmp", "out", "root", "etc",
                   "var/cache"):
        (tree / folder).mkdir(parents=True)
    install(tree, shutil.which("busybox"), "/bin/busybox")
    for applet in subprocess.run([tree / "bin/busybox", "--list"], check=True,
                                 capture_output=True, text=True).stdout.split():
        if not (tree / "bin" / applet).exists():
            (tree / "bin" / applet).symlink_to("busybox")
    (tree / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n"
                                     "nobody:x:65534:65534:nobody:/:/bin/false\n")
    (tree / "init").write_text(INIT)
    (tree / "init").chmod(0o755)
    (tree / "job").write_text(job)
    for path, source in files.items():
        install(tree, source, path)
        for library in libraries(source):
            install(tree, library, library)


def make_initramfs(path, job, files):
    with tempfile.TemporaryDirectory() as tree:
        os.chmod(tree, 0o755)
        make_tree(pathlib.Path(tree), job, files)
        names = "\n".join(["."] + sorted(str(p.relative_to(tree))
                                         for p in pathlib.Path(tree).rglob("*")))
        with open(path, "wb") as out:
            subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], cwd=tree,
                           input=names.encode(), stdout=out, check=True)


def has_kvm():
    """
    Return whether KVM is usable: some hosts have a /dev/kvm without the CPU's support, which is
    slower than TCG.
    """
    flags = re.search(r"^flags.*", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[0].split()
    return ("svm" in flags or "vmx" in flags) and os.access("/dev/kvm", os.R_OK | os.W_OK)


def works(way):
    with tempfile.TemporaryDirectory() as folder:
        try:
            kernel = Kernel("bookworm-security")
            return boot(kernel, ("exit 7", {}), pathlib.Path(folder), way, 2, 20)[0] == 7
        except Failed:
            return False


@functools.cache
def accelerator():
    """Return the first way to run a machine that works here."""
    return next((way for way in PROBES if has_kvm() and works(way)), EMULATED)


@functools.cache
def counted():
    """Return the way to run a machine whose clocks count instructions."""
    run = subprocess.run([ROOT / "tools/emulator", BUILD / "emulators"],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        raise NoEmulator(f"no emulator that counts instructions: {run.stderr.strip()}")
    root = pathlib.Path(run.stdout.strip())
    command = [root / "usr/bin" / QEMU]
    # its own firmware, and files of other packages
    for folder in (root / "usr/share/qemu", "/usr/share/seabios", "/usr/share/qemu"):
        command += ["-L", folder]
    return Way("tcg,thread=single", EMULATED.cpu, tuple(command), COUNTED_OPTIONS, COUNTED_KERNEL)


class Emulator:
    """A run of the emulator. It is ended after limit seconds, or when the machine stands still."""

    def __init__(self, command, ports, limit, may_stand_still):
        self.ports = ports
        self.stood_still = False
        self.sizes, self.signed = None, time.monotonic()
        self.left, self.wrote = None, time.monotonic()
        self.may_stand_still = may_stand_still
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as run:
            self.said = self.wait(run, time.monotonic() + limit, limit)

    def wait(self, run, end, limit):
        """Return what the emulator said, or why it was ended."""
        while time.monotonic() < end:
            try:
                return run.communicate(timeout=1)[1].decode(errors="replace")
            except subprocess.TimeoutExpired:
                if self.is_done():
                    run.kill()
                    return "done, but not powered off"
                self.stood_still = self.may_stand_still and not self.lives()
            if self.stood_still:
                break
        run.kill()
        return "no sign of life" if self.stood_still else f"no end after {limit} s"

    def is_done(self):
        """Whether the job has ended, and all that it left was written a while ago."""
        left = [port.stat().st_size if port.exists() else 0 for port in self.ports[1:]]
        if left != self.left:
            self.left, self.wrote = left, time.monotonic()
        return (time.monotonic() > self.wrote + TO_POWER_OFF and left[0] > 0
                and bool(END.search(self.ports[1].read_bytes())))

    def lives(self):
        now = [port.stat().st_size if port.exists() else 0 for port in self.ports]
        if now[1] > 0 and STARVED.search(self.ports[0].read_bytes()):
            return False
        if now != self.sizes:
            self.sizes, self.signed = now, time.monotonic()
        started = now[1] > 0
        return time.monotonic() - self.signed <= (TO_SIGN if started else TO_START)


def boot(kernel, work, folder, way, cpus, limit):
    """Run a job with its files; return its exit status and its output."""
    make_initramfs(folder / "initrd", *work)
    ports = [folder / name for name in ("console", "printed", "out.tar")]
    command = [*way.command, "-accel", way.accel, "-cpu", way.cpu, "-machine", "q35",
               "-smp", str(cpus), "-m", str(max(1024, 64 * cpus)), *way.options,
               "-nodefaults", "-display", "none", "-no-reboot",
               "-kernel", kernel.image, "-initrd", folder / "initrd", "-append",
               f"console=ttyS0 quiet loglevel=4 {KERNEL_OPTIONS} {way.kernel_options}"]
    for port in ports:
        command += ["-serial", f"file:{port}"]
    run = Emulator(command, ports, limit, way is EMULATED)
    printed = ports[1].read_bytes() if ports[1].exists() else b""
    end = END.search(printed)
    if not end:
        console = ports[0].read_text(errors="replace")[-4000:] if ports[0].exists() else ""
        if way is EMULATED and STALE.search(console):
            kind = Stale
        elif not printed.startswith(START):
            kind = NoStart
        else:
            kind = StoodStill if run.stood_still else Failed
        raise kind(f"{run.said}\n{console}\n{printed[-2000:].decode(errors='replace')}")
    return int(end[1]), printed[len(START):end.start()].decode(errors="replace")


class Run:
    """
    One boot: .status and .printed of the job, the files that it left in /out, and the way it ran.
    """

    def __init__(self, kernel, job, files, cpus=2, limit=240, way=None):
        self.way = way or accelerator()
        self.folder = tempfile.TemporaryDirectory(prefix="skein-vm-")
        folder = pathlib.Path(self.folder.name)
        began = time.monotonic()
        self.status, self.printed = self.start(kernel, (job, files), folder, self.way, cpus, limit)
        self.seconds = time.monotonic() - began
        self.out = folder / "out"
        with tarfile.open(fileobj=io.BytesIO((folder / "out.tar").read_bytes())) as tar:
            tar.extractall(self.out)

    @staticmethod
    def start(*machine):
        """
        Boot, up to three times: the emulator's own faults occurred in one of 30 runs, so three in
        a row in 27,000. Of machines with 32 CPUs, about half stood still.
        """
        for _ in range(2):
            try:
                return boot(*machine)
            except (NoStart, Stale, StoodStill) as error:
                print(f"the emulator's fault, once more: {type(error).__name__}: {error}")
        return boot(*machine)

    def __str__(self):
        return f"{self.way}, {self.seconds:.0f} s"

    def close(self):
        self.folder.cleanup()
