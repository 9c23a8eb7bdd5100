# SPDX-License-Identifier: Apache-2.0
"""
A server that answers the page of a timeline as `skein view` does, with made-up lanes: so that a
test knows every stroke, and can have refusals, delays and an end of the server.
"""
import contextlib
import http.server
import json
import re
import socket
import struct
import threading
import time
import urllib.parse

TOKEN = "0123456789abcdef" * 2
LENGTH = 20_000_000_000 # ns
MAGIC = 0x31574b53
HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.exe"
FILLS = [["", "empty", "#000000"], ["idle", "dots", "#8a8a8a"], ["running", "solid", "#5fd75f"],
         ["runnable", "solid", "#ffd700"], ["lock", "solid", "#af5f5f"],
         ["I/O", "solid", "#5f87af"], ["sleep", "line", "#8a8a8a"],
         ["unknown", "hatch", "#ff5f5f"], ["", "solid", "#5fafd7"], ["", "solid", "#d7875f"],
         ["stopped for a collection", "solid", "#d70000"]]
NONE, IDLE, RUNNING, RUNNABLE, LOCK, IO, SLEEP, UNKNOWN, JAVA, MYSQL, COLLECTION = range(11)
MARKED_TIMES = [n * 1_000_000_000 + 123_456_789 for n in range(1, 20)]
MARKED_LANES = {"0": "1", "p5": "P", "1001": "o"} # by lane: a little, half, all
PAGE_DATA = re.compile(r'(<script id="data" type="application/json">).*?(</script>)', re.S)
POLICY = "default-src 'none'; "


def row(lane, kind, name, number=None, process=None, busy=0.5):
    return {"lane": lane, "kind": kind, "name": name, "id": number, "process": process,
            "busy": busy, "wanted": busy}


def make_rows(cpus=8, processes=3, threads=6):
    """CPUs, then processes, each with a row of its runtime and its threads."""
    rows = [row(str(cpu), "cpu", f"CPU {cpu}", cpu) for cpu in range(cpus)]
    for number in range(processes):
        pid = 4711 + 100 * number
        name = [f"java{number or ''}", "mysqld", HOSTILE][number % 3]
        rows.append(row(f"p{number + 5}", "process", name, pid, None, 0.7 / (number + 1)))
        rows.append(row(f"{900 + number}", "runtime", "JVM", None, str(number + 5), 0.04))
        rows += [row(str(1000 + 100 * number + i), "thread", f"worker {i}", pid + i,
                     str(number + 5), 0.3 / (i + 1)) for i in range(threads)]
    return rows


def join_rows(rows, by):
    """The rows by another choice of lanes: one of all threads of each process but the first."""
    out, letter = [], {"name": "n", "pool": "l"}[by]
    for number, of in enumerate(rows):
        joined = out and out[-1]["kind"] == "threads" and out[-1]
        if of["kind"] != "thread" or of["name"] == "worker 0":
            out.append(of)
        elif joined:
            joined["parts"].append(of["lane"])
            joined["id"] += 1
        else:
            out.append({**of, "lane": f"{letter}{number}", "kind": "threads", "id": 1,
                        "name": "worker" if by == "name" else "pool 2", "parts": [of["lane"]]})
    return out


def trace(rows):
    return {"skein": "0.1", "subject": "stub", "host": {"name": "box", "kernel": "6.1", "cpus": 8},
            "start_utc": "1700000001000000000", "length": LENGTH, "unfinished": False,
            "fills": FILLS, "fill_of": {"running": 2, "unknown": 7, "runnable": 3, "none": 0},
            "choices": ["thread", "name", "pool"], "by": "thread", "usual": "thread",
            "rows": rows, "programs": [["java", JAVA], ["mysqld", MYSQL]], "warning": ""}


