/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SQL schema of a trace, made from the lists of base/record.h: the tables,
 * the chunks of the streams, views of what is derived, a table of words per
 * enumeration, and views for people. Described in docs/trace-format.md.
 */
#ifndef SKEIN_TRACE_SCHEMA_H
#define SKEIN_TRACE_SCHEMA_H

#include <sqlite3.h>
#include <stdio.h>

#include "base/error.h"
#include "base/record.h"

#define SCHEMA_APPLICATION_ID 0x534b4549 /* "SKEI" */
/*
 * Grows when an older reader would misunderstand; a new column, table or word needs no growth.
 * 2: chunks in forms that version 1 did not know.
 */
#define SCHEMA_VERSION 2

/* The words of one enumeration, as a table. */
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

/* Ends with a NULL name. */
extern const struct word_table word_tables[];

struct view {
	const char *name;
	const char *doc;
	const char *sql; /* the SELECT */
};

extern const struct view schema_views[];

struct chunk_column {
	const char *name, *type, *doc;
};

extern const struct chunk_column chunk_columns[];

/* The tables of blobs. */
struct blob_table {
	const char *name;
	const char *doc;
	const struct chunk_column *columns; /* ends with a NULL name */
	const char *index;		    /* what is indexed, beside the id */
};

/* Ends with a NULL name. */
extern const struct blob_table blob_tables[];

/* How many leading fields are the primary key of a table: 1 (id) but for two kinds. */
unsigned int schema_key_fields(enum record_kind kind);

/* Whether its table is there only in traces that have rows of it. */
bool schema_is_optional(enum record_kind kind);
/* Make the table of an optional kind. */
int schema_add(sqlite3 *db, enum record_kind kind, struct error *err);

/* Make all tables in an empty database, with application_id and user_version. */
int schema_create(sqlite3 *db, struct error *err);

/*
 * The statement that puts one row, its parameters in the order of the fields:
 * the later row replaces the earlier. From sqlite3_free()'s memory; NULL without memory.
 */
char *schema_put_sql(enum record_kind kind);

/* The SELECT that makes the rows of a derived kind. */
const char *schema_derived_sql(enum record_kind kind);

/* The table chapters of docs/trace-format.md, in Markdown. */
void schema_document(FILE *out);

#endif
