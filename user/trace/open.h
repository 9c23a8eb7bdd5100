/* SPDX-License-Identifier: Apache-2.0 */
/* The open trace, for the files of this directory only. */
#ifndef SKEIN_TRACE_OPEN_H
#define SKEIN_TRACE_OPEN_H

#include <stdbool.h>

#include "trace/sql.h"
#include "trace/trace.h"
#include "trace/vtab.h"

struct trace {
	sqlite3 *db; /* read-only */
	char *path; /* path as the caller gave it */
	struct stream_damage damage; /* damage that queries have found */
	bool truncated; /* the file is shorter than its header says */
	uint64_t dense; /* chunk.id above which every missing chunk is a loss */
	struct trace_lanes *trace_lanes; /* cache of trace_lanes_of(); NULL until first used */
	/* about how many records sources and windows of this trace could not read */
	uint64_t left_out;
	/* Bytes of the file, which limit how much is read; 0: no limit (the writer's own trace). */
	uint64_t size;
	/* Remaining steps of SQLite's statements, see trace_limit_steps(); 0: no limit. */
	uint64_t steps;
};

/*
 * Return limits on how much may be read from the file, so that a hostile file cannot exhaust
 * memory: the number of rows (a row takes some bytes), the bytes of text (a valid file contains
 * each text once), and the number of stacks (they compress well, so the limit is higher than the
 * number in any recording).
 */
uint64_t trace_rows_max(const struct trace *t);
uint64_t trace_text_max(const struct trace *t);
uint64_t trace_stacks_max(const struct trace *t);

/*
 * If bounded, limit the steps that all statements run from now on may take together, to as many as
 * reading the whole trace several times takes; above the limit, statements fail as if the file were
 * damaged. Otherwise, remove the limit.
 */
void trace_limit_steps(struct trace *t, bool bounded);

/* Return whether the file has that table and, unless column is NULL, that column in it. */
bool trace_has(const struct trace *t, const char *table, const char *column);

#endif
