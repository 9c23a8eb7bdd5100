/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of the zoom pyramid: the cells of some lanes in one block of a level,
 * as the blob of a row. Layout: docs/trace-format.md.
 */
#ifndef SKEIN_TRACE_PIECE_H
#define SKEIN_TRACE_PIECE_H

#include "trace/pack.h"
#include "trace/strip.h"

#define BLOCK_SHIFT 10
#define BLOCK_CELLS (1u << BLOCK_SHIFT) /* of a lane in a block */
#define PIECE_LANES 16u			/* as written */
#define PIECE_LANES_MAX 64u		/* a reader refuses more */

/* A lane of a piece that is to be written. */
struct piece_lane {
	uint64_t id;
	bool untold; /* it lived, and what it did must be painted from the records */
	const struct run *runs; /* of cells of the block, numbers from 0 on */
	size_t count;
};

/* Append the blob of these lanes, in order of their ids, to ret. */
int piece_encode(struct packer *p, struct bytes *scratch, const struct piece_lane *lanes,
		 unsigned int count, struct bytes *ret, struct error *err);

struct piece_reader {
	/*
	 * Where the cells of a lane go, zeros so far, beginning with cell number first of the
	 * block; NULL if it is not asked for. untold: nothing will be filled in. They may be half
	 * filled when the piece turns out to be damaged.
	 */
	struct cell *(*lane)(void *context, uint64_t id, bool untold);
	void *context;
	unsigned int first, end; /* numbers of the cells asked for */
};

/* 0, -EBADMSG if the blob is damaged, or -ENOMEM. */
int piece_decode(struct packer *p, const void *data, size_t size, const struct piece_reader *to);

#endif
