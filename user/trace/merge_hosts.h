/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of several traces: which are one, and how their clocks become one. */
#ifndef SKEIN_TRACE_MERGE_HOSTS_H
#define SKEIN_TRACE_MERGE_HOSTS_H

#include "trace/merge_ids.h"

/* A host as one trace tells of it. */
struct told_host {
	struct host host; /* texts are of merge_hosts */
	size_t one; /* index of the host that it is, among all */
};

struct told_hosts {
	VECTOR(struct told_host) list;
};

struct merge_hosts {
	struct names texts;
	VECTOR(struct host) list; /* in the order in which their recordings began; id: index + 1 */
};

/* Keep what a trace tells of a host: 0 or -ENOMEM. */
int merge_hosts_tell(struct merge_hosts *hosts, struct told_hosts *told, const struct host *h);

/*
 * Every trace has told of all of its hosts. maps get their shifts, and the new ids of hosts. 0 or
 * -ENOMEM.
 */
int merge_hosts_unify(struct merge_hosts *hosts, struct told_hosts *const *told,
		      struct merge_map *const *maps, size_t count);

/* Whether two traces tell of one boot of a machine at the same time. */
bool merge_hosts_overlap(const struct told_hosts *a, const struct told_hosts *b);

void merge_hosts_free(struct merge_hosts *hosts);

#endif
