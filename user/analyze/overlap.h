/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many ran at once, for how long: exactly, in one pass over slices that come in the order of
 * their ends, and without keeping them.
 *
 * A slice is told when it ends, so a count is final only where no CPU has a slice open. But every
 * slice reaches up to the present when it comes: it adds one to all that lies behind its begin.
 * And those that are still to come begin where a CPU's last slice ended. So it is enough to know
 * for how long how many ran between each two of these borders, one for each CPU; where borders
 * vanish, the times between them are added up. Time in which none ran follows from the rest.
 */
#ifndef SKEIN_ANALYZE_OVERLAP_H
#define SKEIN_ANALYZE_OVERLAP_H

#include <stdint.h>

#include "base/vector.h"

/* Up to when each CPU has told what it did, earliest first. Zeroed memory has no CPUs. */
struct border {
	uint64_t time; /* ns */
	uint32_t cpu;
};

struct borders {
	VECTOR(struct border) list;
};

/* A CPU, by any number, tells from now on up to time: 0 or -ENOMEM. */
int borders_move(struct borders *b, uint32_t cpu, uint64_t time);
uint64_t borders_get(const struct borders *b, uint32_t cpu); /* 0 of one that is not known */
void borders_free(struct borders *b);

/* Of the time from a border to the next one, ns during which that many ran; not none. */
struct overlap_cell {
	uint64_t from, ns;
	uint32_t running;
};

typedef VECTOR(struct overlap_cell) overlap_cells_t;

struct overlap {
	overlap_cells_t cells, spare; /* in order of from, then running */
	VECTOR(uint64_t) done;	      /* ns, by how many ran; [0] stays 0 */
	uint64_t now;		      /* where the last slice ended */
	size_t fold_at;		      /* from so many cells on they are brought to the borders */
};

/*
 * One slice, before its CPU's border (which is where it begins) moves to its end: 0, -ENOMEM, or
 * -EINVAL and nothing added if one has come that ended later.
 */
int overlap_add(struct overlap *o, const struct borders *b, uint64_t time, uint64_t end);
/* No slice comes any more: done is whole. 0 or -ENOMEM. */
int overlap_finish(struct overlap *o);
void overlap_free(struct overlap *o);

#endif
