/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one table of a trace that may be damaged, in the order of their ids. Where rows
 * cannot be read, the next id that can is searched, and what lies between is counted.
 */
#ifndef SKEIN_TRACE_SCAN_H
#define SKEIN_TRACE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/open.h"

struct scan {
	struct trace *trace;
	sqlite3_stmt *rows;  /* ids above ?1 in their order, the id first; or all there are */
	sqlite3_stmt *probe; /* the first id from ?1 on; NULL: this table has no ids */
	uint64_t after;	     /* the last id delivered, or passed over */
	uint64_t dense;	     /* above this id the writer leaves none out; UINT64_MAX: nowhere */
	unsigned int skips;
	uint64_t met; /* rows */
	bool stepping;
	bool done;
};

/* Zeroed memory has no rows. The statements go to the scan; both are finalized by scan_close(). */
void scan_open(struct scan *s, struct trace *t, sqlite3_stmt *rows, sqlite3_stmt *probe,
	       uint64_t dense);
void scan_close(struct scan *s);

/* 1: rows stands at a row; 0: there is no more; or a negative errno. */
int scan_next(struct scan *s, uint64_t *lost, struct error *err);

/* The probe of a table with ids. */
int scan_probe(sqlite3 *db, sqlite3_stmt **ret, const char *table, struct error *err);

#endif
