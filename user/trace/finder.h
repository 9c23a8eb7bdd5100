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
 * Make a finder for a database of the connection, such as "main". Reads nothing yet. The finder
 * counts the damage it finds in damage, which must outlive it. NULL without memory.
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
 * Find the record with that id; return an SQLite result code. A chunk that cannot be decoded holds
 * no records, or yields SQLITE_CORRUPT_VTAB if damage is refused.
 */
int finder_find(struct finder *f, sqlite3_int64 id, struct found_row *out);

#endif
