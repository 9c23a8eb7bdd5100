/* SPDX-License-Identifier: Apache-2.0 */
/* An open trace, as the files of this room see it. */
#ifndef SKEIN_TRACE_OPEN_H
#define SKEIN_TRACE_OPEN_H

#include <stdbool.h>

#include "trace/sql.h"
#include "trace/trace.h"
#include "trace/vtab.h"

struct trace {
	sqlite3 *db;		     /* read-only */
	char *path;		     /* as given */
	struct stream_damage damage; /* met by queries */
	bool truncated;		     /* the file is shorter than it says */
	uint64_t dense;		     /* above this id no chunk is missing without being lost */
	struct cast *cast;	     /* of cast_of(); NULL before */
	uint64_t left_out;	     /* records that its sources could not read */
	uint64_t size;		     /* bytes of the file; 0: not asked for, and nothing is bounded by it */
	uint64_t steps;		     /* of SQLite that are left, see trace_allow(); 0: any number */
};

/*
 * What is in a file that is not made to harm bounds what can be read of it: a row takes some bytes,
 * and a text stands in it once. How many rows and bytes of text there can be, at most; of stacks,
 * which compress well, a number that is more than any recording had.
 */
uint64_t trace_rows_max(const struct trace *t);
uint64_t trace_text_max(const struct trace *t);
uint64_t trace_stacks_max(const struct trace *t);

/*
 * Statements that are run from now on may take as many steps as reading the whole trace several
 * times takes; beyond that they fail as those that meet damage do. false: as many as they need.
 */
void trace_allow(struct trace *t, bool bounded);

/* Whether the file has that table, or that column of it. */
bool trace_has(const struct trace *t, const char *table, const char *column);

#endif
