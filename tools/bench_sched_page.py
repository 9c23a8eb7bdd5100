# SPDX-License-Identifier: Apache-2.0
"""Make the section of docs/performance.md about the scheduler's records."""
from bench_meter import Spread
from bench_sched import (EMPTY, LONG_SWITCHES, OFFCPUTIME, PERF, PLAIN, SKEIN, SKEIN_CPU,
                         SKEIN_OFF, SKEIN_OFF_ALL, SKEIN_OFF_FEW)
from bench_text import table, verdict

HOW = """
## Scheduler records

Each recorder records every context switch of the machine, under a load that does little else.
Before and after each recorder the load runs **plain**, without one; a ratio is its time by the mean
of these two, and the recorders take turns at going first. Figures are the median, with the lowest
and the highest in brackets: of {most} rounds for the pinned pipe, of {rounds} for the others.
Steal, CPU time that the host took away, was {steal} of a run.

- **pipe, pinned** is `perf bench sched pipe`, two processes that wake one another, bound to the
  last CPU, and the recorder to the first: what happens to the switch itself. **Not pinned**, each
  operation wakes idle CPUs, which takes most of its time; a recorder that keeps CPUs awake can look
  faster than none. **Two pipes**, bound to a CPU each, leave the recorder none of its own, and it
  is not bound: what it takes, it takes from them.
- **messaging** is `perf bench sched messaging`, 400 processes in 10 groups; **redis** is
  `redis-benchmark -t get`, 50 clients, and its server; neither they nor the recorders are bound.
  **gcc** is one loop of gcc per CPU over sources of this repository; with redis beside it, it
  stands for the machine at large. **pgbench** has 8 clients and a PostgreSQL server.
- The **empty programs** are `tools/bench_empty.bpf.c`, BTF tracepoint programs that return at
  once: all that they cost is being there. **skein record** is `skein record -a`, bpftrace counts
  `sched:sched_switch` and stores nothing, offcputime adds up stacks in the kernel.
"""


LONG = ("messaging, long", "gcc", "gcc and redis", "redis, long", "pgbench")


def columns(lengths):
    """Return the columns of LONG."""
    return (lengths.messaging, lengths.compiler, lengths.mixed, lengths.redis,
            lengths.database)


def rows_by_arm(matrices, cell):
    """
    Yield a row for each recorder, with a column for each load; cell maps (Matrix, name) to text.
    """
    for name in matrices[0].runs:
        yield (name, *(cell(m, name) for m in matrices))


def plain_table(matrices):
    rows = [(m.storm.name, m.storm.unit, Spread(d.time for d in m.plain).text("{:.2f}", 1e6),
             m.rate().text("{:,.0f}"),
             f"{m.steal().median:.1%} (at most {max(m.steal().values):.1%})") for m in matrices]
    return table(("plain", "of", "µs", "switches per second", "steal"), rows)


def slowdown_table(matrices):
    rows = [(PLAIN, *(m.ratio(PLAIN).text("{:.3f}") for m in matrices))]
    rows += rows_by_arm(matrices, lambda m, name: m.ratio(name).text("{:.3f}"))
    return ("\n**Time by plain's.** The row \"plain\" is a plain run by the one before it: the "
            "noise.\n\n" + table(("recorder", *(m.storm.name for m in matrices)), rows))


def cpu_table(matrices, lengths):
    rows = []
    for name, *cells in rows_by_arm(matrices, lambda m, name: m.of(
            name, lambda run: run.share).text("{:.1%}")):
        long = [f"{sizes[name].share:.1%}" if name in sizes else "" for sizes in columns(lengths)]
        rows.append((name, *cells, *long,
                     matrices[0].of(name, lambda run: run.cpu).text("{:.2f}")))
    return ("\n**CPU of the recorder itself**, all its processes, while the load runs, in % of one "
            "CPU. In the\nlast column all that it takes under the pinned pipe, start and end "
            "included, in s.\n\n"
            + table(("recorder", *(m.storm.name for m in matrices), *LONG, "in all, s"), rows))


