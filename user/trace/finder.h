/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a stream by their first field, where that is an id: which
 * chunk, then which row. Decoded chunks are kept, in bounded memory, because
 * whoever walks stacks asks for neighbours again and again.
 */
#ifndef SKEIN_TRACE_FINDER_H
#define SKEIN_TRACE_FINDER_H

#include "trace/codec.h"
#include "trace/vtab.h"

struct finder;

/*
 * Of a database of the connection, such as "main". Reads nothing yet. damage
 * is counted up and must outlive it. NULL without memory.
 */
struct finder *finder_new(sqlite3 *db, const char *database, const struct kind *kind,
			  struct stream_damage *damage);
void finder_free(struct finder *f);

struct place {
	const struct columns *columns; /* all of the chunk's, until the next call; NULL: nowhere */
	uint32_t row;
	sqlite3_int64 chunk; /* its id */
};

/*
 * An SQLite result code, and where the record is. Chunks that cannot be
 * decoded hold nothing, or are SQLITE_CORRUPT_VTAB if damage is refused.
 */
int finder_find(struct finder *f, sqlite3_int64 id, struct place *ret);

#endif
