/* SPDX-License-Identifier: Apache-2.0 */
/* Print the rows of an SQL statement as a table, as CSV or as JSON. */
#ifndef SKEIN_TRACE_ROWS_H
#define SKEIN_TRACE_ROWS_H

#include <sqlite3.h>
#include <stdio.h>

#include "trace/trace.h"

/*
 * Run stmt and print its rows. Return 0 or a negative errno with the cause in *err: of writing to
 * out, or of SQLite (-EBADMSG if the trace is damaged).
 */
int rows_print(sqlite3_stmt *stmt, enum query_format format, FILE *out, struct error *err);

#endif
