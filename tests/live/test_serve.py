# SPDX-License-Identifier: Apache-2.0
# beside others
"""
Test skein serve: windows that are whole, each and together; what a killed one leaves; its budget,
a full disk, its configuration; and the commands that read windows.
"""
import calendar
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import live
import serve_live

NAME_LENGTH = re.compile(r"-(\d+)s")
HZ = 199
WINDOW = 2  # s
WORK = 3  # s of CPU that the workload burns
PARTS = {"burn_50", "burn_30", "burn_15", "burn_5"}
REFERENCES = (("sample", "stack", "stack"), ("stack", "parent", "stack"),
              ("stack", "frame", "frame"), ("frame", "function", "function"),
              ("frame", "mapping", "mapping"), ("sample", "thread", "thread"),
              ("thread", "process", "process"))


class Serve(serve_live.ServeTest):
    def check_whole(self, path):
        trace = live.Trace(path)
        for table, column, to in REFERENCES:
            missing = trace.one(f"SELECT count(*) FROM {table} WHERE {column} > 0 AND {column} "
                                f"NOT IN (SELECT id FROM {to})")
            self.assertEqual(missing, 0, f"{path}: {table}.{column}")
        balance, written = trace.query(
            "SELECT sum(due) - sum(written) - sum(filtered) - sum(idle) - sum(cut_off) - "
            "(SELECT coalesce(sum(count), 0) FROM loss WHERE event AND cpu) AS balance, "
            "sum(written) AS written FROM account")[0].values()
        self.assertEqual(balance, 0, path)
        self.assertEqual(trace.one("SELECT count(*) FROM sample"), written, path)
        return trace

    def test_windows(self):
        """
        The windows of a recording add up to what the workload burnt. Its CPU time in samples has
        an error of less than half a period each time that it gets or leaves a CPU, at random: with
        1,000 such times, the standard deviation is sqrt(1000 / 12) = 9 periods of 5 ms, 46 ms, of
        which 0.4 s are eight. The clock of the samples goes on while the host takes the CPU away.
        """
        stolen = live.stolen()
        service = self.serve("--window", f"{WINDOW}s", "-F", HZ)
        process = self.start(live.workload("shares"), WORK)
        truth = self.output(process)
        before = len(service.windows())
        self.wait_for(lambda: len(service.windows()) > before + 1)
        status, err = service.stop()
        self.assertEqual(status, 0, err)
        windows = service.windows()
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         sorted([p.name for p in windows] + ["lock"]))
        self.assertGreaterEqual(len(windows), WORK / WINDOW)
        weight = lost = 0
        for path in windows:
            trace = self.check_whole(path)
            stacks = trace.stacks(pid=process.pid)
            weight += live.weight(stacks)
            lost += sum(r["weight"] for r in trace.query("SELECT * FROM loss WHERE event")) / 1e9
        self.assertLess(weight, (1 + serve_live.SWITCH_PART) * truth["seconds"] + 0.4 +
                        live.stolen() - stolen)
        self.assertGreater(weight + lost, truth["seconds"] - 0.4)
        self.check_added_up(windows, weight, process.pid)

    def check_added_up(self, windows, weight, pid):
        """The commands that read windows show the sum of all, and of one."""
        where = ("--folder", self.folder)
        report = json.loads(self.skein("report", "--json", "--last", "1h", "--pid", pid,
                                       *where))
        self.assertAlmostEqual(report["weight"] / 1e9, weight, delta=1e-6)
        listed = json.loads(self.skein("ls", "--json", *where))
        self.assertEqual([w["path"] for w in listed], [str(p) for p in windows])
        self.assertEqual(self.skein("ls", "--paths", *where).split(), [str(p) for p in windows])
        rows = json.loads(self.skein("query", "--json", "--last", "1h", *where,
                                     f"SELECT count(*) AS n FROM process WHERE pid = {pid} "
                                     "AND comm = 'shares'"))
        self.assertEqual(rows, [{"n": 1}])
        folded = self.skein("export", "--last", "1h", "-f", "folded", "--pid", pid, *where)
        self.assertTrue(all(any(p in folded for p in part.split()) for part in PARTS))
        first = listed[len(listed) // 2]
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(first["begin"]))
        one = json.loads(self.skein("query", "--json", "--at", at, *where,
                                    "SELECT count(*) AS n FROM sample"))
        self.assertGreater(one[0]["n"], 0)
        self.check_compared(windows)
        self.assertEqual(list(self.tmp.glob("skein-*")), [])

    def check_compared(self, windows):
        """Windows that are compared with themselves, a day and an hour and a half earlier."""
        where = ("--folder", self.folder)
        for age, against in ((5400, ()), (86400, ("--against", "24h"))):
            for path in windows:
                begin = time.strptime(path.name[:16], "%Y%m%dT%H%M%SZ")
                name = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(calendar.timegm(begin) - age))
                shutil.copy(path, self.folder / (name + path.name[16:]))
            shown = json.loads(self.skein("diff", "--json", "--last", "1h", *against, *where))
            self.assertEqual(len(shown["before"]), min(len(windows), 6))
            samples = sum(live.Trace(p).one("SELECT count(*) FROM sample") for p in windows)
            for side in ("before", "after"):
                self.assertEqual(sum(t["samples"] for t in shown[side]), samples)
        picture = self.skein("diff", "--last", "1h", *where, "-f", "folded", "-o", "-")
        self.assertIn("burn_", picture)
        first = windows[0].name
        at = f"{first[:4]}-{first[4:6]}-{first[6:11]}:{first[11:13]}:{first[13:15]}Z"
        shown = json.loads(self.skein("diff", "--json", "--at", at, "--against", "24h", *where))
        self.assertEqual(shown["before"][0]["samples"], shown["after"][0]["samples"])
        for args, said in ((("--at", at), "--at wants --against"),
                           (("--last", "1h", "a", "b"), "'a' is too many"),
                           (("--last", "1h", "--against", "noon"), "or a time such as 24h"),
                           (("a", "b"), "--folder and --against are for")):
            self.assertIn(said, self.skein("diff", *args, *where, status=2))
        self.assertIn("has no window of that time",
                      self.skein("diff", "--last", "1h", "--against", "90d", *where, status=1))

    def test_killed(self):
        """
        A killed service loses at most the last second, each time; the next one keeps the rest. The
        service commits after 0.92 s at most, if it gets a CPU and the file system takes the data:
        the time for which it waited for a CPU or a disk just before, or worked for itself, is
        allowed for. Samples come all the time, since `shares` burns.
        """
        burn = self.start(live.workload("shares"), 600)
        kept = []
        for _ in range(5 if live.LONG else 3):
            service = self.serve("--window", "1h", "-F", HZ)
            burnt = self.waited(burn.pid)[0]
            self.wait_for(lambda burnt=burnt: self.waited(burn.pid)[0] > burnt + 0.2)
            time.sleep(2 + random.random())
            before = sum(self.waited(service.process.pid))
            time.sleep(2)
            allowed = sum(self.waited(service.process.pid)) - before
            killed = time.clock_gettime(time.CLOCK_BOOTTIME)
            service.stop(signal.SIGKILL)
            self.assertEqual(service.windows(), kept)
            again = self.serve("--window", "1h")
            status, err = again.stop()
            self.assertEqual(status, 0, err)
            self.assertIn("1 window of a service that was killed is kept", err)
            window = min(set(again.windows()) - set(kept))
            kept = again.windows()
            trace = self.check_whole(window)
            start, last = (trace.one(f"SELECT max({what}") / 1e9 for what in
                           ("start) FROM host", "time) FROM sample"))
            lost = killed - last
            print(f"lost {lost:.3f} s, allowed {1 + allowed:.3f} s", flush=True)
            self.assertLess(lost, 1 + allowed)
            self.assertGreater(len(trace.stacks(comm="shares")), 0)
            # the length of the window is that of its records, whenever it was opened
            length = int(NAME_LENGTH.search(window.name)[1])
            self.assertAlmostEqual(length, last - start, delta=0.7)
        burn.kill()

    @staticmethod
    def waited(pid):
        """For how long, s, a process has had a CPU; waited for one, or for a disk so far."""
        ran, queued = map(int, pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[:2])
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return ran / 1e9, queued / 1e9 + int(fields[39]) / os.sysconf("SC_CLK_TCK")

    def test_one_writer(self):
        service = self.serve()
        said = self.skein("serve", "--folder", self.folder, status=1)
        self.assertIn("another 'skein serve' writes to", said)
        self.assertEqual(service.stop()[0], 0)

    def test_budget(self):
        limit = 1 << 20
        self.start(live.workload("distinct"), 600)  # whose stacks fill it
        service = self.serve("--window", "1s", "--disk", limit, "-F", HZ)
        removed = self.wait_for(lambda: len(service.windows()) > 1 and service.windows()[0])
        self.wait_for(lambda: not removed.exists(), limit=120)
        self.assertLessEqual(sum(p.stat().st_size for p in service.windows()), limit)
        self.assertEqual(service.stop()[0], 0)

    def test_full_disk(self):
        """A full disk costs windows, which is reported; the service goes on when there is room."""
        self.folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", self.folder], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", self.folder], check=False)
        service = self.serve("--window", "1s", "-F", HZ)
        self.wait_for(service.windows)
        filling = self.folder / "filling"
        with open(filling, "wb", buffering=0) as file, self.assertRaises(OSError):
            while True:
                file.write(bytes(4096))
        before = len(service.windows())
        time.sleep(4)
        self.assertIsNone(service.process.poll())
        filling.unlink()
        self.wait_for(lambda: len(service.windows()) > before + 3)
        status, err = service.stop()
        self.assertEqual(status, 0, err)
        self.assertIn("a window could not be written", err)
        self.assertRegex(err, "No space left on device|disk is full")
        self.check_whole(service.windows()[-1])
        lost = sum(live.Trace(p).losses("NOT_STORED") for p in service.windows())
        self.assertGreater(lost, 0)

    def test_config(self):
        config = self.tmp / "serve.conf"

        def check(text, status=0):
            config.write_text(text)
            return self.skein("serve", "--check-config", "--config", config, status=status)

        shown = check("# a comment\n\n window = 10s \ndisk=100M\nage = 0\nfreq = 49\n"
                      f"folder = {self.folder}\nuser-stacks = yes\n")
        self.assertIn(f"folder {self.folder}, windows of 10 s, at most 100 MiB and any age, 49 Hz",
                      shown)
        self.assertFalse(self.folder.exists())
        for text, said in (
                ("window = 10s\nwindw = 3s\n", ":2: there is no key 'windw'; is 'window' meant?"),
                ("window 10s\n", ":1: 'KEY = VALUE' expected, not 'window 10s'"),
                ("\nwindow = soon\n", ":2: window: 'soon' is not"),
                ("user-stacks = maybe\n", ":1: user-stacks: yes or no expected, not 'maybe'"),
                ("window =\n", ":1: window: a value is expected: TIME"),
                ("config = /etc/passwd\n", ":1: there is no key 'config'"),
                ("window = 1ms\n", "--window is 1s to 24h"),
                ("a\0b\n", "not a text file")):
            with self.subTest(text=text):
                self.assertIn(said, check(text, status=2))
        config.write_text("window = 10s\n")
        shown = self.skein("serve", "--check-config", "--config", config, "--window", "20s")
        self.assertIn("windows of 20 s", shown)
        config.write_text("pid = 1,2,3\nage = 0\n")
        for args, processes in (((), 3), (("-p", "4"), 1), (("-p", "4,5", "-t", "6"), 2)):
            shown = self.skein("serve", "--check-config", "--config", config, *args)
            self.assertIn(f"any age, 19 Hz, {processes} processes and {len(args) // 4} threads",
                          shown)

    def test_reload(self):
        """
        SIGHUP: a new length and budget hold at once, a wrong configuration changes nothing, and
        what needs a restart is named. The service was started under nohup(1), which does not matter
        (tests/live/test_serve_unit.py reloads one that was not).
        """
        self.addCleanup(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, signal.SIG_IGN))
        config = self.tmp / "serve.conf"
        config.write_text("window = 1h\n")
        service = self.serve("--config", config, "-F", HZ)

        def reload(text, said):
            """Return what the service writes, once it has `said` in it."""
            config.write_text(text)
            before = len(service.log.read_text())
            service.process.send_signal(signal.SIGHUP)
            self.wait_for(lambda: said in service.log.read_text()[before:],
                          explain=service.log.read_text)
            return service.log.read_text()[before:]

        log = reload("window = 1h\nage = soon\n", "was not taken over")
        self.assertIn(f"{config}:2: age: 'soon' is not", log)
        self.assertEqual(service.windows(), [])
        reload("window = 1s\ndisk = 100M\n", "windows of 1 s, at most 100 MiB and 7 d")
        self.wait_for(lambda: len(service.windows()) > 2)
        old = service.windows()[0]
        log = reload("window = 1s\nage = 1s\npid = 1\nkernel-stacks = yes\nfreq = 49\n",
                      "windows of 1 s, at most 1 GiB and 1 s")
        self.assertIn("a change of kernel-stacks, pid needs a restart", log)
        self.wait_for(lambda: not old.exists())
        status, err = service.stop()
        self.assertEqual(status, 0, err)
        for path in service.windows():
            self.check_whole(path)

    def test_wrong_choices(self):
        where = ("--folder", self.folder)
        self.assertIn("No such file", self.skein("ls", *where, status=1))
        self.folder.mkdir()
        self.assertIn("has no windows: does 'skein serve' run",
                      self.skein("report", "--last", "1h", *where, status=1))
        (self.folder / "20200101T120000Z-60s.skein").write_bytes(b"")
        self.assertIn("its windows are of 2020-01-01 12:00:00 to 2020-01-01 12:01:00",
                      self.skein("report", "--last", "1h", *where, status=1))
        for at in ("noon", "25:00", "12", "2026-13-01 12:00", "12:00:00Zx", ""):
            self.assertIn("is no moment", self.skein("ls", "--at", at, *where, status=1))
        for at in ("2020-01-01 12:00", "2020-01-01T12:00:59Z"):
            self.assertIn("20200101T120000Z", self.skein("ls", "--at", at, *where))
        self.assertIn("'x.skein' is too many",
                      self.skein("report", "--last", "1h", "x.skein", status=2))
        self.assertIn("--folder is for --last and --at", self.skein("report", *where, status=2))


if __name__ == "__main__":
    live.main()
