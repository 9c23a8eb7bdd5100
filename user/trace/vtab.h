/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Show the streams as SQL tables, decoded from the chunks of a trace as they are read. Of this
 * folder, vtab.c needs only the codec and finder.c and attached.c, so it also serves as a loadable
 * extension of SQLite (user/extension.c). On a connection with several traces, a table is a
 * function of the name under which a trace is attached: sample('main').
 */
#ifndef SKEIN_TRACE_VTAB_H
#define SKEIN_TRACE_VTAB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Damage that a query has found: records of chunks that cannot be decoded, which are missing in the
 * rows of the query.
 */
struct stream_damage {
	bool refuse; /* end a query at such a chunk instead of leaving the chunk out */
	uint64_t query; /* number of the current query, from 1 */
	uint64_t chunks, records;
};

/*
 * Count one more damaged chunk, and the number of records that the chunk claims to have; an
 * impossible number counts as 1.
 */
void stream_damage_add(struct stream_damage *d, sqlite3_int64 records);

/*
 * Register the tables with a connection. Queries count the damage that they find in damage, which
 * must outlive the connection. Return an SQLite result code.
 */
int stream_tables_register(sqlite3 *db, struct stream_damage *damage);

#endif
