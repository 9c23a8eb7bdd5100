/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of pyramid.c, and a block of it as pieces. For these files only. */
#ifndef SKEIN_TRACE_PYRAMID_BLOCK_H
#define SKEIN_TRACE_PYRAMID_BLOCK_H

#include "analyze/index.h"
#include "trace/checkpoint.h"
#include "trace/pyramid.h"
#include "trace/tower.h"

/* Levels are kept for the lanes of one kind: from one time to another, or until further notice. */
struct kept {
	uint64_t first, end; /* ns: of the blocks that are kept */
	uint64_t resume;     /* number of the block before which nothing is kept again */
	unsigned int refused; /* blocks that took too much, in a row */
	bool on;	     /* end is not known yet */
};

struct pyramid_lane {
	struct tower tower; /* first: its events find the lane */
	uint64_t id;
	const struct kept *kept;
	struct strip *strips; /* of each level up to the highest that has cells */
	uint8_t strip_count;
	bool cpu;
	bool dead;   /* no stretch will come any more */
	bool buried; /* its cells are told, and it is about to be forgotten */
};

/* Records in a block that is not whole yet. */
struct block_count {
	uint64_t block; /* number: time >> shift of its level, in blocks */
	uint64_t records;
	bool dead; /* pieces of the dead were told */
};

struct finished_piece {
	size_t at, size;      /* in blob */
	uint64_t first, last; /* lane.id */
};

/* Working memory of block_make(); zeroed memory is ready. */
struct block_maker {
	struct packer packer;
	struct bytes scratch, blob;
	struct run_list runs;
	struct {
		struct finished_piece *items;
		size_t count, capacity;
	} pieces;
	struct piece_lane lanes[PIECE_LANES_MAX]; /* of the piece at hand; runs are set last */
	size_t first_run[PIECE_LANES_MAX];
	unsigned int count, limit;
};

struct pyramid {
	struct pyramid_events events;
	struct pyramid_options options;
	struct {
		struct pyramid_lane **items;
		size_t count, capacity;
	} lanes;	    /* in order of ids if sorted */
	struct index index; /* lane.id -> lanes */
	bool sorted;
	struct open_list open; /* what is open now, by lane; of CPU lanes it is nothing */
	bool swept;	       /* open is of now */
	bool finished;	       /* nothing is open, and blocks end with the recording */
	struct kept kept[2][PYRAMID_LEVELS]; /* of threads, of CPUs */
	struct {
		struct block_count *items;
		size_t count, capacity;
	} counts[PYRAMID_LEVELS];
	uint64_t slot, first_slot, slot_records; /* blocks of level 0; slot + 1, 0: none yet */
	uint64_t recent[1 << TOWER_STEP];	 /* records of the last slots */
	uint64_t order;				 /* records before that time have come */
	uint64_t painted;			 /* no stretch reached further */
	struct block_maker maker;
};

struct block {
	unsigned int level;
	uint64_t number, records;
	uint64_t time, end; /* ns */
	uint64_t settled;   /* what lies before is certain: maybe not all of it */
};

/*
 * Tell the pieces of the lanes of one kind. *stored: whether they are worth it. p->lanes are
 * sorted and swept.
 */
int block_make(struct pyramid *p, const struct block *b, enum lane_kind kind, bool *stored,
	       struct error *err);
/* Tell pieces of the lanes that are buried. *told: whether there was anything to tell. */
int block_bury(struct pyramid *p, const struct block *b, bool *told, struct error *err);
void block_maker_free(struct block_maker *m);

#endif
