/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zoom pyramid as it is written: cells of all lanes at all levels, block
 * by block. What is worth storing is told to the sink of pieces; what is not, a reader
 * paints from the records as cheaply. docs/design.md, section 5.
 */
#ifndef SKEIN_TRACE_PYRAMID_H
#define SKEIN_TRACE_PYRAMID_H

#include "analyze/states.h"
#include "trace/piece.h"
#include "trace/tower.h"

#define PYRAMID_SHIFT 16   /* cells of level 0 are 65.536 us */
#define PYRAMID_LEVELS 19u /* the coarsest block is 146 years */

struct pyramid_options {
	uint64_t records; /* a block with fewer is painted from them when it is asked for */
	/*
	 * The pieces of a block are stored if they take no more than a byte for so many records;
	 * those of CPU lanes, which are few and always shown, and those of coarse levels, which
	 * spare a reader many records, may take PYRAMID_DEAR times as much. 0: in any case.
	 */
	uint64_t records_per_byte;
};

#define PYRAMID_DEFAULTS ((struct pyramid_options){65536, 8})
#define PYRAMID_DEAR 4u
#define PYRAMID_COARSE 3u /* from this level on */

static inline unsigned int pyramid_shift(unsigned int level)
{
	return PYRAMID_SHIFT + TOWER_STEP * level;
}

/*
 * Lanes of one kind in one block, as they stand in the table. The ranges of a block's pieces leave
 * none out: a lane that lies in a piece's range and not in the piece did not live then, or had
 * died before the block was whole and stands in a piece of the dead.
 */
struct pyramid_piece {
	unsigned int level;
	uint64_t time, end; /* of the block, ns */
	enum lane_kind kind;
	bool dead;	     /* of lanes that died early: nothing, if the block is not stored */
	uint64_t lane, last; /* range of lane.id, both inclusive */
	uint64_t records;    /* slices and edges of all lanes in the block */
	const void *data;
	size_t size;
};

struct pyramid_events {
	/* data is valid during the call. 0 or a negative errno. */
	int (*piece)(void *context, const struct pyramid_piece *piece, struct error *err);
	/* The block at that time is not stored: forget pieces of the dead that were told before. */
	int (*drop)(void *context, unsigned int level, uint64_t time, struct error *err);
	void *context;
};

struct pyramid;

int pyramid_new(struct pyramid **ret, const struct pyramid_events *events,
		const struct pyramid_options *options, struct error *err);
void pyramid_free(struct pyramid *p);
/* Before the first record. */
void pyramid_set(struct pyramid *p, const struct pyramid_options *options);

/* A CPU lane is there: until it has told of a time, no block of that time is whole. */
int pyramid_cpu(struct pyramid *p, uint64_t lane, struct error *err);
/* What states.h tells. */
int pyramid_stretch(struct pyramid *p, const struct stretch *s, struct error *err);

/*
 * A record is to be put, of that time by slice_order() or edge.time: it is counted, and what has
 * become whole is told. Before it is put into the states.
 */
int pyramid_record(struct pyramid *p, const struct states *s, uint64_t time, struct error *err);

/* All stretches were told: tell the rest. */
int pyramid_finish(struct pyramid *p, struct error *err);

#endif
