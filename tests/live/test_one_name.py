# SPDX-License-Identifier: Apache-2.0
# beside others
# timeout: 300
"""Test that a function has one name in every recording and in every format."""

import gzip
import json
import re
import shutil
import subprocess
import unittest

import live
from live import SKEIN

# percent of all samples: functions above this in one run must occur in the other (of 500 samples,
# 25 against 0)
PLAIN = 5
SCRIPT = """
const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);
let sum = 0;
for (const end = process.cpuUsage().user + 1e6; process.cpuUsage().user < end;) sum += fib(22);
"""


class OneName(live.LiveTest):
    def stripped(self):
        """Make a program without symbols; return it and {name: offset} of its functions."""
        path = self.copy("shares", "bare")
        listed = subprocess.run(["nm", path], capture_output=True, check=True).stdout.decode()
        loads = re.findall(r"LOAD +0x(\w+) 0x(\w+)", subprocess.run(
            ["readelf", "-lW", path], capture_output=True, check=True).stdout.decode())
        starts = {}
        for address, name in re.findall(r"^(\w+) [tT] (\w+)$", listed, re.M):
            offset, begin = max(((int(o, 16), int(b, 16)) for o, b in loads
                                 if int(b, 16) <= int(address, 16)), key=lambda load: load[1])
            starts[name] = int(address, 16) - begin + offset
        subprocess.run(["strip", path], check=True)
        return path, starts

    def exported(self, trace, form):
        return subprocess.run([SKEIN, "export", trace.path, "-f", form, "-o", "-"], timeout=60,
                              capture_output=True, check=True).stdout

    def test_functions_without_a_symbol(self):
        """
        Functions without a symbol are named by their start, which nm has listed, in every format.
        """
        path, starts = self.stripped()
        trace = self.record("-F", 499, "--", path, 1, 1)
        known = {f"[bare+{start:#x}]": name for name, start in starts.items()}
        hottest = trace.query("SELECT function, samples FROM hottest WHERE function LIKE '[bare%'")
        self.assertGreater(sum(row["samples"] for row in hottest), 100)
        names = {row["function"] for row in hottest}
        self.assertLessEqual(names, set(known)) # no other address, and no module alone
        report = json.loads(subprocess.run([SKEIN, "report", "--json", trace.path], timeout=60,
                                           capture_output=True, check=True).stdout)
        self.assertEqual({f["name"]: f["self_samples"] for f in report["functions"]
                          if f["name"] in names},
                         {row["function"]: row["samples"] for row in hottest})
        every = {f["name"] for f in report["functions"] if f["name"].startswith("[bare")}
        self.assertIn("main", {known[name] for name in every})
        for form in ("folded", "speedscope", "pprof", "html", "json", "perf-script"):
            made = self.exported(trace, form)
            if made.startswith(b"\x1f\x8b"):
                made = gzip.decompress(made)
            sign = "_" if form == "perf-script" else r"\+" # readers of perf script cut offsets off
            found = {name.decode() for name in re.findall(rb"\[bare[^]]*\]", made)}
            self.assertEqual({name.replace("bare_0x", "bare+0x") for name in found}, every, form)
            self.assertTrue(all(re.fullmatch(rf"\[bare{sign}0x\w+\]", name) for name in found))

    @unittest.skipUnless(shutil.which("node"), "node, whose JIT this records, is not installed")
    def test_generated_code_of_two_runs(self):
        """A second of CPU is about 500 samples, nearly all in one module without a file."""
        script = self.tmp / "fib.js"
        script.write_text(SCRIPT)
        traces = [self.record("-F", 499, "--", "node", script) for _ in range(2)]
        for trace in traces:
            jits = trace.query("SELECT path, process FROM mapping JOIN mapping_kind AS k "
                               "ON k.id = mapping.kind WHERE k.word = 'jit'")
            self.assertEqual([m["path"] for m in jits], ["[jit]"])
            self.assertTrue(jits[0]["process"]) # its pid is an attribute
        done = subprocess.run([SKEIN, "diff", "--json", "--all", *(t.path for t in traces)],
                              timeout=60, capture_output=True, check=True)
        rows = {(row["name"], row["more"]): row["self"]
                for row in json.loads(done.stdout)["changes"]}
        self.assertGreater(rows["[jit]", "[jit]"]["before"], 50)
        self.assertGreater(rows["[jit]", "[jit]"]["after"], 50)
        for name, row in rows.items():
            if max(row["before"], row["after"]) > PLAIN:
                self.assertGreater(min(row["before"], row["after"]), 0, name)


if __name__ == "__main__":
    live.main()
