# SPDX-License-Identifier: Apache-2.0
"""
Compute the states of CPUs and threads independently of skein: from the stored slices and edges of
a trace, by another method than user/analyze/states.c, gap by gap between the runs of a thread.
Contradictions are kept as text in `contradictions` and not repaired.
"""
import bisect
import collections

from built import numbers

Stretch = collections.namedtuple("Stretch", "time end state wait cpu waker target")
# A period of a thread and the state it left in. state is RUNNING, or UNKNOWN until the thread was
# seen in the state `left`.
Run = collections.namedtuple("Run", "time end cpu state left wait")

STATE = numbers("SLICE_STATES")
WAIT = numbers("WAIT_CLASSES")
LANE = numbers("LANE_KINDS")
EDGE = numbers("EDGE_KINDS")
INTERRUPT = numbers("INTERRUPTS")
LOSS = numbers("LOSS_REASONS")
STATE_NAME = {number: name for name, number in STATE.items()}
WAIT_NAME = {number: name for name, number in WAIT.items()} | {0: None}

READY = {STATE["RUNNABLE"], STATE["PREEMPTED"]}
NOT_WAITING = READY | {STATE["RUNNING"], STATE["UNKNOWN"], STATE["DEAD"]}
# Threads that left in these states need no waker. RUNNING: the slice continues under another name
# of the thread.
UNWOKEN = NOT_WAITING | {STATE["THROTTLED"]}


