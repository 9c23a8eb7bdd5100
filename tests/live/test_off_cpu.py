# SPDX-License-Identifier: Apache-2.0
# timeout: 300
"""
Stacks of waits belong to the wait: threads that wait for 50 us, 100 ms and 1 s, each in a function
of its own, by both hooks. What was asked for is taken or counted, and the weights are those of a
fair draw.
"""

import math

import live
from live import LONG, workload

HOOKS = {"the kernel's own": {}, "an interrupt": {"SKEIN_DEBUG_WALK": "irq-work"}}
PERIOD = 2e6  # ns, the default
# Lengths of waits that only one of the functions can have, ns.
BOUNDS = {"wait_short": (0, 50e6), "wait_middle": (90e6, 700e6), "wait_long": (990e6, 1e12)}


class Waits(live.LiveTest):
    def record_waits(self, seconds, *args, env=None):
        return self.record("-e", "off-cpu", *args, "--", workload("bimodal"), seconds,
                           env=live.clean_environment(**(env or {})))

    @staticmethod
    def waits(trace, comm="bimodal", event="off-cpu"):
        """Return (row, names) of the stacks of waits of a program."""
        rows = trace.query("SELECT s.* FROM sample s JOIN event e ON e.id = s.event "
                           f"WHERE e.name = '{event}'")
        found = [(r, trace.stack(r["thread"], r["stack"], 1, r["weight"])) for r in rows]
        return [(r, s.names) for r, s in found if s.process["comm"] == comm]

    def check_account(self, trace):
        for row in trace.query("SELECT a.* FROM account a JOIN event e ON e.id = a.event "
                               "WHERE e.name LIKE 'off-cpu%'"):
            lost = sum(r["count"] for r in trace.query("SELECT * FROM loss")
                       if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"])
            self.assertEqual(row["due"], row["written"] + row["filtered"] + lost + row["cut_off"],
                             row)
            self.assertLessEqual(row["cut_off"], 1)

    def test_right_function(self):
        for name, env in HOOKS.items():
            with self.subTest(name):
                trace = self.record_waits(30 if LONG else 5, env=env)
                self.check_account(trace)
                found = self.waits(trace)
                self.assertGreater(len(found), 2000 if LONG else 300)
                for row, names in found:
                    self.assertFalse([n for n in names if "bpf" in n or "irq_work" in n], names)
                    functions = set(names) & set(BOUNDS)
                    if not functions:  # main() waits for its threads
                        self.assertIn("main", names)
                        continue
                    function, = functions
                    low, high = BOUNDS[function]
                    self.assertTrue(low <= row["length"] <= high, (function, row))
                    self.assertGreaterEqual(row["weight"], min(row["length"], PERIOD))
                    if row["length"] >= row["weight"]:
                        self.assertEqual(row["weight"], row["length"])

    def test_weights(self):
        """The weights of short waits add up to their time, within six standard errors."""
        trace = self.record_waits(20 if LONG else 5)
        said = live.json.loads(trace.done.out)
        for function, log in said.items():
            rows = [r for r, names in self.waits(trace) if function in names]
            weight = sum(r["weight"] for r in rows) / 1e9
            spread = math.sqrt(sum(r["weight"] ** 2 for r in rows
                                   if r["weight"] > r["length"])) / 1e9
            # the program's own clock counts the time in the run queue, too
            self.assertAlmostEqual(weight, log["seconds"], delta=6 * spread + 0.1 *
                                   log["seconds"] + 0.01, msg=function)


if __name__ == "__main__":
    live.main()
