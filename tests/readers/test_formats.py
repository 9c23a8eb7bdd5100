#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Test speedscope, Firefox, perf script and JSON: all formats agree, and other programs read them.
"""
import collections
import gzip
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import formats
import profiler_cli
import trace_processor
from test_pprof import GOS, pprof
from traces import Home, LIMIT, ROOT, make_scene, output, skein

READERS = trace_processor.CACHE / "skein/readers"
SPEEDSCOPE = READERS / "speedscope-1.25.0/file-format-schema.json"
AJV = READERS / "ajv-6.12.6/ajv.bundle.js"
OWN_SCHEMA = ROOT / "docs/profile.schema.json"
NODE = shutil.which("node")
VALIDATE = """
const [ajv, schema, file] = process.argv.slice(1), fs = require("fs"), Ajv = require(ajv);
const validate = new Ajv({allErrors: true}).compile(JSON.parse(fs.readFileSync(schema)));
if (!validate(JSON.parse(fs.readFileSync(file)))) {
  console.error(JSON.stringify(validate.errors.slice(0, 5)));
  process.exit(1);
}
"""
SCENES = ("scene", "python", "mixed", "empty")
FORMATS = {"json": ".skein.json", "speedscope": ".speedscope.json", "firefox": ".firefox.json",
           "firefox.gz": ".firefox.json.gz", "perf-script": ".perf.txt", "folded": ".folded",
           "pprof": ".pb.gz", "perfetto": ".pftrace"}
# formats that tests of their own read, and these tests
ELSEWHERE = {"html": "test_page_data.py", "svg": "test_svg.py", "chrome": "test_timeline.py",
             "chrome.gz": "test_timeline.py"}
NOT_IDLE = ("from sample x left join event e on x.event = e.id "
            "left join thread t on x.thread = t.id "
            "left join process p on t.process = p.id where coalesce(p.pid, 1) != 0")


def plain(frames):
    """
    Return the frames as perf script's text shows them: no name contains an offset, which readers
    cut off.
    """
    return tuple(frame.lstrip().replace("+0x", "_0x") or "[unknown]" for frame in frames)


def merged(found, change):
    changed = collections.Counter()
    for frames, number in found.items():
        changed[change(frames)] += number
    return changed


class Formats(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.traces = {name: make_scene(cls.home / f"{name}.skein", name) for name in SCENES}
        live = cls.home / "live.skein"
        if os.geteuid() == 0 and skein("record", "-F", "499", "-o", live, "--", "sh", "-c",
                                       "while :; do :; done & sleep 1; kill $!",
                                       check=False).returncode == 0:
            cls.traces["live"] = live
        for name, trace in cls.traces.items():
            for form, ending in FORMATS.items():
                skein("export", trace, "-o", cls.home / f"{name}{ending}")

    def each(self):
        """Yield the name of each trace, which failures then show."""
        for name in self.traces:
            self.longMessage = True
            self.current = name
            yield name

    def fail(self, msg=None):
        super().fail(f"{getattr(self, 'current', '')}: {msg}")

    def file(self, name, form):
        return self.home / f"{name}{FORMATS[form]}"

    def read(self, name, form):
        return self.file(name, form).read_bytes()

    def true(self, name):
        """Return the content of the trace by its own tables: samples and weight of each event."""
        rows = json.loads(output("query", "--json", self.traces[name],
                                 "select e.name event, count(*) n, sum(x.weight) w " + NOT_IDLE +
                                 " group by 1"))
        return {row["event"]: (row["n"], row["w"]) for row in rows}

    def test_every_format_is_read(self):
        """A new format needs an entry here and a reader, or a test of its own."""
        named = re.findall(rb"^ +(\S+) \(\.[\w.]+\): ", output("export", "--help"), re.M)
        self.assertEqual({name.decode() for name in named}, FORMATS.keys() | ELSEWHERE.keys())
        for test in ELSEWHERE.values():
            self.assertTrue((ROOT / "tests" / "readers" / test).exists(), test)

    def test_totals(self):
        for name in self.each():
            true = self.true(name)
            samples, weight = (sum(row[i] for row in true.values()) for i in (0, 1))
            self.assertEqual(samples == 0, name == "empty")
            said = formats.read_json(self.read(name, "json"))
            for event, (n, w) in true.items():
                event = event or "[unknown]"
                # an event that the trace has lost has no name
                total = [said.total(i, event) or said.total(i, "") for i in (0, 1)]
                self.assertEqual(total, [n, w], event)
            for form, reader in (("json", formats.read_json), ("firefox", formats.read_firefox),
                                 ("perf-script", formats.read_perf_script)):
                found = reader(self.read(name, form))
                self.assertEqual((found.total(0), found.total(1)), (samples, weight), form)
            speedscope = formats.read_speedscope(self.read(name, "speedscope"))
            self.assertEqual(speedscope.total(1), weight)
            folded = formats.read_folded(self.read(name, "folded"))
            self.assertEqual(folded.total(0), samples)

    @unittest.skipUnless(GOS, "no Go with pprof is installed")
    def test_totals_of_pprof(self):
        for name in self.each():
            text = pprof(GOS[0], self.home, "-raw", self.file(name, "pprof")).stdout.decode()
            rows = re.findall(r"^ +(\d+(?: +\d+)*): [\d ]+$", text, re.M)
            values = [sum(column) for column in zip(*[map(int, row.split()) for row in rows])]
            true = self.true(name)
            # samples and weights in turn, one event after another
            self.assertEqual(sum(values[0::2]), sum(row[0] for row in true.values()))
            self.assertEqual(sum(values[1::2]), sum(row[1] for row in true.values()))

    def test_stacks(self):
        """
        All formats that show stacks show the same stacks, and the same weights if they show
        weights.
        """
        for name in self.each():
            said = formats.read_json(self.read(name, "json"))
            firefox = formats.read_firefox(self.read(name, "firefox"))
            speedscope = formats.read_speedscope(self.read(name, "speedscope"))
            for i in (0, 1):
                self.assertEqual(firefox.by_frames(i), said.by_frames(i))
            self.assertEqual(speedscope.by_frames(1), said.by_frames(1))
            text = formats.read_perf_script(self.read(name, "perf-script"))
            for i in (0, 1):
                self.assertEqual(text.by_frames(i), merged(said.by_frames(i), plain))

    def test_truncated_stacks_say_so(self):
        marks = collections.Counter()
        for frames, count in formats.read_json(self.read("scene", "json")).by_frames(0).items():
            marks[frames[0]] += count if frames[0].startswith("[") else 0
        self.assertEqual(+marks, {"[truncated: too deep]": 15, "[truncated: unknown root]": 12,
                                  "[no stack]": 2})

    def test_losses_are_told(self):
        losses = formats.strict_json(self.read("scene", "json"))["losses"]
        self.assertEqual([(l["reason"], l["cpu"], l["count"]) for l in losses],
                         [("not delivered", 0, 7), ("ring full", 2, 5), ("ring full", 2, 2)])
        self.assertIn("lost: 7 ring full, 7 not delivered",
                      formats.strict_json(self.read("scene", "speedscope"))["name"])
        firefox = formats.strict_json(self.read("scene", "firefox"))
        markers = [(m["reason"], m["cpu"], m["count"])
                   for thread in firefox["threads"] for m in thread["markers"]["data"]]
        self.assertEqual(sorted(markers), [("not delivered", "0", 7), ("ring full", "2", 2),
                                           ("ring full", "2", 5)])

    def test_one_thread_under_its_names_is_one(self):
        shown = formats.strict_json(self.read("mixed", "speedscope"))
        names = [frame["name"] for frame in shown["shared"]["frames"]]
        self.assertEqual([name for name in names if "(404)" in name],
                         ["\u2003(x) 9 (y)\u3000 (404): renamed (404)"])
        self.assertEqual([p["name"] for p in shown["profiles"]],
                         ["all threads, one after the other, " + event for event in
                          ("cpu-clock", "cycles:u", " 77 evil?#:?[31m ", "[unknown]")])

    def test_threads_stand_one_after_the_other(self):
        """speedscope shows each thread once, in the order of time, as in perf script's text."""
        shown = formats.strict_json(self.read("scene", "speedscope"))
        names = [frame["name"] for frame in shown["shared"]["frames"]]
        for profile in shown["profiles"]:
            owners = [stack[0] for stack in profile["samples"]]
            self.assertEqual(len([k for k, _ in itertools.groupby(owners)]), len(set(owners)))
        said = [tuple(names[f] for f in stack[1:]) for profile in shown["profiles"]
                for stack in profile["samples"] if "pool 12 (110)" in names[stack[0]]]
        blocks = [block for block in self.read("scene", "perf-script").decode().split("\n\n")
                  if " 100/110 " in block.split("\n")[0]]
        stacks = [tuple(formats.PERF_FRAME.match(line)[2] for line in block.split("\n")[:0:-1])
                  for block in blocks]
        self.assertGreater(len(stacks), 1)
        self.assertEqual([plain(stack) for stack in said],
                         [stack for stack, _ in itertools.groupby(stacks)])

    def test_programs_of_one_pid_are_told_apart(self):
        threads = formats.strict_json(self.read("scene", "firefox"))["threads"]
        self.assertEqual([t["pid"] for t in threads],
                         ["100", "100", "101", "2", "100.1", "102", "0", "lost"])

    def test_no_control_character_is_in_a_text(self):
        for name in self.each():
            for form in ("speedscope", "firefox", "perf-script"):
                allowed = b"\n\t" if form == "perf-script" else b"\n"
                data = self.read(name, form)
                self.assertFalse([byte for byte in data if byte < 32 and byte not in allowed])
                self.assertNotRegex(data, rb"\\u00[01]|\\[bfnrt]")

    def test_compressed_is_the_same(self):
        for name in self.each():
            self.assertEqual(gzip.decompress(self.read(name, "firefox.gz")),
                             self.read(name, "firefox"))
        for ending in ("folded", "html", "svg", "pftrace", "skein.json", "speedscope.json"):
            plain, packed = self.home / f"out.{ending}", self.home / f"out.{ending}.gz"
            output("export", self.traces["scene"], "-o", plain)
            output("export", self.traces["scene"], "-o", packed)
            self.assertEqual(gzip.decompress(packed.read_bytes()), plain.read_bytes())

    def test_filters_hold(self):
        for form, reader in (("json", formats.read_json), ("firefox", formats.read_firefox),
                             ("perf-script", formats.read_perf_script)):
            made = output("export", self.traces["scene"], "-f", form, "--comm", "kthreadd")
            self.assertEqual(reader(made).by_frames(0), {("kthread",): 6}, form)
            made = output("export", self.traces["scene"], "-f", form, "--from", "400ms", "--to",
                          "600ms")
            self.assertEqual(reader(made).total(0), 11, form)

    def validate(self, schema, file):
        done = subprocess.run([NODE, "-e", VALIDATE, AJV, schema, file], timeout=LIMIT,
                              stderr=subprocess.PIPE)
        return done.stderr.decode() if done.returncode else None

    @unittest.skipUnless(NODE and AJV.is_file() and SPEEDSCOPE.is_file(),
                         "no ajv or no schema of speedscope: tools/deps readers, and Node")
    def test_schemas(self):
        for name in self.each():
            self.assertIsNone(self.validate(SPEEDSCOPE, self.file(name, "speedscope")))
            self.assertIsNone(self.validate(OWN_SCHEMA, self.file(name, "json")))
        wrong = self.home / "wrong.json"
        wrong.write_bytes(self.read("scene", "speedscope").replace(b'"weights"', b'"weight"'))
        self.assertIn("weights", self.validate(SPEEDSCOPE, wrong))
        wrong.write_bytes(self.read("scene", "json").replace(b'"samples":20', b'"samples":"20"'))
        self.assertIn("integer", self.validate(OWN_SCHEMA, wrong))

    @unittest.skipIf(trace_processor.MISSING, trace_processor.MISSING)
    def test_perfetto_reads_them(self):
        sites = ("select c.id, c.parent_id parent, f.name from stack_profile_callsite c "
                 "join stack_profile_frame f on c.frame_id = f.id order by c.id")
        for name in self.each():
            if name in ("empty", "scene"): # "mixed" contains all of these
                continue
            said = formats.read_json(self.read(name, "json")).by_frames(0)
            for form, change in (("firefox.gz", lambda frames: frames), ("perf-script", plain)):
                rows, callsites, samples = trace_processor.ask(
                    self.file(name, form), trace_processor.COMPLAINTS, sites,
                    "select callsite_id site, count(*) n from cpu_profile_stack_sample group by 1")
                self.assertEqual(trace_processor.complaints(rows), {}, form)
                paths = {}
                for site in callsites:
                    paths[site["id"]] = paths.get(site["parent"], ()) + (site["name"],)
                found = collections.Counter()
                for row in samples:
                    found[paths[row["site"]]] += row["n"]
                self.assertEqual(found, merged(said, change), form)

    @unittest.skipIf(profiler_cli.MISSING, profiler_cli.MISSING)
    def test_firefox_reads_them(self):
        info, samples, _, markers = profiler_cli.ask(
            self.file("scene", "firefox.gz"), ("profile", "info"), ("thread", "samples"),
            ("thread", "select", "t-7"), ("thread", "markers"))
        self.assertIn("lost: 7 ring full, 7 not delivered", info)
        # the first sample of a thread has no predecessor
        self.assertRegex(info, r"worker 3 \[tid 100\] - 390\.000ms")
        self.assertIn("/usr/bin/worker!main - total: 400ms (100.0%)", samples)
        self.assertIn("[kernel]!ext4_file_write_iter - self: 50ms (12.5%)", samples)
        self.assertRegex(samples, r"Kernel +\S+ +50 +12\.5%")
        self.assertIn("ring full", markers)
        (samples,) = profiler_cli.ask(self.file("scene", "perf-script"), ("thread", "samples"))
        self.assertRegex(samples, r"!main - total: 44 ")


if __name__ == "__main__":
    unittest.main()
