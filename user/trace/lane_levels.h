/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Downsample the stretches of one lane to cells: of one size, or at the same time of all sizes that
 * are 1, 4, 16, ... times as long. Every level has at most one open cell, with exact sums. A cell
 * that closes is added to the cell of the level above, and the whole cells that a stretch covers
 * are passed up as one stretch, so that its cost does not depend on its length.
 */
#ifndef SKEIN_TRACE_LANE_LEVELS_H
#define SKEIN_TRACE_LANE_LEVELS_H

#include <stddef.h>

#include "base/vector.h"
#include "trace/cell_sums.h"

struct lane_levels;

struct level {
	uint64_t open; /* number of the open cell, if sums.total is not 0 */
	struct cell_sums sums;
};

struct lane_levels_events {
	/*
	 * Process count complete cells of a level, all equal, beginning with number first (start of
	 * the cell / length of a cell). The cells of a level come in order; cells in which the lane
	 * had no stretch are left out. Return 0 or -ENOMEM.
	 */
	int (*cells)(struct lane_levels *t, unsigned int level, uint64_t first, uint64_t count,
		     const struct cell *cell);
};

struct lane_levels {
	const struct lane_levels_events *events;
	/* end of the last stretch, ns; parts of later stretches before this time are cut off */
	uint64_t at;
	struct level *levels;
	uint8_t shift; /* cells of level 0 are 1 << shift ns */
	uint8_t count; /* number of levels in memory */
	uint8_t top; /* number of the highest level */
};

/* A cell is 1 << LEVEL_STEP times as long as a cell of the level below. */
#define LEVEL_STEP 2

static inline unsigned int lane_level_shift(const struct lane_levels *t, unsigned int level)
{
	return t->shift + LEVEL_STEP * level;
}

/* A stretch of time in one state; key and thread as in cell_sums_add(). */
struct level_stretch {
	uint64_t time, end; /* ns */
	uint64_t thread;
	uint16_t key;
};

/*
 * Add a stretch to the cells of level base and above. Stretches must come in order; a part before
 * t->at is ignored. Open cells below level base are closed first. Return 0 or -ENOMEM.
 */
int lane_levels_add(struct lane_levels *t, unsigned int base, const struct level_stretch *s);

/* Close the open cells of all levels from level 0 up to level. Return 0 or -ENOMEM. */
int lane_levels_close(struct lane_levels *t, unsigned int level);

/*
 * Like lane_levels_close(), but only for the open cells that end before t->at, which no later
 * stretch can touch.
 */
int lane_levels_close_stale(struct lane_levels *t, unsigned int level);

/*
 * Add to m the sums of all open cells, of the levels up to level, that lie in the cell number cell
 * of that level. Return 0 or -ENOMEM.
 */
int lane_levels_open_sums(const struct lane_levels *t, unsigned int level, uint64_t cell,
			  struct cell_sums *m);

void lane_levels_free(struct lane_levels *t);

#endif
