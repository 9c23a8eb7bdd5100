# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 300
"""
Waits that have not ended when a trace ends have their stacks, the lengths of the records of
switches, and are in each file once: at the end of a recording and in each copy of it.
"""

import os
import pathlib
import signal
import subprocess
import time

import live
import test_off_cpu
from live import LONG, workload
from test_off_cpu import WAITS

NOT_ENDED = 1 << 17
CLASSES = {"wait_futex": "lock", "wait_poll": "poll", "wait_pipe": "pipe or socket",
           "wait_sleep": "sleep", "wait_deep": "poll", "wait_paged_out": "poll",
           "main": "other"}
PYTHON = """
import queue, threading
def wait_for_queue(q):
    q.get()
def wait_for_nothing(event):
    event.wait()
threading.Thread(target=wait_for_queue, args=(queue.Queue(),)).start()
print("started", flush=True)
wait_for_nothing(threading.Event())
"""


class OpenWaits(live.LiveTest):
    def run_forever(self, more=0):
        """Run threads that wait and are never woken. Return their process and tids, by function."""
        process = self.start(workload("forever"), more)
        tids = {}
        while "main" not in tids:
            name, tid = process.stdout.readline().decode().split()
            tids[name] = int(tid)
        return process, tids

    def run_python(self):
        program = self.tmp / "forever.py"
        program.write_text(PYTHON)
        process = self.start("/usr/bin/python3", program)
        self.assertEqual(process.stdout.readline(), b"started\n")
        self.wait_for(lambda: all(pathlib.Path(f"/proc/{process.pid}/task/{t}/wchan").read_text()
                                  not in ("", "0")
                                  for t in os.listdir(f"/proc/{process.pid}/task")))
        return process

    def check_account(self, trace):
        rows = trace.query("SELECT a.* FROM account a JOIN event e ON e.id = a.event "
                           "WHERE e.name = 'off-cpu'")
        for row in rows:
            lost = sum(r["count"] for r in trace.query("SELECT * FROM loss")
                       if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"])
            self.assertEqual(row["due"], row["written"] + row["filtered"] + lost + row["cut_off"],
                             row)
        written = trace.one("SELECT count(*) FROM sample s JOIN event e ON e.id = s.event "
                            "WHERE e.name = 'off-cpu'")
        self.assertEqual(sum(row["written"] for row in rows), written)
        return rows

    def report(self, path):
        done = subprocess.run([live.SKEIN, "report", "--off-cpu", "--json", "--by", "thread",
                               "--limit", "0", path],
                              capture_output=True, text=True, timeout=60, check=True)
        return live.json.loads(done.stdout)

    def check_forever(self, trace, tids):
        """
        Each thread has one stack, in its function, with the class and the exact length that the
        totals have. Return {function: (row, names)}.
        """
        report = self.report(trace.path)
        blocked = {t["tid"]: t["blocked"] for t in report["sched"]["threads"]}
        by_tid = {}
        for row, stack in test_off_cpu.Waits.stacks(trace):
            by_tid.setdefault(stack.thread["tid"], []).append((row, stack.names))
        found = {}
        for function, tid in tids.items():
            (row, names), = by_tid[tid]
            self.assertIn(function, names)
            self.assertEqual(row["flags"] & NOT_ENDED, NOT_ENDED)
            self.assertEqual(WAITS[row["wait"]], CLASSES[function])
            self.assertEqual(row["length"], row["weight"])
            self.assertEqual(row["other"], 0)
            self.assertEqual({k: v for k, v in blocked[tid].items() if v},
                             {CLASSES[function]: row["length"]})
            self.assertEqual(bool(row["address"]), function == "wait_futex")
            found[function] = row, names
        return found

    def test_every_class(self):
        """Sleepers since before the recording: native threads and Python's."""
        forever, tids = self.run_forever()
        python = self.run_python()
        trace = self.record("-e", "off-cpu", "-p", f"{forever.pid},{python.pid}", "-d", 1)
        self.check_account(trace)
        found = self.check_forever(trace, tids)
        for function, (row, names) in found.items():
            ends = self.ends(trace, row["stack"])
            self.assertEqual(ends, {"longer than the copied stack"} if function == "wait_deep"
                             else set(), function)
            if function != "main":
                self.assertEqual("start_thread" in names or "run" in names,
                                 function != "wait_deep", names)
        rows = test_off_cpu.Waits.waits(trace, comm="python3")
        self.assertEqual(len(rows), 2)
        for function in ("wait_for_queue", "wait_for_nothing"):
            (row, names), = [(r, n) for r, n in rows if function in n]
            self.assertEqual(WAITS[row["wait"]], "lock")
            self.assertTrue({"get", "wait"} & {n.split(".")[-1] for n in names}, names)
        self.check_words(trace)

    def ends(self, trace, stack):
        """Return why a stack ends before its root."""
        ends = set()
        while stack:
            row = trace.table("stack")[stack]
            frame = trace.table("frame")[row["frame"]]
            if frame["kind"] == live.FRAME_END:
                ends.add(trace.query("SELECT word FROM stack_end WHERE id = "
                                     f"{frame['address']}")[0]["word"])
            stack = row["parent"]
        return ends

    def check_words(self, trace):
        """A report says that the waits had not ended, where others have a waker."""
        text = subprocess.run([live.SKEIN, "report", "--off-cpu", trace.path], text=True,
                              capture_output=True, check=True, timeout=60).stdout
        self.assertIn("had not ended (100.0 %)", text)
        self.assertNotIn("ended by", text)
        self.assertIn("waits of forever had not ended", text)
        for site in self.report(trace.path)["off_cpu"]["sites"]:
            self.assertEqual(site["main_waker"], "had not ended")
            self.assertEqual(site["not_ended"], site["waited"])

    def test_copies(self):
        """
        Of a recording that keeps its last part, each copy and the trace itself have each wait once,
        from the start of that part on.
        """
        forever, tids = self.run_forever()
        recording = self.begin("-e", "off-cpu", "-p", forever.pid, "--keep", "2s")
        folder = pathlib.Path(recording.path).parent

        def copies():
            return sorted(p for p in folder.iterdir() if p.name.endswith("Z.skein"))

        for number in (1, 2):
            time.sleep(3)  # so that the copies' names differ, and that old parts are deleted
            os.kill(recording.pid, signal.SIGUSR2)
            self.wait_for(lambda n=number: len(copies()) == n)
        time.sleep(2)
        last = self.finish(recording)
        written = last.done.err.count("SIGUSR2: written to")
        self.assertEqual(written, 2)
        starts = []
        for path in (*copies(), last.path):
            trace = live.Trace(path)
            self.assertEqual(sum(r["cut_off"] for r in self.check_account(trace)), 0)
            self.check_forever(trace, tids)
            self.assertEqual(trace.losses(), 0)
            starts.append(trace.one("SELECT start FROM host"))
        self.assertEqual(starts, sorted(set(starts)))

    def test_beside_others(self):
        """
        Threads that wait and are woken while the stacks are read: no wait is there twice, and all
        that lasted until the end are counted.
        """
        self.start(workload("bimodal"), 60, 16)
        trace = self.record("-a", "--comm", "bimodal", "-e", "off-cpu", "--all-stacks", "-d", 2)
        self.check_account(trace)
        report = self.report(trace.path)
        # of a wait that is known, a part may lie in time before a switch that was not reported
        blocked = {t["tid"]: sum(t["blocked"].values()) + t["unknown"]
                   for t in report["sched"]["threads"]}
        waited, open_waits = {}, {}
        for row, stack in test_off_cpu.Waits.stacks(trace):
            tid = stack.thread["tid"]
            waited[tid] = waited.get(tid, 0) + row["length"]
            open_waits[tid] = open_waits.get(tid, 0) + bool(row["flags"] & NOT_ENDED)
            if row["flags"] & NOT_ENDED:
                self.assertTrue({"wait_short", "wait_middle", "wait_long", "main"}
                                & set(stack.names), stack.names)
        self.assertGreater(sum(open_waits.values()), 0)
        self.assertLessEqual(max(open_waits.values()), 1)
        for tid, time_of in waited.items():
            # stamps of slices are rounded down to 64 ns, at both ends of each wait
            self.assertLessEqual(time_of, blocked[tid] + 64 * len(test_off_cpu.Waits.stacks(trace)))

    def test_no_time(self):
        """Where there is no time to read stacks, they end at once, and say so."""
        forever, tids = self.run_forever()
        trace = self.record("-e", "off-cpu", "-p", forever.pid, "-d", 0.5,
                            env=live.clean_environment(SKEIN_DEBUG_WALK="hurry"))
        self.check_account(trace)
        rows = test_off_cpu.Waits.stacks(trace)
        self.assertEqual(len(rows), len(tids))
        for row, stack in rows:
            self.assertEqual(self.ends(trace, row["stack"]), {"no time to read it"})
            self.assertGreaterEqual(len(stack.names), 2)

    def test_many(self):
        """10,000 sleepers do not hold up the end of a recording, and each has its stack."""
        forever, tids = self.run_forever(10000)
        trace = self.record("-e", "off-cpu", "-p", forever.pid, "-d", 1)
        rows = self.check_account(trace)
        self.assertEqual(sum(r["due"] for r in rows), 10000 + len(tids))
        self.assertEqual(trace.losses(), 0)
        sums = trace.query("SELECT stack, count(*) AS n, min(length) AS least, max(length) AS most "
                           "FROM sample GROUP BY stack ORDER BY n DESC")
        self.assertEqual(sums[0]["n"], 10000)
        self.assertIn("wait_pause", trace.names(sums[0]["stack"])[0])
        start, end = trace.query('SELECT start, "end" FROM host')[0].values()
        print(f"10,000 sleepers: recorded {(end - start) / 1e9:.2f} s of 1 s; {trace.done.err}")
        self.assertLess(sums[0]["most"], end - start)
        if LONG:
            self.assertLess((end - start) / 1e9, 4)


if __name__ == "__main__":
    live.main()
