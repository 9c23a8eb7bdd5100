# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 300
"""
Test the live view as a person sees it: in a terminal (tmux) driven by keys, over a workload with
known shares. Only the workload is sampled, so other load does not matter.
"""

import collections
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import live
from live import SKEIN, workload

MIB = 1 << 20
ROW = re.compile(r"(.{6}) (.{6})  +(\S.*)$")  # own share, total share, name
WAIT_ROW = re.compile(r"(.{6}) (.{6}) .{7}  +(\S.*)$")  # with ms a second before the name

PROCESS_ROW = re.compile(r"(?m)^ *([\d.]+) +[\d.]+% +([\d.]+) (B|KiB|MiB|GiB) +(\d+) +"
                         r"(\S+) +(\S.*?)\s*$")
SIZES = {"B": 1 / MIB, "KiB": 1 / 1024, "MiB": 1, "GiB": 1024}
Process = collections.namedtuple("Process", "cpu memory command")


class Terminal:
    """A tmux server of its own, in which a shell runs one command and then waits."""

    def __init__(self, test, command, columns=100, rows=30, **env):
        self.socket = tempfile.mkdtemp(prefix="top-") + "/tmux"
        test.addCleanup(self.close)
        script = f"trap : INT; echo BEFORE; {command}; echo ENDED $?; stty -a; exec cat"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  "sleep 600", ";", "set", "-g", "default-terminal", "tmux-256color", ";",
                  "set", "-s", "escape-time", "0", ";", "set", "-g", "window-size", "manual")
        self.raw = self.socket + ".raw"
        words = " ".join(f"{k}={v}" for k, v in env.items())
        self.tmux("respawn-pane", "-k", f"env {words} sh -c '{script}'", ";",
                  "pipe-pane", f"cat >{self.raw}")

    def tmux(self, *args):
        env = live.clean_environment(LC_ALL="C.UTF-8", TERM="xterm-256color")
        return subprocess.run(["tmux", "-S", self.socket, *args], check=True, timeout=60,
                              capture_output=True, env=env).stdout.decode(errors="replace")

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def history(self):
        """Return the screen, and the lines that have scrolled out of it."""
        return self.tmux("capture-pane", "-p", "-S", "-")

    def wait(self, what, limit=60):
        """Wait until the screen matches; return the screen."""
        end = time.monotonic() + limit
        while True:
            screen = self.screen()
            if what(screen) if callable(what) else re.search(what, screen):
                return screen
            if time.monotonic() > end:
                raise AssertionError(f"waited {limit} s for {what}:\n{screen}")
            time.sleep(0.1)

    def child(self):
        """Return the pid of the skein that runs in the terminal."""
        shell = int(self.tmux("list-panes", "-F", "#{pane_pid}"))
        out = subprocess.run(["pgrep", "-P", str(shell), "-x", "skein"], capture_output=True)
        return int(out.stdout.split()[0]) if out.stdout else None

    def output(self):
        with open(self.raw, "rb") as file:
            return file.read()

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)
        shutil.rmtree(os.path.dirname(self.socket), ignore_errors=True)


def rows(screen):
    """Return (self, total, name) of the rows below the titles; shares in percent, 0 for none."""
    found = []
    lines = screen.splitlines()
    first = next((i for i, line in enumerate(lines) if "FUNCTION" in line or "CALLERS AND" in line),
                 len(lines))
    for line in lines[first + 1:]:
        row = ROW.match(line) if "MS/S" not in lines[first] else WAIT_ROW.match(line)
        if row and "%" in row[2]:
            share = [float(text.strip(" %") or 0) for text in row.groups()[:2]]
            found.append((*share, row[3].split("  ")[0].strip()))
    return found


def processes(screen):
    """Return the rows of the view of processes by pid, in their order."""
    return {int(row[4]): Process(float(row[1]), float(row[2]) * SIZES[row[3]], row[6])
            for row in PROCESS_ROW.finditer(screen)}


