/* SPDX-License-Identifier: Apache-2.0 */
/* Unify the hosts of several traces, and their clocks. */
#ifndef SKEIN_TRACE_MERGE_HOSTS_H
#define SKEIN_TRACE_MERGE_HOSTS_H

#include "trace/merge_ids.h"

/* A host as it is in one trace. */
struct told_host {
	struct host host; /* texts belong to merge_hosts */
	size_t one; /* index in merge_hosts.list of the unified host */
};

struct told_hosts {
	VECTOR(struct told_host) list;
};

struct merge_hosts {
	struct names texts;
	/* In the order in which their recordings began; id is index + 1. */
	VECTOR(struct host) list;
};

/* Add a host of a trace, and copy its texts. Return 0 or -ENOMEM. */
int merge_hosts_tell(struct merge_hosts *hosts, struct told_hosts *told, const struct host *h);

/*
 * Compute the shift of each trace's stamps and the new ids of hosts, and set them in maps. Call
 * this after all hosts of all traces were added. Return 0 or -ENOMEM.
 */
int merge_hosts_unify(struct merge_hosts *hosts, struct told_hosts *const *told,
		      struct merge_map *const *maps, size_t count);

/* Return whether two traces cover one boot of a machine at the same time. */
bool merge_hosts_overlap(const struct told_hosts *a, const struct told_hosts *b);

void merge_hosts_free(struct merge_hosts *hosts);

#endif
