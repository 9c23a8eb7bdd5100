# SPDX-License-Identifier: Apache-2.0
"""
Run skein with one of its calls failing (tests/faults/shim.c), and check how skein handles the
failure.
"""
import ctypes
import errno
import functools
import mmap
import os
import pathlib
import platform
import re
import signal
import subprocess
import tempfile
import time

from built import BUILD, SKEIN

SHIM = BUILD / "tests/faults/shim.so"
LIMIT = 60 # s, for one run

# x86-64 system call numbers by kind. Calls that serve one purpose fail together.
CALLS = {
    "memory": (errno.ENOMEM, ()),
    "mmap": (errno.ENOMEM, (9, 25)), # mmap mremap
    "open": (errno.EMFILE, (2, 257, 437, 85)), # open openat openat2 creat
    "read": (errno.EIO, (0, 17, 19, 295)), # read pread64 readv preadv
    "write": (errno.ENOSPC, (1, 18, 20, 296)), # write pwrite64 writev pwritev
    # *stat lseek *sync ftruncate getdents64
    "file": (errno.EIO, (5, 262, 4, 6, 8, 74, 75, 77, 217)),
    "name": (errno.EROFS, (82, 264, 87, 263, 83, 258, 84)), # rename* unlink* mkdir* rmdir
    "bpf": (errno.ENOMEM, (321,)),
    "perf": (errno.EMFILE, (298, 16)), # perf_event_open ioctl
    "fork": (errno.EAGAIN, (56, 57, 58, 435)), # clone fork vfork clone3
    # pipe pipe2 socketpair eventfd2 signalfd4 timerfd_create epoll_create1 memfd_create dup*
    "descriptor": (errno.EMFILE, (22, 293, 53, 290, 289, 283, 291, 319, 32, 33, 292)),
    "message": (errno.ENOBUFS, (46, 47, 44, 45, 232, 281, 7, 271)), # *msg *to epoll_*wait *poll
}

SITES, DEPTH, NUMBERS = 8192, 8, 16
ADDR_NO_RANDOMIZE = 0x0040000
LIBC = ctypes.CDLL(None)


def keep_addresses():
    """
    Disable the randomization of addresses for the processes that this thread starts: the shim's
    filter compares the lower halves of the C library's addresses, so the library must not cross a
    4 GiB border.
    """
    LIBC.personality(ADDR_NO_RANDOMIZE)


class Site(ctypes.Structure):
    _fields_ = [("key", ctypes.c_uint64), ("count", ctypes.c_uint64),
                ("callers", ctypes.c_uint64 * DEPTH), ("files", ctypes.c_char * 24 * DEPTH)]


class Plan(ctypes.Structure):
    _fields_ = [("error", ctypes.c_uint64), ("memory", ctypes.c_uint64),
                ("calls", ctypes.c_uint64 * NUMBERS), ("helpers", ctypes.c_uint64),
                ("site", ctypes.c_uint64), ("nth", ctypes.c_uint64),
                ("pid", ctypes.c_uint64), ("met", ctypes.c_uint64),
                ("counted", ctypes.c_uint64), ("used", ctypes.c_uint64),
                ("blocks", ctypes.c_int64), ("sites", Site * SITES)]


def missing():
    """Return why no call can be made to fail on this machine, or None."""
    if platform.machine() != "x86_64":
        return "the shim that lets calls fail knows x86-64 only"
    return None if SHIM.exists() else f"{SHIM} is not built"


class Done:
    """
    One run: status, out, err, whether the failure was met (.met), the .blocks left, and the
    .sites.
    """

    def __init__(self, plan, process, out, err, left):
        self.status, self.out = process.returncode, out
        self.err = err.decode(errors="replace")
        self.met, self.counted, self.blocks = bool(plan.met), plan.counted, plan.blocks
        self.sites = {s.key: (s.count, tuple(zip(s.callers, (f.value for f in s.files))))
                      for s in plan.sites[:plan.used]}
        self.left = left # processes that did not end with the run


