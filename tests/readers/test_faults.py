# SPDX-License-Identifier: Apache-2.0
# timeout: 600
"""
Test that single calls may fail (out of memory, read error, disk full) while a trace is read, shown
and exported: exit status 1, a message with the reason, no partial file, nothing left behind; or
the failure does no harm, and the output is the usual one.
"""
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "lib")]
import faults # noqa: E402
import traces # noqa: E402

LONG = os.environ.get("SKEIN_LONG") == "1"
KINDS = ("memory", "mmap", "open", "read", "write", "file", "name", "descriptor")
MOST = 15 # sites of a kind in the short form
FEW = 80 # calls of a kind that the short form tries one by one, too
WORKERS = len(os.sched_getaffinity(0)) # runs of skein beside each other
OLD = b"what was there before"


def formats():
    """Return all export formats, from the error message for an unknown one."""
    said = traces.skein("export", "-f", "no-such-format", check=False).stderr.decode()
    return re.search(r"there are: (.*)", said)[1].split(", ")


class Case:
    """One command, and those of its runs that went wrong."""

    def __init__(self, home, trace, args):
        self.home, self.trace, self.args, self.to_file = home, trace, args, "OUT" in args
        self.complaints, self.runs = [], 0

    def once(self, kind, **failure):
        """Run the command in a folder of its own, which its messages call FOLDER."""
        with tempfile.TemporaryDirectory(dir=self.home) as name:
            folder = pathlib.Path(name)
            out = folder / "out"
            out.write_bytes(OLD)
            words = {"TRACE": self.trace, "OUT": out}
            done = faults.run([words.get(a, a) for a in self.args], kind, folder=folder,
                              **failure)
            done.err = done.err.replace(name, "FOLDER")
            done.written = out.read_bytes() if self.to_file else done.out
            done.files = sorted(path.name for path in folder.iterdir())
        return done

    def judge(self, done, base):
        wrong = faults.wrong_exit(done)
        if done.status == 0:
            reported = faults.DAMAGE.search(done.err + done.out.decode(errors="replace"))
            if (done.written, done.err) != (base.written, base.err) and not reported:
                wrong.append("another output, not a word")
        else:
            wrong += faults.words_of(done)
            if self.to_file and done.written != OLD:
                wrong.append("the old file is harmed")
        if done.files != ["out"]:
            wrong.append(f"files: {done.files}")
        return wrong

    def try_site(self, kind, base, key):
        """Let the first call of a site fail. Return what went wrong, or None."""
        site = base.sites[key]
        done = self.once(kind, site=key)
        wrong = self.judge(done, base) + faults.left_behind(done, base, site)
        return wrong and self.complaint(wrong, done, f"{kind} at {faults.callers(site)}")

    def try_call(self, kind, base, nth):
        """Let the nth call of all fail. Return what went wrong, or None."""
        done = self.once(kind, nth=nth)
        wrong = self.judge(done, base)
        return wrong and self.complaint(wrong, done, f"{kind}, call {nth}")

    @staticmethod
    def complaint(wrong, done, where):
        return f"{'; '.join(wrong)}\n    {where}\n    {done.err[-1500:]}"

    def try_kind(self, pool, kind):
        base = self.once(kind)
        assert base.status == 0, base.err
        sites = [key for key, _ in faults.sites_of(base, MOST)]
        calls = range(1, base.counted + 1 if LONG or base.counted <= FEW else 1)
        found = [*pool.map(lambda key: self.try_site(kind, base, key), sites),
                 *pool.map(lambda nth: self.try_call(kind, base, nth), calls)]
        self.runs += len(found)
        self.complaints += filter(None, found)


class Faults(traces.Home):
    @classmethod
    def setUpClass(cls):
        if why := faults.missing():
            raise unittest.SkipTest(why)
        super().setUpClass()
        cls.trace = traces.make_scene(cls.home / "timeline.skein", "timeline")
        cls.pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
        cls.addClassCleanup(cls.pool.shutdown)

    def check(self, *args):
        case = Case(self.home, self.trace, args)
        for kind in KINDS:
            case.try_kind(self.pool, kind)
        self.assertFalse(case.complaints, "\n" + "\n".join(case.complaints[:20]))
        self.assertGreater(case.runs, 30)

    def test_report(self):
        self.check("report", "TRACE")

    def test_report_as_json(self):
        self.check("report", "--json", "TRACE")

    def test_report_timeline(self):
        self.check("report", "--timeline", "TRACE")

    def test_query(self):
        self.check("query", "TRACE", "SELECT count(*), sum(weight) FROM sample")

    def test_export(self):
        for name in formats():
            with self.subTest(format=name):
                self.check("export", "-f", name, "-o", "OUT", "TRACE")


if __name__ == "__main__":
    unittest.main()
