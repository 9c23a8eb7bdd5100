# SPDX-License-Identifier: Apache-2.0
"""
Run real programs of Debian 12 under load.

Each program is a shell script for the preparation and one for the load, which runs until it is
killed. A load runs as root of its own namespaces (processes, network, System V IPC), so its ports
and sockets do not collide with others, and one kill ends all of its processes, including daemons,
also when the test itself is killed.
"""
import contextlib
import dataclasses
import fnmatch
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from built import ROOT

SOURCES = ROOT / "tests" / "programs"
PREPARE_LIMIT = 180  # s
READY_LIMIT = 60  # s, from the start of a load until it works
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class ProgramError(Exception):
    """A program could not be prepared, or its load ended by itself."""


@dataclasses.dataclass(frozen=True)
class Program:
    """
    A program. comms: the processes that count; tools: what must be installed; scripts: see
    PRELUDE.
    """
    name: str
    comms: tuple
    tools: tuple
    load: str
    prepare: str = ""

    def counts(self, comm):
        return any(fnmatch.fnmatchcase(comm, pattern) for pattern in self.comms)

    def missing(self):
        return [t for t in self.tools if not shutil.which(t, path=f"{PATH}:{os.environ['PATH']}")]


# Beginning of every script. A script runs in a folder of its own; $SOURCES is tests/programs,
# $CPUS is a number.
PRELUDE = """
set -eu
unset GIT_DIR GIT_INDEX_FILE
again() { while "$@" >/dev/null 2>>errors; do :; done; echo "ended: $*" >>errors; }
each_cpu() { for i in $(seq "$CPUS"); do again "$@" & done; }
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
until_ok() { until "$@" >>/dev/null 2>&1; do sleep 0.05; done; }
ready() { : >ready; wait; }
"""

OPENSSL = Program(
    "openssl speed", ("openssl",), ("openssl",),
    load="""
for what in '-evp sha256' '-evp sha512' '-evp sha3-256' '-evp aes-256-gcm' '-evp aes-128-cbc' \
        '-evp chacha20-poly1305' rsa2048 ecdsap256 ecdhx25519 ed25519; do
    again openssl speed -seconds 1 $what &
done
ready
""")

XZ = Program(
    "xz", ("xz",), ("xz",),
    prepare="""
cat /usr/bin/python3.11 /usr/lib/x86_64-linux-gnu/libc.so.6 /usr/bin/perl >data
head -c 12000000 data >part
xz -2 -k part
""",
    load="""
again xz -T"$CPUS" --block-size=2MiB -6 -c data &
again xz -T1 -1 -c data &
again xz -dc part.xz &
ready
""")

GZIP = Program(
    "gzip", ("gzip",), ("gzip",),
    prepare="cat /usr/bin/python3.11 /usr/bin/perl >data; gzip -k data",
    load="""
again gzip -6 -c data &
again gzip -1 -c data &
again gzip -dc data.gz &
ready
""")

SQLITE = Program(
    "sqlite3", ("sqlite3",), ("sqlite3",),
    load="""
each_cpu sh -c 'rm -f base-$$; exec sqlite3 base-$$ <"$SOURCES/work.sql"'
again sqlite3 :memory: ".read $SOURCES/work.sql" &
ready
""")

REDIS = Program(
    "redis-server, redis-benchmark", ("redis-server", "redis-benchmark"),
    ("redis-server", "redis-benchmark"),
    load="""
as_nobody redis-server --bind 127.0.0.1 --port 7001 --save '' --daemonize no >>errors &
until_ok redis-cli -p 7001 ping
for tests in set,get,incr,lpush,rpop lrange_100,mset,zadd,hset,sadd,spop; do
    again redis-benchmark -p 7001 -q -n 100000 -r 10000 -c 20 -P 8 -t $tests &
done
ready
""")

