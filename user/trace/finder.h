/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the record of a stream by its first field, for streams whose first field is an id: first
 * find the chunk, then the row. Decoded chunks are cached in bounded memory, because a caller that
 * walks stacks looks up neighbours again and again.
 */
#ifndef SKEIN_TRACE_FINDER_H
#define SKEIN_TRACE_FINDER_H

#include "trace/codec.h"
#include "trace/vtab.h"

struct finder;

/*
 * Make a finder for the database of the connection with that name, such as "main". Reads nothing
 * yet. The finder counts damaged chunks in damage, which must outlive the finder. Return NULL if
 * there is no memory.
 */
struct finder *finder_new(sqlite3 *db, const char *database, const struct kind *kind,
			  struct stream_damage *damage);
void finder_free(struct finder *f);

struct found_row {
	/* All columns of the chunk, valid until the next call; NULL: not found. */
	const struct columns *columns;
	uint32_t row;
	sqlite3_int64 chunk; /* chunk.id */
};

/*
 * Find the record with that id; return an SQLite result code, SQLITE_OK also if there is no such
 * record. If the id is in a chunk that cannot be decoded, count the damage and find nothing, or
 * return SQLITE_CORRUPT_VTAB if damage->refuse is set.
 */
int finder_find(struct finder *f, sqlite3_int64 id, struct found_row *out);

#endif
