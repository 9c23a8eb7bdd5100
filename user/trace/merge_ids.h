/* SPDX-License-Identifier: Apache-2.0 */
/* New ids for the entities of several traces: one for all that are equal. */
#ifndef SKEIN_TRACE_MERGE_IDS_H
#define SKEIN_TRACE_MERGE_IDS_H

#include "analyze/names.h"
#include "base/record.h"

#define MERGE_RECORD(kind, KIND, storage, summary) struct kind kind;
union merge_record {
	uint64_t id; /* the first field of every entity */
	RECORD_KINDS(MERGE_RECORD)
};
#undef MERGE_RECORD

/* Of one trace: its ids -> new ones. */
struct merge_map {
	struct index ids[KIND_COUNT];
	struct index lane_kinds; /* id of the trace -> enum lane_kind */
	uint64_t shift; /* ns to add to its stamps */
	uint64_t cpus; /* to add to numbers of its CPUs, which come behind those of other traces */
};

/* Of all of them. */
struct merge_ids {
	uint32_t last[KIND_COUNT]; /* new ids given out */
	struct names shared[KIND_COUNT]; /* what is equal, as bytes */
	VECTOR(uint32_t) shared_ids[KIND_COUNT]; /* by their numbers */
	struct index stacks; /* (parent, frame) -> new id */
	VECTOR(char) key; /* working memory */
};

void merge_map_free(struct merge_map *m);
void merge_ids_free(struct merge_ids *ids);

/* What the new id of a host is. 0 or -ENOMEM, as all. */
int merge_ids_set(struct merge_map *m, enum record_kind kind, uint64_t id, uint32_t fresh);

/*
 * Make *record, of a kind that is no host, one of all traces: stamps shifted, CPUs by their new
 * numbers, what it refers to by its new id. A reference into nothing leads into nothing.
 */
int merge_refer(struct merge_ids *ids, struct merge_map *m, enum record_kind kind,
		union merge_record *record);
/*
 * The same for the id of an entity itself, of which the rest is new already. *known: an equal one
 * has come before, so this one is not to be put.
 */
int merge_name(struct merge_ids *ids, struct merge_map *m, enum record_kind kind,
	       union merge_record *record, bool *known);

#endif
