// SPDX-License-Identifier: Apache-2.0
/* skein record: join live capture to a trace, and report the result. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analyze/filter.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/outfile.h"
#include "base/units.h"
#include "base/vector.h"
#include "capture/capture.h"
#include "capture/clock.h"
#include "cmd/commands.h"
#include "cmd/export.h"
#include "cmd/launch.h"
#include "cmd/record_events.h"
#include "cmd/record_export.h"
#include "cmd/record_signals.h"
#include "cmd/record_summary.h"
#include "cmd/recorder.h"
#include "cmd/symbolize.h"
#include "export/export.h"
#include "trace/trace.h"

/* Memory in bytes for the debugging-information reader, unless --inline-memory is given. */
#define INLINE_MEMORY (256ULL << 20)
/* Time in ns that a recording waits for inlined functions, unless --wait-names is given. */
#define WAIT_INLINES (20 * NSEC_PER_SEC)
#define WAIT_DEFAULT UINT64_MAX /* --wait-names is not given */

/* Sizes in bytes; 0 means the default. */
struct record_memory {
	uint64_t buffer, switch_buffer, unwind_tables, inlines;
};

struct record_begin {
	uint64_t delay; /* ns */
	bool paused; /* until a signal */
};

struct record_options {
	struct targets targets;
	struct record_memory memory;
	struct record_events events;
	const char *output, *format, *unwind_cache, *save_stacks, *servers;
	struct record_begin begin;
	uint64_t period, duration, keep, max_size;
	uint64_t wait_names; /* ns, or WAIT_DEFAULT */
	bool inlines;
	bool idle, quiet, verbose, stacks, arguments;
};

static int set_duration(void *options, const char *value, struct error *err)
{
	struct record_options *o = options;
	int ret = parse_duration(value, &o->duration, err);

	return ret || o->duration ? ret
				  : error_set(err, -EINVAL, "the duration must be more than 0");
}

static int set_event(void *options, const char *value, struct error *err)
{
	return record_events_parse(&((struct record_options *)options)->events, value, err);
}

static int set_mark(void *options, const char *value, struct error *err)
{
	return record_events_add_cue(&((struct record_options *)options)->events, value, PROBE_MARK,
				     err);
}

static int set_start(void *options, const char *value, struct error *err)
{
	struct record_options *o = options;

	o->begin.paused = true;
	return record_events_add_cue(&o->events, value, PROBE_START, err);
}

static int set_stop(void *options, const char *value, struct error *err)
{
	return record_events_add_cue(&((struct record_options *)options)->events, value, PROBE_STOP,
				     err);
}

static int set_keep(void *options, const char *value, struct error *err)
{
	struct record_options *o = options;
	int ret = parse_duration(value, &o->keep, err);

	return ret || o->keep ? ret
			      : error_set(err, -EINVAL, "the time to keep must be more than 0");
}

static int set_max_size(void *options, const char *value, struct error *err)
{
	struct record_options *o = options;
	int ret = parse_bytes(value, &o->max_size, err);

	return ret || o->max_size
		       ? ret
		       : error_set(err, -EINVAL, "the size of a trace must be more than 0");
}

static int set_period(void *options, const char *value, struct error *err)
{
	return recorder_parse_rate(&((struct record_options *)options)->period, value, err);
}

#define MEMBER(m) offsetof(struct record_options, m)

