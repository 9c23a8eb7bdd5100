/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processed profile of the Firefox Profiler: what its two files share. Tables are columns of
 * equal length; all threads share those of stacks, frames and texts.
 */
#ifndef SKEIN_EXPORT_FIREFOX_H
#define SKEIN_EXPORT_FIREFOX_H

#include "base/json.h"
#include "export/gather.h"

/* X(NAME, "as shown", "colour"). A category of that grey must be there. */
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

/* Texts that are numbered as they are met. */
struct numbering {
	struct index number_of; /* string -> number */
	VECTOR(uint32_t) strings;
};

struct firefox {
	struct timeline timeline;
	struct gather gather;
	struct json json;
	FILE *gzip; /* a stream around the file; NULL: not compressed */
	bool lines;
	struct names functions; /* struct shown_frame without the line that ran, as bytes */
	VECTOR(uint32_t) function_of; /* by number of frame */
	struct numbering sources, resources;
	struct index pids; /* pid -> how many programs of it have had tracks */
	struct index turns; /* process -> which one of its pid it is */
};

/* Begin a column of a table; end it with json_array_end(). */
struct json *firefox_column(struct firefox *f, const char *name);
/* Begin a table; end it with json_object_end(). */
void firefox_table(struct firefox *f, const char *name, size_t length);
/* A column that is the same in all rows. */
void firefox_numbers(struct firefox *f, const char *name, int64_t number, size_t count);

/* The member "shared", once all samples and texts are known. 0 or a negative errno. */
int firefox_shared(struct firefox *f);
void firefox_shared_free(struct firefox *f);

#endif
