# SPDX-License-Identifier: Apache-2.0
"""
Probes of the user at a program that says how often it passed each: every hit is recorded, with its
arguments, as a span with its end, or counted as lost. Further what attaching must not do: harm the
program, miss a library that was replaced, or record who was not asked for.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

import live

ROUNDS = 20000 if live.LONG else 2000
EVENTS = ("usdt:{0}:app:step,usdt:{0}:app:frame,usdt:{0}:app:work__start/work__done,"
          "func:{0}:descend(1),func:{0}:leave,func:{0}:choose")
SPANS = ("SELECT span.time AS begin, span.\"end\" AS end, n.text AS name, a.text AS args,"
         " process.pid AS pid FROM span JOIN name n ON n.id = span.name"
         " LEFT JOIN name a ON a.id = span.args JOIN lane ON lane.id = span.lane"
         " LEFT JOIN thread ON thread.id = lane.number AND lane.kind = {}"
         " LEFT JOIN process ON process.id = thread.process").format(
             live.numbers("LANE_KINDS")["THREAD"])
# One by one, as on kernels before Linux 6.6.
ONE_BY_ONE = live.clean_environment(SKEIN_DEBUG_PROBES="1")
HOSTILE = r"""
.macro note address, counter, name, arguments
.pushsection .note.stapsdt, "", "note"
.balign 4
.4byte 8, 9f - 8f, 3
.asciz "stapsdt"
8: .8byte \address, _.stapsdt.base, \counter
.asciz "app"
.asciz "\name"
.asciz "\arguments"
9: .balign 4
.popsection
.endm
.section .stapsdt.base, "a"
_.stapsdt.base: .space 1
.data
counter: .2byte 0
.text
.globl main
main:
    sub $40, %rsp
    mov $100, %ebx
1:  mov $0x90909090, %eax       # bytes that look like nops
inside = . - 3
    note 1b, 0, "before", ""
    note inside, 0, "inside", ""
    mov $7, %ecx
good: nop
    note good, counter, "good", "4@%ecx -4@counter(%rip) 8f@%xmm0 8@nonsense"
    movq $5, -8(%rsp)           # below the stack pointer, as a leaf function may
five: .byte 0x0f, 0x1f, 0x44, 0, 0
    note five, 0, "five", ""
    cmpq $5, -8(%rsp)
    jne 2f
    cmp $0x90909090, %eax
    jne 2f
    dec %ebx
    jnz 1b
    xor %eax, %eax
    add $40, %rsp
    ret
2:  mov $1, %eax
    add $40, %rsp
    ret
    note counter, 0, "data", ""
    note 0x123456789abc, 0, "far", ""
    note good, 0xfffffffffffffff0, "far_counter", ""
.section .note.GNU-stack, "", @progbits
"""


def run_time(pid):
    """Return how long a program of one thread has run, in s."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text("ascii").split()[0]) / 1e9


def named(spans, name):
    return [s for s in spans if s["name"] == name]