static const struct option_spec record_options[] = {
	TARGET_OPTIONS("Every process on all CPUs. The default without a COMMAND."),
	{.name = "include-idle",
	 .type = OPTION_FLAG,
	 .help = "The idle threads, too.",
	 .offset = MEMBER(idle)},

	{.name = "How to sample", .type = OPTION_HEADING},
	FREQUENCY_OPTION,
	{.name = "count",
	 .letter = 'c',
	 .type = OPTION_CALL,
	 .arg = "PERIOD",
	 .set = set_period,
	 .help = "Instead of -F: one sample every PERIOD nanoseconds of cpu-clock, or cycles."},
	{.name = "event",
	 .letter = 'e',
	 .type = OPTION_CALL,
	 .arg = "EVENTS",
	 .set = set_event,
	 .values = record_events_word,
	 .list = true,
	 .help = "What to record, several with commas. Default: cpu.\n"
		 "cpu, cpu-clock: stacks, by time on the CPU; works everywhere.\n"
		 "cycles: stacks, by a hardware counter.\n"
		 "sched: every switch and wake-up: who waited, how long and for which thread.\n"
		 "off-cpu: sched, and stacks of waits: where threads waited, and who ended that.\n"
		 "interrupts: which interrupts each CPU served, and how long.\n"
		 "all: cpu and off-cpu.\n"
		 "gc: collections of garbage and their pauses, of Java and Python.\n"
		 "jvm: gc of Java, safepoints, operations of the VM, threads.\n"
		 "python: gc of Python.\n"
		 "runtime: gc, jvm and python; Ruby and PostgreSQL.\n"
		 "classes, jit, exceptions, deopt, alloc, monitors: more of Java; exceptions and "
		 "allocations with the stacks of where they are made.\n"
		 "usdt:PATH:PROVIDER:NAME, .../END: USDT probes of a file; as spans up to END.\n"
		 "func:PATH:SYMBOL: calls of functions of a file, by a pattern."},
	{.name = "off-cpu-period",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "Take the stack of every wait that is at least this long, and of shorter ones by "
		 "chance, in proportion to their length. Grows by itself while taking stacks costs "
		 "more than 0.5 % of a CPU. Default: 2ms.",
	 .offset = MEMBER(events.wait_period)},
	{.name = "all-stacks",
	 .type = OPTION_FLAG,
	 .help = "With off-cpu: take the stack of every wait, whatever that costs.",
	 .offset = MEMBER(events.all_stacks)},
	INTERRUPT_MIN_OPTION(struct record_options, events.interrupt_min),
	STACK_PART_OPTIONS,
	{.name = "call-graph",
	 .letter = 'g',
	 .type = OPTION_FLAG,
	 .help = "Accepted for compatibility with perf: stacks are always taken.",
	 .offset = MEMBER(stacks)},
	{.name = "When to record", .type = OPTION_HEADING},
	{.name = "delay",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "Begin this long after COMMAND, or the recorder, has started.",
	 .offset = MEMBER(begin.delay)},
	{.name = "paused",
	 .type = OPTION_FLAG,
	 .help = "Begin with the first signal SIGUSR1. Further ones pause the recording and "
		 "resume it, with this option or without.",
	 .offset = MEMBER(begin.paused)},
	{.name = "start-at",
	 .type = OPTION_CALL,
	 .arg = "PROBE",
	 .set = set_start,
	 .help = "Begin when a program hits this probe, which is written as for -e: "
		 "usdt:PATH:PROVIDER:NAME or func:PATH:SYMBOL."},
	{.name = "stop-at",
	 .type = OPTION_CALL,
	 .arg = "PROBE",
	 .set = set_stop,
	 .help = "Stop when a program hits this probe; with --start-at, only pause until that is "
		 "hit again."},
	{.name = "mark",
	 .type = OPTION_CALL,
	 .arg = "PROBE",
	 .set = set_mark,
	 .help = "Mark in the trace each moment at which a program hits this probe."},
	{.name = "duration",
	 .letter = 'd',
	 .type = OPTION_CALL,
	 .arg = "TIME",
	 .set = set_duration,
	 .help = "Stop after this long, such as 30s or 5m. Default: until Ctrl-C, or until "
		 "COMMAND or every process of -p has ended."},
	{.name = "keep",
	 .type = OPTION_CALL,
	 .arg = "TIME",
	 .set = set_keep,
	 .help = "Record endlessly, and keep only the last TIME: what is older is deleted, and "
		 "the trace does not grow. Ctrl-C ends it, and SIGUSR2 writes what is kept to "
		 "NAME-<UTC>.skein in the same folder, while the recording goes on."},
	{.name = "max-size",
	 .type = OPTION_CALL,
	 .arg = "SIZE",
	 .set = set_max_size,
	 .help = "End the recording before its trace grows beyond SIZE, such as 500M."},
	{.name = "Memory and disk", .type = OPTION_HEADING},
	{.name = "buffer",
	 .type = OPTION_BYTES,
	 .arg = "SIZE",
	 .help = "Size of each sample ring, such as 8M. Default: half a second of samples.",
	 .offset = MEMBER(memory.buffer)},
	{.name = "switch-buffer",
	 .type = OPTION_BYTES,
	 .arg = "SIZE",
	 .help = "Size of each CPU's array of switches and wake-ups. Default: 8M, and not more "
		 "than 256M of all CPUs together.",
	 .offset = MEMBER(memory.switch_buffer)},
	{.name = "unwind-memory",
	 .type = OPTION_BYTES,
	 .arg = "SIZE",
	 .help = "Kernel memory for unwind tables. Beyond it the least used are given up; stacks "
		 "through their files then need frame pointers. Default: 128M.",
	 .offset = MEMBER(memory.unwind_tables)},
	{.name = "unwind-cache",
	 .type = OPTION_TEXT,
	 .arg = "DIR",
	 .help = "The folder in which unwind tables are kept between recordings; '' for none. "
		 "Default: $CACHE_DIRECTORY, which systemd sets; else /var/cache/skein for root, "
		 "and skein in $XDG_CACHE_HOME or ~/.cache for others.",
	 .offset = MEMBER(unwind_cache)},
	{.name = "Names and lines", .type = OPTION_HEADING},
	SERVICE_RULES_OPTION,
	{.name = "inlines",
	 .type = OPTION_FLAG,
	 .help = "Source lines of native code, and the functions that the compiler put into "
		 "others, as frames of their own. Needs debugging information: in the programs, or "
		 "below /usr/lib/debug. Takes CPU time of a helper process, and memory.",
	 .offset = MEMBER(inlines)},
	{.name = "inline-memory",
	 .type = OPTION_BYTES,
	 .arg = "SIZE",
	 .help = "Memory that this process may take; files whose debugging information is larger "
		 "than half of it are reported, and have no inlined functions. Default: 256M.",
	 .offset = MEMBER(memory.inlines)},
	DEBUGINFOD_OPTION(struct record_options, servers,
			  "after the recording, which is complete by then"),
	{.name = "wait-names",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "How long the recording waits after its end for names, unwind tables and inlined "
		 "functions that are still being read. What is not ready by then has no name; the "
		 "summary counts it. Ctrl-C ends the wait. Default: 1.5s, for inlined functions "
		 "20s.",
	 .offset = MEMBER(wait_names)},

	{.name = "Output", .type = OPTION_HEADING},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "The trace to write; '-' is stdout. Default: skein.skein; an older one becomes "
		 "skein.skein.old.",
	 .offset = MEMBER(output)},
	{.name = "format",
	 .letter = 'f',
	 .type = OPTION_TEXT,
	 .arg = "FORMAT",
	 .values = export_format_word,
	 .help = "Export at once instead of keeping a trace: see 'skein export --help'. Chosen "
		 "by the ending of FILE otherwise.",
	 .offset = MEMBER(format)},
	{.name = "save-bad-stacks",
	 .type = OPTION_TEXT,
	 .arg = "DIR",
	 .help = "Save stacks that are incomplete, a file each, to find out why: at most 20 of "
		 "one kind in one module, 1000 in all. They contain pieces of the "
		 "programs' memory, those words that walking their stacks has read, so DIR is "
		 "made for your eyes only. Sampling costs more meanwhile.",
	 .offset = MEMBER(save_stacks)},
	{.name = "store-arguments",
	 .type = OPTION_FLAG,
	 .help = "Store the arguments of COMMAND, not only its name and their number.",
	 .offset = MEMBER(arguments)},
	{.name = "quiet",
	 .letter = 'q',
	 .type = OPTION_FLAG,
	 .help = "Show errors only.",
	 .offset = MEMBER(quiet)},
	{.name = "verbose",
	 .letter = 'v',
	 .type = OPTION_FLAG,
	 .help = "Show more: when recording begins, the account of all samples, what was lost and "
		 "why, and what recording cost.",
	 .offset = MEMBER(verbose)},
	{.name = NULL},
};

