/* SPDX-License-Identifier: Apache-2.0 */
/* Declares live capture, the source that records the running machine. */
#ifndef SKEIN_CAPTURE_CAPTURE_H
#define SKEIN_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/helper.h"
#include "base/pipe.h"
#include "base/probes.h"
#include "capture/hit_stacks.h"
#include "capture/inlines.h"
#include "capture/schedule.h"
#include "capture/tables.h"
#include "capture/wait_stacks.h"
#include "symbolizers/client.h"

/* CPU time that the capture took so far, ns. */
struct capture_cost {
	uint64_t own; /* of this process */
	uint64_t helpers; /* of the helper processes, those that ended included */
	uint64_t kernel; /* of the BPF programs that sample and follow processes and idle CPUs */
	/*
	 * of those whose work does not depend on the rate: sums of control groups, records of
	 * switches, hits of probes, stacks of waits and of hits
	 */
	uint64_t apart;
};

/* What is still being looked up. */
struct capture_pending {
	uint64_t names; /* addresses whose names are being looked up */
	uint64_t inlines; /* addresses whose inlined functions are being looked up */
	uint64_t tables; /* unwind tables that are being made; known only while preparing */
};

struct capture_progress {
	uint64_t elapsed; /* ns since sampling began */
	uint64_t samples; /* number of samples passed to the sink */
	uint64_t switches; /* number of switches passed to the sink */
	uint64_t hits; /* number of hits of probes */
	uint64_t filtered; /* number of samples left out by the BPF programs and by name */
	/* number of samples and records counted as lost so far; some losses are found at the end */
	uint64_t lost;
	struct capture_pending pending;
	/* number of ticks, about one a second: each leaves the sink's data in a consistent state */
	uint64_t ticks;
	uint64_t suspended; /* ns in which the machine was suspended */
	struct capture_cost cost; /* as of the last tick */
	unsigned int rate; /* index of the present rate: see capture_rates */
	uint64_t frequency; /* of that rate, Hz; 0 if a period was given */
	uint64_t slower, faster; /* changes of the rate so far */
	bool sums; /* times of control groups are added up */
	bool waiting; /* the recording has not begun yet: --delay, --paused */
	bool paused; /* nothing is recorded now */
	bool preparing; /* unwind tables are being made before sampling starts */
	bool finishing; /* sampling has stopped; tables and names are still awaited */
};

/* The command that is recorded, for the trace. */
struct capture_command {
	const char *program; /* name of its file; NULL: there is no command */
	unsigned int arguments; /* their number */
	const char *line; /* program and arguments; NULL if they are not to be stored */
};

/* Which threads are recorded. */
struct capture_targets {
	const char *cpus; /* list such as 0,2-3; NULL means all */
	/* processes to record, with their threads and children; NULL means every process */
	const uint32_t *pids;
	size_t pid_count;
	/* one of pids: a child of the recorder, recorded from its exec on; 0: none */
	uint32_t command;
	const uint32_t *tids;
	size_t tid_count;
	const char *comm; /* glob; NULL means every name */
	const char *cgroup; /* name for cgroups_find(); NULL means every cgroup */
	/* in a pid namespace of its own, also processes outside of it; no effect elsewhere */
	bool whole_host;
	bool pod; /* only the recorder's own pod; excludes cgroup */
	struct capture_command launched;
};

/* The most helper processes of a capture: capture_memory.relieve. */
#define CAPTURE_HELPERS_MAX 12

/* A helper process. */
struct capture_helper {
	pid_t pid;
	bool keeps_names; /* they are most of its memory, and can be limited */
};

/* What a capture is to do so that it takes less memory. */
struct capture_relief {
	/* forget stacks and names that can be found again, and return free memory to the system */
	bool forget;
	pid_t replace; /* a helper to be replaced by a new one, if it is one that can; 0: none */
	/* bytes of names that each helper may keep from now on, in their order; 0: as before */
	uint64_t keep[CAPTURE_HELPERS_MAX];
};

/* Sizes of buffers and tables, in bytes. */
struct capture_memory {
	uint64_t buffer; /* per sample ring; 0 means by the frequency */
	uint64_t switch_buffer; /* of each CPU's array; 0 means by the number of CPUs */
	uint64_t unwind; /* for unwind tables; 0 means 128 MiB */
	uint64_t inlines; /* for reading lines and inlined functions; 0: these are not read */
	/*
	 * that each worker keeps of symbols of files, 0 means 64 MiB; and half of it of Python's
	 * code objects, and of Java's methods
	 */
	uint64_t symbols;
	/* called with capture_options.context after each tick, with the helpers; may be NULL */
	struct capture_relief (*relieve)(void *context, const struct capture_helper *helpers,
					 unsigned int count);
};

