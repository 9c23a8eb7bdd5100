/* SPDX-License-Identifier: Apache-2.0 */
/* Add up the samples of one event by group: process, thread, container, module and so on. */
#ifndef SKEIN_ANALYZE_GROUPS_H
#define SKEIN_ANALYZE_GROUPS_H

#include "analyze/names.h"
#include "analyze/profile.h"
#include "base/vector.h"

/* X(NAME, "word of the command line") */
#define GROUP_KINDS(X) \
	X(PROGRAM, "program") /* processes with the same name in the same container */ \
	X(PROCESS, "process") /* by host, pid, time of birth and name */ \
	X(THREAD, "thread") \
	X(SERVICE, "service") \
	X(CONTAINER, "container") \
	X(CGROUP, "cgroup") \
	X(MODULE, "module") /* by the module of the innermost frame */

#define GROUP_ENUM(NAME, word) GROUP_##NAME,
enum group_by { GROUP_KINDS(GROUP_ENUM) GROUP_KIND_COUNT };
#undef GROUP_ENUM

struct group {
	/* Name of the program, process, ... or module. It belongs to the profile, or is static. */
	const char *name;
	/* The first process of the group; one with empty texts if the process is not known. */
	const struct process *process;
	const struct thread *thread; /* for GROUP_THREAD, else NULL; NULL also if not known */
	uint32_t processes; /* number of different processes */
	uint64_t count, weight;
};

struct groups {
	VECTOR(struct group) list; /* most weight first, then by name, pid and process.id */
};

/* Group all sums of an event. Return 0 or -ENOMEM. The profile must outlive the groups. */
int groups_of(struct groups *out, const struct profile *p, uint32_t event, enum group_by by);
void groups_free(struct groups *g);

/*
 * Set *out to the number of the group of a thread (NULL: not known) of a process; a new group gets
 * the next number in keys. This is for callers that add up other records than samples; not for
 * GROUP_MODULE. Return the name of the group, which belongs to the process or thread or is static;
 * NULL without memory.
 */
const char *group_number(struct names *keys, enum group_by by, const struct process *p,
			 const struct thread *t, uint32_t *out);

/*
 * Return the name of a stack's group for GROUP_MODULE: the path of the module of the innermost
 * frame, "[unknown]", or "[no stack]" for PROFILE_NONE.
 */
const char *group_module(const struct profile *p, uint32_t stack);

/* Return the name of a process: its comm, else the file name of its program, else "[unknown]". */
const char *process_name(const struct process *p);
/*
 * Return the name of a thread as every output shows it: the one that its runtime gave it (a JVM's
 * names are longer than those of the kernel), else its comm; "" if neither is known. Texts of t may
 * be NULL.
 */
const char *thread_display_name(const struct thread *t);
/*
 * Write a short text for the place of a process to buf: the service, else the container's id cut to
 * 12 bytes, else the last part of its control group, else "". Return buf.
 */
const char *process_place(const struct process *p, char *buf, size_t size);

/* The sum of the accounts of all CPUs, and the losses of the event and of no particular event. */
struct losses {
	struct account total; /* cpu has no meaning */
	uint64_t by_reason[LOSS_COUNT]; /* number of lost records */
	uint64_t suspended; /* ns in which the machine was suspended */
	uint64_t unknown_reason;
	uint64_t due; /* lost samples that were due, without the stolen ones */
	/*
	 * due samples of the incomplete periods with which a recording or a CPU starts or ends: at
	 * most one sample per incomplete period and CPU
	 */
	uint64_t cut_off;
	/*
	 * Due samples that none of the above explains; 0 if there is at most one per account.
	 * Negative: more samples were recorded than were due.
	 */
	int64_t unexplained;
};

void losses_of_event(struct losses *out, const struct profile *p, uint32_t event);
/* Add up the losses of stacks of waits and of wakers, by reason. */
void lost_waits(uint64_t out[LOSS_COUNT], const struct profile *p);

#endif