def disk_rows(matrices, lengths):
    for name, long in lengths.messaging.items():
        yield (f"{name}: file", *(m.per_switch(name).text("{:.2f}") for m in matrices),
               *(f"{sizes[name].per_switch:.2f}" for sizes in columns(lengths)))
        if long.stored:
            yield (f"{name}: slices and edges",
                   *(m.of(name, lambda run: run.stored.records / run.done.switches)
                     .text("{:.2f}") for m in matrices),
                   *(f"{sizes[name].records_per_switch:.2f}" for sizes in columns(lengths)))


def disk_table(matrices, lengths):
    counts = ", ".join(f"{sizes[SKEIN].switches:,} ({name})"
                       for name, sizes in zip(LONG, columns(lengths)))
    return ("\n**Bytes of the file per switch**, wake-ups included: two switches per operation of "
            "a pinned pipe,\nelse as many as /proc/stat counted while the load ran. The file is "
            "taken whole, with the names of all\nthat ran and what was recorded before and after "
            "the load: the longer a recording, the less they weigh.\nSlices and edges are skein's "
            "column chunks alone. The last five columns are single recordings: of\nat least "
            f"{LONG_SWITCHES:,} switches (messaging, long), and of {lengths.seconds:.0f} s each. "
            f"Switches in those\nof {SKEIN}:\n{counts}.\n\n"
            + table(("file", *(m.storm.name for m in matrices), *LONG),
                    disk_rows(matrices, lengths)))


def loss_table(matrices):
    rows = [(f"{name}: {m.storm.name}", f"{m.switches(name):,}",
             f"{lost(m, name):,}", m.of(name, lambda run: run.resident).text("{:.1f}"),
             m.of(name, lambda run: run.rings).text("{:.1f}"))
            for name in (SKEIN, SKEIN_CPU, SKEIN_OFF, SKEIN_OFF_ALL) for m in matrices]
    return ("\n**Losses and memory** of skein with default buffers: switches of the loads in all "
            "rounds, records\nlost, peak resident memory of all processes in MiB, and apart from "
            "it the buffers that the kernel\nwrites.\n\n"
            + table(("", "switches", "lost", "resident", "buffers"), rows))


def lost(matrix, name):
    return sum(run.stored.lost for run in matrix.runs[name])


def programs_table(programs):
    found = [(f"{arm}: {program}", f"{runs:,}", ns.text("{:.0f}"))
             for arm, program, runs, ns in programs.rows()]
    return ("\n**In the kernel**, under the pinned pipe: ns per run of each program by the "
            "kernel's run-time statistics,\nwhose reading of the clock is most of what an empty "
            "program seems to take. All recorders run at once,\nand begin in every order, since "
            "the first at a hook also waits for what is not in the cache.\n\n"
            + table(("program", "runs", "ns"), found))


def section(results):
    """Return the text, from results["scheduler"] of bench_sched.scheduler()."""
    found = results["scheduler"]
    matrices = found["matrices"]
    steal = Spread(value for m in matrices for value in m.steal().values)
    text = HOW.format(most=rounds_of(matrices[0]), rounds=rounds_of(matrices[1]),
                      steal=f"{steal.median:.1%} (at most {max(steal.values):.1%})")
    text += "\n" + plain_table(matrices) + slowdown_table(matrices)
    text += cpu_table(matrices, found["lengths"])
    text += disk_table(matrices, found["lengths"]) + loss_table(matrices)
    return text + programs_table(found["programs"])


def rounds_of(matrix):
    return len(matrix.runs[EMPTY])


