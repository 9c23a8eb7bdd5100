#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test that the views of a trace agree: report, folded, pprof and SQL."""
import collections
import json
import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
from completeness import completeness
from traces import Home, SKEIN, make_scene, output, skein
from test_pprof import GOS, pprof

NOT_IDLE = ("from {table} x left join thread t on x.thread = t.id "
            "left join process p on t.process = p.id where coalesce(p.pid, 1) != 0")


class Views:
    """The numbers of each view of a trace."""

    def __init__(self, trace, home):
        self.trace, self.home = trace, home
        self.report = json.loads(output("report", "--json", "--tree", "--min", "0", trace))
        self.folded = collections.Counter()
        for line in output("export", trace, "-f", "folded").decode().splitlines():
            stack, _, count = line.rpartition(" ")
            self.folded[stack] += int(count)

    def sql(self, query):
        return json.loads(output("query", "--json", self.trace, query))

    def pprof(self):
        path = self.home / "totals.pb.gz"
        skein("export", self.trace, "-o", path)
        text = pprof(GOS[0], self.home, "-raw", path).stdout.decode()
        return [(int(count), int(ns))
                for count, ns in re.findall(r"^ +(\d+) +(\d+): [\d ]+$", text, re.M)]


class Totals(Home):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.traces = [make_scene(cls.home / "scene.skein")]
        live = cls.record()
        if live:
            cls.traces.append(live)

    @classmethod
    def record(cls):
        """
        Record two seconds of this machine, with a program of known functions, if recording is
        possible.
        """
        path = cls.home / "live.skein"
        command = ["sh", "-c", "while :; do :; done & sleep 2; kill $!"]
        done = skein("record", "-F", "499", "-o", path, "--", *command, check=False) \
            if os.geteuid() == 0 else None
        return path if done and done.returncode == 0 else None

    def each(self):
        return [Views(trace, self.home) for trace in self.traces]

    def test_live_recording(self):
        if len(self.traces) < 2:
            self.skipTest("cannot record here")

    def test_samples(self):
        for v in self.each():
            samples = v.report["samples"]
            self.assertGreater(samples, 0)
            self.assertEqual(sum(v.folded.values()), samples)
            for table, count in (("sample", "count(*)"), ("sum", "sum(x.count)")):
                rows = v.sql(f"select {count} n, sum(x.weight) w " +
                             NOT_IDLE.format(table=table))
                self.assertEqual(rows, [{"n": samples, "w": v.report["weight"]}])

    @unittest.skipUnless(GOS, "no Go with pprof is installed")
    def test_pprof(self):
        for v in self.each():
            rows = v.pprof()
            self.assertEqual(sum(count for count, _ in rows), v.report["samples"])
            self.assertEqual(sum(ns for _, ns in rows), v.report["weight"])

    def test_every_table_adds_up(self):
        for v in self.each():
            for table in ("programs", "processes", "threads", "services", "containers", "cgroups",
                          "modules"):
                rows = v.report[table]
                self.assertEqual(sum(row["samples"] for row in rows), v.report["samples"], table)
                self.assertEqual(sum(row["weight"] for row in rows), v.report["weight"], table)
            stacks = v.report["stacks"]
            self.assertEqual(stacks["complete"] + stacks["none"] +
                             sum(stacks["truncated"].values()), stacks["due"])
            self.assertEqual(stacks["due"] + sum(stacks["no_user"].values()),
                             v.report["samples"])

    def test_stacks(self):
        """Each broken stack is counted once, and exports agree with the report about it."""
        for v in self.each():
            said = completeness(SKEIN, v.trace)
            reasons = collections.Counter()
            for reason, _, count in said.reasons:
                reasons[reason] += count
            marks = collections.Counter()
            for stack, count in v.folded.items():
                mark = re.fullmatch(r"\[truncated: (.*)\]|\[(no stack)\]", stack.split(";")[1])
                if mark:
                    marks[mark[1] or mark[2]] += count
            self.assertEqual(reasons, marks)

    def test_tree(self):
        def check(node):
            below = sum(check(child) for child in node["children"])
            self.assertEqual(node["self"] + below, node["total"])
            return node["total"]

        for v in self.each():
            self.assertEqual(check(v.report["tree"]), v.report["weight"])

    def test_functions(self):
        """
        Self of a function equals the leaves of folded stacks; total equals the stacks that contain
        the function.
        """
        for v in self.each():
            leaves, anywhere = collections.Counter(), collections.Counter()
            for stack, count in v.folded.items():
                frames = stack.split(";")[1:]
                leaves[frames[-1]] += count
                for frame in set(frames):
                    anywhere[frame] += count
            said = collections.defaultdict(lambda: [0, 0])
            for f in v.report["functions"]:
                said[f["name"]][0] += f["self_samples"]
                said[f["name"]][1] = max(said[f["name"]][1], f["total_samples"])
            plain = [name for name in said if re.fullmatch(r"[A-Za-z_]\w*", name)]
            self.assertGreater(len(plain), 3)
            for name in plain:
                self.assertEqual(said[name][0], leaves[name], name)
                self.assertLessEqual(said[name][1], anywhere[name], name)

    def test_account(self):
        for v in self.each():
            rows = v.sql("select sum(due) due, sum(written) written, sum(idle) idle from account")
            account = v.report["account"]
            self.assertEqual(rows, [{key: account[key] for key in rows[0]}])
            self.assertEqual(account["unexplained"], 0)
            rows = v.sql("select count(*) n from sample")
            self.assertEqual(rows[0]["n"], account["written"])


if __name__ == "__main__":
    unittest.main()
