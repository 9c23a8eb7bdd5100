/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Downsample the stretches of one lane to cells: of one size, or of one size and all those 4, 16,
 * ... times coarser at once. Every level has one open cell with exact sums. A cell that closes is
 * added to the cell above it, and a stretch that covers whole cells is passed up as one stretch, so
 * that its cost does not depend on its length.
 */
#ifndef SKEIN_TRACE_TOWER_H
#define SKEIN_TRACE_TOWER_H

#include <stddef.h>

#include "base/vector.h"
#include "trace/mix.h"

struct tower;

struct level {
	uint64_t open; /* number of the open cell, if mix.told is not 0 */
	struct mix mix;
};

struct tower_events {
	/*
	 * Take count complete cells of a level, all equal, beginning with number first (time /
	 * size). Cells come in order; gaps between them are left out. 0 or -ENOMEM.
	 */
	int (*cells)(struct tower *t, unsigned int level, uint64_t first, uint64_t count,
		     const struct cell *cell);
};

struct tower {
	const struct tower_events *events;
	uint64_t at; /* end of the last stretch, ns: earlier parts of later stretches are cut off */
	struct level *levels;
	uint8_t shift; /* cells of level 0 are 1 << shift ns */
	uint8_t count; /* levels in memory */
	uint8_t top;   /* number of the highest level */
};

/* A cell is 1 << TOWER_STEP times as long as one of the level below. */
#define TOWER_STEP 2

static inline unsigned int tower_shift(const struct tower *t, unsigned int level)
{
	return t->shift + TOWER_STEP * level;
}

/*
 * Add a stretch to the cells of level base and above. Stretches come in order; thread as in
 * mix_add(). Open cells below base are closed first. 0 or -ENOMEM.
 */
int tower_paint(struct tower *t, unsigned int base, uint64_t time, uint64_t end, uint16_t key,
		uint64_t thread);

/* Close the open cells, from the finest level up to that one. 0 or -ENOMEM. */
int tower_close(struct tower *t, unsigned int level);

/*
 * Close, up to that level, only the open cells that end before t->at, which get no more stretches.
 */
int tower_close_stale(struct tower *t, unsigned int level);

/* Add to m the sums of all open cells up to that level that lie in the given cell of that level. */
int tower_open_mix(const struct tower *t, unsigned int level, uint64_t cell, struct mix *m);

void tower_free(struct tower *t);

#endif
