/* SPDX-License-Identifier: Apache-2.0 */
/* Live capture: the machine as a source. */
#ifndef SKEIN_CAPTURE_CAPTURE_H
#define SKEIN_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/pipe.h"
#include "capture/inlines.h"
#include "capture/tables.h"

struct capture_progress {
	uint64_t elapsed; /* ns since sampling began */
	uint64_t samples; /* put into the sink */
	uint64_t switches; /* the same */
	uint64_t filtered; /* by the kernel side and by name */
	uint64_t lost; /* known so far */
	uint64_t pending_names;
	uint64_t pending_inlines; /* addresses whose inlined functions are being looked up */
	uint64_t pending_tables; /* unwind tables that are being made */
	uint64_t ticks; /* how often the sink was given all that belongs together */
	bool preparing; /* sampling has not begun */
	bool finishing; /* sampling is over, names are still being looked up */
};

struct capture_options {
	bool sample; /* who is on the CPU, with which stack */
	bool sched; /* every switch and wake-up */
	const char *event; /* "cpu-clock" or "cycles"; NULL: cpu-clock */
	uint64_t frequency; /* Hz; 0: period is given */
	uint64_t period; /* in the event's unit */
	const char *cpus; /* list such as 0,2-3; NULL: all */
	const uint32_t *pids; /* with their threads and children; NULL: every process */
	size_t pid_count;
	uint32_t command; /* one of pids: a child of ours that will exec; counted from then on */
	const uint32_t *tids;
	size_t tid_count;
	const char *comm; /* glob; NULL: every name */
	const char *cgroup; /* path; NULL: every one */
	bool user_only, kernel_only; /* which part of the stacks */
	bool idle; /* the idle threads, too */
	uint64_t buffer; /* bytes per sample ring; 0: by the frequency */
	uint64_t switch_buffer; /* bytes of each CPU's array of switches; 0: by their number */
	uint64_t unwind_memory; /* bytes for unwind tables; 0: 128 MiB */
	uint64_t inline_memory; /* bytes for reading lines and inlined functions; 0: leave them out */
	const char *save_stacks; /* directory for stacks that ended badly; NULL: keep none */
	const char *unwind_cache; /* directory in which they are kept; NULL: nowhere */
	uint64_t duration; /* ns; 0: until keep_going says no */
	/* ns after its end for which the recording waits for names, and for inlined functions */
	uint64_t wait_names, wait_inlines;
	uint64_t keep; /* ns that the sink keeps; 0: everything. See sink_ops.forget */
	/* process to release by a byte to this descriptor once sampling runs; -1: none */
	int release_fd;
	/* polled beside the rings, to notice signals at once; -1: none */
	int wake_fd;
	/* asked several times a second; false ends the recording */
	bool (*keep_going)(void *context, const struct capture_progress *p);
	void *context;
};

#define CAPTURE_REFUSALS_MAX 4

struct capture_refusal {
	char what[192]; /* "to uid 1001: 14,210 files (more than its share)" */
};

/* What a summary tells beside what is in the records. */
struct capture_summary {
	bool sampled, scheduled; /* samples, switches were recorded */
	uint64_t due, written, filtered, idle, late, cut_off;
	uint64_t lost[LOSS_COUNT]; /* records, by reason */
	uint64_t elapsed; /* ns */
	uint64_t switches, wakeups, migrations; /* put */
	/* bytes of the BPF side's buffers, as mapped: part of what is resident */
	uint64_t buffer_memory;
	uint64_t names_asked, worker_restarts, opener_restarts;
	uint64_t names_unready; /* frames whose names were still being read at the end */
	uint64_t files_refused; /* for want of descriptors: RLIMIT_NOFILE */
	uint64_t names_mangled; /* that would have taken too much to demangle */
	char names_mangled_in[256]; /* path of the first file that has such; its end, if it is longer */
	uint64_t memory; /* bytes, the most that the recorder had resident */
	uint64_t helper_cpu; /* ns that the helper processes used */
	uint64_t helper_memory; /* bytes, the most that each had resident, added up */
	struct tables_summary unwind; /* tables when the recording ended */
	uint64_t tables_made, tables_cached; /* by the worker; from the cache */
	uint64_t bad_stacks, saved_stacks; /* that ended badly; those of them that were kept */
	bool inlined; /* inlined functions were asked for */
	struct inlines_summary inlines;
	bool comm_matched; /* the glob matched something at some time */
	uint64_t refused; /* files that were not looked at for somebody's sake */
	struct capture_refusal refusals[CAPTURE_REFUSALS_MAX]; /* the worst; what "" ends them */
};

/*
 * Load the programs, open the events, read /proc. Does not sample yet:
 * source_ops.run does, until the duration is over or keep_going says no.
 * Options are copied, but not what they point to.
 */
int capture_source(struct source **ret, const struct capture_options *o, struct error *err);

/* After the run. Only for a source of capture_source(). */
void capture_get_summary(const struct source *s, struct capture_summary *ret);

#endif
