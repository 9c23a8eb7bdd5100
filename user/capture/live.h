/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares data and functions shared by the files of live capture: live.c, live_begin.c,
 * live_prefetch.c, live_records.c and live_stacks.c.
 */
#ifndef SKEIN_CAPTURE_LIVE_H
#define SKEIN_CAPTURE_LIVE_H

#include "base/vector.h"
#include "capture/arena.h"
#include "capture/capture.h"
#include "capture/cgroup.h"
#include "capture/cpus.h"
#include "capture/finish.h"
#include "capture/inlines.h"
#include "capture/intern.h"
#include "capture/ledger.h"
#include "capture/opener.h"
#include "capture/order.h"
#include "capture/pace.h"
#include "capture/pager.h"
#include "capture/process.h"
#include "capture/program.h"
#include "capture/pythons.h"
#include "capture/sampler.h"
#include "capture/saver.h"
#include "capture/schedule.h"
#include "capture/sideband.h"
#include "capture/tables.h"
#include "symbolizers/client.h"

enum { HOST_ID = 1, EVENT_ID = 1 };

struct parked;

/* A mapping of a file that may turn out to be an interpreter; its record is not in order yet. */
struct prefetched_mapping {
	uint64_t object; /* object.id */
	uint32_t pid;
	uint64_t start, offset, time;
};

#define LIVE_PREFETCHED_MAX 64

struct live {
	struct source source;
	struct capture_options options;
	struct sampled_event event;
	number_list wanted; /* CPUs to record; empty means all */
	struct cgroups *cgroups;
	struct order *order;
	struct program *program;
	struct sampler *sampler;
	struct switches *switches; /* NULL: switches are not recorded, like the next two */
	struct switch_order *switch_order;
	struct schedule *schedule;
	uint64_t mark; /* all records up to this time, ns, have been handled */
	int task_ring; /* ring of the order for tasks found by snapshots */
	uint64_t last_lane; /* last lane.id in use */
	struct sideband *sideband;
	struct opener *opener;
	struct symbolizer *symbolizer;
	struct pager *pager; /* NULL: no stacks are walked */
	struct inlines *inlines; /* NULL: lines and inlined functions are not requested */
	struct arena *arena;
	struct tables *tables;
	struct objects *objects;
	struct process_table *table;
	struct intern *intern;
	struct pythons pythons;
	struct prefetched_mapping
		prefetched[LIVE_PREFETCHED_MAX]; /* the most recent ones; object 0: unused */
	unsigned int prefetched_count; /* total number of prefetched mappings so far */
	struct ledger *ledger;
	struct saver *saver; /* NULL: no stacks are kept */
	struct sink *sink;
	int epoll;
	uint64_t started, ended; /* time at which sampling started and ended, ns */
	struct pace pace;
	uint64_t last_tick, last_forget, last_tidy;
	uint64_t last_request; /* time at which names of files were last requested, ns */
	/* the part of the schedule's counts that has been reported as losses */
	struct schedule_counts counted;
	/* children that the BPF programs could not select, as far as reported as losses */
	uint64_t unselected;
	bool over; /* every selected process has exited */
	bool scheduled; /* the schedule knows the CPUs */
	bool scanned; /* the first scan of /proc is over */
	bool remapped; /* the BPF walkers need new mappings before the next drain */
	/* retry the parked stacks, because a table, page or scan that they may wait for has come */
	bool retry;
	bool unknown; /* the last drain saw mappings of unknown files or of Python */
	VECTOR(struct parked *) parked; /* parked samples, oldest first */
	size_t parked_bytes;
	size_t parked_max; /* bytes; above this the oldest are put as they are */
	struct finished_stack finished; /* too large for the C stack */
	int error; /* first error of a callback of the helpers, which cannot return it */
	struct capture_progress progress;
	struct capture_summary summary;
	char container[CGROUP_CONTAINER_MAX];
};

/*
 * Fork the helper processes, with the callbacks of live_records.c. Returns 0 or a negative errno.
 */
int live_start_helpers(struct live *l, struct error *err);

/* live_prefetch.c: callbacks of program_set_prefetcher() and sideband_set_prefetcher(). */
int live_prefetch(void *context, const struct wire_sample *s, uint32_t size);
int live_prefetch_mapping(void *context, const struct life_record *mapping, uint64_t time);
/*
 * Called when an object's kind becomes known; passes the prefetched mappings of interpreters to the
 * BPF walkers. Return 0 or -ENOMEM.
 */
int live_send_prefetched(struct live *l, const struct object *o);

/* Return whether a record of a sample ring is a complete sample. */
bool live_is_sample(const struct wire_sample *s, uint32_t size);
/* Return the interrupted walk of a sample with WIRE_SAVED; its pointers lead into the sample. */
struct unfinished_stack live_unfinished_stack(const struct wire_sample *s);

/* Implements object_updated() of struct objects_context. */
void live_object_updated(void *context, struct object *o, bool changed);

/* Handle a record of a ring at its place in the order. Return 0 or a negative errno. */
int live_handle_record(struct live *l, const struct ordered_record *r, struct error *err);

/* Return whether user stacks are walked. */
static inline bool live_walks_stacks(const struct live *l)
{
	return l->options.sample && !l->options.kernel_only;
}

/* Return whether a process may be sampled, judging by its pid and those of its ancestors. */
static inline bool live_selects(const struct live *l, uint32_t pid)
{
	return !l->options.pid_count || program_selects_pid(l->program, pid);
}

/*
 * Create the tables that need a sink: processes, stacks, accounts. Returns 0 or a negative errno.
 */
int live_begin_tables(struct live *l, struct error *err);

/* Implements source_ops.run. */
int live_run(struct source *source, struct sink *sink, struct error *err);

/* Open the events of CPUs that came online, and close those of CPUs that went offline. */
int live_follow_cpus(struct live *l, struct error *err);

/*
 * live_stacks.c: handle a sample whose stack the BPF programs could not finish: put it, or park it
 * until its stack can be finished.
 */
int live_put_unfinished(struct live *l, struct process_entry *p, const struct wire_sample *s,
			const struct sample *r, struct error *err);
/* Retry the parked stacks. last: put all of them, as they are if they cannot be finished. */
int live_retry_stacks(struct live *l, bool last, struct error *err);
void live_free_stacks(struct live *l);
/* Request the pages of tables that a walk may need, which waits at pc for a table. */
void live_request_pages(struct live *l, const struct space *space, uint64_t pc,
			const struct unfinished_stack *u);
/* Save a stack that ended badly, if such stacks are kept. begin: where its walk began. */
int live_save_bad_stack(struct live *l, struct space *space, const struct raw_stack *raw,
			const struct unfinished_stack *begin, struct error *err);
/* Put a sample whose stack is complete, or cannot become more complete. */
int live_put_sample(struct live *l, const struct raw_stack *raw, struct sample *r,
		    struct error *err);

#endif