def names(screen):
    return [name for _, _, name in rows(screen)]


@unittest.skipUnless(shutil.which("tmux"), "needs tmux")
class Top(live.LiveTest):
    def begin_top(self, *args, **more):
        """Start `skein top` over a workload of known shares, and wait until it has some samples."""
        self.shares = self.start(workload("shares"), 600)
        terminal = Terminal(self, " ".join(map(str, (SKEIN, "top", "-p", self.shares.pid, "-F",
                                                     999, *args))), **more)
        return terminal

    def begin_known(self, *args, **more):
        terminal = self.begin_top(*args, **more)
        terminal.wait(lambda s: {"burn_50", "burn_30", "burn_15"} <= set(names(s)))
        return terminal

    def check_ended(self, terminal, status):
        """Check that the screen is restored, and that the terminal echoes lines again."""
        terminal.wait(r"icanon[\s\S]* echo ")
        screen = terminal.history()
        self.assertRegex(screen, rf"BEFORE\n[\s\S]*ENDED {status}\b")
        self.assertRegex(screen, r"\bicanon\b[\s\S]*\becho\b")
        self.assertNotRegex(screen, r"-icanon|-echo\b|FUNCTION")
        return screen

    def test_shares_sort_filter(self):
        terminal = self.begin_known("-w", "20s")
        screen = terminal.wait(r"last (?:[5-9]|1\d|20) s")
        found = {name: (own, total) for own, total, name in rows(screen)}
        # also on a busy machine: 500 samples, of which half are off by 9 points in 4 sigma
        for name, share in (("burn_50", 50), ("burn_30", 30), ("burn_15", 15)):
            self.assertAlmostEqual(found[name][1], share, delta=12, msg=screen)
        self.assertRegex(screen, r"\d\.\d\d/\d+ CPUs busy  \d+ samples/s")
        self.assertRegex(screen, r"stacks [\d.]+ % complete")
        terminal.keys("n")
        screen = terminal.wait(lambda s: names(s) and names(s) == sorted(names(s)))
        terminal.keys("r")
        terminal.wait(lambda s: names(s) == sorted(names(s), reverse=True))
        terminal.keys("r", "t")
        terminal.wait(lambda s: rows(s) and rows(s)[0][1] > 95 and "main" in names(s)[:8])
        terminal.keys("s", "/", "burn_(3|1)")
        terminal.wait(lambda s: set(names(s)) == {"burn_30", "burn_15"})
        terminal.keys("(")
        terminal.wait("no pattern yet")
        terminal.keys("BSpace", "Enter")
        terminal.wait(r"/burn_\(3\|1\)  \d")
        terminal.keys("Escape")
        terminal.wait(lambda s: "burn_50" in names(s))
        terminal.keys("q")
        self.check_ended(terminal, 0)

    def test_way_in_and_back(self):
        terminal = self.begin_known()
        terminal.keys("1")
        terminal.wait(rf"iB +{self.shares.pid}\b +shares")
        terminal.keys("Enter")
        terminal.wait(rf"process shares {self.shares.pid}: 100")
        terminal.keys("/", "burn_50", "Enter")
        terminal.wait(lambda s: names(s) == ["burn_50"])
        terminal.keys("Enter")
        screen = terminal.wait("called by")
        callers = names(screen)
        self.assertLess(callers.index("▾ cycle"), callers.index("burn_50"), screen)
        self.assertIn("function burn_50", screen)
        terminal.keys("Up")  # the outermost caller
        terminal.wait(lambda s: "_start" in s.splitlines()[-2])
        terminal.keys("Left", "Left", "Left", "Left", "Left", "Left")
        terminal.wait("▸")
        terminal.keys("Escape", "Escape", "Escape")
        terminal.wait(lambda s: "process" in s and "function" not in s.splitlines()[3])
        terminal.keys("BSpace")
        terminal.wait(lambda s: "100 % of all" not in s)
        terminal.keys("3", "e")
        terminal.wait(lambda s: "program shares" in s and "▾ read_clock" in s)
        terminal.keys("?")
        terminal.wait("Ctrl-C")
        terminal.keys("x")
        terminal.wait("CALL TREE")
        terminal.keys("C-c")
        self.check_ended(terminal, 0)

    def test_processes(self):
        """
        It begins with processes by CPU use, where 100 is one CPU. Two programs of one name are
        apart by their commands, M sorts by memory, and Enter leads to the functions of one.
        """
        code = "import sys; held = bytearray(int(sys.argv[2]))\nwhile True: pass"
        small, large = [self.start(sys.executable, "-c", code, name, size)
                        for name, size in (("first", 1 << 20), ("second", 100 << 20))]
        terminal = Terminal(self, f"{SKEIN} top -p {small.pid},{large.pid} -F 499", columns=80)
        screen = terminal.wait(lambda s: {small.pid, large.pid} <= set(processes(s)) and
                               processes(s)[small.pid].memory > 5 and
                               processes(s)[large.pid].memory > 100)
        self.assertRegex(screen, r"%CPU +SHARE +RES +PID +PROCESS +COMMAND")
        for one in processes(screen).values():
            self.assertRegex(one.command, r"^python[\d.]* -c .*", screen)
            self.assertLess(one.cpu, 125, screen)  # one thread: one CPU, but for rounding
        terminal.keys("M")
        screen = terminal.wait(lambda s: list(processes(s))[:1] == [large.pid])
        terminal.keys("r")
        terminal.wait(lambda s: list(processes(s))[:1] == [small.pid])
        self.assertRegex(terminal.screen(), r"[↑↓]RES")
        terminal.keys("r", "P")
        terminal.wait("[↑↓]%CPU")
        terminal.keys("/", "second", "Enter")  # the command, as it is called
        terminal.wait(lambda s: list(processes(s)) == [large.pid])
        terminal.keys("Enter")
        terminal.wait(r"process python[\s\S]*% +<module>")
        terminal.keys("?")
        screen = terminal.wait("Ctrl-C")
        for word in ("%CPU", "SHARE", "RES", "SELF", "TOTAL", "MS/S", "complete", "colours"):
            self.assertRegex(screen, rf"(?m)^ {word} +\w", screen)
        self.assertNotIn("…", screen)  # all of it fits
        terminal.keys("x", "q")
        self.check_ended(terminal, 0)

    def test_pause_and_sizes(self):
        terminal = self.begin_known("-w", "2s")
        terminal.keys("Space")
        before = terminal.wait("PAUSED")
        time.sleep(3)
        self.assertEqual(terminal.screen(), before)
        terminal.keys("Space")
        terminal.wait(lambda s: "PAUSED" not in s and rows(s) != rows(before))
        for size in ((20, 5), (1, 1), (3, 2), (300, 80), (40, 12)):
            terminal.resize(*size)
            time.sleep(0.5)
            for key in ("?", "x", "3", "Down", "1", "M", "P", "2", "/", "b", "Escape"):
                terminal.keys(key)
        terminal.resize(100, 30)
        terminal.wait(lambda s: "burn_50" in names(s))
        self.assertIsNotNone(terminal.child())
        terminal.keys("q")
        self.check_ended(terminal, 0)

    def test_waits(self):
        """Where threads wait, what for, and who ends it; a class leads to its functions."""
        sleepers = self.start(workload("bimodal"), 600)
        terminal = Terminal(self, f"{SKEIN} top --off-cpu -p {sleepers.pid}", columns=80, rows=24)
        terminal.wait(lambda s: {"wait_for", "wait_middle"} <= set(names(s)))
        terminal.wait(r"waits, last \d+ s\n[\d.]+ threads waited at once")
        terminal.keys("8")
        terminal.wait(r"CLASS OF WAIT\n.* sleep\n")
        terminal.keys("9")
        terminal.wait(r"WHO ENDED THE WAITS\n.*\[timer\]")
        terminal.keys("8", "Enter")
        terminal.wait(lambda s: "class sleep" in s and "wait_for" in names(s))
        terminal.keys("/", "wait_for", "Enter", "Enter")
        screen = terminal.wait("itself, and what it calls")
        self.assertIn("▾ sleep_often", names(screen))
        self.assertFalse([line for line in screen.splitlines() if len(line) > 80])
        terminal.keys("Escape", "Escape", "Escape", "1", "Enter")
        terminal.wait(rf"process bimodal {sleepers.pid}")
        terminal.keys("q")
        self.check_ended(terminal, 0)

    def test_crash_and_end_of_the_target(self):
        terminal = self.begin_known()
        os.kill(terminal.child(), signal.SIGSEGV)
        self.check_ended(terminal, 139)
        terminal = self.begin_known()
        self.shares.kill()
        self.shares.wait()
        screen = self.check_ended(terminal, 0)
        self.assertIn("every process of -p has ended", screen)

    def test_hostile_names(self):
        name = r"\x1b]0;pwn\x07\xe2\x80\x8f\xd7\x90"  # an escape sequence, right to left
        code = "import ctypes; c = ctypes.CDLL(None); " \
               f"c.prctl(15, b\"{name}\", 0, 0, 0)\nwhile True: pass"
        spinner = self.start("/usr/bin/python3", "-c", code)
        terminal = Terminal(self, f"{SKEIN} top -p {spinner.pid} -F 499 --view threads",
                            NO_COLOR="1")
        terminal.wait(r"\?\]0;pwn\?\ufffd")
        terminal.keys("Enter")
        terminal.wait("thread")
        terminal.keys("q")
        self.check_ended(terminal, 0)
        out = terminal.output()
        self.assertNotIn(b"]0;pwn\x07", out)
        self.assertNotIn(b"\xe2\x80\x8f", out)
        self.assertNotIn(b"\xd7\x90", out)
        self.assertNotRegex(out, rb"\x1b\[(?:\d+;)*3[1-7]m")  # colours


