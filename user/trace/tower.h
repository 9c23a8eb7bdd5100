/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Downsample the stretches of one lane to cells: of one size, or at the same time of all sizes that
 * are 1, 4, 16, ... times as long. Every level has one open cell with exact sums. A cell that
 * closes is added to the cell of the level above, and a stretch that covers whole cells is passed
 * up as one stretch, so that its cost does not depend on its length.
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
	 * Process count complete cells of a level, all equal, beginning with number first (time /
	 * size). Cells come in order; gaps between them are left out. Return 0 or -ENOMEM.
	 */
	int (*cells)(struct tower *t, unsigned int level, uint64_t first, uint64_t count,
		     const struct cell *cell);
};

struct tower {
	const struct tower_events *events;
	/* end of the last stretch, ns; parts of later stretches before this time are cut off */
	uint64_t at;
	struct level *levels;
	uint8_t shift; /* cells of level 0 are 1 << shift ns */
	uint8_t count; /* number of levels in memory */
	uint8_t top;   /* number of the highest level */
};

/* A cell is 1 << TOWER_STEP times as long as one of the level below. */
#define TOWER_STEP 2

static inline unsigned int tower_shift(const struct tower *t, unsigned int level)
{
	return t->shift + TOWER_STEP * level;
}

/*
 * Add a stretch to the cells of level base and the levels above. Stretches must come in order;
 * thread is that of mix_add(). Open cells of levels below base are closed first. Return 0 or
 * -ENOMEM.
 */
int tower_paint(struct tower *t, unsigned int base, uint64_t time, uint64_t end, uint16_t key,
		uint64_t thread);

/* Close the open cells of all levels from the finest one up to level. Return 0 or -ENOMEM. */
int tower_close(struct tower *t, unsigned int level);

/* Like tower_close(), for those open cells that end before t->at, which get no more stretches. */
int tower_close_stale(struct tower *t, unsigned int level);

/*
 * Add to m the sums of all open cells, of the levels up to level, that lie in the cell number cell
 * of that level.
 */
int tower_open_mix(const struct tower *t, unsigned int level, uint64_t cell, struct mix *m);

void tower_free(struct tower *t);

#endif
