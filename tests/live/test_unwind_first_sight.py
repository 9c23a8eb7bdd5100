# SPDX-License-Identifier: Apache-2.0
"""Stacks of programs that nobody has seen before, which user space has to finish from a copy."""
import live
from completeness import completeness


class FirstSight(live.LiveTest):
    def test_below_the_stack_pointer(self):
        """
        The copy of the stack holds what the thread may use below its stack pointer. Of the first
        milliseconds of each program all stacks are finished from copies.
        """
        programs = [self.copy("redzone", f"redzone-{n}") for n in range(30)]
        trace = self.record("-a", "-F", 999, "--", "sh", "-c", 'for p; do "$p" 10; done', "sh",
                            *programs)
        found = completeness(live.SKEIN, trace.path, more=("--comm", "redzone-*"))
        self.assertGreater(found.samples, 150)
        unreadable = sum(n for reason, _, n in found.reasons if reason == "unreadable stack")
        self.assertEqual(unreadable, 0, found)
        self.assertGreater(found.share, 0.98, found)


if __name__ == "__main__":
    live.main()
