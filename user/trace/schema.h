/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SQL schema of a trace, generated from the lists of base/record.h: the tables, the chunks of
 * the streams, views of the derived kinds, one table of words per enumeration, and views for
 * people. docs/trace-format.md describes the schema.
 */
#ifndef SKEIN_TRACE_SCHEMA_H
#define SKEIN_TRACE_SCHEMA_H

#include <sqlite3.h>

#include "base/error.h"
#include "base/record.h"

#define SCHEMA_APPLICATION_ID 0x534b4549 /* "SKEI" */
/*
 * The version grows when an older reader would misunderstand the file; a new column, table or word
 * does not change it. Version 2 added forms of chunk columns that version 1 does not know.
 */
#define SCHEMA_VERSION 2

/* One value of an enumeration: a row of the enumeration's table. */
struct word {
	uint64_t id;
	const char *word;
	const char *text; /* a sentence, or NULL if this enumeration has none */
};

struct word_table {
	const char *name;
	const char *doc;
	const struct word *words; /* ends with a NULL word */
};

/* All enumerations; the list ends with a NULL name. */
extern const struct word_table word_tables[];

struct schema_view {
	const char *name;
	const char *doc;
	const char *sql; /* the SELECT */
};

extern const struct schema_view schema_views[];

struct chunk_column {
	const char *name, *type, *doc;
};

extern const struct chunk_column chunk_columns[];

/* A table with a BLOB column. */
struct blob_table {
	const char *name;
	const char *doc;
	const struct chunk_column *columns; /* ends with a NULL name */
	const char *index; /* columns with an index, in addition to the id */
};

/* All tables with a BLOB column; the list ends with a NULL name. */
extern const struct blob_table blob_tables[];

/*
 * Return how many leading fields form the primary key of a table: 2 for accounts and inlined
 * functions, else 1 (the id).
 */
unsigned int schema_key_fields(enum record_kind kind);

/* Return whether only traces that have rows of this kind have the kind's table. */
bool schema_is_optional(enum record_kind kind);
/*
 * Make the table of an optional kind, and make the views anew that show its rows. Return 0 or a
 * negative errno.
 */
int schema_add(sqlite3 *db, enum record_kind kind, struct error *err);

/*
 * Make all views and all tables that are not optional in an empty database, and set application_id
 * and user_version. Return 0 or a negative errno.
 */
int schema_create(sqlite3 *db, struct error *err);

/*
 * Return the SQL that puts one row, with its parameters in the order of the fields; a later row
 * replaces an earlier one of the same key. The caller frees the text with sqlite3_free(). NULL if
 * there is no memory.
 */
char *schema_put_sql(enum record_kind kind);

/* Return the SELECT that computes the rows of a derived kind; NULL for other kinds. */
const char *schema_derived_sql(enum record_kind kind);

#endif