NGINX = Program(
    "nginx, wrk", ("nginx", "wrk"), ("nginx", "wrk"),
    prepare="""
mkdir web
cp "$SOURCES/work.go" web/text.txt
head -c 100000 /dev/urandom >web/data
cat >nginx.conf <<END
worker_processes 2;
pid nginx.pid;
daemon off;
error_log errors;
events { worker_connections 256; }
http {
    access_log access.log;
    gzip on; gzip_min_length 0; gzip_types text/plain;
    types { text/plain txt; }
    client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4;
    scgi_temp_path t5;
    server { listen 127.0.0.1:7002; root web; rewrite ^/old/(.*)$ /\\$1; }
    server { listen 127.0.0.1:7003; location / { proxy_pass http://127.0.0.1:7002; } }
}
END
chown -R nobody .
""",
    load="""
as_nobody nginx -p "$PWD" -c nginx.conf -e errors &
until_ok bash -c ': </dev/tcp/127.0.0.1/7003'
again wrk -t 2 -c 16 -d 1h http://127.0.0.1:7002/data &
again wrk -t 1 -c 8 -d 1h -H 'Accept-Encoding: gzip' http://127.0.0.1:7002/old/text.txt &
again wrk -t 1 -c 4 -d 1h http://127.0.0.1:7003/data &
ready
""")

POSTGRES = Program(
    "postgres, pgbench", ("postgres", "pgbench"), ("/usr/lib/postgresql/15/bin/postgres",),
    prepare="""
PATH=/usr/lib/postgresql/15/bin:$PATH
chown nobody .
as_nobody initdb -D base -A trust -U bench -N >log
as_nobody pg_ctl -D base -w -l base/log -o "-F -k '$PWD' -c listen_addresses=''" start
pgbench -h "$PWD" -U bench -i -s 3 -q postgres
as_nobody pg_ctl -D base -w -m fast stop
""",
    load="""
PATH=/usr/lib/postgresql/15/bin:$PATH
as_nobody postgres -D base -F -k "$PWD" -c listen_addresses= 2>>errors &
until_ok psql -h "$PWD" -U bench -c 'SELECT 1' postgres
again pgbench -h "$PWD" -U bench -c 3 -j 1 -T 3600 postgres &
again pgbench -h "$PWD" -U bench -c 2 -j 2 -T 3600 -S -M prepared postgres &
again pgbench -h "$PWD" -U bench -c 2 -T 3600 -n -f "$SOURCES/work.pgbench" postgres &
ready
""")

COMPILER = Program(
    "g++ (cc1plus, as, collect2, ld)", ("g++", "cc1plus", "as", "collect2", "ld", "ld.bfd"),
    ("g++", "ld"),
    prepare="echo 'int main(int argc, char **argv) { return argv[argc - 1][0]; }' >small.cc",
    load="""
again g++ -O1 small.cc -o small &
i=0
for flags in '-O0' '-O2' '-O1 -g -flto'; do
    i=$((i + 1))
    again g++ $flags "$SOURCES/work.cc" -o work-$i &
done
ready
""")

NODE = Program("node", ("node",), ("node",), load="""
again node "$SOURCES/work.js" &
ready
""")

GIT = Program(
    "git gc", ("git",), ("git",),
    prepare="""
for name in $(seq 0 9); do git init -q --bare "repo-$name"; done
awk 'BEGIN {
    srand(1)
    for (c = 1; c <= 250; c++) {
        print "commit refs/heads/main\\ncommitter a <a@b> " 1e9 + c " +0000\\ndata 1\\nc"
        for (f = 0; f < 4; f++) {
            text = ""
            for (l = 0; l < 150; l++) text = text int((rand() < 0.1 ? rand() : l / 150) * 1e9) "\\n"
            print "M 644 inline dir" f "/file" int(rand() * 20) "\\ndata " length(text) "\\n" text
        }
    }
}' >stream
for name in $(seq 0 9); do git -C "repo-$name" fast-import --quiet <stream; done
""",
    load="""
for i in $(seq "$CPUS"); do
    again git -C repo-"$((i % 10))" gc --aggressive --prune=now --quiet --force &
done
ready
""")

PERL = Program("perl", ("perl",), ("perl",), load="""
each_cpu perl "$SOURCES/work.pl"
ready
""")

PYTHON = Program("python3 (native frames)", ("work-python",), ("/usr/bin/python3",),
                 prepare="ln -s /usr/bin/python3 work-python", load="""
each_cpu ./work-python "$SOURCES/work.py"
ready
""")

