# SPDX-License-Identifier: Apache-2.0
# beside others
"""Test disks that are full, or nearly so, and the limit on the size of files."""

import json
import os
import re
import signal
import subprocess

import live
import test_robust
from live import workload
from test_robust import skein


class Disk(test_robust.Messages):
    def small_disk(self, size):
        disk = self.tmp / f"disk-{size}"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=True)
        return disk

    def check_short(self, done, path, why="no space left on its disk"):
        """
        Check that written samples are those in the trace, that the other due samples have another
        term, and that the trace and the messages both report the lack of space.
        """
        text = self.check_message(done, 1, why, "not stored", str(path))
        trace = live.Trace(path)
        accounts = trace.query("SELECT * FROM account")
        total = {k: sum(a[k] for a in accounts)
                 for k in ("due", "written", "idle", "filtered", "cut_off")}
        held = trace.one("SELECT count(*) FROM sample")
        self.assertEqual(total["written"], held)
        lost = sum(trace.losses(reason) for reason in (
            "RING_FULL", "NOT_DELIVERED", "STOLEN", "LATE_TICK", "SKIPPED", "NOT_STORED",
            "WAIT_MISSED", "WAIT_DISPLACED", "WAIT_UNKNOWN"))
        self.assertEqual(2 * total["due"], sum(total.values()) + lost, text)
        self.assertGreater(trace.losses("NOT_STORED"), 100)
        said = re.search(r"([0-9,]+) samples due = ([0-9,]+) written", text)
        sampled = trace.one(f"SELECT sum(due) FROM account WHERE {live.OF_CPU_TIME}")
        written = trace.one(f"SELECT count(*) FROM sample WHERE {live.OF_CPU_TIME}")
        self.assertEqual([int(n.replace(",", "")) for n in said.groups()], [sampled, written])
        report = json.loads(skein("report", "--json", path).stdout)
        self.assertEqual(report["account"]["unexplained"], 0)
        (ended,) = report["ended"]
        host = report["host"]
        self.assertEqual(ended["in_trace"], host["end"] - host["start"])
        self.assertGreater(ended["recorded"], ended["in_trace"])
        shown = " ".join(skein("report", path).stdout.decode().split())
        self.assertRegex(shown, rf"Ended for want of space: {why}; "
                                r"[0-9.]+ m?s were recorded, [0-9.]+ [mn]?s of it is in the trace")
        if held:
            last = trace.one("SELECT max(time) FROM sample")
            self.assertLessEqual(last, host["end"])
            self.assertGreater(last, host["end"] - 5e9) # the lag of an overloaded machine

    def test_full_disk(self):
        """
        The recorder exits with 1 and a message, and the data recorded before can be read. A busier
        machine takes more space before the first samples.
        """
        self.start(workload("distinct"), 1000)
        for size in ("1m", "3m", "9m"):
            disk = self.small_disk(size)
            done = skein("record", "-v", "-a", "-F", 9999, "-d", 60, "-o", disk / "full.skein")
            self.check_short(done, disk / "full.skein")
            trace = live.Trace(disk / "full.skein")
            if live.count(trace.stacks(comm="distinct")) > 100:
                break
        self.assertGreater(live.count(trace.stacks(comm="distinct")), 100)
        self.assertIn("leaf", live.functions(trace.stacks(comm="distinct")))

    def test_small_disk(self):
        """The trace may hold almost nothing; the trace and the messages then say so."""
        for _ in range(os.cpu_count()):
            self.start(workload("distinct"), 1000)
        disk = self.small_disk("400k")
        for rate in (999, 1998):
            with self.subTest(rate=rate):
                done = skein("record", "-v", "-a", "-F", rate, "-d", 60, "-o", disk / "full.skein")
                self.check_short(done, disk / "full.skein")
                for path in disk.iterdir():
                    path.unlink()

    def test_full_disk_with_switches(self):
        """The stored switches end at the recorded end of the recording."""
        self.start(workload("distinct"), 1000)
        self.start(workload("storm"), 1000, 100)
        disk = self.small_disk("1500k")
        path = disk / "full.skein"
        done = skein("record", "-v", "-a", "-e", "all", "-F", 999, "-d", 100, "-o", path)
        self.check_short(done, path)
        report = json.loads(skein("report", "--json", path).stdout)
        self.assertIn("switches not stored", [l["reason"] for l in report["losses"]])
        end = report["host"]["end"]
        last = live.Trace(path).one('SELECT max("end") FROM slice')
        self.assertLessEqual(last, end)
        self.assertGreater(last, end - 5e9)

    def test_full_disk_of_an_export_that_waits(self):
        """
        An export contains the data that fit, and the exit status says that it is incomplete. A
        busier machine takes more space before the first samples.
        """
        self.start(workload("distinct"), 1000)
        out = self.tmp / "x.folded"
        for size in ("1m", "3m"):
            disk = self.small_disk(size)
            done = skein("record", "-a", "-F", 4999, "-d", 60, "-o", out,
                         env=live.clean_environment(TMPDIR=str(disk)))
            self.check_message(done, 1, "no space left")
            self.assertEqual(list(disk.iterdir()), [])
            if b"distinct" in out.read_bytes():
                break
        self.assertIn(b"distinct", out.read_bytes())

    def test_limit_on_the_size_of_files(self):
        """
        RLIMIT_FSIZE does not kill the recorder; the message names the limit, its value and how to
        raise it.
        """
        self.start(workload("distinct"), 1000)
        words = ("RLIMIT_FSIZE, is 400 KiB", "ulimit -f unlimited", "LimitFSIZE=")
        path = self.tmp / "x.skein"
        limit = ["prlimit", f"--fsize={400 << 10}"]
        done = skein("record", "-v", "-a", "-F", 999, "-d", 60, "-o", path, prefix=limit)
        self.check_message(done, 1, *words)
        self.check_short(done, path, "it has reached RLIMIT_FSIZE, the limit on the size of files")
        self.assertLessEqual(path.stat().st_size, 400 << 10)
        path.unlink()
        done = skein("record", "-a", "-d", 1, "-o", path, prefix=["prlimit", "--fsize=20000"])
        self.check_message(done, 1, "RLIMIT_FSIZE, is 19.5 KiB", "x.skein")
        self.assertEqual(self.left(), [])
        done = skein("record", "-o", path, "--", "sh", "-c", "kill -XFSZ $$")
        self.assertEqual(done.returncode, 128 + signal.SIGXFSZ, done.stderr)

    def test_no_space_at_all(self):
        disk = self.small_disk("4k")
        (disk / "filler").write_bytes(bytes(4096)[:4000])
        done = skein("record", "-a", "-d", 1, "-o", disk / "none.skein")
        self.check_message(done, 1)

    def test_full_disk_for_an_export(self):
        """An export is complete or absent."""
        disk = self.small_disk("4k")
        (disk / "filler").write_bytes(bytes(4096)[:4000])
        done = skein("record", "-a", "-F", 999, "-d", 0.5, "-o", disk / "x.folded")
        self.check_message(done, 1)
        self.assertEqual([p.name for p in disk.iterdir()], ["filler"])


if __name__ == "__main__":
    live.main()