/* Files and directories beside the trace. */
struct capture_files {
	const char *save_stacks; /* directory for stacks that ended badly; NULL: not kept */
	const char *unwind_cache; /* directory that keeps unwind tables; NULL means nowhere */
	const char *service_rules; /* file with rules for services_new(); NULL: the default one */
	/* debuginfod servers for debug files, NULL: none; the folder of their files */
	const char *debuginfod_urls, *debuginfod_cache;
};

/* default of wait_names, ns */
#define CAPTURE_WAIT_NAMES 1500000000ULL

/* Stacks of waits; they need the records of switches. */
struct capture_waits {
	bool stacks; /* take them */
	bool optional; /* record without them if the kernel cannot take them */
	bool all; /* of every wait, without a budget */
	uint64_t period; /* ns: waits of this length and longer are always taken, if the budget
			    allows */
	/*
	 * called before each tick, with capture_options.context; returns whether the sink is to
	 * have the waits that have not ended, after this tick and until the next. They come at the
	 * end, too. May be NULL.
	 */
	bool (*wants_open)(void *context, const struct capture_progress *p);
	/*
	 * On demand, without stacks and capture_options.sched: called in each round with
	 * capture_options.context; returns whether waits are to be recorded now. What that needs is
	 * loaded the first time, and attached as long as they are. NULL: never.
	 */
	bool (*wanted)(void *context);
	/*
	 * with wanted: called when waits are recorded from now on, with 0; or cannot be, with a
	 * negative errno and the reason
	 */
	void (*recorded)(void *context, int status, const char *reason);
};

/* default of capture_waits.period, ns: 2 ms */
#define CAPTURE_WAIT_PERIOD 2000000ULL

/* the most rates that are lower than the first one */
#define CAPTURE_LOWER_RATES_MAX 7

/*
 * Rates of the clock among which the recording changes while it runs. Each is an event of its own
 * in the trace, with an account of its own.
 */
struct capture_rates {
	/* Hz, from high to low; the first rate is capture_options.frequency, with the index 0 */
	uint64_t lower[CAPTURE_LOWER_RATES_MAX];
	unsigned int count; /* of lower */
	/*
	 * called with capture_options.context after each tick, and whenever fds.wake is readable;
	 * returns the index of the rate from now on. May be NULL
	 */
	unsigned int (*choose)(void *context, const struct capture_progress *p);
	const char *budget; /* text for the trace: why rates change; may be NULL */
};

/* When it is recorded, and how often. */
struct capture_when {
	uint64_t delay; /* ns between the start of the command and the begin of the recording */
	uint64_t duration; /* ns at most from the begin on; 0 means without limit */
	/*
	 * ns between two ticks at most, which read the rings first; 0: about a second, and what was
	 * read last. A killed recorder loses what came since the last tick.
	 */
	uint64_t tick;
	/*
	 * called with capture_options.context; returns whether nothing is to be recorded now: then
	 * the recording does not begin, or pauses. May be NULL
	 */
	bool (*wants_pause)(void *context);
	/* called when a probe of the user begins or resumes the recording, or ends or pauses it */
	void (*cue)(void *context, bool starts);
	struct capture_rates rates;
};

/* Descriptors that the caller keeps; -1: none. */
struct capture_descriptors {
	int release; /* gets one byte, to release a waiting process, once sampling runs */
	int wake; /* polled beside the rings, to notice signals at once */
};

/* A probe of the user. Its row has globs as provider and name. */
struct capture_probe {
	const char *path; /* of the file */
	struct probe_row row;
};

/* What serves interrupts on the CPUs; needs no samples and no records of switches. */
struct capture_interrupts {
	bool wanted;
	/* the sums put are what was added since the last ones, for a sink that adds them up */
	bool parts;
	uint64_t least; /* ns: what took this long and longer has spans */
};

/* default of capture_interrupts.least, ns */
#define CAPTURE_INTERRUPT_MIN 10000ULL

/* Probes; they need no samples and no records of switches. */
struct capture_probes {
	unsigned int parts; /* enum probe_part */
	const struct capture_probe *list; /* of the user */
	unsigned int count; /* at most PROBE_PATTERNS_MAX */
	struct capture_interrupts interrupts; /* tracepoints of the kernel */
	/*
	 * add up what the threads of each control group do: of the whole machine, so not if only
	 * some threads or CPUs are recorded
	 */
	bool groups;
};

/* Return whether anything is probed. */
static inline bool capture_has_probes(const struct capture_probes *p)
{
	return p->parts || p->count;
}