def promises(results):
    """Yield (promise, target, measured, verdict)."""
    if "scheduler" not in results:
        return
    matrices = {m.storm.name: m for m in results["scheduler"]["matrices"]}
    pinned, two = matrices["pipe, pinned"], matrices["two pipes, pinned"]
    ratio, above = pinned.ratio(SKEIN), pinned.above(SKEIN, EMPTY)
    yield ("every switch and wake-up recorded, pinned pipe: time by plain's "
           f"({PERF} {pinned.ratio(PERF).median:.2f})", "≤ 1.10",
           ratio.text("{:.3f}"), verdict(ratio.median, 1.10))
    yield ("that, above an empty program's", "≤ 0.04", above.text("{:.3f}"),
           verdict(above.median, 0.04))
    yield from promises_on_disk(pinned, results["scheduler"]["lengths"])
    yield (f"records lost under two pinned pipes ({two.rate().median:,.0f} switches per second, "
           "plain)", "0", f"{lost(two, SKEIN):,} of {two.switches(SKEIN):,} switches",
           verdict(lost(two, SKEIN), 0))
    most = max(run.resident for m in matrices.values() for run in m.runs[SKEIN])
    yield (f"resident, {SKEIN}, all its processes, buffers apart", "≤ 64 MiB",
           f"{most:.1f} MiB", verdict(most, 64))
    yield from promises_of_waits(matrices, results["scheduler"])
    yield from promises_of_share(results["scheduler"]["lengths"])


def promises_of_waits(matrices, found):
    """Yield the promises about stacks of waits: what they add to records of switches."""
    pinned = matrices["pipe, pinned"]
    for name, what in ((SKEIN_OFF_FEW, "with hardly any stacks"), (SKEIN_OFF, "stacks included")):
        added = found["programs"].added(name)
        yield ("stacks of waits, added to a switch with its waking, by the kernel's run-time "
               f"statistics, {what}", "≤ 30 ns", added.text("{:.0f}") + " ns",
               verdict(added.median, 30))
    for name, most in ((SKEIN_OFF, 1.18), (SKEIN_OFF_ALL, 3.5)):
        ratio = pinned.ratio(name)
        yield (f"{name}, pinned pipe: time by plain's (offcputime "
               f"{pinned.ratio(OFFCPUTIME).median:.2f})", f"≤ {most}",
               ratio.text("{:.3f}"), verdict(ratio.median, most))
    most = max(off.resident + off.rings - sched.resident - sched.rings
               for m in matrices.values()
               for off, sched in zip(m.runs[SKEIN_OFF], m.runs[SKEIN]))
    yield (f"resident, {SKEIN_OFF}, all its processes, more than {SKEIN}", "≤ 16 MiB",
           f"{most:.1f} MiB", verdict(most, 16))


def promises_of_share(lengths):
    """Yield the promises about what the recorder itself takes of the machine."""
    for what, sizes in (("pgbench", lengths.database), ("gcc", lengths.compiler),
                        ("redis", lengths.redis)):
        share, without = (sizes[name].share / lengths.cpus for name in (SKEIN_OFF, SKEIN))
        yield (f"CPU of {SKEIN_OFF} itself beside {what}, of the machine's ({SKEIN} "
               f"{without:.1%})", "≤ 2 %", f"{share:.1%}", verdict(share, 0.02))


def promises_on_disk(pinned, lengths):
    what = "bytes on disk per switch, wake-ups included: "
    size = pinned.per_switch(SKEIN)
    yield f"{what}{pinned.storm.name}", "≤ 2", size.text("{:.2f}"), verdict(size.median, 2)
    long = lengths.messaging[SKEIN]
    for part, size, most in (("slices and edges", long.records_per_switch, 5),
                             ("whole file", long.per_switch, 7)):
        yield (f"{what}messaging, {part} ({long.switches:,} switches)", f"≤ {most}",
               f"{size:.2f}", verdict(size, most))
    size = lengths.mixed[SKEIN].per_switch
    yield (f"{what}the machine at large (gcc and redis)", "≤ 5", f"{size:.2f}", verdict(size, 5))
