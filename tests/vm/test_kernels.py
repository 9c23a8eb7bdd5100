# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
Test on Debian 12's kernels, booted in a virtual machine: the programs load, and a recording of a
known workload is right when read here from the file alone. An administrator's restrictions either
do not matter or are reported with the remedy.
"""
import json
import math
import os
import pathlib
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "live"), str(TESTS / "lib")]
import live # noqa: E402
import test_interrupts # noqa: E402
import test_off_cpu # noqa: E402
import test_open_waits # noqa: E402
import vm # noqa: E402
from completeness import completeness # noqa: E402

SKEIN = os.environ.get("SKEIN", str(vm.BUILD / "skein"))
HZ = 499
SECONDS = 4
POINT = 0.01
GROUP = f"/sys/fs/cgroup/docker-{'ab12' * 16}.scope" # as Docker names that of a container
SUMMED = "/sys/fs/cgroup/summed.service"
ENOUGH = 100 # samples of half a second; functions with more than some percents of it must occur

# raid6_pq measures its own functions when it is loaded, which shows a running module.
WORK = f"""
shares {SECONDS} >/out/truth
insmod /raid6_pq.ko
"""
JOB = f"""
skein record -a -F {HZ} --wait-names 60s -o /out/all.skein -- sh /work 2>/out/said
status=$?
cat /out/said
SKEIN_DEBUG_WALK=tail-calls skein record -F {HZ} -o /out/chained.skein -- shares 1 || status=$?
skein record -a -e sched -o /out/sched.skein -- sh -c 'shares 1; sleep 1' || status=$?
served() {{ cat /proc/softirqs >/out/softirqs.$1; }}
served 0
skein record -a -e sched,interrupts -o /out/served.skein -- sh -c 'cat /proc/softirqs \\
    >/out/softirqs.1; shares 1; cat /proc/softirqs >/out/softirqs.2' || status=$?
served 3
skein record -e off-cpu --wait-names 60s -o /out/waits.skein -- bimodal 3 4 || status=$?
forever >/out/forever &
until grep -q main /out/forever; do sleep 0.1; done
skein record -e off-cpu --wait-names 60s -d 1 -p $! -o /out/open.skein || status=$?
kill $!
skein serve --folder /out/windows --window 1h &
until ls /out/windows/open-* >/dev/null 2>&1; do sleep 0.1; done
mkdir {SUMMED}
sh -c 'echo 0 >{SUMMED}/cgroup.procs; shares 1 >/dev/null'
kill $!
wait $! || status=$?
shares 60 >/dev/null &
mkdir {GROUP}
unshare -m -p -u -f sh -c 'echo 0 >{GROUP}/cgroup.procs; hostname shop
    mount -t proc proc /proc && SKEIN_DEBUG_WALK=java exec skein record -e all -F {HZ} \
    --wait-names 60s -o /out/inside.skein -- shares 1' || status=$?
