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
	const unsigned int *finest; /* the finest level that the pyramid renders (pyramid.finest) */
	struct cell_runs
		*level_runs; /* the complete cells by level, up to the highest level with cells */
	uint8_t level_runs_count;
	enum lane_kind kind;
	bool dead; /* the thread has no open stretch, so it is dead */
	/* store the lane's cells before their blocks are complete, then free the lane */
	bool stored_early;
};

/* The number of records in an incomplete block. */
struct block_count {
	uint64_t block; /* number of the block: its start in lengths of a block */
	uint64_t records;
	bool dead; /* rows of dead lanes were stored */
};

struct encoded_row {
	size_t at, size; /* offset and bytes in block_maker.blob */
	uint64_t first, last; /* lane.id of the first and of the last lane */
};

/* Working memory of block_store_rows(). Zeroed memory is ready for use. */
struct block_maker {
	struct packer packer;
	struct bytes blob;
	struct cell_run_list runs;
	VECTOR(struct encoded_row) rows;
	/*
	 * The lanes of the current row, and the index of the first of each lane's runs. Pointers to
	 * the runs are set when the row is complete, because the array of runs may move before.
	 */
	struct pyramid_row_lane lanes[PYRAMID_ROW_LANES_MAX];
	size_t first_run[PYRAMID_ROW_LANES_MAX];
	unsigned int count, limit; /* lanes in the current row; maximum number of lanes */
};

struct pyramid {
	struct pyramid_events events;
	struct pyramid_options options;
	VECTOR(struct pyramid_lane *) lanes; /* in order of ids if sorted is set */
	struct index index; /* lane.id -> index in lanes */
	bool sorted;
	/* source of the open stretches that are rendered into blocks; NULL at the end */
	const struct states *states;
	struct open_list open; /* open stretches by lane; those of CPU lanes are not used */
	bool open_is_current; /* open holds the present open stretches of states */
	bool finished; /* no stretch is open, and blocks end with the recording */
	unsigned int finest; /* finest level that is rendered */
	VECTOR(struct block_count) counts[PYRAMID_LEVELS];
	/*
	 * A slot is the number + 1 of a block of level 0. The current slot and the first one, 0:
	 * none yet; the number of records in the current slot.
	 */
	uint64_t slot, first_slot, slot_records;
	uint64_t runs_slot; /* slot in which runs are counted next */
	uint64_t order; /* time of the record that began the current slot, ns; 0 in the first */
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
	/*
	 * time before which the states of all lanes are certain, ns; below end if a CPU had no
	 * slices for too long
	 */
	uint64_t settled;
};

/*
 * Make the rows of the lanes of one kind, and store these rows if they are small enough (*stored).
 * p->lanes must be sorted, and p->open be current. Return 0 or a negative errno.
 */
int block_store_rows(struct pyramid *p, const struct block *b, enum lane_kind kind, bool *stored,
		     struct error *err);
/*
 * Store rows of the lanes with stored_early set. *any_stored: there were such rows. Return 0 or a
 * negative errno.
 */
int block_store_dead_rows(struct pyramid *p, const struct block *b, bool *any_stored,
			  struct error *err);
void block_maker_free(struct block_maker *m);

#endif
