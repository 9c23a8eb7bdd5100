# SPDX-License-Identifier: Apache-2.0
"""Loads with many context switches, under which scheduler recorders are compared."""
import math
import pathlib
import re
import shutil
import subprocess
import time

from bench_meter import BenchError, Load


def stat_of_machine():
    """Return (context switches since boot, ticks stolen by the host, all ticks)."""
    text = pathlib.Path("/proc/stat").read_text()
    ticks = [int(n) for n in text.splitlines()[0].split()[1:9]]
    return int(re.search(r"^ctxt (\d+)", text, re.M).group(1)), ticks[7], sum(ticks)


class Done:
    """
    One run. time: s per operation; switches: their number; seconds: of the run; steal: stolen by
    the host.
    """

    def __init__(self, per_operation, switches, seconds, steal):
        self.time, self.switches, self.seconds, self.steal = (per_operation, switches, seconds,
                                                              steal)


class Storm:
    """
    A load of some operations; scale() sets its length. Its programs start at the same time, and
    the result is their own output. recorder: the CPUs that recorders are bound to.
    """

    unit = "operation"
    exact = None  # switches of one operation, if that is constant
    first = 1000  # least operations
    recorder = None
    length = 1  # length relative to other loads

    def __init__(self, name):
        self.name, self.operations = name, self.first

    def commands(self):
        raise NotImplementedError

    def per_operation(self, said):
        """Return the seconds per operation, from a program's output."""
        raise NotImplementedError

    def once(self):
        before, begun = stat_of_machine(), time.monotonic()
        running = [subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                   for command in self.commands()]
        said = [process.communicate()[0] for process in running]
        seconds, after = time.monotonic() - begun, stat_of_machine()
        if any(process.returncode for process in running):
            raise BenchError(f"{self.name}: {' '.join(said)}")
        times = [self.per_operation(text) for text in said]
        switches = after[0] - before[0]
        if self.exact:
            switches = self.exact * self.operations * len(times)
        steal = (after[1] - before[1]) / max(after[2] - before[2], 1)
        return Done(sum(times) / len(times), switches, seconds, steal)

    def scale(self, seconds):
        taken = self.once().time * self.operations
        self.operations = max(self.first, round(self.operations * seconds * self.length / taken))

    def scale_to_switches(self, wanted, switched):
        """Set the operations for a run with `wanted` switches, from one run that had `switched`."""
        self.operations = max(self.first, math.ceil(self.operations * wanted / max(switched, 1)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def said_by(pattern, text):
    match = re.search(pattern, text)
    if not match:
        raise BenchError(f"a load did not print what it took: {text}")
    return float(match.group(1))


class Pipe(Storm):
    """perf bench sched pipe: two processes that wake one another."""

    first = 20000

    def __init__(self, name, cpus=(), recorder=None):
        super().__init__(name)
        self.cpus, self.recorder = cpus, recorder
        self.exact = 2 if cpus else None

    def commands(self):
        bench = ["perf", "bench", "sched", "pipe", "-l", self.operations]
        return [["taskset", "-c", cpu, *bench] for cpu in self.cpus] or [bench]

    def per_operation(self, said):
        return said_by(r"([\d.]+) usecs/op", said) / 1e6


class Messaging(Storm):
    """perf bench sched messaging: 10 groups of 20 senders and 20 receivers."""

    unit = "round of messages"
    first = 200
    length = 2  # starting 400 processes takes some time

    def commands(self):
        return [["perf", "bench", "sched", "messaging", "-g", 10, "-l", self.operations]]

    def per_operation(self, said):
        return said_by(r"Total time: ([\d.]+)", said) / self.operations


class Redis(Storm):
    """redis-benchmark with 50 clients, and a server of its own."""

    unit = "request"
    first = 20000

    def __init__(self, name, folder):
        super().__init__(name)
        self.socket, self.folder, self.server = folder / "redis.sock", folder, None

    def __enter__(self):
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
             "--appendonly", "no", "--dir", self.folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while not self.socket.exists():
            if self.server.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise BenchError("redis-server did not start")
            time.sleep(0.05)
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()

    def commands(self):
        return [["redis-benchmark", "-s", self.socket, "-n", self.operations, "-t", "get",
                 "--csv"]]

    def for_ever(self):
        return Load([*self.commands()[0], "-l"], 1)

    def per_operation(self, said):
        return 1 / said_by(r'"GET","([\d.]+)"', said)


class Database(Storm):
    """pgbench with 8 clients on a small database, and a PostgreSQL server of its own."""

    unit = "transaction"
    first = 2000
    clients = 8

    def __init__(self, name, folder):
        super().__init__(name)
        self.folder = folder / "postgres"
        self.programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), default=None)

    def _as_postgres(self, *command):
        return ["runuser", "-u", "postgres", "--", *command]

    def _run(self, *command):
        done = subprocess.run(self._as_postgres(*command), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode:
            raise BenchError(f"{command[0]}: {done.stdout}")

    def __enter__(self):
        if not self.programs:
            raise BenchError("PostgreSQL is not installed (tools/deps bench installs it)")
        self.folder.mkdir()
        self.folder.parent.chmod(0o755)
        shutil.chown(self.folder, "postgres")
        self._run(self.programs / "initdb", "-D", self.folder / "data")
        self._run(self.programs / "pg_ctl", "-D", self.folder / "data", "-w", "-l",
                  self.folder / "log", "-o", f"-k {self.folder} -c listen_addresses=", "start")
        self._run("createdb", "-h", self.folder, "bench")
        self._run("pgbench", "-h", self.folder, "-i", "-s", "5", "-q", "bench")
        return self

    def __exit__(self, *_):
        self._run(self.programs / "pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)

    def _pgbench(self, *how):
        return self._as_postgres("pgbench", "-h", self.folder, "-c", str(self.clients), "-j", "2",
                                 *how, "bench")

    def commands(self):
        return [self._pgbench("-t", str(self.operations // self.clients))]

    def for_ever(self):
        return Load(self._pgbench("-T", "3600"), 1)

    def per_operation(self, said):
        return 1 / said_by(r"tps = ([\d.]+)", said)