static int record_main(int argc, char **argv);

const struct command record_command = {
	.name = "record",
	.summary = "sample where the time goes, into a trace",
	.usage = "[OPTIONS] [-- COMMAND ARGS]",
	.stop_at_operand = true,
	.description =
		"Samples the stacks of the whole machine, or of a part of it, records its context "
		"switches if -e asks for them, and writes a trace that 'skein report' reads. Needs "
		"root, or CAP_BPF and CAP_PERFMON; 'skein doctor' shows what works, and how to fix "
		"the rest.\n"
		"\n"
		"With a COMMAND, only that command and its children are sampled (unless -a is "
		"given), from its first instruction until it ends, and its exit status becomes "
		"that of skein. Ctrl-C ends a recording properly; again, a second later: at once.",
	.examples = "sudo skein record -d 10s\tthe whole machine for ten seconds\n"
		    "sudo skein record -e all -d 10s\tand every switch: who waited, and why\n"
		    "sudo skein record -F 999 -- make -j4\ta build, closely\n"
		    "sudo skein record -p 4711,4712 -d 1m\ttwo processes and their children\n"
		    "sudo skein record --cgroup system.slice/nginx.service\ta service\n"
		    "sudo skein record -d 5s -o out.folded\tfolded stacks for a flame graph",
	.options = record_options,
	.options_size = sizeof(struct record_options),
	.group = COMMANDS_RECORDING,
	.exits = "other\tThe exit status of COMMAND, or 128 and the number of the signal that "
		 "ended it.",
	.environment = DEBUGINFOD_ENVIRONMENT
	"SUDO_UID, SUDO_GID\tThe owner of the files that root writes.\n"
	"CACHE_DIRECTORY\tWhere --unwind-cache is, in a unit with CacheDirectory=.\n"
	"XDG_CACHE_HOME, HOME\tElse where it is, except for root.",
	.files = "skein.skein\tThe trace, unless -o names another.\n"
		 "/etc/skein/services\tRules that name services, added to the built-in ones.\n"
		 "/var/cache/skein\tUnwind tables, kept between recordings; other users than root "
		 "have them in their own cache.\n"
		 "/sys/kernel/btf/vmlinux\tTypes of the running kernel, which skein needs.",
	.run = record_main,
};