# Debian's compiler and the one in the PATH, which may be years newer; each also stripped.
GO = Program(
    "Go", ("work-go*",), ("/usr/lib/go-1.19/bin/go",),
    prepare="""
export GO111MODULE=off GOCACHE="$CACHE/go" CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS= HOME="$CACHE"
/usr/lib/go-1.19/bin/go build -o work-go "$SOURCES/work.go"
/usr/lib/go-1.19/bin/go build -ldflags '-s -w' -o work-go-s "$SOURCES/work.go"
if go=$(command -v go); then
    "$go" build -o work-go-n "$SOURCES/work.go"
    "$go" build -ldflags '-s -w' -o work-go-ns "$SOURCES/work.go"
fi
""",
    load="""
for program in work-go*; do again env GOMAXPROCS=2 "./$program" & done
ready
""")

RUST = Program(
    "Rust", ("work-rust*",), ("rustc",),
    prepare="""
rustc --edition 2021 -O -o work-rust "$SOURCES/work.rs"
rustc --edition 2021 -O -C strip=symbols -o work-rust-s "$SOURCES/work.rs"
""",
    load="""
for program in work-rust*; do again "./$program" & done
ready
""")

PROGRAMS = (OPENSSL, XZ, GZIP, SQLITE, REDIS, NGINX, POSTGRES, COMPILER, NODE, GIT, PERL, PYTHON,
            GO, RUST)


def _end(process):
    """
    End a load. Kill the first process of the namespace, whose end kills all others, and wait for
    unshare(1); a killed unshare(1) would not wait for them.
    """
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        for child in children.read_text().split():
            os.kill(int(child), signal.SIGKILL)
        process.wait(10)
    process.kill()
    process.wait()


class Loads:
    """
    Prepare programs, once each, and run them. build is the folder where results that take long to
    make are kept for later runs.
    """

    def __init__(self, build):
        self.cache = pathlib.Path(build).resolve() / "tests" / "programs"
        self.cache.mkdir(parents=True, exist_ok=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="skein-programs-"))
        self.folder.chmod(0o755)
        self.prepared = {}

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def _environment(self):
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SUDO_", "PYTHON"))}
        return {**inherited, "PATH": f"{os.environ['PATH']}:{PATH}", "SOURCES": str(SOURCES),
                "CACHE": str(self.cache), "CPUS": str(len(os.sched_getaffinity(0))),
                "LC_ALL": "C.UTF-8", "TMPDIR": str(self.folder)}

    def _command(self, script):
        # setpriv kills the load if this process is killed
        return ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--net", "--ipc", "--fork",
                "--kill-child=KILL", "bash", "-c", f"ip link set lo up\n{PRELUDE}{script}"]

    def _prepare(self, program):
        if program in self.prepared:
            return self.prepared[program]
        folder = self.folder / str(len(self.prepared))
        folder.mkdir()
        run = subprocess.run(self._command(program.prepare), cwd=folder, stdin=subprocess.DEVNULL,
                             env=self._environment(), stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=PREPARE_LIMIT, check=False)
        if run.returncode:
            said = run.stdout.decode(errors="replace")[-2000:]
            raise ProgramError(f"{program.name} cannot be prepared: {said}")
        self.prepared[program] = folder
        return folder

    @contextlib.contextmanager
    def running(self, *programs):
        """Put all programs under load at the same time, within the context: their processes."""
        with contextlib.ExitStack() as stack:
            started = [(p, stack.enter_context(self._started(p, self._prepare(p))))
                       for p in programs]
            for program, process in started:
                self._await(program, process)
            yield [process for _, process in started]
            for program, process in started:
                self._check(program, process)

    @contextlib.contextmanager
    def _started(self, program, folder):
        (folder / "ready").unlink(missing_ok=True)
        process = subprocess.Popen(self._command(program.load), cwd=folder,
                                   env=self._environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield process
        finally:
            _end(process)

    def _await(self, program, process):
        end = time.monotonic() + READY_LIMIT
        while not (self.prepared[program] / "ready").exists():
            self._check(program, process)
            if time.monotonic() > end:
                raise ProgramError(f"{program.name} was not ready after {READY_LIMIT} s")
            time.sleep(0.05)

    def _check(self, program, process):
        """Check that neither a load nor any of its loops has ended by itself."""
        errors = self.prepared[program] / "errors"
        said = errors.read_text(errors="replace")[-2000:] if errors.exists() else ""
        if process.poll() is not None or "ended: " in said:
            raise ProgramError(f"the load of {program.name} ended: {said}")
