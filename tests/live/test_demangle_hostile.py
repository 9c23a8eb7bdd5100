# SPDX-License-Identifier: Apache-2.0
"""
Test programs of another user whose function names take seconds, gigabytes or forever to demangle:
all other names are resolved, the recording ends in time, and its summary reports the names that
stayed mangled. Single names are tested in tests/unit/test_demangle.c.
"""

import pathlib
import re
import subprocess
import time

import live
from live import workload

ATTACKERS = 15
FUNCTIONS = 40  # per attacker, each with a name of its own
VICTIMS = 24
ATTACKING_USER, OTHER_USER = 2000, 3000
FREQUENCY = 499
NAME = "demo::Burner<unsigned long>::burn_in_template(unsigned long)"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MEMORY = 200 << 20  # most bytes that the worker may have; a single name took 500 MB
SOURCE = """
static __attribute__((noinline, noclone)) void burn(volatile unsigned long *n)
{
	for (unsigned long i = 0; i < 2000000; i++)
		(*n)++;
}
%s
int main(void)
{
	volatile unsigned long n = 0;

	for (;;) {
%s
	}
}
"""
FUNCTION = """
__attribute__((noinline, noclone)) void f%d(volatile unsigned long *n) __asm__("%s");
void f%d(volatile unsigned long *n) { burn(n); (*n)++; }
"""


def reference(letter, number, base):
    """Return a reference to the item with a number, in the form of mangled names."""
    text = ""
    rest = number - 1
    while number:
        text = DIGITS[rest % base] + text
        if rest < base:
            break
        rest //= base
    return letter + (text.upper() if base == 36 else text) + "_"


def substitutions(times, salt):
    """Return a C++ name b<b<...>, b<...> > in which each level doubles the previous one."""
    body = "".join("S0_I" + 2 * reference("S", i, 36) + "E" for i in range(2, times + 2))
    return f"_Z7f{salt:06}1a1bIS_S_E{body}"


def references(times, salt):
    """Return a Rust name: a tuple of the previous tuple, twice."""
    name = f"RIC7a{salt:06}"
    before = len(name) - 1
    name += "Tjj"
    for _ in range(times):
        name += "E"
        here = len(name) - 1
        name += "T" + 2 * reference("B", before, 62)
        before = here
    return f"_{name}EE"


def silent(_, salt):
    """Return a Rust name with 62^9 lifetimes in a path that demanglers parse but do not print."""
    return f"_RMIC7a{salt:06}FGzzzzzzzzz_EuEu"


KINDS = substitutions, references, silent


class Demangling(live.LiveTest):
    def attacker(self, number):
        """Build a program whose functions all have such names."""
        make = KINDS[number % len(KINDS)]
        names = [make(30 + i % 30, number * FUNCTIONS + i) for i in range(FUNCTIONS)]
        path = self.tmp / f"attacker-{number}"
        source = path.with_suffix(".c")
        source.write_text(SOURCE % (
            "".join(FUNCTION % (i, name, i) for i, name in enumerate(names)),
            "".join(f"\t\tf{i}(&n);\n" for i in range(FUNCTIONS))))
        subprocess.run(["gcc", "-O1", "-o", path, source], check=True)
        path.chmod(0o755)
        return path

    def test_other_users_keep_their_names(self):
        attackers = [self.attacker(number) for number in range(ATTACKERS)]
        victims = [self.copy("cxxnames", f"victim-{number}") for number in range(VICTIMS)]
        recording = self.begin("-a", "-F", FREQUENCY)
        worker = live.child_named(recording.pid, "skein-names")
        for path in attackers:
            self.start("nice", path, user=ATTACKING_USER, group=ATTACKING_USER, extra_groups=[])
        for path in victims:
            self.start(path, 0.1, user=OTHER_USER, group=OTHER_USER, extra_groups=[]).wait()
        self.assertLess(self.peak_memory(worker), MEMORY)
        trace = self.finish_in_time(recording)
        self.check_victims(trace)
        self.check_attackers(trace)
        # the process that opens files may be replaced on a busy machine
        self.assertNotRegex(trace.done.err, r"started again: names [1-9]")

    def peak_memory(self, pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024

    def check_victims(self, trace):
        """Check the victims' samples in their own code; the 24 programs take 1,200 samples."""
        stacks = [s for s in trace.stacks() if s.process["comm"].startswith("victim-")]
        self.assertGreater(live.count(stacks), VICTIMS * 0.1 * FREQUENCY / 2)
        own = [s for s in stacks if any("main" == name for name in s.names)]
        self.assertGreater(live.count(own), 0.9 * live.count(stacks))
        self.assertGreaterEqual(live.share(own, NAME), 0.99)

    def check_attackers(self, trace):
        """
        Check that doubling names are cut, and names that print nothing stay mangled and are
        counted.
        """
        names = live.functions(s for s in trace.stacks()
                               if s.process["comm"].startswith("attacker-"))
        self.assertTrue(any(name.startswith("f000") and name.endswith("…") for name in names))
        stayed = {name for name in names if name.startswith("_RMIC7a")}
        self.assertTrue(stayed)
        reported = re.search(r"([\d,]+) names stay as the linker knows them.* is of (\S+)",
                             trace.done.err)
        self.assertTrue(reported, trace.done.err)
        self.assertGreaterEqual(int(reported[1].replace(",", "")), len(stayed))
        self.assertIn("/attacker-", reported[2])


if __name__ == "__main__":
    live.main()
