/* SPDX-License-Identifier: Apache-2.0 */
/* Insert the records of a stream into a trace, as a chunk. */
#ifndef SKEIN_TRACE_PUT_CHUNK_H
#define SKEIN_TRACE_PUT_CHUNK_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/codec.h"
#include "trace/sort.h"

/* The statement that put_chunk() needs. */
#define PUT_CHUNK_SQL \
	"INSERT INTO chunk(id,kind,lane_group,time,\"end\",records,bytes_raw,data)" \
	" VALUES(?7,?1,0,?2,?3,?4,?5,?6)"

/* Working memory for encoding a chunk. Zeroed memory is valid. */
struct chunk_encoder {
	struct codec codec;
	struct sorter sorter;
	struct columns sorted; /* a chunk sorted by lane */
};

void chunk_encoder_free(struct chunk_encoder *e);

struct new_chunk {
	enum record_kind kind;
	uint64_t id; /* chunk.id; 0: the next free one */
	uint64_t first, last; /* smallest time or id of the records; largest time, end or id */
	const struct columns *columns;
};

/*
 * Insert a chunk, and add the bytes of its data to *bytes. stmt: prepared from PUT_CHUNK_SQL.
 * Return 0 or a negative errno.
 */
int put_chunk(sqlite3_stmt *stmt, struct chunk_encoder *e, const struct new_chunk *chunk,
	      uint64_t *bytes, struct error *err);

#endif
