/* SPDX-License-Identifier: Apache-2.0 */
/* The data of pyramid.c and pyramid_block.c. Private to these two files. */
#ifndef SKEIN_TRACE_PYRAMID_BLOCK_H
#define SKEIN_TRACE_PYRAMID_BLOCK_H

#include "analyze/index.h"
#include "trace/checkpoint.h"
#include "trace/lane_levels.h"
#include "trace/pyramid.h"

struct pyramid_lane {
	struct lane_levels levels; /* must be first: callbacks cast it to the lane */
	uint64_t id;
	const unsigned int *finest; /* of the pyramid */
	struct cell_runs
		*level_runs; /* runs of cells, one strip per level, up to the highest with cells */
	uint8_t level_runs_count;
	enum lane_kind kind;
	bool dead; /* the thread is dead: no more stretches follow */
	/* the lane's cells are stored before their blocks are complete; then the lane is freed */
	bool stored_early;
};

/* The number of records in an incomplete block. */
struct block_count {
	uint64_t block; /* number of the block: its start in lengths of a block */
	uint64_t records;
	bool dead; /* rows of dead lanes were stored */
};

struct encoded_row {
	size_t at, size; /* offset and bytes in blob */
	uint64_t first, last; /* lane.id */
};

/* Working memory of block_store_rows(). Zeroed memory is ready for use. */
struct block_maker {
	struct packer packer;
	struct bytes blob;
	struct cell_run_list runs;
	VECTOR(struct encoded_row) rows;
	/* The lanes of the current row; their runs are set last. */
	struct pyramid_row_lane lanes[PYRAMID_ROW_LANES_MAX];
	size_t first_run[PYRAMID_ROW_LANES_MAX];
	unsigned int count, limit;
};

struct pyramid {
	struct pyramid_events events;
	struct pyramid_options options;
	VECTOR(struct pyramid_lane *) lanes; /* in order of ids if sorted is set */
	struct index index; /* lane.id -> lanes */
	bool sorted;
	const struct states *states; /* whose open stretches go into blocks; NULL at the end */
	struct open_list open; /* open stretches by lane; those of CPU lanes are not used */
	bool open_is_current; /* open has the states at the present time */
	bool finished; /* no stretch is open, and blocks end with the recording */
	unsigned int finest; /* finest level that is rendered */
	VECTOR(struct block_count) counts[PYRAMID_LEVELS];
	uint64_t slot, first_slot, slot_records; /* blocks of level 0, number + 1; 0: none yet */
	uint64_t runs_slot; /* slot in which runs are counted next */
	uint64_t order; /* time of the last record, ns */
	uint64_t last_end; /* largest end of a stretch, ns */
	struct block_maker maker;
};

/*
 * Return whether slices tile the lanes of that kind. Such lanes never end; the cells of other lanes
 * are complete only with the open stretches of states_each().
 */
static inline bool is_tiled(enum lane_kind kind)
{
	return lane_traits(kind)->states == LANE_STATES_TILES;
}

struct block {
	unsigned int level;
	uint64_t number, records;
	uint64_t time, end; /* ns */
	uint64_t settled; /* time before which everything is certain, ns; may be below end */
};

/*
 * Store the rows of the lanes of one kind, if they are small enough (*stored). p->lanes must be
 * sorted, and p->open be up to date.
 */
int block_store_rows(struct pyramid *p, const struct block *b, enum lane_kind kind, bool *stored,
		     struct error *err);
/* Store rows of the lanes with stored_early set. *any_stored: there were such rows. */
int block_store_dead_rows(struct pyramid *p, const struct block *b, bool *any_stored,
			  struct error *err);
void block_maker_free(struct block_maker *m);

#endif
