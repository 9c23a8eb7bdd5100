/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of one event added up by whose they are: process, thread, container, module. */
#ifndef SKEIN_ANALYZE_GROUPS_H
#define SKEIN_ANALYZE_GROUPS_H

#include "analyze/names.h"
#include "analyze/profile.h"
#include "base/vector.h"

/* X(NAME, "word of the command line") */
#define GROUP_KINDS(X) \
	X(PROGRAM, "program") /* processes of one name in one container */ \
	X(PROCESS, "process") /* one program run by one pid */ \
	X(THREAD, "thread") \
	X(CONTAINER, "container") \
	X(CGROUP, "cgroup") \
	X(MODULE, "module") /* of the innermost frame */

#define GROUP_ENUM(NAME, word) GROUP_##NAME,
enum group_by { GROUP_KINDS(GROUP_ENUM) GROUP_KIND_COUNT };
#undef GROUP_ENUM

struct group {
	/* what the members have in common; the profile's, or NULL where it does not apply */
	const char *name; /* program, thread, container, control group or module */
	const struct process *process; /* the first member: alone or one of many */
	const struct thread *thread; /* of GROUP_THREAD */
	uint32_t processes; /* how many different ones */
	uint64_t count, weight;
};

struct groups {
	VECTOR(struct group) list; /* most weight first, then by name and pid */
};

/* Of all sums of an event: 0 or -ENOMEM. The profile must outlive the groups. */
int groups_of(struct groups *ret, const struct profile *p, uint32_t event, enum group_by by);
void groups_free(struct groups *g);

/*
 * The number and the name of the group of a thread (NULL: not known) of a process, for who adds up
 * other things than samples; not by module. The name is theirs. 0 or -ENOMEM.
 */
int group_number(struct names *keys, enum group_by by, const struct process *p,
		 const struct thread *t, const char **name, uint32_t *ret);

/* The name of the group that a stack belongs to by module: that of its innermost frame. */
const char *group_module(const struct profile *p, uint32_t stack);

/* The name of a process: its comm, else the file name of its program, else "[unknown]". */
const char *process_name(const struct process *p);
/*
 * Where it lives, short: the container's id cut to 12 bytes, else the last
 * part of its control group; "" for neither.
 */
const char *process_place(const struct process *p, char *buf, size_t size);

/* Accounts of all CPUs added up, and the losses of the event and of none. */
struct losses {
	struct account total; /* cpu means nothing */
	uint64_t by_reason[LOSS_COUNT]; /* records */
	uint64_t unknown_reason;
	uint64_t due; /* of them, samples that were due and did not come; not the stolen ones */
	uint64_t cut_off; /* parts of periods where intervals start and end: one per CPU */
	/* Due samples that nothing explains, beyond those. Negative: more than were due. */
	int64_t unexplained;
};

void losses_of(struct losses *ret, const struct profile *p, uint32_t event);

#endif
