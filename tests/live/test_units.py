# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 900
"""
Run skein in units of a real systemd, which a container boots: with the lines that doctor prints
and the hardening that docs/privileges.md lists, recordings are whole. Without one of them, doctor
and record name the cause, and the line that doctor prints then mends it.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import container
import live
import test_namespaces
from completeness import completeness
from live import ROOT, SKEIN, workload
from needs_table import NeedsTable

MADE = "/var/cache/skein/unit.skein"  # in the container
HARDENED = (
    "ProtectSystem=strict", "ProtectHome=read-only", "PrivateTmp=yes", "PrivateDevices=yes",
    "ProtectControlGroups=yes", "ProtectKernelModules=yes", "ProtectClock=yes",
    "ProtectHostname=yes", "ProtectProc=invisible", "RestrictNamespaces=yes",
    "RestrictRealtime=yes", "RestrictSUIDSGID=yes", "LockPersonality=yes",
    "MemoryDenyWriteExecute=yes", "RestrictAddressFamilies=AF_UNIX AF_NETLINK",
    "SystemCallArchitectures=native", "NoNewPrivileges=yes", "UMask=0077",
    "ReadOnlyPaths=/proc/sys")
ADDS = "AmbientCapabilities="
SETTING = "a systemd unit"  # as doctor's table calls it
CALLS = "SystemCallFilter=@system-service bpf perf_event_open seccomp open_by_handle_at"
# What a unit sets, the check that misses something, the need that doctor names, words of record
# (None: it is ended by the filter, or says nothing).
WRONG = (
    (("SystemCallFilter=@system-service bpf perf_event_open", "SystemCallErrorNumber=EPERM"),
     "its own samples", "open_by_handle_at", "a system call filter (seccomp) forbids it"),
    (("SystemCallFilter=@system-service bpf perf_event_open",),
     "its own samples", "open_by_handle_at", "a system call filter (seccomp) forbids it"),
    (("SystemCallFilter=@system-service",),
     "sampling program", "open_by_handle_at", None),
    (("SystemCallFilter=@system-service bpf perf_event_open seccomp",),
     "restrictions", "open_by_handle_at", ""),
    (("ProtectKernelTunables=yes",),
     "kernel names", "/proc/kallsyms", "/proc/kallsyms is missing: kernel functions without"),
    (("ProtectKernelLogs=yes",),
     "kernel names", "CAP_SYSLOG", "CAP_SYSLOG is missing: kernel functions without names"),
    (("PrivateUsers=yes",),
     "user namespace", "the initial user namespace", "in a user namespace of its own"),
)
# These checks cannot be ok here: the container has its own pid namespace, and maybe no cgroups.
NEVER = {"pid namespace", "hardware counter", "control groups"}
OF_CAPABILITY = {
    "CAP_BPF": "sampling program", "CAP_PERFMON": "sampling program",
    "CAP_SYS_PTRACE": "others' files", "CAP_DAC_READ_SEARCH": "others' memory",
    "CAP_SYSLOG": "kernel names", "CAP_CHECKPOINT_RESTORE": "deleted files",
    "CAP_SYS_NICE": "priority"}
SHORT = ("CAP_SYS_PTRACE",)


def printed():
    """Return the line for capabilities, and those for other needs by name, in units."""
    table = NeedsTable()
    return table.all_capabilities(SETTING), {
        name: fixes.get(SETTING, fixes.get("everywhere")) for name, fixes in table.fixes.items()}


def settings_of(line):
    """Return the settings in a line that doctor prints."""
    return re.findall(r"[A-Z]\w+=.*?(?=, and |, which | in its stead|$)", line)


def mended(properties, line):
    """Return properties with those of a printed line, which replace what they contradict."""
    new = settings_of(line)
    names = tuple(setting.split("=")[0] + "=" for setting in new if not setting.startswith(ADDS))
    kept = [p for p in properties if not p.startswith(names)] if names else properties
    return [*kept, *new]


def in_one(properties):
    """
    Return properties with one line of capabilities: systemd adds up those of a unit's file, but
    `systemd-run` takes the last one.
    """
    words = [word for p in properties if p.startswith(ADDS) for word in p[len(ADDS):].split()]
    return [*(p for p in properties if not p.startswith(ADDS)), ADDS + " ".join(words)]


def boot():
    """Boot the container of this file, when its first test needs it, or skip."""
    if os.geteuid():
        raise unittest.SkipTest("recording needs root")
    try:
        box = container.Container()
    except container.NoContainer as why:
        raise unittest.SkipTest(str(why)) from None
    unittest.addModuleCleanup(box.end)
    return box


class UnitTest(test_namespaces.NamespaceTest):
    box = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        UnitTest.box = UnitTest.box or boot()
        cls.ambient, fixes = printed()
        cls.lines = [cls.ambient, fixes["a folder for unwind tables"], "DynamicUser=yes"]
        calls = next(v for k, v in fixes.items() if k.startswith("the system calls"))
        assert calls == CALLS, calls

    def start_boxed(self, *command):
        """Start a program of the host's build in the container; it ends with the test."""
        return self.start(*self.box.enter("setpriv", "--pdeathsig", "KILL", *command),
                          stderr=subprocess.DEVNULL)

    def doctor(self, properties):
        """Return {check: finding} of doctor in a unit."""
        done = self.box.unit(in_one(properties), SKEIN, "doctor", "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["setting"], "a systemd unit")
        return {check["check"]: check for check in found["checks"]}

    def taken(self, name="unit.skein"):
        """Return the trace that a unit wrote into its cache folder."""
        return live.Trace(self.box.root / "var/cache/private/skein" / name)

    def record_unit(self, properties, *args):
        done = self.box.unit(in_one(properties), SKEIN, "record", "-v", "-o", MADE, *args)
        return done, done.stderr


class Units(UnitTest):
    def start_loads(self):
        (self.box.root / "busy.py").write_text(test_namespaces.PYTHON.format(60))
        self.start_boxed(workload("loop"), 60)
        self.start_boxed(workload("sleeper"), 60)
        self.start_boxed("python3", "/busy.py")

    def check_loads(self, trace):
        self.check_named(trace, "loop", "main")
        self.check_named(trace, "sleeper", "main")
        snakes = trace.stacks(comm="python3")
        found = completeness(SKEIN, trace.path, "python3")
        self.assertLessEqual(found.samples - found.complete, 0.005 * found.samples, str(found))
        self.assertGreaterEqual(live.share(snakes, "inner"), 0.95)
        # Debian's interpreter has no symbols of its static functions: names of Python's count
        unnamed = [s for s in snakes if any(k == live.FRAME["PYTHON"] and n.startswith("[")
                                            for n, k in zip(s.names, s.kinds))]
        self.assertLessEqual(live.count(unnamed), 0.01 * live.count(snakes))

    def test_unit_file(self):
        """A hardened service from a file: whole stacks, names, timelines, wakers, losses."""
        self.start_loads()
        lines = [*self.lines, CALLS, *HARDENED, "Type=oneshot",
                 f"ExecStart={SKEIN} record -e all -F 499 -d 8 -o {MADE}"]
        unit = self.box.root / "etc/systemd/system/profile.service"
        unit.write_text("\n".join(["[Service]", *lines, ""]))
        self.box.run("systemctl", "daemon-reload")
        done = self.box.run("systemctl", "start", "profile.service")
        said = self.box.run("journalctl", "-u", "profile.service", "-o", "cat").stdout
        self.assertEqual(done.returncode, 0, said)
        self.assertNotIn("warning", said)
        trace = self.taken()
        self.check_loads(trace)
        ran = trace.query("SELECT sum(s.end - s.time) / 1e9 AS s FROM slice s JOIN thread t "
                          "ON t.id = s.value JOIN lane l ON l.id = s.lane AND l.kind = 1 "
                          "WHERE t.comm = 'loop'")[0]["s"]
        sampled = live.weight(trace.stacks(comm="loop"))
        self.assertAlmostEqual(ran, sampled, delta=0.1 * ran + 0.1)
        for row in trace.query("SELECT * FROM account"):
            lost = sum(r["count"] for r in trace.query("SELECT * FROM loss")
                       if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"])
            self.assertEqual(row["due"], row["written"] + row["filtered"] + row["idle"] + lost
                             + row["cut_off"], row)

    def test_all_lines(self):
        """With every printed line doctor misses nothing, and its cache is kept."""
        properties = [*self.lines, CALLS, *HARDENED,
                      "AmbientCapabilities=CAP_SETUID CAP_SETGID CAP_KILL"]
        checks = self.doctor(properties)
        missing = {n: c["found"] for n, c in checks.items() if c["verdict"] == "missing"}
        self.assertEqual(set(missing) - NEVER, set(), missing)
        for _ in range(2):
            done, said = self.record_unit(properties, "-d", 0.3)
            self.assertEqual(done.returncode, 0, said)
        self.assertRegex(said, r"\b0 made, [1-9]\d* from the cache")

    def test_filter_ends_a_caller(self):
        """A control group that appears under a filter that ends its finder has its name."""
        properties = [*self.lines, "SystemCallFilter=@system-service bpf perf_event_open seccomp"]
        self.box.run("systemd-run", "--quiet", "--unit=born", workload("loop"), "5")
        self.addCleanup(self.box.run, "systemctl", "stop", "born")
        done, said = self.record_unit(properties, "-F", 499, "-d", 1)
        self.assertEqual(done.returncode, 0, said)
        services = {s.process["service"] for s in self.taken().stacks(comm="loop")}
        self.assertEqual(len(services), 1)
        # beside hierarchies of version 1, which have no groups of units, version 2 is not read
        if pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists():
            self.assertEqual(services, {"born"})


class Wrong(UnitTest):
    def check_wrong(self, full, wrong, check, need, words):
        properties = [*self.lines, *wrong]
        found = self.doctor(properties)[check]
        self.assertEqual(found["verdict"], "missing", found)
        self.assertIn(need, found["needs"])
        if need != "CAP_SYSLOG":
            self.assertNotIn("CAP_SYSLOG", found["needs"] + found["found"])
        if not full:
            return
        done, said = self.record_unit(properties, "-d", 0.3)
        if words is None:
            self.assertNotEqual(done.returncode, 0)
        else:
            self.assertIn(words, said)
        better = mended(properties, found["mend"])
        after = self.doctor(better)
        self.assertEqual(after[check]["verdict"], "ok", (better, after[check]))
        if not live.LONG:
            return
        done, said = self.record_unit(better, "-d", 0.3)
        self.assertEqual(done.returncode, 0, said)
        self.assertNotIn("warning", said)

    def test_settings(self):
        for row in WRONG:
            with self.subTest(row[0]):
                self.check_wrong(live.LONG or row in (WRONG[0], WRONG[5]), *row)

    def test_capabilities(self):
        """Each capability that is missing is named; with the printed line it is there."""
        held = self.ambient.split("=")[1].split()
        self.assertEqual(set(held), set(OF_CAPABILITY))
        for name in held if live.LONG else SHORT:
            with self.subTest(name):
                rest = " ".join(cap for cap in held if cap != name)
                properties = [f"AmbientCapabilities={rest}", *self.lines[1:]]
                found = self.doctor(properties)[OF_CAPABILITY[name]]
                self.assertEqual(found["verdict"], "missing", found)
                self.assertIn(name, found["needs"])
                after = self.doctor(mended(properties, found["mend"]))
                self.assertEqual(after[OF_CAPABILITY[name]]["verdict"], "ok", after)


class Whole(UnitTest):
    @unittest.skipUnless(live.LONG, "the long form")
    def test_other_files(self):
        """Whole test files in the container's pid namespace, with the host's files."""
        for name in test_namespaces.LONG:
            with self.subTest(name):
                done = subprocess.run(
                    ["nsenter", "-t", str(self.box.init), "-p", "unshare", "--mount",
                     "--mount-proc", sys.executable, str(ROOT / "tests/lib/run_cases.py"),
                     str(ROOT / f"tests/live/{name}.py"), str(self.tmp / "result.json")],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    check=False)
                self.assertEqual(done.returncode, 0, done.stdout.decode(errors="replace"))


if __name__ == "__main__":
    live.main()