class Timeline:
    """The scheduler records of a trace. Times are ns of CLOCK_BOOTTIME."""

    def __init__(self, trace):
        self.trace = trace
        self.host = next(iter(trace.table("host").values()))
        self.lanes = trace.table("lane")
        self.threads = trace.table("thread")
        self.contradictions = []
        self.cpu_slices = collections.defaultdict(list)  # CPU number -> rows
        self.runs = collections.defaultdict(list)  # lane -> [Run]
        self.seen = collections.defaultdict(list)  # lane -> [(time, state, wait, unknown since)]
        self.wakings = collections.defaultdict(list)  # lane -> [(time, from, target, kind)]
        self.unknown = []  # [(time, end)] in which the state of a CPU is unknown
        self.edges = trace.query("SELECT * FROM edge")
        self._read()

    def _read(self):
        lane_of = {t["id"]: t["lane"] for t in self.threads.values()}
        for row in self.trace.query("SELECT * FROM slice"):
            lane = self.lanes[row["lane"]]
            if lane["kind"] == LANE["CPU"]:
                self._read_cpu(lane["number"], row, lane_of)
            elif lane["kind"] == LANE["THREAD"]:
                self.seen[row["lane"]].append(
                    (row["time"], row["state"], row["wait"], row["value"]))
        for edge in self.edges:
            if edge["kind"] in (EDGE["WAKEUP"], EDGE["FORK"]):
                self.wakings[edge["to"]].append(
                    (edge["end"], edge["from"], edge["value"], edge["kind"]))
        for rows in (*self.runs.values(), *self.seen.values(), *self.wakings.values(),
                     self.unknown):
            rows.sort()
        for rows in self.cpu_slices.values():
            rows.sort(key=lambda r: (r["time"], r["end"]))

    def _read_cpu(self, cpu, row, lane_of):
        self.cpu_slices[cpu].append(row)
        if row["state"] == STATE["UNKNOWN"]:
            self.unknown.append((row["time"], row["end"]))
        elif row["state"] == STATE["RUNNING"] and row["value"]:
            self.runs[lane_of[row["value"]]].append(
                Run(row["time"], row["end"], cpu, row["state"], row["left"], row["wait"]))

    def uncertain(self, begin, end):
        """Return whether the trace lacks records of any CPU between two times."""
        return any(time <= end and begin <= until for time, until in self.unknown)

    def lane(self, tid, at=None):
        """
        Return the lane of the thread with a tid; `at` selects the time if several threads had the
        tid.
        """
        found = {t["lane"] for t in self.threads.values() if t["tid"] == tid and t["lane"]
                 and (at is None or t["start"] <= at and (not t["end"] or at < t["end"]))}
        if len(found) != 1:
            raise AssertionError(f"tid {tid} has lanes {sorted(found)}")
        return found.pop()

    def name(self, lane):
        """Return the name of a lane for messages."""
        row = self.lanes.get(lane)
        if not row:
            return f"no lane {lane}"
        return f"lane {lane} ({row['kind']}: {row['number']} {row['name']})"

    def tiling(self):
        """Return {CPU: [(kind, from, to)]} of holes and overlaps between its slices."""
        wrong = {}
        for cpu, rows in self.cpu_slices.items():
            wrong[cpu] = [("hole" if a["end"] < b["time"] else "overlap", a["end"], b["time"])
                          for a, b in zip(rows, rows[1:]) if a["end"] != b["time"]]
            wrong[cpu] += [("empty", r["time"], r["end"]) for r in rows if r["end"] < r["time"]]
        return wrong

    def _gap(self, begin, end, state, wait, wakings):
        """
        Return the states of a thread that left in a state at begin, and ran again, or was last
        known, at end.
        """
        if state in READY or not state:
            return [(begin, end, state or STATE["UNKNOWN"], 0, 0, 0)]
        first = bisect.bisect_left(wakings, (begin,))
        if first < len(wakings) and wakings[first][0] <= end:
            time, source, target, _ = wakings[first]
            return [(begin, time, state, wait, 0, 0),
                    (time, end, STATE["RUNNABLE"], 0, source, target)]
        return [(begin, end, state, wait, 0, 0)]

    def _check_gap(self, lane, run, following, pieces, wakings):
        """
        A sleeper that runs again without a waking was woken while it was leaving the CPU. If
        neither side of the gap is a run, the thread need not have run: a waking in the unknown
        time before the gap belongs to that time.
        """
        begin, end, state, _, _, _ = pieces[-1]
        known = STATE["RUNNING"] in (run.state, following.state)
        if state in UNWOKEN or begin != run.end or not known:
            return pieces
        last = bisect.bisect_left(wakings, (run.end,)) - 1
        if last >= 0 and wakings[last][0] >= run.time:
            _, source, target, _ = wakings[last]
            return [(begin, end, STATE["RUNNABLE"], 0, source, target)]
        if following.state == STATE["RUNNING"] and not self.uncertain(run.end, following.time):
            self.contradictions.append(
                f"{self.name(lane)} left as {STATE_NAME[state]} at {run.end} and ran at "
                f"{following.time} without a waking")
        return pieces

    def _pieces(self, lane):
        """Return the runs of a thread, and the periods in which its state is unknown."""
        runs, found = self.runs[lane], []
        begins = [r.time for r in runs]
        for time, state, wait, since in self.seen[lane]:
            before = bisect.bisect_left(begins, time) - 1
            last = runs[before].end if before >= 0 else 0
            if before >= 0 and (last > time or since >= time):
                continue  # the thread's own records are later and more exact than a snapshot
            since = since if since < time else 0
            if not since and before >= 0:  # after a loss
                since = max([begin for begin, _ in self.unknown if begin < time], default=time)
            begin = max(since, last) if since else time
            while found and found[-1].end > begin:  # losses of two CPUs at one time
                begin = min(begin, found.pop().time)
            found.append(Run(begin, time, None, STATE["UNKNOWN"], state, wait))
        return sorted([*runs, *found], key=lambda r: (r.time, r.end))

    def _first(self, lane, runs, wakings):
        """Return the state before the first run: a new thread, or one first seen when woken."""
        end = runs[0].time if runs else self.host["end"]
        if wakings and wakings[0][0] <= end:
            time, source, target, _ = wakings[0]
            return [(time, end, STATE["RUNNABLE"], 0, source, target)]
        # created before the start, and waiting for a CPU before the first snapshot
        settled = self.host["start"] + 300000000
        if (runs and runs[0].state == STATE["RUNNING"] and not self.uncertain(0, end)
                and runs[0].time > settled):
            self.contradictions.append(f"{self.name(lane)} ran first at {end} from nowhere")
        return []

    def stretches(self, lane):
        """Return the states of a thread in order, without gaps."""
        runs, wakings = self._pieces(lane), self.wakings[lane]
        found = [Stretch(*p[:4], None, *p[4:]) for p in self._first(lane, runs, wakings)]
        for i, run in enumerate(runs):
            found.append(Stretch(run.time, run.end, run.state, 0, run.cpu, 0, 0))
            following = runs[i + 1] if i + 1 < len(runs) else None
            if run.left == STATE["DEAD"]:
                if following:
                    self.contradictions.append(f"{self.name(lane)} ran after its death")
                continue
            end = following.time if following else self.host["end"]
            pieces = self._gap(run.end, end, run.left, run.wait, wakings)
            if following:
                pieces = self._check_gap(lane, run, following, pieces, wakings)
            found += [Stretch(*p[:4], run.cpu, *p[4:]) for p in pieces]
        for a, b in zip(found, found[1:]):
            if a.end != b.time or a.end < a.time:
                self.contradictions.append(f"{self.name(lane)}: {a} is not followed by {b}")
        return [s for s in found if s.end > s.time]

    def within(self, lane, begin, end):
        """Return the states cut to a range."""
        return [s._replace(time=max(s.time, begin), end=min(s.end, end))
                for s in self.stretches(lane) if s.end > begin and s.time < end]


def total(stretches, *states, wait=None):
    """Return the ns in any of the states, with a wait class if one is given."""
    wanted = {STATE[s] for s in states}
    return sum(s.end - s.time for s in stretches if (not wanted or s.state in wanted)
               and (wait is None or s.wait == WAIT[wait]))


def waits(stretches):
    """Return {wait class: ns} of the time in which a thread was neither running nor runnable."""
    found = collections.Counter()
    for s in stretches:
        if s.state not in NOT_WAITING:
            found[WAIT_NAME.get(s.wait, s.wait)] += s.end - s.time
    return found
