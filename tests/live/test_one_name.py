# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""One name for one thing: in every recording, and in every format."""

import json
import shutil
import subprocess
import unittest

import live
from live import SKEIN

PLAIN = 5 # percent of all samples: what has more in one run has some in the other (of 500, 25 to 0)
SCRIPT = """
const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);
let sum = 0;
for (const end = process.cpuUsage().user + 1e6; process.cpuUsage().user < end;) sum += fib(22);
"""


class OneName(live.LiveTest):
    @unittest.skipUnless(shutil.which("node"), "node is not installed: its JIT is what this records")
    def test_generated_code_of_two_runs(self):
        """A second of CPU: some 500 samples, nearly all of them in one module without a file."""
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
        rows = {(row["name"], row["more"]): row["self"] for row in json.loads(done.stdout)["changes"]}
        self.assertGreater(rows["[jit]", "[jit]"]["before"], 50)
        self.assertGreater(rows["[jit]", "[jit]"]["after"], 50)
        for name, row in rows.items():
            if max(row["before"], row["after"]) > PLAIN:
                self.assertGreater(min(row["before"], row["after"]), 0, name)


if __name__ == "__main__":
    live.main()
