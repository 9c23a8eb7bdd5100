/* SPDX-License-Identifier: Apache-2.0 */
/* Unify the hosts of several traces, and their clocks. */
#ifndef SKEIN_TRACE_MERGE_HOSTS_H
#define SKEIN_TRACE_MERGE_HOSTS_H

#include "trace/merge_ids.h"

/* A host as it is in one trace. */
struct source_host {
	struct host host; /* with the trace's own id and stamps; texts belong to merge_hosts */
	size_t unified; /* index of the unified host in merge_hosts.list */
};

struct source_hosts {
	VECTOR(struct source_host) list;
};

struct merge_hosts {
	struct names texts;
	/* Unified hosts, in the order in which their recordings began; id is index + 1. */
	VECTOR(struct host) list;
};

/* Add a copy of a host to the hosts of its trace, with its texts. Return 0 or -ENOMEM. */
int merge_hosts_add(struct merge_hosts *hosts, struct source_hosts *sources, const struct host *h);

/*
 * Set the shift of each trace's stamps and the new ids of its hosts in maps, and make hosts->list.
 * sources and maps have an element for each of count traces. Call this after all hosts of all
 * traces were added. Return 0 or -ENOMEM.
 */
int merge_hosts_unify(struct merge_hosts *hosts, struct source_hosts *const *sources,
		      struct merge_map *const *maps, size_t count);

/* Return whether two traces cover one boot of a machine at the same time. */
bool merge_hosts_overlap(const struct source_hosts *a, const struct source_hosts *b);

void merge_hosts_free(struct merge_hosts *hosts);

#endif