kill $!
. /restricted.sh
exit $status
"""


class Recording:
    """The results of one boot of a kernel."""

    def __init__(self, kernel):
        with open(vm.BUILD / "tests/vm-work", "w", encoding="ascii") as file:
            file.write(WORK)
        files = {
            "/bin/skein": SKEIN,
            "/bin/shares": live.workload("shares"),
            "/bin/bimodal": live.workload("bimodal"),
            "/bin/forever": live.workload("forever"),
            "/raid6_pq.ko": kernel.module("raid6_pq"),
            "/work": file.name,
            "/restricted.sh": TESTS / "vm/restricted.sh",
        }
        self.run = vm.Run(kernel, JOB, files)
        self.kernel = kernel
        print(f"Linux {kernel.release} on {self.run}")
        print(self.run.printed)
        self.trace = live.Trace(self.run.out / "all.skein")


class OnDebian12(unittest.TestCase):
    suite = "bookworm-security"

    @classmethod
    def setUpClass(cls):
        cls.recording = Recording(vm.kernel_or_skip(cls.suite))
        cls.addClassCleanup(cls.recording.run.close)
        cls.trace = cls.recording.trace

    def test_succeeds(self):
        self.assertEqual(self.recording.run.status, 0)
        self.assertEqual(self.trace.one("SELECT kernel FROM host"), self.recording.kernel.release)

    def test_shares(self):
        truth = json.loads((self.recording.run.out / "truth").read_text())
        stacks = self.trace.stacks(comm="shares")
        samples = live.count(stacks)
        self.assertGreater(samples, HZ * SECONDS / 10)
        for part, share in truth["shares"].items():
            # a busy host takes samples from an emulated CPU, and few samples scatter more
            scatter = 5 * math.sqrt(share * (1 - share) / samples)
            with self.subTest(part=part, samples=samples):
                self.assertAlmostEqual(live.share(stacks, part), share, delta=POINT + scatter)
        lost = sum(r["weight"] for r in self.trace.query("SELECT * FROM loss")) / 1e9
        self.assertLess(live.weight(stacks), 1.05 * truth["seconds"])
        self.assertGreater(live.weight(stacks) + lost, 0.95 * truth["seconds"])

    def test_whole_stacks(self):
        """
        Stacks are complete with both ways of walking: bpf_loop(), and tail calls as before Linux
        5.17.
        """
        for name in ("all", "chained"):
            found = completeness(SKEIN, self.recording.run.out / f"{name}.skein", comm="shares")
            with self.subTest(recording=name, found=str(found)):
                self.assertGreater(found.samples, HZ / 10)
                mean = 0.005 * found.samples
                self.assertLessEqual(found.samples - found.complete, mean + 6 * math.sqrt(mean))

    def test_sums(self):
        """
        The sums of a control group of skein serve: of a shell, and a program that takes 1 s of CPU.
        """
        path, = (self.recording.run.out / "windows").glob("*.skein")
        ran, service = live.Trace(path).query(
            "SELECT ns, service FROM group_time JOIN slice_state ON slice_state.id = state "
            "WHERE cgroup = '/summed.service' AND word = 'running'")[0].values()
        self.assertEqual(service, "summed")
        self.assertGreater(ran / 1e9, 0.9)
        self.assertLess(ran / 1e9, 3) # starting programs takes long on an emulated CPU

    def test_waits(self):
        """Stacks of waits belong to the wait, by the hook that this kernel has."""
        trace = live.Trace(self.recording.run.out / "waits.skein")
        found = test_off_cpu.Waits.waits(trace)
        self.assertGreater(len(found), 30)
        for row, names in found:
            function, = set(names) & {*test_off_cpu.BOUNDS, "main"} - {"main"} or {"main"}
            if function != "main":
                low, high = test_off_cpu.BOUNDS[function]
                self.assertTrue(low <= row["length"] <= high, (function, row))
            self.assertFalse([n for n in names if "bpf" in n or "irq_work" in n], names)
        self.assertEqual({n for _, names in found for n in names} & set(test_off_cpu.BOUNDS),
                         set(test_off_cpu.BOUNDS))

    def test_open_waits(self):
        """Threads that wait to the end of the recording have their stacks, and no other waits."""
        trace = live.Trace(self.recording.run.out / "open.skein")
        said = (self.recording.run.out / "forever").read_text().splitlines()
        tids = {function: int(tid) for function, tid in map(str.split, said)}
        found = {}
        for row, stack in test_off_cpu.Waits.stacks(trace):
            self.assertNotIn(stack.thread["tid"], found)
            self.assertTrue(row["flags"] & test_open_waits.NOT_ENDED, row)
            found[stack.thread["tid"]] = row, stack.names
        self.assertEqual(set(found), set(tids.values()))
        for function, tid in tids.items():
            row, names = found[tid]
            self.assertIn(function, names)
            self.assertEqual(test_off_cpu.WAITS[row["wait"]], test_open_waits.CLASSES[function])
            self.assertGreater(row["length"], 0.9e9)

    def test_names(self):
        """The program, its C library, the kernel and a module have names without their files."""
        names = live.functions(self.trace.stacks(comm="shares"))
        self.assertLessEqual({"main", "burn_50", "burn_30", "burn_15", "burn_5"}, names)
        loading = live.functions(self.trace.stacks(comm="insmod"))
        module = [n for n in loading if n.startswith("raid6_") and n.endswith(" [raid6_pq]")]
        self.assertTrue(module, loading)
        self.assertIn("do_init_module", loading)

    def test_namespace(self):
        """
        In a pid namespace of its own, skein records what runs there, by the numbers there, and
        nothing of the same program outside. Each stack with a function of the program has main().
        """
        path = self.recording.run.out / "inside.skein"
        trace = live.Trace(path)
        found = completeness(SKEIN, path, comm="shares")
        mean = 0.005 * found.samples
        self.assertLessEqual(found.samples - found.complete, mean + 6 * math.sqrt(mean), found)
        stacks = trace.stacks(comm="shares")
        # the dynamic linker, exec and exit take a part that depends on the speed of the emulator
        own = [s for s in stacks if any(n.startswith("burn_") or "shares+" in n for n in s.names)]
        self.assertGreater(live.count(own), 0.3 * live.count(stacks))
        self.assertEqual(live.share(own, "main"), 1)
        process, = {s.process["id"]: s.process for s in stacks}.values()
        self.assertLess(process["pid"], 10)
        self.assertGreater(process["global_pid"], process["pid"])
        self.assertEqual((process["container"], process["service"]), ("ab12" * 16, "shop"))
        ran = trace.one("SELECT sum(s.end - s.time) / 1e9 FROM slice s JOIN lane l "
                        "ON l.id = s.lane AND l.kind = 1 JOIN thread t ON t.id = s.value "
                        "WHERE t.comm = 'shares'")
        self.assertGreater(ran, 0.5)

    def test_switches(self):
        """CPU slices tile the time, and a sleeper is shown as sleeping, woken by a timer."""
        trace = live.Trace(self.recording.run.out / "sched.skein")
        begin, end = trace.query("SELECT start, end FROM host")[0].values()
        said = trace.query("SELECT value FROM info WHERE key = 'sched.resolution'")
        step = int(said[0]["value"].split()[0])
        for lane in trace.query("SELECT id FROM lane WHERE kind = 1"):
            at = begin // step * step
            for piece in trace.query("SELECT time, end FROM slice WHERE lane = "
                                     f"{lane['id']} ORDER BY time"):
                self.assertEqual(piece["time"], at)
                at = piece["end"]
            self.assertEqual(at, end // step * step)
        slept = trace.query(
            "SELECT slice.end AS time, word, thread.lane AS lane FROM slice JOIN thread "
            "ON thread.id = slice.value JOIN wait_class ON wait_class.id = slice.wait "
            "WHERE thread.comm = 'sleep' AND word = 'sleep'")
        self.assertEqual(len(slept), 1)
        woken = trace.query(
            "SELECT time, lane.name AS name FROM edge JOIN lane ON lane.id = edge.\"from\" "
            f"WHERE edge.\"to\" = {slept[0]['lane']} AND edge.time > {slept[0]['time']}")
        self.assertIn("timer", woken[0]["name"])
        # never earlier; later on a busy host
        self.assertGreater(woken[0]["time"] - slept[0]["time"], 0.99e9)
        self.assertLess(woken[0]["time"] - slept[0]["time"], 3e9)

    def test_interrupts(self):
        """Softirqs are as many as the kernel counts; and there are interrupts of the timer."""
        out = self.recording.run.out
        outer, begin, end, after = [test_interrupts.rows(out / f"softirqs.{n}") for n in range(4)]
        found = test_interrupts.sums(live.Trace(out / "served.skein"))
        for name, row in begin.items():
            for cpu, count in enumerate(row):
                key = f"softirq {name.lower()}", cpu
                seen = found[key]["count"] if key in found else 0
                with self.subTest(key=key):
                    self.assertGreaterEqual(seen, end[name][cpu] - count)
                    self.assertLessEqual(seen, after[name][cpu] - outer[name][cpu])
        self.assertGreater(sum(row["count"] for (name, _), row in found.items()
                               if name == "local timer"), 10)

    def test_account(self):
        for row in self.trace.query("SELECT * FROM account"):
            lost = sum(r["count"] for r in self.trace.query("SELECT * FROM loss")
                       if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"])
            given = row["written"] + row["filtered"] + row["idle"] + lost
            with self.subTest(row=row, lost=lost):
                self.assertGreater(row["written"], 0)
                self.assertLessEqual(abs(row["due"] - given), 1)

    def case(self, name):
        """Return (exit status, messages, path of the trace) of a case of restricted.sh."""
        out = self.recording.run.out
        status = int((out / f"{name}.status").read_text())
        said = (out / f"{name}.err").read_text(errors="replace").replace("\r\033[K", "")
        return status, said, out / f"{name}.skein"

    def check_recorded(self, name):
        status, said, path = self.case(name)
        self.assertEqual(status, 0, said)
        stacks = live.Trace(path).stacks(comm="shares")
        if live.count(stacks) > ENOUGH: # an emulated CPU may get almost no time on a busy host
            self.assertLessEqual({"main", "cycle"}, live.functions(stacks), said)
        return stacks, said

    def check_refused(self, name, *words):
        """One line has the reason, others the remedy and where to read more."""
        status, said, path = self.case(name)
        self.assertEqual(status, 1, said)
        lines = said.splitlines()
        self.assertLessEqual(len(lines), 3, said)
        for line in lines:
            self.assertRegex(line, r"^skein: [^\x00-\x1f]{1,300}$")
        for word in (*words, "skein doctor"):
            self.assertIn(word, said)
        self.assertFalse(path.exists(), said)

    def test_paranoid(self):
        """
        kernel.perf_event_paranoid restricts users without privileges, who cannot load programs
        anyway.
        """
        for level in range(5):
            with self.subTest(level=level):
                self.check_recorded(f"paranoid-{level}")
                self.check_refused(f"paranoid-{level}-nobody", "sudo", "CAP_BPF", "CAP_PERFMON")

    def test_hidden_addresses(self):
        """With kernel.kptr_restrict=2 the kernel's frames have no names, even for root."""
        for level in range(3):
            stacks, said = self.check_recorded(f"kptr-{level}")
            named = {n for n in live.functions(stacks) if "syscall" in n or "page" in n}
            with self.subTest(level=level, named=named):
                if level == 2 or live.count(stacks) > ENOUGH:
                    self.assertEqual(bool(named), level < 2)
                self.assertEqual("kptr_restrict" in said, level == 2, said)

    def test_no_type_information(self):
        for name in ("no-btf", "no-btf-sched"):
            with self.subTest(name):
                self.check_refused(name, "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF")

    def test_locked_down(self):
        self.check_recorded("lockdown-integrity")
        self.assertEqual(self.case("lockdown-integrity-sched")[0], 0)
        for name in ("lockdown-confidentiality", "lockdown-confidentiality-sched"):
            with self.subTest(name):
                self.check_refused(name, "locked down", "lockdown=integrity")


class OnBackports(OnDebian12):
    suite = "bookworm-backports"


if __name__ == "__main__":
    unittest.main()
