# SPDX-License-Identifier: Apache-2.0
"""Make the section of docs/performance.md about recording runtime events."""
import statistics

from bench_java import NOTHING
from bench_runtime import BATCH, BATCHES, EVENTS, median_interval
from bench_text import table, verdict

HIT_US = 1.1 # of one event, with few arguments: docs/probes.md

HOW = """
## Runtime events

Wall time of the same work of a Java program (`tools/BenchLoad.java`, JDK {version}, bound to one
CPU), by that of runs without a recorder before and after: median of all rounds, and its 95 %
interval by order statistics. The time of a run is the lower quartile of {batches} equal batches of
{batch:.0f} ms: what others do to the machine comes in bursts, which neither has in it. Arms take
turns, each first in another round; the row "{nothing}" is such a run without a recorder, too: what
is smaller than its interval is no difference. `-e X` is `skein record -a -e X` on the other CPUs.
After it: events of probes per second, and what share of a CPU they take at {us:.1f} us each
([probes](probes.md)).

"""


def shown(ratios):
    return "{:.4f} ({:.4f} to {:.4f})".format(*median_interval(ratios))


def judged(ratios, most, noise):
    """A verdict on the upper end; none if the machine's noise is larger than what is claimed."""
    _, _, high = median_interval(ratios)
    _, least, largest = median_interval(noise)
    if high <= most or largest - least < most - 1:
        return verdict(high, most)
    return f"not shown: without a recorder {least:.4f} to {largest:.4f}"


def hits_text(hits):
    """Return "" for an arm without probes."""
    if not hits or not any(hits):
        return ""
    mean = statistics.mean(hits)
    return f"; {mean:,.0f}/s, {mean * HIT_US / 1e4:.2f} %"


def row(arm, found):
    cells = [shown(f.ratios[arm]) + hits_text(f.hits.get(arm)) for f in found]
    name = f"`-e {arm}`" if arm in EVENTS else arm if arm != NOTHING else f"{arm}: the noise"
    return (name, *cells)


def section(results):
    found = results["runtime"]
    rounds = ", ".join(f"{f.name} {len(f.ratios[NOTHING])}" for f in found)
    return (HOW.format(version=found[0].version, nothing=NOTHING, us=HIT_US,
                       batch=BATCH * 1000, batches=BATCHES) +
            table(("recorder", *(f.name for f in found)),
                  [row(arm, found) for arm in found[0].arms]) +
            f"\nRounds: {rounds}.\n")


def promises(results):
    """Yield (promise, target, measured, verdict)."""
    for found in results.get("runtime", ()):
        for arm in ("gc", "jvm") if found.most < 1.05 else ("jvm",):
            yield (f"runtime events: wall time by plain's, -e {arm}, {found.name}",
                   f"≤ {found.most:.2f}", shown(found.ratios[arm]),
                   judged(found.ratios[arm], found.most, found.ratios[NOTHING]))
