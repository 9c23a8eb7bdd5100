/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cells of one lane, painted from its stretches: of one size, or of a size
 * and all those four, sixteen, ... times coarser at once. Every level has one open
 * cell with exact sums. What closes is added to the cell above it, and what covers whole cells
 * goes up as one stretch, so that a stretch costs the same however long it is.
 */
#ifndef SKEIN_TRACE_TOWER_H
#define SKEIN_TRACE_TOWER_H

#include <stddef.h>

#include "base/vector.h"
#include "trace/mix.h"

struct tower;

struct level {
	uint64_t open; /* number of the cell that is being summed up, if mix.told */
	struct mix mix;
};

struct tower_events {
	/*
	 * Cells of a level are whole: count of them from number first on (time / size), all alike.
	 * In their order, but for gaps, of which nothing is told. 0 or -ENOMEM.
	 */
	int (*cells)(struct tower *t, unsigned int level, uint64_t first, uint64_t count,
		     const struct cell *cell);
};

struct tower {
	const struct tower_events *events;
	uint64_t at; /* painted until then, ns: what comes before is cut */
	struct level *levels;
	uint8_t shift; /* cells of level 0 are 1 << shift ns */
	uint8_t count; /* levels in memory */
	uint8_t top;   /* number of the highest level */
};

/* Each level's cells are 1 << TOWER_STEP times those below. */
#define TOWER_STEP 2

static inline unsigned int tower_shift(const struct tower *t, unsigned int level)
{
	return t->shift + TOWER_STEP * level;
}

/*
 * Paint a stretch into the cells of base and above. Stretches come in their order; thread as in
 * mix_add(). 0 or -ENOMEM. What is open below base is closed first.
 */
int tower_paint(struct tower *t, unsigned int base, uint64_t time, uint64_t end, uint16_t key,
		uint64_t thread);

/* Close what is open, from the finest level up to that one. 0 or -ENOMEM. */
int tower_close(struct tower *t, unsigned int level);

/* Close only what nothing comes to any more, because the lane is painted beyond it. */
int tower_close_stale(struct tower *t, unsigned int level);

/* Add to m what the open cells tell of the cell with that number, at that level. */
int tower_open_mix(const struct tower *t, unsigned int level, uint64_t cell, struct mix *m);

void tower_free(struct tower *t);

#endif
