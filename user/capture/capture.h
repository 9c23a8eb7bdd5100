/* SPDX-License-Identifier: Apache-2.0 */
/* Declares live capture, the source that records the running machine. */
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
	uint64_t samples; /* number of samples passed to the sink */
	uint64_t switches; /* number of switches passed to the sink */
	uint64_t filtered; /* number of samples left out by the BPF programs and by name */
	uint64_t lost; /* number of records known to be lost so far */
	uint64_t pending_names;
	uint64_t pending_inlines; /* addresses whose inlined functions are being looked up */
	uint64_t pending_tables; /* unwind tables that are being made */
	/* how often all data so far have been passed to the sink in a consistent state (ticks) */
	uint64_t ticks;
	bool preparing; /* sampling has not started */
	bool finishing; /* sampling has stopped, names are still being looked up */
};

/* ns for which a recording waits for names after its end, unless something else is asked for */
#define CAPTURE_WAIT_NAMES 1500000000ULL

struct capture_options {
	bool sample; /* take samples: which thread is on the CPU, with which stack */
	bool sched; /* record every switch and wake-up */
	const char *event; /* "cpu-clock" or "cycles"; NULL means cpu-clock */
	uint64_t frequency; /* Hz; 0 means that period is given */
	uint64_t period; /* sampling period, in the event's unit; 0 means that frequency is given */
	const char *cpus; /* list such as 0,2-3; NULL means all */
	/* processes to record, with their threads and children; NULL means every process */
	const uint32_t *pids;
	size_t pid_count;
	uint32_t command; /* one of pids: a child of the recorder, recorded from its exec on */
	const uint32_t *tids;
	size_t tid_count;
	const char *comm; /* glob; NULL means every name */
	const char *cgroup; /* path; NULL means every cgroup */
	bool user_only, kernel_only; /* record only this part of the stacks */
	bool idle; /* record the idle threads, too */
	uint64_t buffer; /* bytes per sample ring; 0 means by the frequency */
	uint64_t switch_buffer; /* bytes of each CPU's array; 0 means by the number of CPUs */
	uint64_t unwind_memory; /* bytes for unwind tables; 0 means 128 MiB */
	uint64_t inline_memory; /* bytes for reading lines and inlined functions; 0: not read */
	const char *save_stacks; /* directory for stacks that ended badly; NULL: not kept */
	const char *unwind_cache; /* directory that keeps unwind tables; NULL means nowhere */
	uint64_t duration; /* ns; 0 means until keep_going returns false */
	/* ns after sampling for which the recording waits for names, and for inlined functions */
	uint64_t wait_names, wait_inlines;
	uint64_t keep; /* ns of records that the sink keeps (sink_ops.forget); 0: all */
	/* gets one byte, to release a waiting process, once sampling runs; -1: no descriptor */
	int release_fd;
	/* descriptor polled beside the rings, to notice signals at once; -1: none */
	int wake_fd;
	/* called several times a second; false ends the recording */
	bool (*keep_going)(void *context, const struct capture_progress *p);
	void *context;
};

#define CAPTURE_REFUSALS_MAX 4

struct capture_refusal {
	char what[192]; /* text such as "to uid 1001: 14,210 files (more than its share)" */
};

/* Summary of a capture, in addition to the contents of its records. */
struct capture_summary {
	bool sampled, scheduled; /* whether samples, and switches, were recorded */
	uint64_t due, written, filtered, idle, late, cut_off;
	uint64_t lost[LOSS_COUNT]; /* number of lost records, by reason */
	uint64_t elapsed; /* ns of sampling */
	uint64_t switches, wakeups, migrations; /* number of records passed to the sink */
	/* bytes of the BPF maps' buffers as mapped; part of the resident memory */
	uint64_t buffer_memory;
	uint64_t names_requested, worker_restarts, opener_restarts;
	uint64_t names_unready; /* frames whose names were still being read at the end */
	uint64_t files_refused; /* not opened for lack of descriptors: RLIMIT_NOFILE */
	uint64_t names_mangled; /* names left mangled: demangling would take too much */
	/* path of the first file with a name that was left mangled, or the end of a longer path */
	char names_mangled_in[256];
	uint64_t memory; /* bytes, the recorder's peak resident size */
	uint64_t helper_cpu; /* ns that the helper processes used */
	uint64_t helper_memory; /* bytes, the sum of the helpers' peak resident sizes */
	struct tables_summary unwind; /* the tables when the recording ended */
	uint64_t tables_made, tables_cached; /* made by the worker; taken from the cache */
	/* number of stacks that ended badly, and of those that were saved */
	uint64_t bad_stacks, saved_stacks;
	bool inlined; /* inlined functions were requested */
	struct inlines_summary inlines;
	bool comm_matched; /* the glob of capture_options.comm matched at least one name */
	uint64_t refused; /* files left out because of a user's limits */
	/* refusals, the user with the most files first; an item with an empty what ends the list */
	struct capture_refusal refusals[CAPTURE_REFUSALS_MAX];
};

/*
 * Load the BPF programs, open the events and read /proc. Sampling starts in source_ops.run, and
 * stops when the duration is over or keep_going returns false. The options are copied, but not the
 * objects they point to. Returns 0 or a negative errno.
 */
int capture_source(struct source **out, const struct capture_options *o, struct error *err);

/*
 * Fill *out with the summary. Call this after the run, and only for a source of capture_source().
 */
void capture_get_summary(const struct source *s, struct capture_summary *out);

#endif
