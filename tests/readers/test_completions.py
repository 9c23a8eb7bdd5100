# SPDX-License-Identifier: Apache-2.0
"""Test the completions that bash, zsh and fish offer with the scripts of `skein completions`."""
import fcntl
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

from traces import LIMIT, output, skein

COMMANDS = re.findall(r"^  ([a-z]+) +\S", output("--help").decode().split("?\n\n", 1)[1]
                      .split("\n\nWhere", 1)[0], re.M)


def options_of(command):
    """Return every option that the help of a command shows."""
    text = output(command, "--help").decode()
    return set(re.findall(r"^(?:  -\w, |      )(--[a-z-]+)", text, re.M))


class Shell:
    """A shell with its script, in a folder with two traces, a text file and a folder."""

    def __init__(self, name):
        if not shutil.which(name):
            raise unittest.SkipTest(f"{name} is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        (self.path / "script").write_bytes(output("completions", name))
        self.work = self.path / "work"
        (self.work / "traces").mkdir(parents=True)
        for file in ("one.skein", "two words.skein", "notes.txt"):
            (self.work / file).touch()

    def close(self):
        self.folder.cleanup()


class Bash(Shell):
    def __init__(self):
        super().__init__("bash")

    def offers(self, line):
        """Complete the last word; bash splits words at '=', and so does this method."""
        words = []
        for word in line.split(" "):
            words += [part for part in re.split("(=)", word) if part] or [""]
        script = (f"source {self.path / 'script'}; COMP_WORDS=({shlex.join(words)}); "
                  f"COMP_CWORD={len(words) - 1}; _skein; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        done = subprocess.run(["bash", "--norc", "-uc", script], cwd=self.work, check=True,
                              capture_output=True, timeout=LIMIT, text=True)
        if done.stderr:
            raise AssertionError(done.stderr)
        return set(done.stdout.splitlines()) - {""}


class Fish(Shell):
    def __init__(self):
        super().__init__("fish")

    def offers(self, line):
        script = f"source {self.path / 'script'}; complete -C {shlex.quote(line)}"
        done = subprocess.run(["fish", "--no-config", "-c", script], cwd=self.work, check=True,
                              capture_output=True, timeout=LIMIT, text=True,
                              env={**os.environ, "HOME": str(self.path)})
        if done.stderr:
            raise AssertionError(done.stderr)
        return {line.split("\t")[0] for line in done.stdout.splitlines()}


ZSH_SETUP = r"""
fpath=(%(folder)s/functions $fpath)
autoload -Uz compinit && compinit -u -D
compadd() {
	local -a hits
	if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
		builtin compadd -A hits "$@"
		print -rl -- $hits >>%(folder)s/offers
	fi
	builtin compadd "$@"
}
mark() { print -r -- "[end]" >>%(folder)s/offers; }
capture() { comppostfuncs=(mark); _main_complete; }
zle -C capture complete-word capture
bindkey '^T' capture
print -r -- "[end]" >>%(folder)s/offers
"""


class Zsh(Shell):
    """A shell on a terminal; it writes its offers to a file, followed by a mark."""

    def __init__(self):
        super().__init__("zsh")
        (self.path / "functions").mkdir()
        shutil.copy(self.path / "script", self.path / "functions/_skein")
        (self.path / "setup").write_text(ZSH_SETUP % {"folder": self.path})
        self.seen = 0
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            os.chdir(self.work)
            os.execvpe("zsh", ["zsh", "-f", "-i"],
                       {**os.environ, "HOME": str(self.path), "TERM": "xterm", "PS1": "> "})
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 100, 200, 0, 0))
        os.set_blocking(self.terminal, False)
        self.type(f"source {self.path / 'setup'}\r")
        self.wait()

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait(self):
        """Return the part of the file before the next mark."""
        end = time.monotonic() + LIMIT
        file = self.path / "offers"
        while time.monotonic() < end:
            try:
                os.read(self.terminal, 1 << 16)
            except BlockingIOError:
                pass
            text = file.read_text()[self.seen:] if file.exists() else ""
            if text.endswith("[end]\n"):
                self.seen += len(text)
                return set(text.splitlines()) - {"[end]", ""}
            time.sleep(0.02)
        raise AssertionError("zsh has not answered")

    def offers(self, line):
        self.type("\x15" + line + "\x14")
        return self.wait()

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)
        super().close()


