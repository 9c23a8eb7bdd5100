/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read the rows of one table of a trace that may be damaged, in the order of their ids. Where rows
 * cannot be read, the scan searches the next readable id and counts the ids in between as lost.
 */
#ifndef SKEIN_TRACE_SCAN_H
#define SKEIN_TRACE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/open.h"

struct scan {
	struct trace *trace;
	/* statement for the rows with ids above ?1, ordered, the id first; or for all rows */
	sqlite3_stmt *rows;
	sqlite3_stmt *probe; /* statement for the first id >= ?1; NULL: this table has no ids */
	uint64_t after; /* the last id delivered or skipped */
	/* id above which every missing id is a lost row; UINT64_MAX: missing ids are normal */
	uint64_t dense;
	unsigned int skips;
	uint64_t rows_read; /* rows read so far */
	bool stepping;
	bool done;
};

/*
 * Begin a scan, which owns both statements: scan_close() finalizes them. Zeroed memory is an empty
 * scan.
 */
void scan_open(struct scan *s, struct trace *t, sqlite3_stmt *rows, sqlite3_stmt *probe,
	       uint64_t dense);
void scan_close(struct scan *s);

/*
 * Return 1 with s->rows at the next row, 0 at the end, or a negative errno. *lost is about the
 * number of rows that were found missing before this row or the end.
 */
int scan_next(struct scan *s, uint64_t *lost, struct error *err);

/* Prepare the probe statement of a table with ids. */
int scan_probe(sqlite3 *db, sqlite3_stmt **out, const char *table, struct error *err);

#endif