def processes_of(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError: # as after nearly every run: there is no need to search /proc
        return []
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except OSError:
            continue
        state, _, own = text.rsplit(")", 1)[1].split()[:3]
        if int(own) == group and state not in "ZX":
            found.append(text.split(")")[0] + ")")
    return found


def end_group(group):
    """
    Wait for helpers, which end by themselves when their socket closes; return and end those that
    do not.
    """
    end = time.monotonic() + 10
    while (found := processes_of(group)) and time.monotonic() < end:
        time.sleep(0.05)
    if found:
        os.killpg(group, signal.SIGKILL)
    return found


def run(args, kind, site=0, nth=0, helpers=False, folder=None):
    """
    Run skein with one call failing: at a site, or the nth one. With neither, nothing fails and the
    sites are recorded.
    """
    error, calls = CALLS[kind]
    with tempfile.NamedTemporaryFile(prefix="plan-") as file:
        file.truncate(ctypes.sizeof(Plan))
        with mmap.mmap(file.fileno(), ctypes.sizeof(Plan)) as memory:
            plan = Plan.from_buffer(memory)
            plan.error, plan.memory, plan.helpers = error, kind == "memory", helpers
            plan.calls[:len(calls)] = [number + 1 for number in calls]
            plan.site, plan.nth = site, nth
            env = {k: v for k, v in os.environ.items() if not k.startswith("SUDO_")}
            env |= {"LD_PRELOAD": str(SHIM), "FAULT_PLAN": file.name,
                    "TMPDIR": str(folder or "/tmp"),
                    "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0:exitcode=99"}
            keep_addresses()
            with subprocess.Popen([SKEIN, *map(str, args)], env=env, cwd=folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, start_new_session=True) as process:
                try:
                    out, err = process.communicate(timeout=LIMIT)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    out, err = process.communicate()
                    err += f"\nno end after {LIMIT} s".encode()
                left = end_group(process.pid)
            done = Done(plan, process, out, err, left)
            del plan
    return done


def callers(site):
    """Return the source lines of a site, innermost first, for debugging."""
    lines = []
    for offset, name in site[1]:
        if not name:
            own = subprocess.run(["addr2line", "-sfe", SKEIN, hex(offset - 1)],
                                 capture_output=True, text=True, check=False).stdout.split()
            lines.append(" ".join(own) or hex(offset))
        else:
            lines.append(f"{name.decode().lstrip('/')}+{offset:#x}")
    return " < ".join(lines)


# A failed read of a trace counts as damage of the disk: skein shows the readable part and reports
# the rest.
DAMAGE = re.compile(r"damaged|unreadable chunk|unreadable_chunk|could not be read")
# These libraries do not free all memory when they fail.
CARELESS = (b"/libelf", b"/libbpf", b"/libdw")


def words_of(done):
    """Return the defects in the messages of a failed run."""
    lines = done.err.splitlines()
    if not 1 <= len(lines) <= 3:
        return [f"{len(lines)} lines"]
    return [f"words: {line}" for line in lines
            if not re.fullmatch(r"skein: [^\x00-\x1f]{8,400}", line)
            or re.search(r"Success|Unknown error|: failed$", line)]


@functools.cache
def blocks_are_counted():
    """
    Return whether leaked blocks can be counted: a sanitizer's copies of strings are blocks, too.
    """
    return b"__asan_init" not in pathlib.Path(SKEIN).read_bytes()


def left_behind(done, base, site):
    """Return what a run left behind: processes, blocks and files."""
    wrong = [f"process {p}" for p in done.left]
    careless = not blocks_are_counted() or any(name.startswith(CARELESS) for _, name in site[1][:4])
    if done.status in (0, 1, 2) and done.blocks > base.blocks and not careless:
        wrong.append(f"{done.blocks - base.blocks} blocks of memory not freed")
    return wrong


def wrong_exit(done):
    """
    Check the exit status: 1 for a failure, 2 only if memory is short while options are parsed. A
    crash or a hang is wrong.
    """
    if done.status in (0, 1) or done.status == 2 and "Cannot allocate memory" in done.err:
        return []
    return [f"status {done.status}"]


def sites_of(base, most):
    """Return evenly spread sites, or all of them in the long form."""
    sites = list(base.sites.items())
    return sites if os.environ.get("SKEIN_LONG") == "1" else sites[::-(-len(sites) // most) or 1]