class Plain(live.LiveTest):
    def top(self, *args, **more):
        return subprocess.run([SKEIN, "top", *map(str, args)], capture_output=True, timeout=60,
                              stdin=subprocess.DEVNULL, env=live.clean_environment(**more))

    def test_without_terminal(self):
        run = self.top()
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"skein top -b", run.stderr)
        run = self.top("--sort", "size", "-b")
        self.assertEqual(run.returncode, 2)
        self.assertIn(b"size", run.stderr)
        if shutil.which("script"):
            run = subprocess.run(["script", "-qec", f"{SKEIN} top", "/dev/null"],
                                 stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                                 env=live.clean_environment(TERM="dumb"))
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn(b"-b", run.stdout)
            self.assertNotIn(b"\x1b", run.stdout)

    def test_batch(self):
        shares = self.start(workload("shares"), 600)
        run = self.top("-b", "-n", 2, "-d", 3, "-p", shares.pid, "-F", 999, "-l", 5)
        text = run.stdout.decode()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(text.count("FUNCTION"), 2)
        self.assertNotIn("\x1b", text)
        last = rows(text[text.rindex("skein top:"):])
        self.assertEqual(len(last), 5)
        self.assertEqual(last[0][2], "burn_50", text)

    def test_processes_in_batch(self):
        """What a script reads: the numbers of the screen, and the legend in the help."""
        shares = self.start(workload("shares"), 600)
        args = ("-b", "-n", 1, "-d", 2, "-p", shares.pid, "--view", "processes")
        text = self.top(*args, "-s", "memory").stdout.decode()
        self.assertRegex(text, r"(?m)^  %CPU  SHARE      \*RES     PID  PROCESS  COMMAND")
        row = processes(text)[shares.pid]
        self.assertEqual(row.command, "shares 600")
        self.assertGreater(row.memory, 0.5)
        self.assertGreater(row.cpu, 0)
        text = self.top("--help").stdout.decode()
        self.assertRegex(text, r"(?m)^  %CPU +CPU time.*; 100 is one CPU, as in top$")

    def test_waits_in_batch(self):
        """
        Eight threads that always wait, but for a little, wait 8,000 ms a second, however long the
        waits are; each view is there, and what does not fit is refused.
        """
        sleepers = self.start(workload("bimodal"), 600)
        args = ("-b", "-n", 1, "-p", sleepers.pid, "--off-cpu")
        text = self.top(*args, "-d", 5).stdout.decode()
        waited = float(re.search(r"([\d.]+) threads waited at once", text)[1])
        # beside the waits that have not ended, of 1 s at most and of main(); and beside other load
        self.assertGreater(waited, 2, text)
        self.assertLess(waited, 8.5, text)
        self.assertRegex(text, r"100\.0% +100\.0% +\d+\.\d +wait_for")
        for view, title in (("classes", "CLASS OF WAIT"), ("wakers", "WHO ENDED THE WAITS"),
                            ("threads", "MS/S     TID"), ("call tree", "CALL TREE")):
            run = self.top(*args, "-d", "0.5", "--view", view)
            self.assertEqual(run.returncode, 0, (view, run.stderr))
            self.assertIn(title, run.stdout.decode())
        for refused in (("--off-cpu", "-F", 99), ("--view", "classes"),
                        ("--off-cpu", "--view", "modules")):
            run = self.top("-b", "-n", 1, *refused)
            self.assertEqual(run.returncode, 2, refused)
            self.assertIn(b"--off-cpu", run.stderr)

    def test_every_view(self):
        """Each view has a title of its own; with one picture each, and a new view is noticed."""
        shares = self.start(workload("shares"), 600)
        titles = {"processes": "PROCESS", "functions": "FUNCTION", "call tree": "CALL TREE",
                  "programs": "PROGRAM", "threads": "THREAD", "services": "SERVICE",
                  "containers": "CONTAINER", "modules": "MODULE"}
        words = subprocess.run([SKEIN, "top", "--help"], capture_output=True, text=True,
                               check=True).stdout.split("The view to begin with:")[1]
        words = re.split(r", | or ", " ".join(words.split(".")[0].replace("'", "").split()))
        self.assertEqual(words, list(titles))
        for view, title in titles.items():
            run = self.top("-b", "-n", 1, "-d", "0.5", "-p", shares.pid, "--view", view)
            self.assertEqual(run.returncode, 0, (view, run.stderr))
            self.assertIn(title, run.stdout.decode())

    def test_memory(self):
        """Ended processes leave no memory behind, whatever their number."""
        seconds, rate = (120, 1800) if live.LONG else (8, 1000)
        storm = self.start(workload("storm"), seconds, rate, 50)
        top = subprocess.Popen([SKEIN, "top", "-b", "-F", "499", "-w", "2s"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, env=live.clean_environment())
        self.addCleanup(self.end, top)
        seen = []
        while storm.poll() is None:
            with open(f"/proc/{top.pid}/status", encoding="ascii", errors="replace") as file:
                seen += [int(line.split()[1]) * 1024 for line in file if "RssAnon" in line]
            time.sleep(0.1)
        top.send_signal(signal.SIGINT)
        self.assertEqual(top.wait(timeout=60), 0)
        half = seen[len(seen) // 2:]
        reported = f"peak {max(seen) / MIB:.1f} MiB, second half {min(half) / MIB:.1f} to " \
               f"{max(half) / MIB:.1f} MiB"
        print(reported)
        self.assertLess(max(seen), 64 * MIB, reported)
        if live.LONG:
            self.assertLess(half[-1] - half[0], max(8 * MIB, max(seen) // 5), reported)


if __name__ == "__main__":
    live.main()
