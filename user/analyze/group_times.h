/* SPDX-License-Identifier: Apache-2.0 */
/* A table of what the threads of control groups did: the records group_time, by their keys. */
#ifndef SKEIN_ANALYZE_GROUP_TIMES_H
#define SKEIN_ANALYZE_GROUP_TIMES_H

#include "analyze/names.h"
#include "base/pipe.h"
#include "base/vector.h"

/* Zeroed memory is an empty table. */
struct group_times {
	struct names keys; /* host, cgroup, state and wait as bytes: numbers of rows */
	struct names texts;
	VECTOR(struct group_time) rows; /* their texts are in texts */
	VECTOR(char) key; /* working memory */
};

/* Get the number of the row with the key of r, which begins at 0. Return 0 or -ENOMEM. */
int group_times_find(struct group_times *t, const struct group_time *r, uint32_t *out);
/* Add a record to the row with its key. Return 0 or -ENOMEM. */
int group_times_add(struct group_times *t, const struct group_time *r);
/* Put all rows that are not 0. Return 0 or a negative errno. */
int group_times_put(const struct group_times *t, struct sink *to, struct error *err);
void group_times_free(struct group_times *t);

/* What the threads of one service did, or of one control group that belongs to no service. */
struct service_time {
	const char *name; /* of the service, or the path of the group. It is hostile. */
	bool group; /* name is that of a group */
	uint64_t ns[STATE_COUNT][WAIT_COUNT];
	uint64_t count[STATE_COUNT][WAIT_COUNT];
};

struct service_times {
	struct group_times groups;
	VECTOR(struct service_time) rows; /* that ran longest first */
	uint64_t ran; /* ns that all of them ran */
};

/*
 * Run a source to its end. *out is NULL if it has no group_time. Return 0 or a negative errno with
 * the cause in *err.
 */
int service_times_read(struct service_times **out, struct source *source, struct error *err);
/* Accepts NULL. */
void service_times_free(struct service_times *s);

/* Return the ns that threads waited for a CPU: woken, preempted or throttled. */
uint64_t service_time_queued(const struct service_time *s);
/* Return the ns that threads were blocked by an enum wait_class, in whatever state. */
uint64_t service_time_blocked(const struct service_time *s, enum wait_class wait);

#endif