class Probes(live.LiveTest):
    def setUp(self):
        super().setUp()
        self.program = self.copy("probed")

    def check_counts(self, trace, rounds):
        """Check every span of a whole run of the program."""
        spans = trace.query(SPANS + " ORDER BY begin")
        counts = {name: len(named(spans, name))
                  for name in ("app:step", "app:frame", "app:work__start", "descend", "leave",
                               "choose")}
        depth = 3 * rounds + (rounds + 2) // 3 # descend() is 3 deep, and choose() calls it, too
        self.assertEqual(counts, {"app:step": rounds, "app:frame": rounds,
                                  "app:work__start": rounds, "descend": depth, "leave": rounds,
                                  "choose": rounds})
        self.assertEqual(sum(map(trace.losses, ("PROBES_LOST", "UNPAIRED", "NOT_ATTACHED"))), 0)
        return spans

    def check_arguments(self, spans):
        values = [json.loads(s["args"])["arguments"] for s in named(spans, "app:step")]
        # a constant, a register, memory with an index, a symbol, the low byte
        self.assertEqual(values, [[77, i, -i, i, i & 255] for i in range(len(values))])
        values = [json.loads(s["args"])["arguments"] for s in named(spans, "app:frame")]
        self.assertEqual(values, [[i, -i, i & 255, (-i + 32768) % 65536 - 32768, -i]
                                  for i in range(len(values))])
        sizes = [json.loads(s["args"])["arguments"][1] for s in named(spans, "app:work__start")]
        self.assertEqual(sizes, [11 if i % 2 else 6 for i in range(len(sizes))])

    def check_nesting(self, spans):
        calls = named(spans, "descend")
        for call in calls:
            depth = json.loads(call["args"])["arguments"][0]
            inner = [c for c in calls[:30] if call["begin"] < c["begin"] < call["end"]]
            if call in calls[:20]:
                self.assertEqual(len(inner), depth)
        # calls that longjmp() cut off end when a frame below them is used again
        cut = [s for s in named(spans, "leave") if s["args"] and "cut_off" in s["args"]]
        is_open = [s for s in named(spans, "leave") if not s["end"]]
        self.assertEqual(len(cut) + len(is_open), len(named(spans, "leave")) // 10)
        self.assertLessEqual(len(is_open), 1)

    def test_every_hit_is_recorded_with_its_arguments_and_its_end(self):
        trace = self.record("-e", EVENTS.format(self.program), "--", self.program, ROUNDS)
        spans = self.check_counts(trace, ROUNDS)
        self.check_arguments(spans)
        self.check_nesting(spans)

    def test_one_by_one_the_same_is_recorded(self):
        trace = self.record("-e", EVENTS.format(self.program), "--", self.program, 300,
                            env=ONE_BY_ONE)
        spans = self.check_counts(trace, 300)
        self.check_arguments(spans)
        self.assertIn("attaches probes one by one", trace.done.err)

    def test_a_storm_is_recorded_or_counted_as_lost(self):
        rounds = 10 * ROUNDS
        trace = self.record("-e", f"usdt:{self.program}:app:*", "--", self.program, rounds)
        spans = trace.one("SELECT count(*) FROM span")
        self.assertEqual(spans + trace.losses("PROBES_LOST"), 4 * rounds)
        self.assertGreater(spans, rounds)

    def test_only_selected_processes_are_recorded(self):
        other = self.start(self.program, 10 ** 9)
        trace = self.record("-e", f"usdt:{self.program}:app:step", "--", self.program, 500)
        spans = trace.query(SPANS)
        self.assertEqual(len(spans), 500)
        self.assertNotIn(other.pid, {s["pid"] for s in spans})

    def test_a_counter_is_up_only_while_it_is_recorded(self):
        running = self.start(self.program, 10 ** 9)
        symbols = subprocess.run(["nm", self.program], capture_output=True, text=True, check=True)
        address = int(re.search(r"^(\w+) \w work_counter$", symbols.stdout, re.M)[1], 16)
        base = int(pathlib.Path(f"/proc/{running.pid}/maps").read_text().split("-")[0], 16)

        def counter():
            with open(f"/proc/{running.pid}/mem", "rb") as memory:
                memory.seek(base + address)
                return int.from_bytes(memory.read(2), "little")

        self.assertEqual(counter(), 0)
        recording = self.begin("-p", running.pid, "-e",
                               f"cpu,usdt:{self.program}:app:work__start/work__done")
        self.wait_for(lambda: counter() == 2) # of two probes
        ran = run_time(running.pid)
        # some 200,000 hits, which mostly fill the rings at once
        self.wait_for(lambda: run_time(running.pid) > ran + 0.2)
        trace = self.finish_in_time(recording)
        # Two hits are a span, but for those around the losses.
        hits = int(re.search(r"([\d,]+) probe events", trace.done.err)[1].replace(",", ""))
        self.assertGreater(hits, 1000)
        self.assertGreater(trace.one("SELECT count(*) FROM span"), hits / 4)
        self.wait_for(lambda: counter() == 0)

    def test_hostile_notes_harm_nobody(self):
        source = self.tmp / "hostile.s"
        source.write_text(HOSTILE)
        program = self.tmp / "hostile"
        subprocess.run(["gcc", "-o", program, source], check=True)
        events = f"usdt:{program}:app:*,usdt:{program}:app:good/five"
        trace = self.record("-e", events, "--", program)
        self.assertEqual(trace.done.status, 0, "the program found its memory changed")
        good = named(trace.query(SPANS), "app:good")
        arguments = [json.loads(s["args"])["arguments"] for s in good if s["args"]]
        self.assertIn([7, 1, 0, 0], arguments)
        self.assertGreaterEqual(trace.losses("NOT_ATTACHED"), 5)
        (text,) = [r["value"] for r in trace.query("SELECT * FROM info")
                   if r["key"].startswith("probes.")]
        self.assertIn("not attached: ", text)

    def test_a_library_that_is_replaced_is_probed_anew(self):
        python = self.tmp / "python3"
        script = ("import gc, time\ngc.disable()\ntime.sleep(1)\n"
                  "begin = time.clock_gettime_ns(time.CLOCK_BOOTTIME)\n"
                  "for i in range(50): gc.collect()\n"
                  "print([begin, time.clock_gettime_ns(time.CLOCK_BOOTTIME)])\n")
        if not pathlib.Path("/usr/bin/python3.11").exists():
            self.skipTest("there is no /usr/bin/python3.11, whose notes are known")
        recording = self.begin("-a", "-e", "cpu,python")
        runs = []
        for _ in range(2): # the second runs beside the file of the first
            other = self.tmp / "new"
            shutil.copy2("/usr/bin/python3.11", other)
            os.rename(other, python)
            runs.append(self.start(python, "-S", "-E", "-c", script))
        marks = [self.output(run) for run in runs]
        trace = self.finish(recording)
        for (begin, end), run in zip(marks, runs):
            found = [s for s in trace.query(SPANS)
                     if s["pid"] == run.pid and begin <= s["begin"] <= end]
            self.assertEqual(len(found), 50)

    def test_rows_alone_make_spans_of_postgresql(self):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not found:
            self.skipTest("PostgreSQL is not installed")
        folder = self.tmp / "postgresql"
        folder.mkdir()
        shutil.chown(folder, "nobody")
        as_nobody = ["setpriv", "--reuid", "nobody", "--clear-groups"]
        subprocess.run([*as_nobody, found[-1], "-D", folder / "data"], check=True, cwd=folder,
                       capture_output=True)
        server = self.start(*as_nobody, found[-1].with_name("postgres"), "--single", "-D",
                            folder / "data", "postgres", stdin=-1)
        self.wait_for(lambda: os.readlink(f"/proc/{server.pid}/exe").endswith("/postgres"))
        recording = self.begin("-e", "runtime", "-p", server.pid)
        server.communicate(b"select 1;\nselect count(*) from (select * from"
                           b" generate_series(1, 100000) g order by -g) x;\n", timeout=60)
        trace = self.finish(recording)
        spans = trace.query(SPANS)
        self.assertEqual(len([s for s in named(spans, "postgresql:query") if s["end"]]), 2)
        self.assertEqual(len([s for s in named(spans, "postgresql:sort") if s["end"]]), 1)
        self.assertNotIn("generate_series", str(spans))

    def test_what_cannot_be_probed_has_a_reason(self):
        for events, text in (
                ("gcc", "there is no event 'gcc'; there are cpu"),
                ("usdt:x", "a USDT probe is usdt:PATH:PROVIDER:NAME"),
                (f"usdt:{self.program}:app:*/end", "names and no patterns"),
                (f"func:{self.program}", "a probe of a function is func:PATH:SYMBOL"),
                (f"func:{self.program}:descend(7)", "up to 6")):
            trace = self.fail_to_record("-e", events, "--", "true")
            self.assertIn(text, trace)
        self.assertIn("No such file", self.fail_to_record("-e", "func:/nowhere:f", "--", "true",
                                                          status=1))
        trace = self.record("-e", f"func:{self.program}:no_such_function", "--", self.program, 1)
        self.assertEqual(trace.losses("NOT_ATTACHED"), 1)
        self.assertIn("no probe was attached", trace.done.err)

    def fail_to_record(self, *args, status=2):
        run = subprocess.run([live.SKEIN, "record", "-o", self.file(), *args],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def test_doctor_lists_the_probes_of_a_file(self):
        run = subprocess.run([live.SKEIN, "doctor", "--probes", "--json", self.program],
                             capture_output=True, text=True, check=True)
        (file,) = json.loads(run.stdout)["files"]
        self.assertEqual({p["name"]: (p["sites"], p["attachable"], p["instruction"])
                          for p in file["probes"]},
                         {f"app:{n}": (1, 1, "nop") for n in ("step", "frame", "work__start",
                                                               "work__done")})
        run = subprocess.run([live.SKEIN, "doctor", "--probes", "/etc/passwd"],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("no program or library", run.stdout)


if __name__ == "__main__":
    live.main()
