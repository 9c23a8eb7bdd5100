/* SPDX-License-Identifier: Apache-2.0 */
/* Live capture from the inside: what live.c, live_begin.c and live_records.c share. */
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

/* A mapping that is not in order yet, of a file that may turn out to be an interpreter. */
struct foreseen {
	uint64_t object; /* its id */
	uint32_t pid;
	uint64_t start, offset, time;
};

#define LIVE_FORESEEN_MAX 64

struct live {
	struct source source;
	struct capture_options options;
	struct sampled_event event;
	struct cpu_set wanted; /* CPUs asked for; empty: all */
	struct cgroups *cgroups;
	struct order *order;
	struct program *program;
	struct sampler *sampler;
	struct switches *switches; /* NULL: they are not recorded */
	struct schedule *schedule; /* the same */
	int task_ring; /* of the order: what snapshots have found */
	uint64_t last_lane; /* lane.id given */
	struct sideband *sideband;
	struct opener *opener;
	struct symbolizer *symbolizer;
	struct pager *pager; /* NULL: no stacks are walked */
	struct inlines *inlines; /* NULL: they are not asked for */
	struct arena *arena;
	struct tables *tables;
	struct objects *objects;
	struct process_table *table;
	struct intern *intern;
	struct pythons pythons;
	struct foreseen foreseen[LIVE_FORESEEN_MAX]; /* the last ones; object 0: none */
	unsigned int foreseen_count; /* ever */
	struct ledger *ledger;
	struct saver *saver; /* NULL: no stacks are kept */
	struct sink *sink;
	int epoll;
	uint64_t started, ended; /* sampling */
	struct pace pace;
	uint64_t last_tick, last_forget, last_tidy;
	uint64_t last_asked; /* for names of files */
	struct schedule_counts counted; /* as told in losses */
	uint64_t unselected; /* children that the kernel side could not select, as told */
	bool over; /* every selected process has ended */
	bool scheduled; /* the schedule knows which CPUs there are */
	bool scanned; /* the first scan of /proc is over */
	bool remapped; /* walkers have to be told of processes before more is drained */
	bool retry; /* something has come that stacks may have waited for */
	bool unknown; /* the last look at the rings has found mappings of unknown files, or Python's */
	VECTOR(struct parked *) parked; /* samples that wait, oldest first */
	size_t parked_bytes;
	size_t parked_most; /* then the oldest are put as they are */
	struct finished finished; /* too large for the stack */
	int error; /* of a callback that cannot return it */
	struct error why;
	struct capture_progress progress;
	struct capture_summary summary;
	char container[CGROUP_CONTAINER_MAX];
};

/* Fork the helper processes, with the callbacks of live_records.c. */
int live_start_helpers(struct live *l, struct error *err);

/* live_foresee.c. What program_foresee() and sideband_foresee() call. */
void live_foresee(void *context, const struct wire_sample *s, uint32_t size);
void live_foresee_mapping(void *context, const struct life *mapping, uint64_t time);
/* It is known now whether an object is an interpreter: tell the walkers of who was foreseen. */
void live_foreseen(struct live *l, const struct object *o);

/* Whether a record of a sample ring is a whole sample. */
bool live_is_sample(const struct wire_sample *s, uint32_t size);
/* The first failure in a callback that cannot return it, for whoever can. */
void live_keep_error(struct live *l, int ret);

/* An object_context's renewed(). */
void live_renewed(void *context, struct object *o, bool changed);

/* One record in its order, as order_release() hands it over; its error's words are in l->why. */
int live_record(void *context, int ring, uint64_t time, const void *data, uint32_t size,
		bool late);

/* Whether user stacks are walked. */
static inline bool live_walks(const struct live *l)
{
	return l->options.sample && !l->options.kernel_only;
}

/* Whether a process may be sampled, as far as its pid and those of its ancestors tell. */
static inline bool live_selects(const struct live *l, uint32_t pid)
{
	return !l->options.pid_count || program_selects_pid(l->program, pid);
}

/* The tables that need a sink: processes, stacks, accounts. */
int live_begin_tables(struct live *l, struct error *err);

/* source_ops.run */
int live_run(struct source *source, struct sink *sink, struct error *err);

/* Open the events of CPUs that came online, close those of CPUs that went. */
int live_follow_cpus(struct live *l, struct error *err);

/*
 * live_stacks.c. A sample whose stack the kernel side could not finish: put it, or keep it until
 * it can be. Errors' words are in l->why.
 */
int live_put_unfinished(struct live *l, struct process_entry *p, const struct wire_sample *s,
			const struct wire_unfinished *at, struct sample *r);
/* Look at those that wait again. last: nothing more will come, put them as they are. */
int live_retry_stacks(struct live *l, bool last);
void live_free_stacks(struct live *l);
/* A walk waits at pc for a table: have the pages of it made that it comes through. */
void live_want_pages(struct live *l, const struct space *space, uint64_t pc,
		     const struct wire_unfinished *at, const void *stack);
/* Keep a stack that ended badly, if that was asked for: as it began; stack: what was copied. */
int live_keep_bad(struct live *l, struct space *space, const struct raw_stack *raw,
		  const struct wire_unfinished *begin, const void *stack);
/* Put a sample whose stack is whole, or as whole as it gets. */
int live_put_sample(struct live *l, const struct raw_stack *raw, struct sample *r);

#endif
