/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up readings of the sums of control groups, whose rows are used again after a group has gone,
 * by the path of the group, and puts what has changed.
 */
#ifndef SKEIN_CAPTURE_GROUP_TOTALS_H
#define SKEIN_CAPTURE_GROUP_TOTALS_H

#include "base/pipe.h"
#include "base/vector.h"
#include "bpf/group_time.h"

/* Group_time.cgroup of groups that have no path: no room, or gone before it could be read. */
#define GROUP_PATH_OTHER "[other]"
#define GROUP_PATH_UNKNOWN "[unknown]"

/* All groups with one path. */
struct group_total {
	char *path, *service;
	struct group_sum now[GROUP_COLUMN_COUNT], put[GROUP_COLUMN_COUNT];
	unsigned int rows; /* that belong to it; 0: it is put as 0 and then forgotten */
};

/* A row of the kernel's sums that is in use. */
struct group_row {
	struct group_total *of;
	uint64_t id; /* of the control group */
	uint64_t grown; /* when it grew last, ns */
	struct group_sum seen[GROUP_COLUMN_COUNT]; /* the largest so far */
};

struct group_totals {
	VECTOR(struct group_total *) list;
	struct group_row *rows[GROUP_ROWS]; /* NULL: not in use */
};

/*
 * A row belongs to a group from now on, ns, and begins at 0. path and service are copied. Return 0
 * or -ENOMEM.
 */
int group_totals_begin(struct group_totals *t, uint32_t row, const struct group_row *begun,
		       const char *path, const char *service);
/*
 * Take the sums of a row that is in use, at now, ns. A sum below one before adds nothing until it
 * exceeds that: what a running thread has run so far may be that of another group in the end.
 */
void group_totals_take(struct group_totals *t, uint32_t row,
		       const struct group_sum sums[GROUP_COLUMN_COUNT], uint64_t now);
/* Forget what the groups have had so far: what they grow by from now on is added up. */
void group_totals_forget(struct group_totals *t);
/* A row belongs to no group any more. */
void group_totals_end(struct group_totals *t, uint32_t row);
/* Put the sums that have changed since the last call. Return 0 or a negative errno. */
int group_totals_put(struct group_totals *t, uint64_t host, struct sink *to, struct error *err);
void group_totals_free(struct group_totals *t);

#endif
