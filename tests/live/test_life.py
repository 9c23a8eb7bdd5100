# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 900
"""
Test that no process is missed, however short, replaced, hidden or renamed; each case checks the
names in the stacks.
"""

import os
import shutil
import signal
import subprocess

import live
from live import workload


class Life(live.LiveTest):
    def check_share(self, stacks, function, least=0.9):
        self.assertGreater(live.count(stacks), 0)
        self.assertGreater(live.share(stacks, function), least,
                           sorted({s.names for s in stacks if function not in s.names})[:5])

    def test_programs_of_five_milliseconds(self):
        """
        200 copies of 5 ms are 999 samples; each end of a life moves one sample at most: sigma
        sqrt(200 / 4) = 7.1. A loss of 10 % is 14 sigma.
        """
        program = self.copy("brief", "never-seen")
        trace = self.record("-a", "-F", 999, "--", program, 5, 200)
        stacks = [s for s in trace.stacks() if s.process["exe"].endswith("/never-seen")]
        life = [s for s in stacks if "brief_life" in s.names]
        self.assertGreater(live.weight(life), 0.9 - trace.excuse())
        self.assertLess(live.weight(life), 1.2 + trace.excuse())
        self.assertGreater(len({s.process["id"] for s in life}), 190)

    def test_exec_in_place(self):
        trace = self.record("-a", "-F", 999, "--", workload("execself"), 0.4,
                            workload("execafter"), 0.4)
        before = [s for s in trace.stacks() if "before_exec" in s.names]
        after = [s for s in trace.stacks() if "after_exec" in s.names]
        self.assertEqual({s.process["pid"] for s in before}, {s.process["pid"] for s in after})
        self.assertEqual({os.path.basename(s.process["exe"]) for s in before}, {"execself"})
        self.assertEqual({os.path.basename(s.process["exe"]) for s in after}, {"execafter"})
        self.assertEqual({s.thread["comm"] for s in before}, {"execself"})
        self.assertEqual({s.thread["comm"] for s in after}, {"execafter"})
        for stacks in (before, after):
            self.assertAlmostEqual(live.weight(stacks), 0.4, delta=0.04 + trace.excuse())

    def test_exec_again_and_again(self):
        """One pid runs 20 programs of 20 ms in turn."""
        chain = []
        for _ in range(10):
            chain += [workload("execself"), 0.02]
        trace = self.record("-a", "-F", 999, "--", *chain, workload("execafter"), 0.2)
        for function in ("before_exec", "after_exec"):
            mine = [s for s in trace.stacks() if function in s.names]
            self.assertAlmostEqual(live.weight(mine), 0.2, delta=0.04 + trace.excuse())

    def test_dlopen_late(self):
        plugins = [workload(f"lib/plugin_{n}.so") for n in ("first", "second")]
        trace = self.record("-a", "-F", 999, "--", workload("dlopener"), 0.4, *plugins)
        stacks = trace.stacks(comm="dlopener")
        addresses = {line.split()[0] for line in trace.done.out.splitlines()}
        self.assertEqual(len(addresses), 1, "the second came to lie elsewhere")
        for function in ("before_dlopen", "burn_in_first", "burn_in_second"):
            with self.subTest(function=function):
                mine = [s for s in stacks if function in s.names]
                self.assertAlmostEqual(live.weight(mine), 0.4, delta=0.04 + trace.excuse())
        # also in time: the second function never runs before the first was closed
        times = {f: [t for t, _, s in trace.samples() if f in s.names]
                 for f in ("burn_in_first", "burn_in_second")}
        self.assertLess(max(times["burn_in_first"]), min(times["burn_in_second"]))

    def test_dlopen_of_a_watched_process(self):
        """dlopen() works the same if the process existed before the recording."""
        plugins = [workload(f"lib/plugin_{n}.so") for n in ("second", "first")]
        target = self.start(workload("dlopener"), 0.5, *plugins)
        target.send_signal(signal.SIGSTOP)
        recording = self.begin("-a", "-F", 999)
        target.send_signal(signal.SIGCONT)
        target.wait()
        functions = live.functions(self.finish(recording).stacks(comm="dlopener"))
        self.assertLessEqual({"burn_in_first", "burn_in_second"}, functions)

    def test_deleted_binary(self):
        path = self.copy("loop", "gone")
        target = self.start(path, 100)
        live.time.sleep(0.2)
        path.unlink()
        trace = self.record("-a", "-F", 499, "-d", 0.7)
        self.check_share(trace.stacks(pid=target.pid), "loop_inner")

    def test_deleted_while_recorded(self):
        path = self.copy("loop", "gone")
        recording = self.begin("-a", "-F", 499)
        target = self.start(path, 0.6)
        live.time.sleep(0.1)
        path.unlink()
        target.wait()
        trace = self.finish(recording)
        self.check_share(trace.stacks(pid=target.pid), "loop_inner")

    def test_replaced_binary(self):
        """Another program at the same path has other functions at the same offsets."""
        path = self.copy("loop", "same")
        old = self.start(path, 100)
        live.time.sleep(0.2)
        shutil.copy2(workload("execafter"), self.tmp / "new")
        os.rename(self.tmp / "new", path)
        new = self.start(path, 100)
        trace = self.record("-a", "-F", 499, "-d", 1)
        self.check_share(trace.stacks(pid=old.pid), "loop_inner")
        self.check_share(trace.stacks(pid=new.pid), "after_exec")
        self.assertNotIn("after_exec", live.functions(trace.stacks(pid=old.pid)))
        self.assertNotIn("loop_inner", live.functions(trace.stacks(pid=new.pid)))

    def test_other_namespaces(self):
        """A program that exists only inside its mount namespace, as pid 1 or 2 of its own."""
        inside = self.tmp / "inside"
        inside.mkdir()
        script = ('mount -t tmpfs none "$1" && cp "$2" "$1/hidden" && '
                  'exec unshare -p --fork "$1/hidden" 0.7')
        recording = self.begin("-a", "-F", 499)
        subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", str(inside),
                        workload("loop")], check=True, stdout=subprocess.DEVNULL)
        trace = self.finish(recording)
        self.assertFalse((inside / "hidden").exists())
        stacks = trace.stacks(comm="hidden")
        self.check_share(stacks, "loop_inner")
        self.assertEqual({s.process["ns_pid"] for s in stacks}, {1})
        self.assertEqual({s.process["exe"] for s in stacks}, {f"{inside}/hidden"})

    def test_container(self):
        """The control group holds the container's id; outputs group and filter by it."""
        ident = "0123456789abcdef" * 4
        groups = self.container_groups(f"docker-{ident}.scope")
        mine, other = self.start(workload("loop"), 100), self.start(workload("execafter"), 100)
        for group in groups:
            (group / "cgroup.procs").write_text(str(mine.pid))
        trace = self.record("-a", "-F", 499, "-d", 0.7)
        born = self.record("-a", "-F", 499, "--", "sh", "-c",
                           'for g; do echo 0 >"$g/cgroup.procs"; done; "$0" 0.3; :',
                           workload("cxxnames"), *groups)
        self.end(mine)
        self.end(other)
        self.assertEqual({s.process["container"] for s in trace.stacks(pid=mine.pid)}, {ident})
        self.assertEqual({s.process["container"] for s in trace.stacks(pid=other.pid)}, {""})
        self.assertIn(groups[0].name, trace.stacks(pid=mine.pid)[0].process["cgroup"])
        folded = self.export(trace.path, "-f", "folded", "--container", ident[:12]).decode()
        self.assertIn("loop_inner", folded)
        self.assertNotIn("after_exec", folded)
        self.assertEqual({s.process["container"] for s in born.stacks(comm="cxxnames")}, {ident})

    def skein(self, *args):
        return subprocess.run([live.SKEIN, *map(str, args)], capture_output=True, text=True,
                              cwd=self.tmp, timeout=60, check=False)

    def test_service(self):
        """
        A container has the host name that its processes see, a unit its own name; rules of a file
        come first. A program that ends soon has the name of those before it.
        """
        groups = {name: self.container_groups(name) for name in
                  (f"docker-{'0123456789abcdef' * 4}.scope",
                   f"docker-{'fedcba9876543210' * 4}.scope", "web@3.service", "batch-7")}
        named, other, unit, batch = groups
        join = 'for g; do echo 0 >"$g/cgroup.procs"; done; exec "$0" 100'
        programs = {
            named: self.start("unshare", "--uts", "sh", "-c", "hostname shop-1; " + join,
                              workload("loop"), *groups[named]),
            other: self.start("sh", "-c", join, workload("loop"), *groups[other]),
            unit: self.start("sh", "-c", join, workload("loop"), *groups[unit]),
            batch: self.start("sh", "-c", join, workload("loop"), *groups[batch]),
        }
        for group, program in programs.items():
            self.wait_for(lambda pid=program.pid: live.pathlib.Path(f"/proc/{pid}/comm")
                          .read_text() == "loop\n")
        rules = self.tmp / "rules"
        rules.write_text("batch-{number} builds\n")
        trace = self.record("-a", "-F", 499, "-d", 0.7, "--service-rules", rules)
        found = {group: {s.process["service"] for s in trace.stacks(pid=program.pid)}
                 for group, program in programs.items()}
        self.assertEqual(found, {named: {"shop-1"}, other: {"fedcba987654"}, unit: {"web"},
                                 batch: {"builds"}})
        report = live.json.loads(self.skein("report", "--json", "--service", "sh*",
                                            trace.path).stdout)
        self.assertEqual([g["name"] for g in report["services"]], ["shop-1"])
        folded = self.export(trace.path, "-f", "folded", "--services", "--pids").decode()
        self.assertIn(f"shop-1;loop-{programs[named].pid};", folded)
        wrong = self.skein("record", "--service-rules", "/nonexistent", "-d", 1)
        self.assertNotEqual(wrong.returncode, 0)
        self.assertIn("/nonexistent", wrong.stderr)

    def test_service_of_a_sidecar(self):
        """Of a recorder in a container the host name is the name, where no path shows one."""
        group, path = self.container_groups("plain")[0], self.file()
        done = subprocess.run(
            ["unshare", "--uts", "--cgroup", "sh", "-c",
             'hostname api-x2x9q; echo 0 >"$0/cgroup.procs"; exec "$@"', group, live.SKEIN,
             "record", "-F", "499", "-o", path, "--", workload("sleeper"), "0.3"],
            capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        services = {s.process["service"] for s in live.Trace(path).stacks(comm="sleeper")}
        self.assertEqual(services, {"api"})

    def test_thread_that_renames_itself(self):
        trace = self.record("-a", "-F", 999, "--", workload("renamer"), 0.3)
        for name, function in (("one", "phase_one"), ("name two", "phase_two")):
            with self.subTest(name=name):
                self.check_share(trace.stacks(thread=name), function)
                others = [s for s in trace.stacks() if function in s.names]
                # at most a sample is lost at the border
                self.assertGreater(live.count([s for s in others if s.thread["comm"] == name]),
                                   live.count(others) - 3)
        third = [s for s in trace.stacks() if "phase_three" in s.names]
        self.assertGreater(live.count(third), 100)
        self.assertTrue(all(s.thread["comm"].startswith('e;v"<\n') for s in third))
        for line in self.export(trace.path, "-f", "folded").decode().splitlines():
            self.assertRegex(line, r"^[^\x00-\x1f]+;[^\x00-\x1f]+ [0-9]+$")
            self.assertFalse(line.startswith("e;"), line)

    def test_pid_used_again(self):
        trace = self.record("-a", "-F", 999, "--", workload("pidreuse"), 0.4, workload("loop"),
                            workload("execafter"))
        pid = live.json.loads(trace.done.out.splitlines()[-1])["pid"]
        mine = trace.stacks(pid=pid)
        first = [s for s in mine if "loop_inner" in s.names]
        second = [s for s in mine if "after_exec" in s.names]
        for stacks, name in ((first, "loop"), (second, "execafter")):
            self.assertAlmostEqual(live.weight(stacks), 0.4, delta=0.04 + trace.excuse())
            self.assertEqual({s.process["comm"] for s in stacks}, {name})
        self.assertNotEqual(first[0].process["born"], second[0].process["born"])
        unnamed = [s for s in mine if "loop_inner" not in s.names and "after_exec" not in s.names]
        self.assertLess(live.count(unnamed), 0.1 * live.count(mine))

    def test_main_thread_gone(self):
        """A process whose main thread has ended is a zombie with living threads."""
        source = self.tmp / "headless.c"
        source.write_text('#include <pthread.h>\n'
                          'void *headless(void *x) { for (volatile long i = 0; ; i++) ; }\n'
                          'int main(void) { pthread_t t; pthread_create(&t, 0, headless, 0);\n'
                          'pthread_exit(0); }\n')
        program = self.tmp / "headless"
        subprocess.run(["gcc", "-O0", "-fno-omit-frame-pointer", "-o", program, source,
                        "-lpthread"], check=True)
        target = self.start(program)
        live.time.sleep(0.3)
        trace = self.record("-a", "-F", 499, "-d", 0.7)
        self.check_share(trace.stacks(pid=target.pid), "headless")

    def storm(self, seconds, rate):
        """
        Every sample of the storm belongs to a named process, and the storm's function has the time
        that it used: 0.3 ms each by its own clock. If the host does not let the recorder run,
        lives are lost and reported; then the test tries again.
        """
        program = self.copy("storm", "squall")
        for _ in range(3):
            trace = self.record("-a", "-F", 999, "--", program, seconds, rate, timeout=300)
            if not trace.losses("LIFE_LOST"):
                break
        given = live.json.loads(trace.done.out)
        stacks = trace.stacks()
        nameless = [s for s in stacks if s.process is None or not s.process["comm"]]
        self.assertEqual(live.count(nameless), 0)
        mine = [s for s in stacks if s.process["exe"] == str(program)]
        child = [s for s in mine if "storm_child" in s.names]
        # 0.3 ms and one look at the clock (5000 turns); sigma of n samples < sqrt(n)
        expected = given["count"] * 0.0003
        self.assertGreater(live.weight(child), 0.9 * expected - 6 * (expected / 999) ** 0.5
                           - trace.excuse())
        self.assertLess(live.weight(child), given["cpu"] * 1.1 + 0.1 + trace.excuse())
        missing = [s for s in mine if any(n.startswith("[") and "squall" in n for n in s.names)]
        self.assertLess(live.count(missing), 0.01 * live.count(mine) + 3,
                        missing[:3])
        self.assertEqual(trace.losses("LIFE_LOST"), 0)

    def test_storm(self):
        self.storm(30 if live.LONG else 3, 1000)


if __name__ == "__main__":
    live.main()
