/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assign new ids to the entities of several traces: equal entities get one id; lanes only if the
 * traces follow each other (by_life).
 */
#ifndef SKEIN_TRACE_MERGE_IDS_H
#define SKEIN_TRACE_MERGE_IDS_H

#include "analyze/names.h"
#include "base/record.h"

#define MERGE_RECORD(kind, KIND, storage, summary) struct kind kind;
union merge_record {
	uint64_t id; /* id, the first field of every entity */
	RECORD_KINDS(MERGE_RECORD)
};
#undef MERGE_RECORD

/* The conversion of one trace's ids, stamps and CPU numbers. */
struct merge_map {
	struct index ids[KIND_COUNT]; /* the trace's id -> new id */
	struct index lane_kinds; /* the trace's lane.id -> enum lane_kind */
	uint64_t shift; /* ns to add to the trace's stamps */
	/* number to add to the trace's CPU numbers, which come after those of the earlier traces */
	uint64_t cpus;
};

/* The new ids of all traces. */
struct merge_ids {
	uint32_t last[KIND_COUNT]; /* the last new id that was assigned; 0: none */
	struct names shared[KIND_COUNT]; /* entities so far, as the bytes of all fields but id */
	VECTOR(uint32_t) shared_ids[KIND_COUNT]; /* new ids, by number in shared */
	struct index stacks; /* (parent, frame) -> new id */
	/* a process or thread is the same whatever is known of its start, end, parent and so on */
	bool by_life;
	VECTOR(char) key; /* working memory */
};

void merge_map_free(struct merge_map *m);
void merge_ids_free(struct merge_ids *ids);

/*
 * Set the new id of an entity of a trace; hosts need this. Return 0 or -ENOMEM, like the functions
 * below, which also return -EOVERFLOW if there are 2^32 entities of a kind.
 */
int merge_ids_set(struct merge_map *m, enum record_kind kind, uint64_t id, uint32_t fresh);

/*
 * Convert *record, of any kind except a host, but not its own id: shift its stamps, renumber its
 * CPU, and replace the ids that it refers to. A reference to an entity that has not come yet or is
 * missing gets a new id.
 */
int merge_ids_convert(struct merge_ids *ids, struct merge_map *m, enum record_kind kind,
		      union merge_record *record);
/*
 * Replace the own id of an entity after merge_ids_convert(). *known: an equal entity was put before
 * under the same new id, so the caller must not put this one.
 */
int merge_ids_assign(struct merge_ids *ids, struct merge_map *m, enum record_kind kind,
		     union merge_record *record, bool *known);

#endif