struct capture_options {
	bool sample; /* which thread is on the CPU, with which stack */
	bool sched; /* record every switch and wake-up */
	struct capture_waits waits;
	struct capture_probes probes;
	const char *event; /* "cpu-clock" or "cycles"; NULL means cpu-clock */
	uint64_t frequency; /* Hz; 0 means that period is given */
	uint64_t period; /* in the event's unit; 0 means that frequency is given */
	struct capture_targets targets;
	bool user_only, kernel_only; /* record only this part of the stacks */
	bool idle; /* record the idle threads, too */
	struct capture_memory memory;
	struct capture_files files;
	struct capture_when when;
	/*
	 * ns after sampling for which the recording waits for pending tables and names, and for
	 * inlined functions
	 */
	uint64_t wait_names, wait_inlines;
	uint64_t keep; /* ns of records that the sink keeps (sink_ops.forget); 0: all */
	struct capture_descriptors fds;
	/* called several times a second; false ends sampling, or the wait before or after it */
	bool (*keep_going)(void *context, const struct capture_progress *p);
	void *context;
};

#define CAPTURE_REFUSALS_MAX 4

struct capture_refusal {
	char what[192]; /* text such as "to uid 1001: 14,210 files (more than its share)" */
};

/*
 * Numbers of samples: due = written + filtered + idle + cut_off + losses. late: of those written.
 * See the record account (base/record.h).
 */
struct capture_samples {
	uint64_t due, written, filtered, idle, late, cut_off;
};

/* Numbers of stacks that ended badly, and of those that were kept of them. */
struct capture_saved {
	uint64_t bad, kept;
};

/* Frames without the names that they should have. */
struct capture_unnamed {
	uint64_t unready; /* number of frames whose names were still being read at the end */
	uint64_t mangled; /* number of names left mangled, since demangling would take too much */
	/* why host names of containers could not be read, a negative errno; 0: they could */
	int hosts;
	/*
	 * why waits that had not ended have no Java frames, a negative errno; 0: they have, or
	 * there was no JVM
	 */
	int java_waits;
	/* path of the first file with a name that was left mangled, or the end of a longer path */
	char mangled_in[256];
};

/* What became of the opener, which opens files. */
struct capture_opened {
	uint64_t restarts;
	uint64_t refused; /* files not opened for lack of descriptors: RLIMIT_NOFILE */
};

/* What became of probes. */
struct capture_probed {
	bool wanted; /* anything was to be probed */
	uint64_t hits; /* of selected processes */
	unsigned int attached, refused; /* sites */
	bool one_by_one; /* the kernel cannot attach many sites at once: detaching is slow */
	struct hit_stacks_summary stacks; /* of hits */
	bool no_stacks; /* they were asked for, and the kernel can take none */
};

/* What the glob for names of threads and processes matched. */
struct capture_comm {
	bool known; /* the name of a thread or process that exists */
	bool matched; /* and such a thread was recorded */
};

/* Summary of a capture, in addition to the contents of its records. */
struct capture_summary {
	bool sampled, scheduled; /* whether samples, and switches, were recorded */
	struct capture_probed probed;
	struct capture_samples samples;
	struct schedule_counts switches; /* zeroed if switches were not recorded */
	uint64_t lost[LOSS_COUNT]; /* number of lost samples and records, by reason */
	uint64_t elapsed; /* ns of sampling */
	uint64_t memory; /* bytes, the recorder's peak resident size */
	/* bytes of the sample rings and arrays of switches, as mapped into the recorder */
	uint64_t buffer_memory;
	/* killed helpers included; memory: sum over the helpers of each one's largest process */
	struct helper_cost helpers;
	struct wait_stacks_summary waits;
	struct symbolizer_stats symbolizer;
	struct capture_unnamed unnamed;
	struct tables_summary unwind; /* the tables when the recording ended */
	struct capture_saved saved; /* with files.save_stacks */
	bool inlined; /* inlined functions were requested */
	struct inlines_summary inlines;
	struct capture_opened opened;
	struct capture_comm comm;
	/*
	 * files that were not looked at, by user, most files first; an empty what ends the list if
	 * it is not full
	 */
	struct capture_refusal refusals[CAPTURE_REFUSALS_MAX];
};

/*
 * Make the source: start the helper processes, load the BPF programs and open the side-band events,
 * so that a missing privilege is reported here. source_ops.run scans /proc and then samples until
 * the duration is over, keep_going returns false, or every selected process has exited. The options
 * are copied, but not the objects they point to. Returns 0 or a negative errno.
 */
int capture_source(struct source **out, const struct capture_options *o, struct error *err);

/*
 * Fill *out with the summary. Call this after the run, and only for a source of capture_source().
 */
void capture_get_summary(const struct source *s, struct capture_summary *out);

#endif
