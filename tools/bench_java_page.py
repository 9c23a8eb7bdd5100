# SPDX-License-Identifier: Apache-2.0
"""Make the section of docs/performance.md about recording Java."""
import statistics

from bench_java import ASYNC, METHODS, NOTHING, RATES, SITES, SKEIN, STACKS
from bench_slow import interval
from bench_text import table, verdict

HOW = f"""
## Java

**In the kernel**: µs that a sample of a stack of Java frames takes, with 9 native ones below and
above them: by a breakpoint in the innermost function, to whose event the recorder's program is
attached, in turns with the same breakpoint without a program. Median of batches (quartiles), and
the least. **New pcs**: {METHODS:,} methods with {SITES} calls each, so that nearly no return
address is in skein's caches. **Cold**: that, and between two samples the program reads all over
64 MiB.

"""
SLOW = """
**Slow-down**: wall time of the same work of a Java program (`tools/BenchLoad.java`, JDK
{version}, one thread, bound to one CPU), by that of runs without a recorder before and after: mean
of {rounds} rounds and the 95 % interval of the mean; arms take turns, each first in another
round. The row "{nothing}" is such a run without a recorder, too: what is smaller than its
interval is no difference. **{skein}** is `skein record -a`, on the other CPUs; **{other}** is
loaded into the program, with `event=cpu,cstack=vm`. Neither's start nor end is counted.

"""


def stack_text(stack):
    quarter = len(stack.ns) // 4
    middle = (stack.ns[quarter], stack.ns[-1 - quarter])
    return (f"{statistics.median(stack.ns) / 1000:.1f} "
            f"({middle[0] / 1000:.1f}–{middle[1] / 1000:.1f}); {stack.ns[0] / 1000:.1f}")


def stack_table(stacks):
    versions = list(dict.fromkeys(s.version for s in stacks))
    found = {(s.name, s.version): stack_text(s) for s in stacks}
    return table(("Java frames", *(f"JDK {v}" for v in versions)),
                 [(name, *(found[name, v] for v in versions)) for name, *_ in STACKS])


def text_of(ratios):
    mean, half = interval(ratios)
    return f"{mean:.4f} ± {half:.4f}"


def slowdown_table(found):
    return table(("recorder", "wall time"),
                 [(f"{name}, {rate} Hz" if rate else f"{name}: the noise", text_of(ratios))
                  for (name, rate), ratios in found.ratios.items()])


def section(results):
    found = results["java"]
    text = HOW + stack_table(found["stacks"])
    for slow in found["slowdown"]:
        text += SLOW.format(version=slow.version, rounds=len(slow.ratios[NOTHING, 0]),
                            nothing=NOTHING, skein=SKEIN, other=ASYNC)
        if not found["library"]:
            text += f"{ASYNC} could not be had here and not be compared.\n\n"
        text += slowdown_table(slow)
    return text


def judged(ratios, most, noise):
    """A verdict on a mean; none if the machine's noise is larger than what is to be shown."""
    mean, half = interval(ratios)
    if mean - half > most or mean + half <= most:
        return verdict(mean, most)
    return f"not shown: the noise is ± {interval(noise)[1]:.4f}"


def kernel_share(stacks, rate):
    """Share of a CPU that samples of the dearest warm stack take, by the median."""
    dearest = max(statistics.median(s.ns) for s in stacks if s.name in MOST)
    return dearest * rate / 1e9


# µs of warm stacks; estimates
MOST = {"30 compiled": 4.5, "30 interpreted": 8, "100, compiled and interpreted in turn": 15}


def promises(results):
    """Yield (promise, target, measured, verdict)."""
    if "java" not in results:
        return
    for stack in results["java"]["stacks"]:
        if stack.name in MOST:
            yield (f"Java, JDK {stack.version}: a sample in the kernel, {stack.name} frames, least",
                   f"≤ {MOST[stack.name]:g} µs", f"{stack.ns[0] / 1000:.1f} µs",
                   verdict(stack.ns[0] / 1000, MOST[stack.name]))
    low, high = RATES
    share = kernel_share(results["java"]["stacks"], low)
    yield (f"Java: kernel time of {low} samples/s of the dearest warm stack", "≤ 1 % of a CPU",
           f"{share * 100:.2f} %", verdict(share, 0.01))
    for slow in results["java"]["slowdown"]:
        noise = slow.ratios[NOTHING, 0]
        yield (f"Java: wall time by plain's at {low} Hz", "≤ 1.010",
               text_of(slow.ratios[SKEIN, low]), judged(slow.ratios[SKEIN, low], 1.01, noise))
        if (ASYNC, high) in slow.ratios:
            theirs = statistics.mean(slow.ratios[ASYNC, high])
            yield (f"Java: wall time by plain's at {high} Hz", f"≤ {theirs:.4f} ({ASYNC})",
                   text_of(slow.ratios[SKEIN, high]),
                   judged(slow.ratios[SKEIN, high], theirs, noise))