class Offers:
    """
    Offers that all three shells share; zsh and fish add '=' to an option, or omit short options.
    """
    shell = None

    @classmethod
    def setUpClass(cls):
        cls.it = cls.shell()

    @classmethod
    def tearDownClass(cls):
        cls.it.close()

    def offers(self, line):
        return {word.rstrip("=") for word in self.it.offers(line)}

    def test_commands(self):
        self.assertLessEqual({"record", "report", "export", "query", "help"}, set(COMMANDS))
        self.assertLessEqual(set(COMMANDS), self.offers("skein "))
        self.assertEqual(self.offers("skein repor"), {"report"})
        self.assertEqual(self.offers("skein --vers"), {"--version"})

    def test_every_option_of_the_help(self):
        for command in COMMANDS:
            self.assertEqual(self.offers(f"skein {command} --"), options_of(command), command)

    def test_values(self):
        formats = self.offers("skein export -f ")
        self.assertLessEqual({"folded", "pprof", "perfetto"}, formats)
        self.assertEqual(self.offers("skein export --format pp"), {"pprof"})
        self.assertEqual(self.offers("skein record -f "), formats)
        self.assertEqual(self.offers("skein report --color "), {"auto", "always", "never"})
        self.assertIn("function", self.offers("skein report --by fun"))
        self.assertEqual(self.offers("skein export --python "),
                         {"any", "gil", "no-gil", "gc", "unread"})

    def test_value_behind_an_equals_sign(self):
        found = self.offers("skein report --color=al")
        self.assertIn(found, ({"always"}, {"--color=always"}))

    def test_list_with_commas(self):
        self.assertLessEqual({"cpu", "cycles", "sched", "all"}, self.offers("skein record -e "))
        self.assertIn(self.offers("skein record -e cpu,sch"), ({"sched"}, {"cpu,sched"}))

    def test_operands(self):
        traces = self.offers("skein report ")
        self.assertLessEqual({"one.skein"}, traces)
        self.assertTrue(any(name.startswith("two") for name in traces), traces)
        self.assertEqual(self.offers("skein completions "), {"bash", "zsh", "fish"})
        self.assertLessEqual(set(COMMANDS), self.offers("skein help "))
        self.assertIn("report", self.offers("skein help rep"))
        self.assertFalse([word for word in self.offers("skein version ") if word[0] != "-"])

    def test_files_and_folders(self):
        self.assertIn("notes.txt", self.offers("skein export -o no"))
        self.assertIn("traces", {name.rstrip("/") for name in
                                 self.offers("skein record --save-bad-stacks t")})

    def test_free_text_offers_nothing(self):
        for line in ("skein record -d ", "skein export --from ", "skein report -n "):
            self.assertFalse(self.offers(line), line)

    def test_pids(self):
        self.assertIn(str(os.getpid()), self.offers(f"skein record -p {os.getpid()}"))

    def test_a_command_to_record(self):
        self.assertIn("sleep", self.offers("skein record -- slee"))
        self.assertIn("sleep", self.offers("skein record slee"))


class BashTest(Offers, unittest.TestCase):
    shell = Bash

    def test_only_traces_and_folders(self):
        self.assertEqual(self.offers("skein report "), {"one.skein", "two words.skein", "traces"})

    def test_its_own_words_behind_a_command(self):
        self.assertIn("notes.txt", self.offers("skein record -d 5 -- cat no"))
        self.assertIn("notes.txt", self.offers("skein record --event=all cat no"))

    def test_at_a_terminal(self):
        """
        A TAB in a real command line of bash inserts the only matching trace, with its blank
        escaped.
        """
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(self.it.work)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"],
                       {**os.environ, "TERM": "dumb", "PS1": "> "})
        try:
            os.write(terminal, f"skein() {{ echo \"<$2>\"; }}; source {self.it.path / 'script'}\n"
                     .encode())
            os.write(terminal, b"skein report tw\t\n")
            shown = b""
            while b"<two words.skein>" not in shown:
                shown += os.read(terminal, 4096) # the runner's time limit ends this loop
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(terminal)


class ZshTest(Offers, unittest.TestCase):
    shell = Zsh


class FishTest(Offers, unittest.TestCase):
    shell = Fish

    def test_its_own_words_behind_a_command(self):
        self.assertIn("notes.txt", self.offers("skein record -d 5 -- cat no"))


class CommandTest(unittest.TestCase):
    def test_no_such_shell(self):
        for arguments in ([], ["tcsh"], ["bash", "zsh"]):
            done = skein("completions", *arguments, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, b""), arguments)


if __name__ == "__main__":
    unittest.main()
