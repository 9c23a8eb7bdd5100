# SPDX-License-Identifier: Apache-2.0
"""
Test which thread or interrupt woke a thread. An interrupt is its own waker, never the interrupted
thread. A packet that a thread sends to another thread of the same machine has the sender as waker,
although a soft interrupt delivers it.
"""

import collections

import live
import sched_live
import scheduler
from live import workload

SECONDS = 5 if live.LONG else 0.7
CPU = live.CPUS[-1]
LEAST = 0.99


class Wakers(sched_live.SchedTest):
    def run_mode(self, mode, cpu=None):
        recording = self.watch("-a")
        reported = self.output(self.start(workload("wakers"), mode, SECONDS, cpu=cpu))
        timeline = self.timeline(recording)
        return reported, timeline, [timeline.lane(t["tid"]) for t in reported["threads"]]

    def wakings(self, timeline, reported, to=None, source=None):
        """
        Return the wakings between the ends of the workload, when threads are created and awaited.
        """
        begin, end = reported["begin"] + 20000000, reported["end"] - 20000000
        return [e for e in timeline.edges if e["kind"] == scheduler.EDGE["WAKEUP"]
                and begin < e["time"] < end and (to is None or e["to"] == to)
                and (source is None or e["from"] == source)]

    def test_spinner_wakes_nobody(self):
        reported, timeline, (sleeper, spinner) = self.run_mode("spin", CPU)
        self.assertEqual(self.wakings(timeline, reported, source=spinner), [])
        woken = self.wakings(timeline, reported, to=sleeper)
        self.assertGreater(len(woken), 0.9 * reported["threads"][0]["rounds"] - 50)
        sources = collections.Counter(timeline.lanes[e["from"]]["kind"] for e in woken)
        self.assertEqual(set(sources), {scheduler.LANE["INTERRUPT"]})
        for edge in woken:
            lane = timeline.lanes[edge["from"]]
            self.assertEqual(timeline.lanes[lane["parent"]]["number"], CPU)
            self.assertEqual(lane["number"], scheduler.INTERRUPT["TIMER"], lane)
            self.assertEqual(edge["value"], CPU + 1)
        self.check_tiles(timeline, (sleeper, spinner))

    def check_pair(self, mode, cpu):
        reported, timeline, (ping, pong) = self.run_mode(mode, cpu)
        for to, peer, thread in ((ping, pong, reported["threads"][0]),
                                 (pong, ping, reported["threads"][1])):
            with self.subTest(mode=mode, cpu=cpu, to=timeline.name(to)):
                woken = self.wakings(timeline, reported, to=to)
                sources = collections.Counter(timeline.name(e["from"]) for e in woken)
                self.assertGreater(len(woken), 100)
                self.assertGreaterEqual(sources[timeline.name(peer)], LEAST * len(woken), sources)
                self.check_number(timeline, to, thread["switches"],
                                  self.unknown_time(timeline, reported["begin"], reported["end"]))
        self.check_tiles(timeline, (ping, pong))

    def check_number(self, timeline, lane, switches, unknown_time):
        """
        Check that a thread was woken as often as it went to sleep, except for unreported switches.
        """
        left = [r for r in timeline.runs[lane] if r.left not in scheduler.UNWOKEN]
        self.assertLess(abs(len(left) - switches), 3 + 0.01 * switches + unknown_time)
        edges = len(timeline.wakings[lane])
        self.assertGreater(edges, 0.99 * switches - 3 - unknown_time)
        # and while it was going to sleep, which it then did not do
        self.assertLess(edges, 1.1 * switches + 20)

    def test_loopback(self):
        """
        A pair on one CPU, so that each must wait for the other; then where the scheduler puts it.
        """
        self.check_pair("tcp", CPU)
        self.check_pair("tcp", None)

    def test_pipe(self):
        self.check_pair("pipe", CPU)
        self.check_pair("pipe", None)


if __name__ == "__main__":
    live.main()
