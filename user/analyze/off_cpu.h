/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add up the waits of a trace whose stacks were taken: where threads waited, for which lock, and
 * which threads or interrupts ended the waits. All times are estimates from waits that were chosen
 * by chance, with an interval (wait_sum.h). Memory grows with the number of stacks that were taken.
 */
#ifndef SKEIN_ANALYZE_OFF_CPU_H
#define SKEIN_ANALYZE_OFF_CPU_H

#include "analyze/functions.h"
#include "analyze/groups.h"
#include "analyze/sched_rows.h"
#include "analyze/wait_sum.h"
#include "base/pipe.h"
#include "base/vector.h"

#define OFF_CPU_NONE UINT32_MAX

/* A frame of a stack, below its callers. Equal paths of functions are one node. */
struct off_cpu_node {
	uint32_t caller; /* index of the caller's node; OFF_CPU_NONE: there is none */
	uint32_t symbol; /* number of the function in the symbols */
	uint32_t frame; /* index of one of its frames in the profile; PROFILE_NONE: unknown */
};

/* The largest part of a row that shares one other number. */
struct off_cpu_part {
	uint32_t number; /* OFF_CPU_NONE: no part is known */
	uint64_t weight; /* ns */
};

#define OFF_CPU_LINKS_MAX 8

/* In place of the name of the waker of waits that had not ended. */
#define OFF_CPU_NOT_ENDED "had not ended"

/*
 * Who ended a wait, and who had woken that thread before, while the wait lasted; and so on. A wait
 * of a link is sampled if its stack was taken, too.
 */
struct off_cpu_link {
	uint32_t waker; /* number in off_cpu.wakers */
	/* the function in which the waker waited before (off_cpu_function.own); OFF_CPU_NONE */
	uint32_t symbol;
	bool woken; /* the waker had waited, too: the next link ended that wait */
	bool sampled; /* its stack was taken */
};

struct off_cpu_chain {
	uint32_t count;
	struct off_cpu_link links[OFF_CPU_LINKS_MAX];
};

enum off_cpu_kind {
	OFF_CPU_SITES, /* by group, class of wait and stack */
	OFF_CPU_GROUPS, /* by program, or what was asked for */
	OFF_CPU_LOCKS, /* by process and address of the futex */
	OFF_CPU_WAKERS, /* by group of the waiting thread, and by the waker */
	OFF_CPU_CLASSES, /* by class of wait */
	OFF_CPU_KINDS
};

struct off_cpu_row {
	struct wait_sum sum;
	uint64_t not_ended; /* ns of it in waits that had not ended */
	uint32_t group; /* number in names.groups; not for locks and classes */
	uint32_t node; /* for sites: the innermost frame; OFF_CPU_NONE: no stack */
	enum wait_class wait; /* for sites and classes */
	uint32_t waker; /* for wakers: number in names.wakers */
	uint64_t address; /* for locks */
	const struct process *process; /* one of those that waited */
	const struct thread *thread; /* one of those that waited; NULL: not known */
	uint32_t threads; /* for locks: number of threads that waited */
	struct off_cpu_part by; /* for sites and locks: the waker that ended most of the time */
	struct off_cpu_part chain; /* for sites: the chain of wakers with most of the time */
	struct off_cpu_part site; /* for locks: the site with most of the time */
	struct off_cpu_part path; /* for wakers: the waker's most frequent stack, a node */
};

struct off_cpu_table {
	VECTOR(struct off_cpu_row) list; /* most time first */
};

/* Time in which a function was on the stack of a waiting thread. */
struct off_cpu_function {
	uint32_t symbol;
	struct wait_sum total;
	/*
	 * where it is the innermost function outside of the kernel, the C library and Python's
	 * interpreter
	 */
	struct wait_sum own, own_by[WAIT_COUNT]; /* of all classes of waits, and by class */
	uint64_t running; /* the same of time on CPUs, ns; 0 unless off_cpu_query.running is set */
};

struct off_cpu {
	uint64_t largest; /* ns: the largest period T; 0: all waits were chosen */
	struct wait_sum sum;
	VECTOR(struct off_cpu_node) nodes;
	VECTOR(const char *) groups, wakers; /* names, by number; they belong to the profile */
	uint32_t not_ended; /* number in wakers of waits that had not ended; OFF_CPU_NONE: none */
	VECTOR(struct off_cpu_chain) chains;
	struct off_cpu_table tables[OFF_CPU_KINDS];
	/* those with most time of their own first */
	VECTOR(struct off_cpu_function) functions;
	/* time of stacks without such a function: own, own_by and running */
	struct off_cpu_function system;
};

struct off_cpu_query {
	const struct profile *profile;
	const struct symbols *symbols;
	const struct sched_names *names;
	enum group_by by; /* what threads are grouped by; not GROUP_MODULE */
	uint64_t from, to; /* ns since the recording began; to 0: until its end */
	bool running; /* add the weights of the main event to the functions, if they are ns */
	/* return whether a thread is selected, as in struct sched_query; NULL: all are */
	bool (*selected)(const void *context, const struct thread *t);
	const void *context;
	bool no_chains; /* do not read wake-ups; no site has a chain then */
};

/*
 * Run the source of all records of a trace, and add up the waits of the selected threads. Return 0
 * or a negative errno. Free the result with off_cpu_free(), which accepts NULL. The query's profile
 * must outlive it.
 */
int off_cpu_read(struct off_cpu **out, struct source *source, const struct off_cpu_query *q,
		 struct error *err);
void off_cpu_free(struct off_cpu *o);

/* Return whether a function has time of its own. Those that have come first. */
static inline bool off_cpu_function_is_own(const struct off_cpu_function *f)
{
	return f->own.count || f->running;
}
/* Return the interrupt that ended a wait, by the flags of its sample, for sched_interrupt_name().
 */
uint32_t off_cpu_interrupt(uint32_t flags);
/*
 * Return whether a frame is of the kernel, or of a library or interpreter through which programs
 * wait (WAITING_LIBRARIES): nobody looks for these.
 */
bool off_cpu_is_of_system(const struct profile *p, uint32_t frame);

/* Return the largest distance of the ends of the 95 % interval of a sum from the sum, ns. */
double off_cpu_half_width(const struct off_cpu *o, const struct wait_sum *s);
/* Return the part of the exact time of the waits of a sum that has no stack; both in ns. */
uint64_t off_cpu_without_stack(const struct off_cpu *o, const struct wait_sum *s, uint64_t exact);

#endif
