# SPDX-License-Identifier: Apache-2.0
"""debuginfod servers on loopback: Debian's, and some that do harm."""

import http.server
import os
import re
import shutil
import signal
import socket
import socketserver
import subprocess
import threading
import time
import urllib.error
import urllib.request

MISSING = None if shutil.which("debuginfod") and shutil.which("debuginfod-find") else (
    "no debuginfod: Debian's package debuginfod")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Debian:
    """The server of elfutils over the files of a folder."""

    def __init__(self, folder, log):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.log = open(log, "wb")
        self.process = subprocess.Popen(
            ["debuginfod", "-p", str(port), "-F", "-d", ":memory:", str(folder)],
            stdout=self.log, stderr=self.log)

    def wait_for(self, build_id, limit=60):
        """Wait until the server has read its folder; does not touch the client's cache."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"{self.url}/buildid/{build_id}/debuginfo") as reply:
                    return len(reply.read())
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise AssertionError(f"debuginfod has not found {build_id} in {limit} s")

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


class Harmful(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """A server that answers every request with answer(handler)."""

    daemon_threads = True

    def __init__(self, answer):
        server = self
        self.requests = []
        self.ending = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.requests.append(self.path)
                try:
                    answer(self)
                except OSError:
                    pass  # the client has gone

            def log_message(self, *args):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def build_ids(self):
        return [re.search("/buildid/([0-9a-f]+)/", r)[1] for r in self.requests]

    def end(self):
        self.ending.set()
        self.shutdown()
        self.server_close()


def sends(data, pause=0):
    """An answer: these bytes, after a pause."""
    def answer(handler):
        time.sleep(pause)
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
    return answer


def sends_without_end(handler):
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"\x7fELF" + os.urandom(65532))


def hangs(handler):
    handler.server.ending.wait()


def drips(handler):
    """Send a byte now and then, so that the connection never looks dead."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.ending.wait(0.2):
        handler.wfile.write(b"x")
        handler.wfile.flush()
