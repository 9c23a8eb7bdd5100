/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute how many threads ran at once, and for how long: exactly, in one pass over slices that
 * come in the order of their ends, without keeping the slices.
 *
 * A slice comes when it ends, so the number of threads that ran at a time is only final when every
 * CPU has a slice up to that time. But every slice that comes reaches up to the present, so it adds
 * one to all numbers after its start, and later slices begin where the last slice of their CPU
 * ended. These ends are the borders, one per CPU. So it is sufficient to store, for the time
 * between each two adjacent borders, how long each number of threads ran; when a border moves away,
 * the times on both sides of it are added up. The time in which no thread ran is not counted.
 */
#ifndef SKEIN_ANALYZE_OVERLAP_H
#define SKEIN_ANALYZE_OVERLAP_H

#include <stdint.h>

#include "base/vector.h"

/* The border of one CPU: the end of its last slice. */
struct border {
	uint64_t time; /* ns */
	uint32_t cpu;
};

/* The borders of all CPUs, earliest first. Zeroed memory has no CPUs. */
struct borders {
	VECTOR(struct border) list;
};

/*
 * Set the border of a CPU to time (ns), and add the CPU if it is new. cpu may be any number that
 * identifies the CPU. Return 0 or -ENOMEM.
 */
int borders_move(struct borders *b, uint32_t cpu, uint64_t time);
void borders_free(struct borders *b);

/*
 * The time (ns), between the border at from and the next one, in which exactly this many threads
 * (at least 1) ran.
 */
struct overlap_cell {
	uint64_t from, ns;
	uint32_t running;
};

typedef VECTOR(struct overlap_cell) overlap_cells_t;

struct overlap {
	overlap_cells_t cells, spare; /* in order of from, then running */
	VECTOR(uint64_t) done; /* ns by number of threads that ran; [0] stays 0 */
	uint64_t now; /* end of the last slice */
	size_t fold_at; /* number of cells at which they are joined between borders */
};

/*
 * Add one slice, from time to end. Call this while the border of the slice's CPU is still at time,
 * and move the border to end after that. Return 0, -ENOMEM, or -EINVAL without adding the slice if
 * a slice with a later end has come.
 */
int overlap_add(struct overlap *o, const struct borders *b, uint64_t time, uint64_t end);
/* Call this when no more slices come: it completes done. Return 0 or -ENOMEM. */
int overlap_finish(struct overlap *o);
void overlap_free(struct overlap *o);

#endif
