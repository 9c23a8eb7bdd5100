# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test skein doctor: its findings are true, and failures use the same words."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import live
from live import SKEIN

USER = 1234
REFUSE, KILL = 0x50001, 0x80000000  # actions of libseccomp: EPERM, end the process
REQUIRED = {"kernel", "user namespace", "kernel types", "sampling program", "sampling event",
            "process life", "names and tables", "its own samples"}
SYSCTL = pathlib.Path("/proc/sys/kernel")
# Checks that depend on the machine, not on the caller's privileges.
OF_THE_MACHINE = {"cache folder", "restrictions", "control groups", "pid namespace"}
FIRST_NAMESPACES = {"pid": 0xEFFFFFFC, "uts": 0xEFFFFFFE, "ipc": 0xEFFFFFFF}
IN_SHELL = all(os.stat(f"/proc/self/ns/{name}").st_ino == number
               for name, number in FIRST_NAMESPACES.items())


def as_user(*caps):
    words = "-all" + "".join(f",+{cap}" for cap in caps)
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
            f"--inh-caps={words}", f"--ambient-caps={words}", f"--bounding-set={words}"]


class Doctor(live.LiveTest):
    def setUp(self):
        super().setUp()
        self.home = self.tmp / "home"
        self.home.mkdir()
        os.chown(self.home, USER, USER)

    def run_skein(self, *args, prefix=(), **env):
        env = live.clean_environment(HOME=str(self.home), XDG_CACHE_HOME="", **env)
        return subprocess.run([*prefix, SKEIN, *map(str, args)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, cwd=self.home, env=env)

    def findings(self, prefix=(), status=0, **env):
        """Return {check: finding}, and the whole document."""
        done = self.run_skein("doctor", "--json", prefix=prefix, **env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        reported = json.loads(done.stdout)
        self.assertEqual(reported["works"], status == 0)
        checks = {check["check"]: check for check in reported["checks"]}
        self.assertEqual({n for n, c in checks.items() if c["required"]}, REQUIRED)
        return checks, reported

    def missing(self, checks):
        return {name for name, check in checks.items() if check["verdict"] == "missing"}

    def switch(self, name, value):
        """Set a kernel switch until the test ends, or skip the test."""
        path = SYSCTL / name
        before = path.read_text()
        self.addCleanup(path.write_text, before)
        try:
            path.write_text(f"{value}\n")
        except OSError as error:
            self.skipTest(f"kernel.{name} cannot be {value} here: {error.strerror}")

    def test_root(self):
        other = self.start("setpriv", "--reuid=2000", "--regid=2000", "--clear-groups", "sleep", 60)
        self.wait_for(lambda: pathlib.Path(f"/proc/{other.pid}/comm").read_text() == "sleep\n")
        checks, _ = self.findings()
        self.assertEqual(self.missing(checks) - OF_THE_MACHINE, set())
        for name in REQUIRED:
            self.assertEqual(checks[name]["verdict"], "ok", checks[name])
        self.assertRegex(checks["its own samples"]["found"], r"^[1-9][0-9]* samples")
        self.assertIn("no capabilities", checks["names and tables"]["found"])
        self.assertRegex(checks["others' memory"]["found"], r"process \d+")

    def test_helpers_user(self):
        """
        Without the capabilities to change users, doctor shows the weaker protection and the
        remedy.
        """
        checks, _ = self.findings()
        self.assertEqual(checks["helpers' user"]["verdict"], "ok")
        for taken in ("setuid", "setgid", "kill"):
            checks, reported = self.findings(["setpriv", f"--inh-caps=-{taken}",
                                              f"--bounding-set=-{taken}"])
            check = checks["helpers' user"]
            self.assertEqual((check["verdict"], check["needs"]),
                             ("missing", "changing users (CAP_SETUID, CAP_SETGID, CAP_KILL)"))
            self.assertIn("can stop and kill the helpers", check["lost"])
            if reported["setting"] == "a root shell":
                self.assertIn("CAP_SETUID", check["mend"])
        checks, _ = self.findings(["setpriv", "--inh-caps=-sys_ptrace",
                                   "--bounding-set=-sys_ptrace"])
        self.assertIn("keeps 0", checks["helpers' user"]["found"])

    def test_user_without_rights(self):
        checks, reported = self.findings(as_user(), 1)
        self.assertLessEqual({"sampling program", "sampling event", "process life",
                              "its own samples", "context switches", "kernel names",
                              "others' memory", "others' files"}, self.missing(checks))
        self.assertEqual(checks["sampling program"]["needs"], "CAP_BPF and CAP_PERFMON")
        if IN_SHELL:
            self.assertEqual(reported["setting"], "a user's shell")
            self.assertIn("sudo setcap cap_bpf,cap_perfmon,", checks["sampling program"]["mend"])
        self.assertEqual(checks["names and tables"]["verdict"], "ok") # needs no privileges

    def test_user_with_the_least(self):
        checks, _ = self.findings(as_user("bpf", "perfmon"))
        self.assertEqual(checks["kernel names"]["needs"], "CAP_SYSLOG")
        self.assertEqual(checks["others' files"]["needs"], "CAP_SYS_PTRACE")
        self.assertIn("CAP_CHECKPOINT_RESTORE", checks["deleted files"]["needs"])
        self.assertIn("CAP_DAC_READ_SEARCH", checks["others' memory"]["needs"])
        self.assertEqual(checks["cache folder"]["verdict"], "ok") # its parent is made, too
        self.assertEqual((self.home / ".cache").stat().st_mode & 0o777, 0o700)

    def test_rootless(self):
        """In a user namespace of its own skein cannot work; doctor reports that first."""
        if subprocess.run(["unshare", "-Ur", "true"], check=False).returncode:
            self.skipTest("no user namespaces here")
        done = self.run_skein("doctor", prefix=["unshare", "-Ur"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("recording cannot work", done.stdout)
        self.assertIn("the initial user namespace", done.stdout)
        done = self.run_skein("record", "-d", 1, prefix=["unshare", "-Ur"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("recording cannot work in a user namespace", done.stderr)

    def test_setting_decides_what_mends(self):
        """The remedy for the same lack depends on the environment."""
        wanted = {
            "to fix it: run it with sudo, or once: sudo setcap cap_bpf,": {},
            "to fix it, in the manifest: securityContext: {runAsUser: 0, capabilities: "
            "{add: [BPF, PERFMON]}}": {"KUBERNETES_SERVICE_HOST": "10.0.0.1"},
            "to fix it, as options of docker run or podman run: --user 0 --cap-add BPF "
            "--cap-add PERFMON": {"container": "podman"},
        }
        for line, env in wanted.items():
            if not env and not IN_SHELL:
                continue
            inside = ["unshare", "--uts", "--ipc"] if "container" in env else []
            done = self.run_skein("record", "-d", 1, prefix=[*inside, *as_user()], **env)
            self.assertEqual(done.returncode, 1)
            self.assertIn(line, done.stderr)

    def test_text_and_colours(self):
        done = self.run_skein("doctor", "-v", prefix=as_user("bpf", "perfmon"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Recording works, without what is missing above.", done.stdout)
        self.assertIn("To fix it:\n", done.stdout)
        self.assertIn("(tried: ", done.stdout)
        self.assertNotIn("\033", done.stdout)
        for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
            _, shown = live.on_terminal("doctor", stderr=subprocess.DEVNULL, **env)
            self.assertEqual(b"\033[32m" in shown, coloured, env)

    @unittest.skipUnless(os.path.exists("/usr/bin/python3"), "there is no /usr/bin/python3")
    def test_interpreters(self):
        version = subprocess.run(["/usr/bin/python3", "-c", "import platform; "
                                  "print(platform.python_version())"], capture_output=True,
                                 text=True, check=True).stdout.strip()
        self.start("/usr/bin/python3", "-c", "print(1, flush=True); import time; time.sleep(60)"
                   ).stdout.readline()
        _, reported = self.findings()
        found = [r for r in reported["runtimes"] if r["name"] == f"Python {version}"]
        self.assertTrue(found, reported["runtimes"])
        self.assertTrue(all(r["readable"] and r["processes"] > 0 for r in found))

    def test_same_words(self):
        """record and doctor report a lack in the same words."""
        for taken in ("bpf", "perfmon"):
            caps = [cap for cap in ("bpf", "perfmon", "syslog") if cap != taken]
            checks, _ = self.findings(as_user(*caps), 1)
            done = self.run_skein("record", "-d", 1, prefix=as_user(*caps))
            lines = done.stderr.splitlines()
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(len(lines), 3)
            self.assertEqual(lines[0], f"skein: {checks['sampling program']['found']}")
            self.assertTrue(lines[1].startswith("skein: to fix it"), lines)
            self.assertTrue(lines[1].endswith(f": {checks['sampling program']['mend']}"), lines)
            self.assertEqual(lines[2], "skein: 'skein doctor' shows more")
            self.assertEqual(checks["sampling program"]["needs"], f"CAP_{taken.upper()}")

    def test_verifier_is_asked_for(self):
        """The kernel's message about a rejected program is shown only on request."""
        caps = as_user("bpf")
        silent = self.run_skein("record", "-d", 1, prefix=caps)
        reported = self.run_skein("record", "-v", "-d", 1, prefix=caps)
        self.assertNotIn("libbpf", silent.stderr)
        self.assertIn("libbpf", reported.stderr)
        self.assertEqual(reported.returncode, 1)

    def test_no_types(self):
        """A kernel without BTF (type information)."""
        hidden = ["unshare", "--mount", "--propagation=private", "sh", "-c",
                  'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh"]
        checks, _ = self.findings(hidden, 1)
        self.assertEqual(checks["kernel types"]["verdict"], "missing")
        self.assertIn("CONFIG_DEBUG_INFO_BTF", checks["kernel types"]["mend"])
        for events in ("cpu", "sched"):
            done = self.run_skein("record", "-e", events, "-d", 1, prefix=hidden)
            self.assertEqual(done.returncode, 1)
            for word in ("/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF", "skein doctor"):
                self.assertIn(word, done.stderr)

    @staticmethod
    def under_filter(action, *calls):
        """Return the words before a command that runs it under a seccomp filter for some calls."""
        script = ("import ctypes, os, sys\n"
                  "s = ctypes.CDLL('libseccomp.so.2')\n"
                  "s.seccomp_init.restype = ctypes.c_void_p\n"
                  "f = ctypes.c_void_p(s.seccomp_init(0x7fff0000))\n"
                  f"for name in {[call.encode() for call in calls]}:\n"
                  f"    assert s.seccomp_rule_add(f, ctypes.c_uint({action}), "
                  "s.seccomp_syscall_resolve_name(name), 0) == 0\n"
                  "assert s.seccomp_load(f) == 0\n"
                  "os.execv(sys.argv[1], sys.argv[1:])\n")
        return [sys.executable, "-c", script]

    def test_filtered(self):
        """A container engine's seccomp filter that forbids the calls."""
        prefix = self.under_filter(REFUSE, "bpf", "perf_event_open")
        checks, _ = self.findings(prefix, 1)
        self.assertEqual(checks["sampling event"]["verdict"], "missing")
        self.assertIn("seccomp", checks["sampling event"]["found"])
        self.assertIn("a seccomp filter", checks["restrictions"]["found"])
        done = self.run_skein("record", "-d", 1, prefix=prefix)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a system call filter (seccomp) forbids it", done.stderr)
        self.assertIn("skein doctor", done.stderr)

    def test_filter_forbids_filters(self):
        """A unit's filter without seccomp(2): helpers cannot confine themselves."""
        for action in (REFUSE, KILL):
            prefix = self.under_filter(action, "seccomp")
            checks, _ = self.findings(prefix, 1)
            for check in ("names and tables", "its own samples"):
                self.assertEqual(checks[check]["verdict"], "missing")
                self.assertIn("open_by_handle_at", checks[check]["mend"] + checks[check]["needs"])
            done = self.run_skein("record", "-d", 1, prefix=prefix)
            self.assertEqual(done.returncode, 1)
            self.assertIn("could not give up its privileges: a system call filter (seccomp)",
                          done.stderr)
        done = self.run_skein("record", "-d", 0.3, "-o", self.file(),
                              prefix=self.under_filter(REFUSE, "open_by_handle_at"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_hidden_kallsyms(self):
        """As by a unit's ProtectKernelTunables=: no capability is blamed."""
        empty = self.tmp / "empty"
        empty.touch(0)
        hidden = ["unshare", "--mount", "--propagation=private", "sh", "-c",
                  f'mount --bind {empty} /proc/kallsyms && exec "$@"', "sh"]
        checks, _ = self.findings(hidden)
        self.assertEqual(checks["kernel names"]["verdict"], "missing")
        self.assertIn("/proc/kallsyms is hidden", checks["kernel names"]["found"])
        done = self.run_skein("record", "-d", 0.3, "-o", self.file(), prefix=hidden)
        self.assertIn("/proc/kallsyms is missing: kernel functions without names", done.stderr)
        self.assertNotIn("CAP_SYSLOG", done.stderr)

    def test_ring_memory(self):
        """Other rings of this user use up the memory that may be locked without CAP_IPC_LOCK."""
        self.switch("perf_event_mlock_kb", 64)
        prefix = ["prlimit", "--memlock=65536:65536", *as_user("bpf", "perfmon")]
        checks, _ = self.findings(prefix, 1)
        self.assertEqual(checks["process life"]["verdict"], "missing")
        self.assertIn("perf_event_mlock_kb", checks["process life"]["mend"])
        done = self.run_skein("record", "-d", 1, prefix=prefix)
        self.assertEqual(done.returncode, 1)
        self.assertIn("sysctl kernel.perf_event_mlock_kb", done.stderr)
        self.assertIn("skein doctor", done.stderr)

    def record_loop(self, *prefix):
        path = self.home / f"{self.files}.skein"
        self.files += 1
        done = self.run_skein("record", "-F", 997, "-o", path, "--", "dd", "if=/dev/zero",
                              "of=/dev/null", "bs=1M", "count=5000", "status=none",
                              prefix=prefix)
        return done, path

    def test_paranoid(self):
        """CAP_PERFMON overrides kernel.perf_event_paranoid; without it no program can be loaded."""
        level = int((SYSCTL / "perf_event_paranoid").read_text())
        self.addCleanup((SYSCTL / "perf_event_paranoid").write_text, f"{level}\n")
        for level in range(5):
            with self.subTest(level=level):
                self.switch("perf_event_paranoid", level)
                done, path = self.record_loop(*as_user("bpf", "perfmon"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(live.Trace(path).stacks(comm="dd"))
                done, _ = self.record_loop(*as_user())
                self.assertEqual(done.returncode, 1)
                for word in ("CAP_BPF and CAP_PERFMON are missing", "skein doctor"):
                    self.assertIn(word, done.stderr)

    def test_hidden_addresses(self):
        """kernel.kptr_restrict: kernel names need CAP_SYSLOG, and do not exist at 2."""
        for level in range(3):
            with self.subTest(level=level):
                self.switch("kptr_restrict", level)
                done, path = self.record_loop()
                self.assertEqual(done.returncode, 0, done.stderr)
                named = any(kind == live.FRAME["KERNEL"] and not name.startswith("[")
                            for s in live.Trace(path).stacks(comm="dd")
                            for name, kind in zip(s.names, s.kinds))
                self.assertEqual(named, level < 2)
                self.assertEqual("kernel.kptr_restrict" in done.stderr, level == 2, done.stderr)
        checks, _ = self.findings()
        self.assertEqual(checks["kernel names"]["verdict"], "missing")
        self.assertIn("sysctl kernel.kptr_restrict=1", checks["kernel names"]["mend"])

    def test_page(self):
        """docs/privileges.md holds the current table."""
        done = subprocess.run([live.ROOT / "tools" / "privileges", SKEIN, "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_beside_a_recording(self):
        """
        The files of another recorder's helpers belong to root, so what root may read there says
        nothing of other users' programs.
        """
        self.begin("-a")
        self.start("setpriv", "--reuid=4242", "--regid=4242", "--clear-groups", "sleep", "100")
        kept = "-all,+bpf,+perfmon,+sys_ptrace,+syslog,+checkpoint_restore,+sys_nice"
        checks, _ = self.findings(["setpriv", f"--inh-caps={kept}", f"--bounding-set={kept}"])
        for name in ("deleted files", "others' memory"):
            self.assertEqual(checks[name]["verdict"], "missing", checks[name])
            self.assertIn("CAP_DAC_READ_SEARCH", checks[name]["needs"])

    def test_services(self):
        """docs/services.md holds the built-in rules, and these are a file of rules."""
        rules = self.run_skein("doctor", "--services").stdout
        printed = [line.split(None, 1) for line in rules.splitlines()
                   if line and not line.startswith("#")]
        page = (live.ROOT / "docs" / "services.md").read_text()
        table = page.split("<!-- rules -->")[1].split("<!-- rules: end -->")[0]
        rows = [[cell.strip().strip("`") for cell in line.split("|")[2:4]]
                for line in table.splitlines()[3:]]
        self.assertGreater(len(rows), 20)
        self.assertEqual(printed, rows)
        file = self.tmp / "rules"
        file.write_text(rules)
        done = self.run_skein("record", "--service-rules", file, "-o", self.file(), "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_wrong_words(self):
        for args in (["--frobnicate"], ["something"], ["--color", "pink"]):
            done = self.run_skein("doctor", *args)
            self.assertEqual(done.returncode, 2, args)
            self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    live.main()
