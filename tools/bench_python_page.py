# SPDX-License-Identifier: Apache-2.0
"""Make the section of docs/performance.md about profiling Python."""
import statistics

from bench_python import DEPTHS, KINDS, RATES
from bench_python_arms import CLOCK, NATIVE_PART, PYSPY, SKEIN
from bench_python_stacks import Accuracy
from bench_text import table, verdict

SLOW, FAST = RATES
HOW = """
## Python

Profilers of a running Python program that was started without any flag, each attached to the same
process in turn, in {rounds}; each is first in another round ({versions}).
Before and after each of them the program works **plain**, without one, and a ratio is by the mean
of these two.
{missing}The program is `tools/bench_python_load.py`: 14 functions, from arithmetic and recursion to
generators, coroutines, C extensions and collections of garbage, in an order that has no rhythm.
It reads its thread's CPU clock before and after each of them: these shares are the **truth**.

- **single** is one thread, bound to the last CPU, and profilers to the others. **threads** are
  four: three that want the interpreter's lock, one that mostly works without it; nothing is bound.
- **skein** is `skein record -p PID`, kernel and native frames included. **py-spy** is
  `py-spy record -f raw`, which stops the program for each sample unless it is `--nonblocking`;
  `--native` cannot be had together with that. **austin** is `austin -s`, which never stops it;
  **austinp** is the same with native frames, which does. All are asked for {slow} or {fast} samples
  per second; those two with native frames for {part:.0%} of the work, since it takes so long then.
"""
PEERS_BETTER = """
**What the others do better.** All of them run without BPF and for their own user's programs without
root, and on other systems than Linux; py-spy samples at random intervals, so that no rhythm of a
program can deceive it. A periodic clock is nearer to the truth of functions that run for long, as
here. And in these figures, medians, or all rounds together:

"""


def columns(cell, matrices, known=lambda m: m.runs):
    """
    Yield a row for each profiler, with a column for each load and rate; cell maps (Matrix, key) to
    text.
    """
    for name in dict.fromkeys(name for m in matrices for name, _ in known(m)):
        yield (name, *(cell(m, (name, rate)) if (name, rate) in known(m) else absent(m, name, rate)
                       for m in matrices for rate in RATES))


def absent(m, name, rate):
    return "failed" if (name, rate) in m.failed else ""


def head(matrices):
    return tuple(f"{m.kind}, {rate} Hz" for m in matrices for rate in RATES)


def kernel_table(found):
    kernel = found["kernel"]
    rows = [(depth, f"{python.ns / 1000:.2f}", f"{native.ns / 1000:.2f}",
             f"{(python.ns - native.ns) / 1000:.2f}",
             f"{(python.ns - native.ns) / depth:.0f}")
            for depth, (python, native) in kernel.depths.items()]
    return ("\n**In the kernel**: µs per sample, as under \"In the kernel\", in a chain of Python "
            "functions, each with code of its\nown, at 10,000 Hz on every CPU; and the same with "
            "skein's walker of Python switched off; the lower of two.\nFrom "
            f"{min(DEPTHS)} to {max(DEPTHS)} functions, one more takes {kernel.per_frame():.0f} "
            f"ns. A sample of \"single\" at {FAST} Hz, native frames included,\ntakes "
            f"{found['mix'].ns / 1000:.2f} µs.\n\n"
            + table(("Python functions", "with Python", "without", "Python's part",
                     "ns per function"), rows))


def slowdown_table(matrices):
    rows, count = [], len(matrices[0].ratios.get((SKEIN, FAST), ()))
    for clock, what in ((0, "wall"), (1, "CPU")):
        rows.append((f"{what}: plain", *(m.ratio(None, clock).text("{:.3f}")
                                         for m in matrices for _ in RATES)))
        rows += [(f"{what}: {name}", *cells) for name, *cells in columns(
            lambda m, key, clock=clock: m.ratio(key, clock).text("{:.3f}"), matrices,
            lambda m: m.ratios)]
    return ("\n**Slow-down**: wall time, and CPU time of the program's own threads, for the same "
            "work, by plain's. The rows \"plain\" are\na plain run by the one before it, at both "
            f"rates: the noise. Of skein on one thread there are {count} runs,\nof the others one "
            f"a round. \"{CLOCK}\" is `perf record -e cpu-clock -F {FAST} -p PID`: what the\n"
            "interrupts of a clock cost by themselves.\n\n"
            + table(("program's time", *head(matrices)), rows))


