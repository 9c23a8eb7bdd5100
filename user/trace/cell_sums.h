/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sums of one cell of one lane: ns in each state, and on a CPU lane ns of each thread that
 * ran. Sums are rounded only when the cell is complete, so that a cell made of finer cells is as
 * exact as one made of records.
 */
#ifndef SKEIN_TRACE_CELL_SUMS_H
#define SKEIN_TRACE_CELL_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/window.h"

/*
 * Maximum number of threads in one cell that have sums of their own; all other threads share one
 * sum.
 */
#define CELL_THREADS_MAX 4096u
/*
 * Maximum number of pairs of state and wait in one cell. Only a hostile file has more: further
 * pairs count as UNKNOWN.
 */
#define CELL_STATES_MAX 128u
#define CELL_STATES_FIRST 4u /* pairs that fit in struct cell_sums itself */

struct cell_thread_sum {
	uint64_t thread; /* thread.id; 0: free slot of a table */
	uint64_t ns;
};

/* The additional memory that only few cells need. */
struct cell_sums_more {
	uint64_t ns[CELL_STATES_MAX - CELL_STATES_FIRST];
	uint16_t keys[CELL_STATES_MAX - CELL_STATES_FIRST];
	struct cell_thread_sum *threads; /* a list while capacity is small, then a hash table */
	uint64_t others; /* ns of threads beyond CELL_THREADS_MAX */
	uint32_t thread_count, thread_capacity;
};

/* The sums of one cell. Zeroed memory is a valid empty sum. */
struct cell_sums {
	uint64_t total; /* ns added so far */
	uint64_t ns[CELL_STATES_FIRST];
	uint16_t keys[CELL_STATES_FIRST]; /* state << 8 | wait */
	uint32_t states; /* number of pairs in use, including those in more */
	struct cell_sums_more *more; /* NULL until it is needed */
};

/*
 * Return the key of a state and wait, which may come from a hostile file: a state that is 0 or does
 * not fit in a byte becomes UNKNOWN without a wait, and a wait that does not fit in a byte becomes
 * 0.
 */
uint16_t cell_state_key(uint64_t state, uint64_t wait);

/*
 * Add ns in a state. thread: thread.id of the thread that ran; 0: none, or unknown. It is ignored
 * unless the state is RUNNING. Return 0 or -ENOMEM.
 */
int cell_sums_add(struct cell_sums *m, uint16_t key, uint64_t thread, uint64_t ns);
/* Add the sums of another cell. Return 0 or -ENOMEM. */
int cell_sums_merge(struct cell_sums *m, const struct cell_sums *from);
/* Clear the sums, but keep the memory. */
void cell_sums_clear(struct cell_sums *m);
void cell_sums_free(struct cell_sums *m);

/* Round the sums to a cell of 1 << shift ns; empty sums give a cell of zeros. */
struct cell cell_sums_round(const struct cell_sums *m, unsigned int shift);
/* Return a cell whose lane is in one state throughout; thread as in cell_sums_add(). */
struct cell cell_of_state(uint16_t key, uint64_t thread);

#endif
