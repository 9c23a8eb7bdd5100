# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 600
"""
Run the image in podman: beside a container whose processes it records, as a sidecar, with the lines
that doctor and docs/containers.md print, and with less than they ask for.

podman needs a control group file system of version 2 alone; the tests make a mount namespace with
one. Where resource limits cannot be raised, containers run without any.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import live
from completeness import completeness
from live import ROOT, SKEIN, workload

BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build"))
IMAGE = next((BUILD / "image").glob("skein-*.tar"), None)
PROFILE = BUILD / "image" / "seccomp.json"
CAPABILITIES = ("BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "SYSLOG", "CHECKPOINT_RESTORE",
                "SYS_NICE")
PYTHON = "def inner(): return sum(range(20000))\nwhile True: inner()\n"

# A runtime that drops resource limits, which cannot be set without CAP_SYS_RESOURCE.
RUNTIME = """#!/usr/bin/python3
import json, os, sys
for option, value in zip(sys.argv, sys.argv[1:]):
    if option == "--bundle":
        path = os.path.join(value, "config.json")
        with open(path) as file:
            config = json.load(file)
        config["process"].pop("rlimits", None)
        with open(path, "w") as file:
            json.dump(config, file)
os.execvp("runc", ["runc", *sys.argv[1:]])
"""


def missing():
    tools = [tool for tool in ("podman", "runc") if not shutil.which(tool)]
    if tools:
        return f"no {' and no '.join(tools)}"
    if not IMAGE or not PROFILE.exists():
        return "no image: make image"
    return None


@unittest.skipIf(missing(), missing())
class Containers(live.LiveTest):
    def setUp(self):
        super().setUp()
        runtime = self.tmp / "runtime"
        runtime.write_text(RUNTIME)
        runtime.chmod(0o755)
        holder = self.start("unshare", "-m", "sh", "-c",
                            "umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && "
                            "exec sleep infinity")
        self.wait_for(lambda: pathlib.Path(f"/proc/{holder.pid}/comm").read_text() == "sleep\n")
        self.inside = ["nsenter", "-m", "-t", str(holder.pid)]
        self.podman = [*self.inside, "podman", "--root", self.tmp / "root", "--runroot",
                       self.tmp / "runroot", "--storage-driver=vfs", "--cgroup-manager=cgroupfs",
                       "--runtime", runtime, "--events-backend=none", "--log-level=error"]
        self.addCleanup(self.remove_containers)
        done = self.run_in(*self.podman, "load", "-q", "-i", IMAGE)
        if done.returncode:
            self.skipTest(f"podman does not work here: {done.stderr.strip()[-200:]}")
        self.image = done.stdout.split()[-1]

    @staticmethod
    def run_in(*command):
        return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)

    def remove_containers(self):
        done = self.run_in(*self.podman, "rm", "--force", "--all", "--time", "0")
        self.assertEqual(done.returncode, 0, done.stderr)

    def begin_application(self, *command):
        """Run a command in a container with the programs of this machine; return its name."""
        tree = self.tmp / "tree"
        if not tree.exists():
            for name in ("usr", "proc", "sys", "dev", "tmp", "etc", "build", "run"):
                (tree / name).mkdir(parents=True)
            for name in ("bin", "lib", "lib64", "sbin"):
                (tree / name).symlink_to(f"usr/{name}")
        done = self.run_in(*self.podman, "run", "-d", "--hostname", "shop-1", "--pids-limit", "0",
                           "--network=none", "-v", "/usr:/usr:ro", "-v", f"{BUILD}:/build:ro",
                           "--rootfs", tree, *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def skein(self, *args, capabilities=CAPABILITIES, profile=PROFILE, options=("--rm",)):
        """Run the image, with the line of docs/containers.md."""
        (self.tmp / "data").mkdir(exist_ok=True)
        (self.tmp / "cache").mkdir(exist_ok=True)
        added = [word for name in capabilities for word in ("--cap-add", name)]
        filtered = ["--security-opt", f"seccomp={profile}"] if profile else []
        return self.run_in(*self.podman, "run", "--read-only", "--pids-limit", "0",
                           "--network=none", "--cap-drop", "ALL", *added, *filtered,
                           "-v", f"{self.tmp}/data:/data", "-v",
                           f"{self.tmp}/cache:/var/cache/skein", *options, self.image, *args)

    def check_complete(self, trace, comm, function, least=99):
        """
        Of a program 99.5 % of the stacks are complete, and 99 % have names only; Debian's Python
        has no symbols, so functions of its own file have their addresses.
        """
        stacks = trace.stacks(comm=comm)
        samples = live.count(stacks)
        self.assertGreater(samples, least)
        found = completeness(SKEIN, trace.path, comm)
        self.assertLessEqual(found.samples - found.complete, 0.005 * found.samples, str(found))
        unnamed = collections.Counter()
        for stack in stacks:
            wrong = [n for n in stack.names if n.startswith("[") and "/python3" not in n]
            unnamed.update(wrong[:1] * stack.count)
        self.assertLessEqual(unnamed.total(), 0.01 * samples, unnamed)
        self.assertGreaterEqual(live.share(stacks, function), 0.9)

    def test_sidecar(self):
        """
        Native and Python programs of the container beside it: whole, named, with its host name as
        the service; nothing of the host. The same from the host, by the control group.
        """
        pod = self.begin_application("sh", "-c", '"$0" 100 & exec /usr/bin/python3 -c "$1"',
                                     "/build/" + os.path.relpath(workload("loop"), BUILD), PYTHON)
        # First a recording that makes the tables; nothing is expected of its names.
        shared = ("--rm", "--pid", f"container:{pod}", "--uts", f"container:{pod}")
        for name in ("warm", "measured"):
            done = self.skein("record", "-e", "all", "-F", "499", "-d", "2", "-o", f"{name}.skein",
                              options=shared)
            self.assertEqual(done.returncode, 0, done.stderr)
        trace = live.Trace(self.tmp / "data" / "measured.skein")
        self.check_complete(trace, "loop", "loop_inner")
        self.check_complete(trace, "python3", "inner")
        comms = {s.process["comm"] for s in trace.stacks()}
        self.assertLessEqual(comms, {"loop", "python3", "sh", "skein", "skein-names", "skein-waits",
                                     "skein-opener", "skein-pages", "skein-memory",
                                     "skein-fork"})
        self.assertEqual({s.process["service"] for s in trace.stacks(comm="loop")}, {"shop"})
        path = self.file()
        done = self.run_in(*self.inside, SKEIN, "record", "-a", "-F", "499", "-d", "1", "-o", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        # other tests may run that program, too
        loop, = {s.process["id"]: s.process for s in live.Trace(path).stacks(comm="loop")
                 if s.process["container"] == pod}.values()
        self.assertEqual(loop["service"], "shop-1")

    def first_process(self, name):
        """Return the pid of a container's first process on the host."""
        return int(self.run_in(*self.podman, "inspect", "-f", "{{.State.Pid}}", name).stdout)

    @staticmethod
    def answer_of(pid, path):
        """What the service of a container answers in its network."""
        done = subprocess.run(["nsenter", "-t", str(pid), "-n", "curl", "-sS", "--max-time", "20",
                               f"http://127.0.0.1:7117{path}"], capture_output=True, text=True,
                              check=False)
        return done.stdout

    def test_manifests(self):
        """
        What each manifest runs, with its privileges: it is ready when it records, and goes on
        until the engine ends it; the windows are whole then.
        """
        (self.tmp / "data").mkdir(exist_ok=True)
        (self.tmp / "data/token").write_text("0123456789abcdef\n")
        pod = self.begin_application("/build/" + os.path.relpath(workload("loop"), BUILD), "100")
        for name, shared in (("daemonset", "host"), ("sidecar", f"container:{pod}")):
            with self.subTest(name):
                text = (ROOT / f"packaging/kubernetes/{name}.yaml").read_text()
                args, = re.findall(r"args: \[(.*)\]", text)
                args = args.replace("/etc/skein/token", "/data/token")
                added, = re.findall(r"add: \[(.*)\]", text)
                done = self.skein(*args.split(", "), capabilities=added.split(", "),
                                  options=("-d", "--name", name, "--pid", shared))
                self.assertEqual(done.returncode, 0, done.stderr)
                pid, loop = self.first_process(name), self.first_process(pod)
                self.wait_for(lambda: self.answer_of(pid, "/readyz") == "ready\n")
                self.assertEqual(self.answer_of(pid, "/healthz"), "ok\n")
                self.assertIn("the token is missing", self.answer_of(pid, "/metrics"))
                enough = live.cpu_seconds(loop) + 12 # s: 228 samples
                self.wait_for(lambda: live.cpu_seconds(loop) > enough, 200)
                self.run_in(*self.podman, "stop", "--time", "30", name)
                ended = self.run_in(*self.podman, "wait", name).stdout.strip()
                said = self.run_in(*self.podman, "logs", name).stderr
                self.run_in(*self.podman, "rm", "--force", name)  # it depends on the other
                self.assertEqual(ended, "0", said)
                windows = list((self.tmp / "data").glob("2*.skein"))
                largest = max(windows, key=lambda path: path.stat().st_size)
                self.check_complete(live.Trace(largest), "loop", "loop_inner", 50)
                for path in windows:
                    path.unlink()

    def doctor(self, **how):
        """Return {check: finding}, and the lines that mend what is missing."""
        done = self.skein("doctor", "--json", **how)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["setting"], "a container")
        return {f["check"]: f for f in document["checks"]}

    def test_filter(self):
        """podman's own filter is named as the cause, and the line for it works."""
        found = self.doctor(profile=None)["sampling program"]
        self.assertEqual(found["verdict"], "missing", found)
        line, = {f["mend"] for f in self.doctor(profile=None).values()
                 if "seccomp" in (f.get("mend") or "")}
        self.assertEqual(line, "--security-opt seccomp=unconfined")
        found = self.doctor(profile=None, options=["--rm", *line.split()])["sampling program"]
        self.assertEqual(found["verdict"], "ok", found)

    def test_capabilities(self):
        """Without one of the capabilities, doctor names it, or nothing is lost."""
        names = CAPABILITIES if os.environ.get("SKEIN_LONG") else ("PERFMON", "SYSLOG")
        for name in names:
            with self.subTest(name=name):
                left = [other for other in CAPABILITIES if other != name]
                lost = [f for f in self.doctor(capabilities=left).values()
                        if f["verdict"] == "missing"]
                mends = " ".join(f["mend"] for f in lost if f.get("mend"))
                self.assertIn(f"--cap-add {name}", mends)


if __name__ == "__main__":
    live.main()
