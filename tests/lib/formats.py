# SPDX-License-Identifier: Apache-2.0
"""
Read skein's text exports strictly, independently of skein. Each reader returns the samples as
{(event, frames from the root): [samples, weight]}; a value that the format does not hold is None.
"""
import collections
import decimal
import json
import re


class Sums(dict):
    def add(self, event, frames, count, weight):
        have = self.setdefault((event, tuple(frames)), [0, 0])
        have[0] += count
        have[1] += weight

    def total(self, column, event=None):
        return sum(row[column] for (of, _), row in self.items() if event in (None, of))

    def by_frames(self, column):
        """Sum a column over all events: {frames: samples or weight}."""
        found = collections.Counter()
        for (_, frames), row in self.items():
            found[frames] += row[column]
        return found


def refuse_constant(word):
    raise ValueError(f"{word} is no JSON")


def strict_json(data):
    return json.loads(data.decode("utf-8"), parse_constant=refuse_constant,
                      parse_float=decimal.Decimal)


def paths_of(stacks):
    """Return the frames of each stack from the root on; parents come first."""
    paths = []
    for number, (parent, frame) in enumerate(stacks):
        assert parent is None or 0 <= parent < number, "a parent behind its child"
        paths.append((() if parent is None else paths[parent]) + (frame,))
    return paths


def read_json(data):
    p = strict_json(data)
    names = [frame["name"] for frame in p["frames"]]
    paths = paths_of([(s["parent"], names[s["frame"]]) for s in p["stacks"]])
    found = Sums()
    for s in p["sums"]:
        event = "[unknown]" if s["event"] is None else p["events"][s["event"]]["name"]
        found.add(event, paths[s["stack"]], s["samples"], s["weight"])
    return found


def read_speedscope(data):
    """Read speedscope: weights only, of all profiles, each of which has one event."""
    p = strict_json(data)
    names = [frame["name"] for frame in p["shared"]["frames"]]
    found = Sums()
    for profile in p["profiles"]:
        event = re.fullmatch("(?:no samples|all threads, one after the other)(?:, (.*))?",
                             profile["name"])
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        for stack, weight in zip(profile["samples"], profile["weights"]):
            # the first frame stands for the thread
            found.add(event[1], [names[frame] for frame in stack[1:]], 0, weight)
    return found


def column(table, name):
    assert len(table[name]) == table["length"], name
    return table[name]


def check_columns(table):
    for name, values in table.items():
        if isinstance(values, list):
            column(table, name)


def firefox_names(shared):
    for table in shared.values():
        if isinstance(table, dict):
            check_columns(table)
    functions = column(shared["funcTable"], "name")
    return [shared["stringArray"][functions[f]] for f in column(shared["frameTable"], "func")]


def read_firefox(data):
    """
    Read a Firefox profile. If there are several events, the ends of the threads' names distinguish
    them.
    """
    p = strict_json(data)
    assert p["meta"]["preprocessedProfileVersion"] == 65
    shared, found = p["shared"], Sums()
    names = firefox_names(shared)
    table = shared["stackTable"]
    paths = paths_of(list(zip(column(table, "prefix"),
                              [names[f] for f in column(table, "frame")])))
    for thread in p["threads"]:
        samples = thread["samples"]
        check_columns(samples)
        check_columns(thread["markers"])
        assert samples["time"] == sorted(samples["time"]), "not in the order of time"
        unit = 1000000 if samples["weightType"] == "tracing-ms" else 1
        event = re.search(r" \[(.*)\]$", thread["name"])
        for stack, weight in zip(samples["stack"], samples["weight"]):
            ns = weight * unit
            assert ns == int(ns)
            found.add(event and event[1], paths[stack], 1, int(ns))
    return found


# The patterns that readers of perf script's text use.
PERF_COMM = re.compile(r"^(\S.*?)\s+(\d+)(?:/(\d+))?\s+")
PERF_TIME = re.compile(r"\s(\d+\.\d+):\s")
PERF_EVENT = re.compile(r":\s*(\d+)?\s+(\S+):\s*$")
PERF_FRAME = re.compile(r"^\s*(\w+)\s*(.+) \((\S*)\)$")


def read_perf_script(data):
    text = data.decode("utf-8")
    found = Sums()
    assert not text or text.endswith("\n\n")
    for block in text.split("\n\n")[:-1]:
        head, *frames = block.split("\n")
        comm, pid, tid = PERF_COMM.match(head).groups()
        assert " " not in comm and not comm.startswith("#") and tid, head
        assert head[len(comm):].lstrip().startswith(f"{pid}/{tid} ["), head
        assert len(PERF_TIME.findall(head)) == 1, head
        period, event = PERF_EVENT.search(head).groups()
        assert int(period) >= 0 and frames, head
        symbols = []
        for frame in frames:
            address, symbol, _ = PERF_FRAME.match(frame).groups()
            assert frame.startswith("\t") and int(address, 16) >= 0, frame
            symbols.append(symbol)
        found.add(event, symbols[::-1], 1, int(period))
    return found


def read_folded(data):
    found = Sums()
    for line in data.decode().splitlines():
        stack, _, count = line.rpartition(" ")
        found.add(None, stack.split(";"), int(count), 0)
    return found
