/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared declarations of the two files of the Firefox Profiler export. Tables are columns of
 * equal length; all threads share the tables of stacks, frames and strings.
 */
#ifndef SKEIN_EXPORT_FIREFOX_H
#define SKEIN_EXPORT_FIREFOX_H

#include "base/json.h"
#include "export/gather.h"

/* X(NAME, "shown name", "colour"). The format requires one category of the colour grey. */
#define CATEGORIES(X) \
	X(OTHER, "Other", "grey") \
	X(USER, "User", "yellow") \
	X(KERNEL, "Kernel", "orange") \
	X(PYTHON, "Python", "green") \
	X(JIT, "Generated code", "blue") \
	X(TRUNCATED, "Truncated stack", "red")
#define CATEGORY_ENUM(NAME, text, colour) CATEGORY_##NAME,
enum category { CATEGORIES(CATEGORY_ENUM) CATEGORY_COUNT };
#undef CATEGORY_ENUM

/* Strings numbered in the order of first use. */
struct numbering {
	struct index number_of; /* string -> number */
	VECTOR(uint32_t) strings;
};

struct firefox {
	struct timeline timeline;
	struct gather gather;
	struct json json;
	bool lines;
	struct names functions; /* struct shown_frame without the line that ran, as bytes */
	VECTOR(uint32_t) function_of; /* by frame number */
	struct numbering sources, resources;
	struct index pids; /* pid -> number of its programs that have tracks so far */
	struct index turns; /* process -> position among the programs of its pid */
};

/* Begin a column of a table; end it with json_array_end(). */
struct json *firefox_column(struct firefox *f, const char *name);
/* Begin a table; end it with json_object_end(). */
void firefox_table(struct firefox *f, const char *name, size_t length);
/* Write a table without rows; the names of its columns end with NULL. */
void firefox_write_empty(struct firefox *f, const char *table, const char *const *columns);
/* Write a column with the same number in all rows. */
void firefox_numbers(struct firefox *f, const char *name, int64_t number, size_t count);

/*
 * Write the member "shared", once all samples and strings are known. Return 0 or a negative
 * errno.
 */
int firefox_shared(struct firefox *f);
void firefox_shared_free(struct firefox *f);

#endif