def cpu_table(matrices, found):
    rows = list(columns(lambda m, key: m.of(key, lambda run: run.share).text("{:.2f}", 100),
                        matrices))
    rows.append((f"{SKEIN}, its programs in the kernel included", *(
        f"{100 * (m.of((SKEIN, rate), in_kernel(found, rate)).median):.2f}"
        if (SKEIN, rate) in m.runs else "failed" for m in matrices for rate in RATES)))
    rows += [(f"in all, s: {name}", *cells) for name, *cells in columns(
        lambda m, key: m.of(key, whole).text("{:.2f}"), matrices)]
    seconds = statistics.median(run.done.seconds for m in matrices for runs in m.runs.values()
                                for run in runs)
    return ("\n**CPU of the profiler**, all its processes, in % of one CPU while the program "
            "works; and in all, in s, from its start\nto stacks on disk, around work of "
            f"{seconds:.1f} s (median). skein begins by loading its programs and the unwind tables "
            "of all that\nruns; it has taken less than py-spy after\n"
            f"{pays_off(matrices)}.\n\n" + table(("profiler", *head(matrices)), rows))


def start_of(m, key):
    """
    Return the CPU s of a profiler, up to its stacks, apart from the time while the program works.
    """
    return m.of(key, lambda run: whole(run) - run.share * run.done.seconds).median


def pays_off(matrices):
    """Return the times after which skein has used less CPU than py-spy."""
    notes = []
    for m in matrices:
        for rate in RATES:
            ours, theirs = (SKEIN, rate), (PYSPY, rate)
            if ours in m.runs and theirs in m.runs:
                start = start_of(m, ours) - start_of(m, theirs)
                gain = (m.of(theirs, lambda run: run.share).median
                        - m.of(ours, lambda run: run.share).median)
                after = f"{max(start, 0) / gain:.0f} s" if gain > 0 else "never"
                notes.append(f"{after} ({m.kind}, {rate} Hz)")
    return ", ".join(notes)


def in_kernel(found, rate):
    """
    Return a function from a Run to CPUs: its share plus that of its samples in the program's own
    time.
    """
    return lambda run: run.share + found["mix"].ns / 1e9 * run.profile.samples / run.done.seconds


def whole(run):
    return run.cpu + run.fold


def accuracy_rows(matrices):
    for m in matrices:
        for (name, rate), runs in sorted(m.runs.items(), key=lambda item: item[0][1]):
            accuracy = m.accuracy((name, rate))
            got = sum(r.profile.samples for r in runs) / sum(r.due for r in runs)
            chance = Accuracy.by_chance([r.profile for r in runs], [r.done.truth for r in runs])
            yield (f"{m.kind}, {rate} Hz: {name}", f"{accuracy.mean:.2f}", f"{chance:.2f}",
                   f"{accuracy.worst[0]:.2f} ({accuracy.worst[1]})",
                   m.errors((name, rate)).text("{:.2f}"),
                   m.of((name, rate), lambda run: run.profile.possible).text("{:.2f}", 100),
                   m.of((name, rate), lambda run: run.profile.named).text("{:.2f}", 100),
                   f"{got:.1%}")


def accuracy_table(matrices):
    return ("\n**Accuracy**: errors in percentage points of the program's time, the mean of the "
            "14 functions and the worst of them, by\nall rounds together, and the mean of single "
            "rounds. **By chance**: the mean that as many samples would have if they\nwere drawn "
            "independently of each other: what is near to it or below says nothing of the "
            "profiler. **Possible**: % of\nsamples whose Python frames are a stack that can occur "
            "(each that did when the program watched itself by\n`sys.setprofile`). **Named**: % of "
            "all frames shown, native ones included; a stack that lacks a Python frame's name\n"
            "cannot occur. **Samples**: how many there are of those due by the program's CPU time; "
            "others than skein also take a\nthread that waits for a CPU as one that runs.\n\n"
            + table(("", "mean", "by chance", "worst", "mean of a round", "possible", "named",
                     "samples"), accuracy_rows(matrices)))


