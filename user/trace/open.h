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
};

/* Whether the file has that table, or that column of it. */
bool trace_has(const struct trace *t, const char *table, const char *column);

#endif
