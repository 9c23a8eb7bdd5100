/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lane did within one cell, as exact sums: ns in each state, and on a
 * CPU lane ns of each thread that ran. Rounded only when the cell is whole, so
 * that cells of cells are as true as cells of records.
 */
#ifndef SKEIN_TRACE_MIX_H
#define SKEIN_TRACE_MIX_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/window.h"

/* More threads than this in one cell are not told apart: the rest is summed up. */
#define MIX_THREADS_MAX 4096u
/* States with their waits. Only a file made to harm has more: the rest is UNKNOWN. */
#define MIX_STATES_MAX 128u
#define MIX_STATES_FIRST 4u /* that need no memory of their own */

struct mix_thread {
	uint64_t thread; /* thread.id; 0: free slot of a table */
	uint64_t ns;
};

/* What few lanes need. */
struct mix_more {
	uint64_t ns[MIX_STATES_MAX - MIX_STATES_FIRST];
	uint16_t keys[MIX_STATES_MAX - MIX_STATES_FIRST];
	struct mix_thread *threads; /* a list while capacity is small, then a hash table */
	uint64_t others;	    /* ns of threads beyond MIX_THREADS_MAX */
	uint32_t thread_count, thread_capacity;
};

/* Zeroed memory is an empty one. */
struct mix {
	uint64_t told; /* ns */
	uint64_t ns[MIX_STATES_FIRST];
	uint16_t keys[MIX_STATES_FIRST]; /* state << 8 | wait */
	uint32_t states;		 /* how many, with those in more */
	struct mix_more *more;		 /* NULL until it is needed */
};

/* The key of a state, whatever a file says: what no byte holds is UNKNOWN. */
uint16_t mix_key(uint64_t state, uint64_t wait);

/* 0 or -ENOMEM. thread: who ran; 0 nobody, or whoever. */
int mix_add(struct mix *m, uint16_t key, uint64_t thread, uint64_t ns);
int mix_merge(struct mix *m, const struct mix *from);
/* Forget what was added, keep the memory. */
void mix_clear(struct mix *m);
void mix_free(struct mix *m);

/* Round it to a cell of 1 << shift ns; one that nothing is told of is all zeros. */
struct cell mix_cell(const struct mix *m, unsigned int shift);
/* The cell of one state all through. */
struct cell mix_whole(uint16_t key, uint64_t thread);

static inline bool cell_equal(const struct cell *a, const struct cell *b)
{
	return a->activity == b->activity && a->state == b->state && a->wait == b->wait &&
	       a->thread == b->thread;
}

#endif