/* One recording: the state that its parts share. */
struct recording {
	struct record_options options;
	struct launch launch;
	char *line; /* of the command, if it is stored; else NULL */
	const struct export_format *format; /* NULL to keep the trace */
	char *spool; /* private directory of a trace for an export or stdout; else NULL */
	char *trace; /* path */
	struct record_signals signals;
	bool waited; /* a signal after the end of sampling has ended the wait for names */
	struct sink *sink; /* NULL before the trace is created and after it is closed */
	bool full; /* --max-size ends the recording */
	bool stopped_at_probe; /* --stop-at ends it */
	bool never_began; /* it ended while it waited to begin */
	bool is_short; /* the trace has no room left, which ends the recording */
	/* the copy is made when the capture has had more ticks than this; UINT64_MAX: not yet */
	uint64_t copy_after;
	struct progress_line progress;
	char unwind_cache[PATH_MAX];
	/* of --debuginfod; urls is NULL without it */
	struct {
		const char *urls;
		char cache[PATH_MAX];
	} servers;
};

/*
 * Choose the export format from -f or the name of the output file; none for a trace. Return 0 or an
 * exit status.
 */
static int choose_record_format(struct recording *r)
{
	const char *name = r->options.format, *path = r->options.output;

	if (name && strcmp(name, "skein")) {
		r->format = export_format_named(name);
		if (!r->format)
			return log_error(2,
					 "record: there is no format '%s'; 'skein export "
					 "--help' lists them",
					 name);
	} else if (!name && path) {
		r->format = export_format_for_path(path);
	}
	if (r->format && r->format->only_sched && r->options.events.sample &&
	    !r->options.events.sched)
		return log_error(2, "record: %s shows nothing but what -e sched records",
				 r->format->name);
	if (r->format && r->format->only_sched)
		r->options.events.sched = true;
	if (path && !strcmp(path, "-") && isatty(STDOUT_FILENO) &&
	    (!r->format || r->format->binary))
		return log_error(2, "record: a trace is not for a terminal: redirect stdout, or "
				    "choose a file with -o");
	return 0;
}

/*
 * Choose the path of the trace: its final name, or a file in a private directory if the trace is to
 * be exported or written to stdout. Return 0 or an exit status.
 */
static int choose_trace_path(struct recording *r)
{
	const char *temporary = getenv("TMPDIR");
	bool spooled = r->format || (r->options.output && !strcmp(r->options.output, "-"));

	if (!spooled) {
		r->trace = strdup(r->options.output ? r->options.output : "skein.skein");
		return r->trace ? 0 : log_error(1, "out of memory");
	}
	if (asprintf(&r->spool, "%s/skein-XXXXXX", temporary ? temporary : "/tmp") < 0)
		return log_error(1, "out of memory");
	if (!mkdtemp(r->spool)) {
		int status =
			log_error(1, "record: cannot create %s: %s", r->spool, strerror(errno));

		free(r->spool);
		r->spool = NULL;
		return status;
	}
	if (asprintf(&r->trace, "%s/trace.skein", r->spool) < 0)
		return log_error(1, "out of memory");
	return 0;
}