def phase(lane, ns):
    """What a lane does at a time: phases of 7 to 97 ms, whose kinds follow from lane and time."""
    seed = sum(map(ord, lane))
    length = 7_000_000 * (1 + seed % 13)
    return (int(ns) // length * 7919 + seed * 104729) % 101


def stroke(lane, ns, each):
    """The stroke of a lane at a time: (level, bar, ground)."""
    kind = phase(lane, ns)
    if lane == "parallel":
        return 20 + kind, RUNNING, NONE
    if kind > 96:
        return 0, NONE, UNKNOWN
    bar = RUNNING if int(lane.lstrip("pnl")) > 99 or lane[0] in "pnl" else (JAVA, MYSQL)[kind % 2]
    ground = [IDLE, SLEEP, LOCK, IO, RUNNABLE][kind % 5] if bar == RUNNING else IDLE
    level = 127 if kind > 70 else 0 if kind < 30 else 1 + (kind * 31 + int(ns / each)) % 126
    return level, bar, ground


class Stub:
    """The server of a page; its members are what it answers."""

    def __init__(self, page, profile):
        self.page = PAGE_DATA.sub(r'\1\n{"feed": true}\n\2', page, count=1).replace(
            POLICY, POLICY + "connect-src 'self'; ", 1)
        self.profile = profile # JSON text, or None for 204
        self.trace = trace(make_rows())
        self.asked = [] # (path, query, headers)
        self.refuse = {} # path -> (status, text)
        self.delay = {} # path -> s
        self.gates = {} # path -> semaphore, which each answer takes
        self.damaged = self.partial = False
        self.parts = [] # of the next profiles: what each is, a dictionary
        self.marks = {} # changes of the next marks
        self.strokes = None # lane -> bytes, instead of the made-up ones
        self.http = None
        self.open = set() # connections, which a browser keeps
        self.start()

    def start(self, port=0):
        stub = self

        class Answers(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                stub.open.add(self.connection)

            def finish(self):
                stub.open.discard(self.connection)
                super().finish()

            def do_GET(self):
                stub.answer(self)

            def log_message(self, *_):
                pass

        http.server.ThreadingHTTPServer.daemon_threads = True
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", port), Answers)
        self.port = self.http.server_address[1]
        # its end waits for the next poll, by default half a second
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def end(self):
        if self.http:
            self.http.shutdown()
            self.http.server_close()
            self.http = None
            for connection in list(self.open):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def address(self, fragment="", token=TOKEN):
        parts = [part for part in (token and f"token={token}", fragment) if part]
        return f"http://127.0.0.1:{self.port}/" + ("#" + "&".join(parts) if parts else "")

    def of(self, path):
        """The queries for a path so far."""
        return [query for asked, query, _ in self.asked if asked == path]

    def answer(self, handler):
        url = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        path = url.path.removeprefix("/api/")
        if url.path == "/":
            return self.send(handler, 200, self.page.encode(), "text/html; charset=utf-8")
        self.asked.append((path, query, dict(handler.headers)))
        time.sleep(self.delay.get(path, 0))
        if path in self.gates:
            self.gates[path].acquire(timeout=60)
        if handler.headers.get("X-Skein-Token") != TOKEN:
            return self.send(handler, 401, b"no token\n", "text/plain")
        if path in self.refuse:
            status, text = self.refuse[path]
            return self.send(handler, status, text.encode(), "text/plain")
        body = getattr(self, f"answer_{path}", lambda _: b"")(query)
        return self.send(handler, 200 if body else 204, body)

    @staticmethod
    def send(handler, status, body, kind="application/octet-stream"):
        try:
            handler.send_response(status)
            handler.send_header("Content-Type", kind)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
        except OSError:
            pass # the page gave the request up

    def answer_trace(self, query):
        by = query.get("by", self.trace.get("usual", "thread"))
        if by == "thread":
            return json.dumps(self.trace).encode()
        return json.dumps({**self.trace, "by": by,
                           "rows": join_rows(self.trace["rows"], by)}).encode()

    def answer_profile(self, _):
        if not self.parts:
            return (self.profile or "").encode()
        return json.dumps({**json.loads(self.profile), "part": self.parts.pop(0)}).encode()

    def answer_marks(self, query):
        """A function "hot" ran at MARKED_TIMES, on some lanes among other functions."""
        begin, end, columns = (int(query[key]) for key in ("from", "to", "columns"))
        known = query["text"] == "hot"
        found = {int((ns - begin) * columns / (end - begin)) for ns in MARKED_TIMES
                 if known and begin <= ns < end}
        first = min(found, default=0)
        lanes = [[lane, first, "".join(level if at in found else "0"
                                       for at in range(first, max(found) + 1))]
                 for lane, level in MARKED_LANES.items() if found]
        return json.dumps({"known": known, "columns": columns, "found": len(found),
                           "samples": 40112, "threads": 1, "share": 1, "left_out": 0,
                           "lanes": lanes, **self.marks}).encode()

    def answer_window(self, query):
        begin, end, columns = (int(query[key]) for key in ("from", "to", "columns"))
        lanes = query["lanes"].split(",")
        each = (end - begin) / columns
        out = struct.pack("<4I", MAGIC + self.damaged, columns, len(lanes), self.partial)
        for lane in lanes:
            if self.strokes:
                out += self.strokes(lane, columns)
            else:
                out += bytes(part for x in range(columns)
                             for part in stroke(lane, begin + (x + 0.5) * each, each))
        return out

    def answer_report(self, _):
        one = {"name": HOSTILE, "running": 2_000_000_000, "runnable_woken": 300_000_000,
               "runnable_preempted": 100_000_000, "stopped": 0, "unknown": 0,
               "blocked": {"lock": 5_000_000_000, "I/O": 0, "sleep": 12_600_000_000, HOSTILE: 1}}
        return json.dumps({"sched": {"processes": [one, one]}}).encode()

    def answer_at(self, query):
        at = int(query["time"])
        begin = at - at % 1_000_000
        return json.dumps({
            "title": f"worker {HOSTILE}", "from": begin, "to": begin + 1_000_000,
            "facts": [["state", "waits for a lock"], ["length", "1 ms"], ["on CPU", "3"],
                      ["woken by", HOSTILE]],
            "stack": ["main", "run", "take", HOSTILE, "__lll_lock_wait"],
            "links": [{"text": "woken by worker 4712", "lane": "1001",
                       "time": begin + 1_000_000}]}).encode()
