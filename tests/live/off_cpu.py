# SPDX-License-Identifier: Apache-2.0
"""What the tests of stacks of waits share: stacks by name, and the account of what was asked."""

import collections
import re

import live

REASONS = {number: name.lower().replace("_", " ") for name, number in live.LOSS.items()}
ENDS = {number - 1: name for name, number in live.numbers("STACK_ENDS").items()}


def stacks_of_waits(trace, event="off-cpu", comm=None):
    """Return (row of sample, Stack) of the stacks of waits, of a program or all."""
    rows = trace.query("SELECT s.* FROM sample s JOIN event e ON e.id = s.event "
                       f"WHERE e.name = '{event}'")
    found = [(r, trace.stack(r["thread"], r["stack"], 1, r["weight"])) for r in rows]
    return [(r, s) for r, s in found if comm is None or s.process["comm"] == comm]


def _lost(trace, row):
    return [r for r in trace.query("SELECT * FROM loss")
            if r["cpu"] == row["cpu"] + 1 and r["event"] == row["event"]]


def _accounts(trace):
    return trace.query("SELECT a.*, e.name FROM account a JOIN event e ON e.id = a.event "
                       "WHERE e.name LIKE 'off-cpu%'")


def unaccounted(trace, cut_off=1):
    """
    Return the accounts that do not add up. cut_off: how many stacks of a CPU may have been asked
    for and not taken yet when the recording ended, or be of waits that began while it ended.
    """
    return [row for row in _accounts(trace)
            if row["cut_off"] > cut_off or row["due"] != row["written"] + row["filtered"]
            + row["cut_off"] + sum(r["count"] for r in _lost(trace, row))]


def account_of(trace, event="off-cpu"):
    """Return how many stacks of an event were asked for, and {reason: how many were lost}."""
    rows = [row for row in _accounts(trace) if row["name"] == event]
    lost = collections.Counter()
    for row in rows:
        for loss in _lost(trace, row):
            lost[REASONS[loss["reason"]]] += loss["count"]
    return sum(row["due"] for row in rows), dict(lost)


def chosen(trace):
    """Return how many waits were chosen when their threads were woken, by the summary."""
    return int(re.search(r"([\d,]+) waits chosen", trace.done.err)[1].replace(",", ""))


def user_part(stack):
    """Return the names of a stack's frames outside of the kernel."""
    return [n for n, kind in zip(stack.names, stack.kinds) if kind != live.FRAME["KERNEL"]]


def end_of(trace, ident):
    """Return why the walk of a stack ended before its root, as a word of STACK_ENDS; or None."""
    while ident:
        row = trace.table("stack")[ident]
        frame = trace.table("frame").get(row["frame"])
        if frame and frame["kind"] == live.FRAME_END:
            return ENDS[frame["address"]]
        ident = row["parent"]
    return None
