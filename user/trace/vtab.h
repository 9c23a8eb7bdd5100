/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams as SQL tables, decoded from the chunks of a trace as they are
 * read. Needs nothing but the codec, so it serves as a loadable extension too
 * (user/extension.c). Where several traces are attached, the table is a
 * function of their names: sample('main').
 */
#ifndef SKEIN_TRACE_VTAB_H
#define SKEIN_TRACE_VTAB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Chunks that could not be decoded: their records are missing in the rows of one query. */
struct stream_damage {
	bool refuse;	/* such a chunk ends the query instead */
	uint64_t query; /* its number, from 1 on */
	uint64_t chunks, records;
};

/* One more chunk, with as many records as it claims. */
void stream_damage_add(struct stream_damage *d, sqlite3_int64 records);

/*
 * Make the tables known to a connection. damage is counted up as queries
 * meet it, and must outlive the connection. An SQLite result code.
 */
int stream_tables_register(sqlite3 *db, struct stream_damage *damage);

#endif