def measures(matrices):
    """
    Yield (what, function from (Matrix, key) to a number, of which less is better, its format).
    """
    yield "wall time by plain's", lambda m, key: m.ratio(key, 0).median, "{:.3f}"
    yield "CPU time by plain's", lambda m, key: m.ratio(key, 1).median, "{:.3f}"
    yield ("CPU of the profiler, %",
           lambda m, key: 100 * m.of(key, lambda run: run.share).median, "{:.2f}")
    yield "CPU of the profiler in all, s", lambda m, key: m.of(key, whole).median, "{:.2f}"
    yield "mean error, points", lambda m, key: m.accuracy(key).mean, "{:.2f}"
    yield "worst error, points", lambda m, key: m.accuracy(key).worst[0], "{:.2f}"
    yield ("impossible stacks, %",
           lambda m, key: 100 - 100 * m.of(key, lambda run: run.profile.possible).median, "{:.2f}")
    yield ("frames without a name, %",
           lambda m, key: 100 - 100 * m.of(key, lambda run: run.profile.named).median, "{:.2f}")


def better_rows(matrices):
    """Yield (what, skein's value, the values of profilers that are better)."""
    for m in matrices:
        for rate in RATES:
            if (SKEIN, rate) not in m.runs:
                continue
            for what, value, form in measures(matrices):
                ours = form.format(value(m, (SKEIN, rate)))
                theirs = [(name, form.format(value(m, (name, rate)))) for name in m.names()
                          if name != SKEIN and (name, rate) in m.runs]
                better = [f"{name} {text}" for name, text in theirs if float(text) < float(ours)]
                if better:
                    yield f"{m.kind}, {rate} Hz: {what}", ours, ", ".join(better)


def section(results):
    """Return the text, from results["python"] of bench_python.python()."""
    found = results["python"]
    matrices = found["matrices"]
    count = max(len(runs) for m in matrices for runs in m.runs.values())
    text = HOW.format(versions=", ".join(found["versions"]), slow=SLOW, fast=FAST, part=NATIVE_PART,
                      rounds=f"{count} round{'s' * (count != 1)}",
                      missing=missing_text(found["missing"], matrices))
    text += kernel_table(found) + slowdown_table(matrices) + cpu_table(matrices, found)
    text += accuracy_table(matrices) + PEERS_BETTER
    rows = list(better_rows(matrices))
    return text + (table(("", SKEIN, "better"), rows) if rows else "None is better in any.\n")


def missing_text(missing, matrices):
    notes = [f"{', '.join(missing)} could not be had here and not be compared."] if missing else []
    for m in matrices:
        notes += [f"{name} failed on {m.kind} at {rate} Hz, at least once."
                 for name, rate in m.failed]
    return "".join(f"{line}\n" for line in notes)


def promises(results):
    """Yield (promise, target, measured, verdict)."""
    if "python" not in results:
        return
    matrices = results["python"]["matrices"]
    for m in matrices:
        if (SKEIN, SLOW) in m.runs and (SKEIN, FAST) in m.runs:
            if m.kind == KINDS[0]:
                yield from promises_of_slowdown(m)
            yield from promises_of_cpu(m)
            yield from promises_of_errors(m)


def promises_of_slowdown(m):
    for clock, what in ((0, "wall"), (1, "CPU")):
        noise = statistics.median(abs(r[clock] - 1) for r in m.noise)
        for rate, most, target in ((SLOW, noise, f"≤ {1 + noise:.3f}, as two plain runs differ"),
                                   (FAST, 0.01, "≤ 1.010")):
            ratio = m.ratio((SKEIN, rate), clock)
            alone = (f" (its clock alone: {m.ratio((CLOCK, rate), clock).median:.3f})"
                     if (CLOCK, rate) in m.ratios else "")
            yield (f"Python, {m.kind}: {what} time by plain's at {rate} Hz{alone}", target,
                   ratio.text("{:.3f}"), verdict(ratio.median, 1 + most))


def promises_of_cpu(m):
    for rate in RATES:
        if (PYSPY, rate) in m.runs:
            ratio = m.by(SKEIN, PYSPY, rate, lambda run: run.share)
            yield (f"Python, {m.kind}: profiler's CPU at {rate} Hz, start-up apart, of py-spy's",
                   "≤ 0.05", ratio.text("{:.3f}"), verdict(ratio.median, 0.05))


def promises_of_errors(m):
    for rate in RATES:
        for what, value in (("mean", lambda a: a.mean), ("worst", lambda a: a.worst[0])):
            others = [(value(m.accuracy((name, rate))), name) for name in m.names()
                      if name != SKEIN and (name, rate) in m.runs]
            if others:
                best, name = min(others)
                ours = value(m.accuracy((SKEIN, rate)))
                yield (f"Python, {m.kind}: {what} error of 14 functions at {rate} Hz, points",
                       f"< {best:.2f} ({name})", f"{ours:.2f}",
                       "kept" if ours < best else "**not kept**")
