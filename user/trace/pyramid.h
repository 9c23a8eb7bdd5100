/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write the zoom pyramid: downsample the lanes of CPUs and threads to cells, at all levels from
 * PYRAMID_FINEST on, block by block. Blocks worth storing are passed to pyramid_events.row; readers
 * render all other blocks from the records at little cost. See docs/design.md, section 5.
 */
#ifndef SKEIN_TRACE_PYRAMID_H
#define SKEIN_TRACE_PYRAMID_H

#include "analyze/states.h"
#include "trace/lane_levels.h"
#include "trace/pyramid_row.h"

#define PYRAMID_SHIFT 16 /* cells of level 0 are 65.536 us */
#define PYRAMID_LEVELS 19u /* a block of the highest level is 146 years long */
/*
 * The finest level that is stored, with cells of 4.2 ms and blocks of 4.3 s. Readers render finer
 * cells from records: a window of such cells is short, and rarely has so many records that stored
 * cells would be worth their space. Older traces have finer levels.
 */
#define PYRAMID_FINEST 3u

struct pyramid_options {
	uint64_t records; /* blocks with fewer records are not stored but rendered on request */
	/*
	 * The rows of one kind of lanes in a block are stored if they take no more than one byte
	 * per this many records. 0: rows are always stored.
	 */
	uint64_t records_per_byte;
	/*
	 * Maximum number of runs of cells in memory, of 4 or 12 bytes each; when there are more,
	 * the finest level is not rendered from then on. 0: any number.
	 */
	size_t runs;
};

#define PYRAMID_DEFAULTS ((struct pyramid_options){65536, 2, 2u << 20})

static inline unsigned int pyramid_shift(unsigned int level)
{
	return PYRAMID_SHIFT + LEVEL_STEP * level;
}

/*
 * A row of the table pyramid: some lanes of one kind in one block. The ranges of a block's rows of
 * one kind without dead cover all ids. A lane whose id lies in a row's range but which is not in
 * the row did not exist in that time, or its thread had ended before the block was complete and the
 * lane is in a row with dead set.
 */
struct pyramid_row {
	unsigned int level;
	uint64_t time, end; /* start and end of the block, ns */
	enum lane_kind kind;
	/*
	 * the row holds only lanes whose threads ended before the block was complete; readers
	 * ignore the row unless the block also has rows without dead
	 */
	bool dead;
	uint64_t lane, last; /* range of lane.id, both inclusive */
	uint64_t records; /* slices and edges of all lanes in the block */
	const void *data;
	size_t size;
};

struct pyramid_events {
	/* Store a row; row->data is valid during the call only. Return 0 or a negative errno. */
	int (*row)(void *context, const struct pyramid_row *row, struct error *err);
	/*
	 * Delete the rows with dead set of that level, kind of lanes and block, which begins at
	 * time (ns): the block's other rows of this kind are not stored. Return 0 or a negative
	 * errno.
	 */
	int (*drop)(void *context, unsigned int level, enum lane_kind kind, uint64_t time,
		    struct error *err);
	void *context;
};

struct pyramid;

/*
 * Make an empty pyramid; events and options are copied. Return 0 or -ENOMEM, like the functions
 * below, which also return errors of the callbacks.
 */
int pyramid_new(struct pyramid **out, const struct pyramid_events *events,
		const struct pyramid_options *options, struct error *err);
void pyramid_free(struct pyramid *p);
/* Change the options. Call this before the first record. */
void pyramid_set(struct pyramid *p, const struct pyramid_options *options);

/* Add a lane of a CPU. Other lanes are ignored here, and added by their first stretch. */
int pyramid_lane(struct pyramid *p, const struct lane *lane, struct error *err);
/* Add a stretch from states.h. Stretches of lanes whose kind has no stored cells are ignored. */
int pyramid_stretch(struct pyramid *p, const struct stretch *s, struct error *err);

/*
 * Count a record and store the blocks that are complete by now: those that end before
 * states_settled(), or more than 10 s before time. Call this before each slice or edge is put into
 * the states s. time: the largest slice_order() or edge.time so far, ns.
 */
int pyramid_record(struct pyramid *p, const struct states *s, uint64_t time, struct error *err);

/* Store the remaining blocks. Call this after the last stretch. */
int pyramid_finish(struct pyramid *p, struct error *err);

#endif