static void remove_spool(struct recording *r)
{
	if (!r->spool)
		return;
	unlink(r->trace);
	rmdir(r->spool);
}

/*
 * Copy the records of the trace so far to another file in its folder, except for a trace that is
 * to be exported. The recording goes on; failures are only reported.
 */
static void copy_trace_now(struct recording *r)
{
	time_t now = time(NULL);
	struct error err = {""};
	char mark[32], *path = NULL;
	struct tm utc;

	strftime(mark, sizeof(mark), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
	progress_line_end(&r->progress);
	if (r->spool)
		log_warn("SIGUSR2: there is no trace to copy, it is exported at the end");
	else if (trace_writer_copy(r->sink, mark, clock_boot_ns(), &path, &err) < 0)
		log_failure(0, &err);
	else
		log_info("SIGUSR2: written to %s", path);
	free(path);
}

/* Copy after the next tick, when the trace holds all entities to which its records refer. */
static void copy_trace_if_requested(struct recording *r, const struct capture_progress *p)
{
	if (!r->signals.copy || !r->sink || p->ticks <= r->copy_after)
		return;
	r->signals.copy = false;
	r->copy_after = UINT64_MAX;
	copy_trace_now(r);
}

/* Before the tick that precedes a copy, the capture puts the waits that have not ended. */
static bool record_wants_open_waits(void *context, const struct capture_progress *p)
{
	struct recording *r = context;

	if (r->signals.copy)
		r->copy_after = p->ticks;
	return r->signals.copy && !r->spool;
}

static bool record_wants_pause(void *context)
{
	return ((const struct recording *)context)->signals.paused;
}

/* A probe of the user was hit: begin or resume, or pause or end. */
static void record_on_cue(void *context, bool starts)
{
	struct recording *r = context;

	if (starts)
		r->signals.paused = false;
	else if (record_events_has_cue(&r->options.events, PROBE_START))
		r->signals.paused = true;
	else
		r->stopped_at_probe = true;
}

static bool is_trace_full(const struct recording *r)
{
	struct trace_stats stats = {0};

	if (r->sink && r->options.max_size)
		trace_writer_stats(r->sink, &stats);
	return stats.full;
}

static bool record_continues(void *context, const struct capture_progress *p)
{
	struct recording *r = context;

	bool was_stopped = r->signals.stopped_by;

	record_signals_read(&r->signals);
	launch_poll(&r->launch);
	r->waited = r->waited || (p->finishing && !was_stopped && r->signals.stopped_by);
	copy_trace_if_requested(r, p);
	progress_line_print(&r->progress, p, r->options.duration);
	r->full = r->full || is_trace_full(r);
	r->is_short = r->is_short || (r->sink && trace_writer_is_short(r->sink));
	/*
	 * While finishing, the capture only waits for names and unwind tables. End that wait if the
	 * names cannot be stored, or if the first signal came during the wait.
	 */
	if (p->finishing)
		return !r->is_short && !r->waited;
	if (!r->signals.stopped_by && !r->launch.ended && !r->full && !r->is_short &&
	    !r->stopped_at_probe)
		return true;
	r->never_began = r->never_began || p->waiting;
	return false;
}

static int record_check_options(const struct record_options *o)
{
	if (o->targets.frequency && o->period)
		return log_error(2, "record: -F and -c exclude each other");
	if (o->memory.inlines && !o->inlines)
		return log_error(2, "record: --inline-memory needs --inlines");
	if (record_events_check(&o->events))
		return 2;
	return targets_check(&o->targets, "record");
}

/* Return the memory in bytes for lines and inlined functions; 0 if they were not requested. */
static uint64_t record_inline_memory(const struct record_options *o)
{
	return !o->inlines ? 0 : o->memory.inlines ? o->memory.inlines : INLINE_MEMORY;
}

static struct capture_options record_capture_options(struct recording *r)
{
	const struct record_options *o = &r->options;
	bool given = o->wait_names != WAIT_DEFAULT;
	struct capture_options ret = {
		.sample = record_events_sample(&o->events),
		.sched = o->events.sched,
		.waits = record_events_waits(&o->events),
		.probes = record_events_probes(&o->events),
		.event = o->events.event,
		.period = o->period,
		.targets.command = o->targets.all ? 0 : (uint32_t)r->launch.pid,
		.targets.launched = {r->launch.program, r->launch.arguments, r->line},
		.idle = o->idle,
		.memory = {.buffer = o->memory.buffer,
			   .switch_buffer = o->memory.switch_buffer,
			   .unwind = o->memory.unwind_tables,
			   .inlines = record_inline_memory(o)},
		.wait_names = given ? o->wait_names : CAPTURE_WAIT_NAMES,
		.wait_inlines = given ? o->wait_names : WAIT_INLINES,
		.files.save_stacks = o->save_stacks,
		.when = {o->begin.delay, o->duration, 0, record_wants_pause, record_on_cue},
		.keep = o->keep,
		.fds.release = r->launch.pid ? r->launch.release_fd : -1,
		.fds.wake = r->signals.fd,
		.keep_going = record_continues,
		.context = r,
	};

	ret.waits.wants_open = record_wants_open_waits;
	targets_apply(&o->targets, &ret);
	if (o->period)
		ret.frequency = 0;
	return ret;
}

static int open_trace(struct recording *r, struct sink **out, struct error *err)
{
	int ret = trace_writer(out, r->trace, err);

	if (!ret)
		ret = trace_writer_reserve(*out, err);
	if (!ret)
		trace_writer_hold_open_waits(*out);
	if (!ret && r->options.keep)
		ret = trace_writer_retain(*out, r->options.keep, err);
	if (!ret && r->options.max_size)
		trace_writer_limit(*out, r->options.max_size);
	return ret;
}

/* Capture into the trace, with raised priority. Return 0 or an exit status. */
static int capture_to_trace(struct recording *r, struct capture_summary *summary,
			    struct trace_stats *stats)
{
	struct capture_options o = record_capture_options(r);
	struct source *source = NULL;
	struct sink *sink = NULL;
	struct error err = {""};
	int ret, priority = getpriority(PRIO_PROCESS, 0);

	recorder_choose_cache(r->options.unwind_cache, r->unwind_cache, sizeof(r->unwind_cache));
	o.files.unwind_cache = r->unwind_cache[0] ? r->unwind_cache : NULL;
	if (r->options.verbose) /* show the verifier's log of programs that the kernel rejects */
		setenv("SKEIN_DEBUG_BPF", "1", true);
	recorder_raise_priority(HELPERS_NICE); /* capture_source() forks the helpers */
	ret = capture_source(&source, &o, &err);
	if (ret) {
		limits_explain(&err, ret);
		ret = log_failure(ret == -EINVAL ? 2 : 1, &err);
		goto out;
	}
	recorder_raise_priority(RECORDER_NICE);
	recorder_warn_of_needs();
	ret = open_trace(r, &sink, &err);
	if (ret) {
		limits_explain(&err, ret);
		ret = log_failure(1, &err);
		goto out;
	}
	progress_line_begin(&r->progress, r->options.quiet, r->options.verbose);
	r->sink = sink;
	ret = pipe_join(source, sink, &err);
	limits_explain(&err, ret);
	ret = ret ? 1 : 0;
	r->is_short = trace_writer_is_short(sink);
	r->sink = NULL;
	progress_line_end(&r->progress);
	if (ret)
		log_failure(ret, &err);
	capture_get_summary(source, summary);
	trace_writer_stats(sink, stats);
out:
	sink_free(sink);
	source_free(source);
	(void)setpriority(PRIO_PROCESS, 0, priority);
	return ret;
}

static void show_full(const struct recording *r)
{
	char size[32];

	log_info("the recording ended: its trace would have grown beyond %s (--max-size)",
		 show_bytes(r->options.max_size, size, sizeof(size)));
}

/* Put names from servers into the trace, which is complete and stays so if that fails. */
static void name_from_servers(const struct recording *r)
{
	const struct symbolize_request q = {
		.path = r->trace,
		.urls = r->servers.urls,
		.cache = r->servers.cache,
		.progress = !r->options.quiet,
	};
	struct symbolize_result names;
	struct error err = {""};

	if (!q.urls || r->is_short)
		return;
	if (symbolize_trace(&names, &q, &err) < 0)
		log_warn("the recording is complete, but has no names from servers: %s", err.text);
	else
		symbolize_print(&names, r->spool ? "debuginfod" : r->trace);
	symbolize_result_free(&names);
}

static int record_trace(struct recording *r)
{
	struct capture_summary summary = {0};
	struct trace_stats stats = {0};
	const struct record_output out = {
		.trace = r->trace,
		.format = r->format,
		.output = r->options.output,
		.idle = r->options.idle,
	};
	const uint64_t switches = recorder_switches(), began = clock_boot_ns();
	int status, exported = 0;

	recorder_raise_file_limit();
	recorder_return_memory();
	status = capture_to_trace(r, &summary, &stats);
	if (r->full)
		show_full(r);
	if (summary.elapsed && !r->options.quiet)
		record_summary_print(&summary, &stats, r->spool ? NULL : r->trace,
				     r->options.verbose);
	if (!status && !r->spool && summary.samples.written && !r->options.quiet &&
	    !r->options.events.given)
		record_summary_hint(recorder_switches() - switches, clock_boot_ns() - began);
	if (r->never_began)
		log_warn("nothing was recorded: the recording ended before it was to begin "
			 "(--start-at, --paused or --delay)");
	else if (summary.elapsed)
		record_summary_warn_empty(&summary, r->options.targets.comm, r->launch.pid);
	if (!status && r->options.targets.comm && !summary.comm.known)
		status = log_error(1, "record: no running thread or process was called '%s'",
				   r->options.targets.comm);
	if (!status)
		name_from_servers(r);
	if (r->spool && (!status || r->is_short)) /* if it is short, the part that was recorded */
		exported = record_export(&out);
	return status ? status : exported;
}

/* Find and fork the command; unless -a is given, select its pid, as with -p. */
static int prepare_command(struct recording *r, char **argv)
{
	struct error err = {""};
	int ret = launch_find(argv[0]);

	if (ret < 0)
		return log_error(launch_failure_status(ret), "record: cannot run '%s': %s", argv[0],
				 strerror(-ret));
	if (launch_command(&r->launch, argv, &err) < 0)
		return log_failure(1, &err);
	r->line = r->options.arguments ? launch_line(argv) : NULL;
	if (!r->options.targets.all &&
	    vector_push(&r->options.targets.pids, (uint32_t)r->launch.pid) < 0)
		return log_error(1, "out of memory");
	return 0;
}

static int record_parse_options(struct recording *r, int argc, char **argv)
{
	int first = command_parse(&record_command, argc, argv, &r->options), status;

	if (first < 0)
		return first == ~0 ? -1 : ~first;
	log_set_quiet(r->options.quiet);
	if (record_check_options(&r->options) || choose_record_format(r))
		return 2;
	status = symbolize_choose_servers(&r->servers.urls, r->options.servers, r->servers.cache,
					  sizeof(r->servers.cache));
	if (status)
		return status;
	r->signals.paused = r->options.begin.paused;
	if (record_signals_catch(&r->signals) < 0)
		return log_error(1, "record: signals: %s", strerror(errno));
	return argv[first] ? prepare_command(r, argv + first) : 0;
}

static int record_main(int argc, char **argv)
{
	struct recording r = {.signals.fd = -1,
			      .options.wait_names = WAIT_DEFAULT,
			      .options.events.interrupt_min = RECORD_UNSET,
			      .copy_after = UINT64_MAX};
	int status = record_parse_options(&r, argc, argv);

	if (status < 0) { /* --help */
		status = 0;
		goto out;
	}
	if (!status)
		status = choose_trace_path(&r);
	if (!status)
		status = record_trace(&r);
	remove_spool(&r);
	if (r.launch.pid) {
		bool by_itself;

		record_signals_read(&r.signals);
		launch_poll(&r.launch);
		record_signals_release(); /* the command may take some time to end */
		by_itself = launch_finish(&r.launch, r.signals.stopped_by == SIGINT);
		if (!status && by_itself)
			status = r.launch.status;
	}
out:
	targets_free(&r.options.targets);
	record_events_free(&r.options.events);
	free(r.line);
	free(r.spool);
	free(r.trace);
	if (r.signals.fd >= 0)
		close(r.signals.fd);
	return status;
}
