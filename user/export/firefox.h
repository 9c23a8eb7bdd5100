/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the two files of the Firefox Profiler export. A table of the format is an
 * object with one array per column, all of equal length. All threads share the tables of stacks,
 * frames, functions and strings.
 */
#ifndef SKEIN_EXPORT_FIREFOX_H
#define SKEIN_EXPORT_FIREFOX_H

#include "base/json.h"
#include "export/gather.h"
#include "export/wait_colours.h"

/* X(NAME, "shown name", "colour"). The format requires a category with the colour grey. */
#define CATEGORIES(X) \
	X(OTHER, "Other", "grey") \
	X(USER, "User", "yellow") \
	X(KERNEL, "Kernel", "orange") \
	X(PYTHON, "Python", "green") \
	X(JIT, "Generated code", "blue") \
	X(TRUNCATED, "Truncated stack", "red") \
	X(RUNTIME, "Runtime", "purple")
#define CATEGORY_ENUM(NAME, text, colour) CATEGORY_##NAME,
/* The category of a class of wait is CATEGORY_WAITS + enum wait_class - 1. */
enum category { CATEGORIES(CATEGORY_ENUM) CATEGORY_WAITS };
#undef CATEGORY_ENUM

/* Some of the strings of gather.stacks, numbered in the order of first use. */
struct numbering {
	struct index number_of; /* number in gather.stacks.strings -> number here */
	VECTOR(uint32_t) strings; /* numbers in gather.stacks.strings */
};

/* What the sample of a wait says, besides its time and stack. */
struct firefox_wait {
	uint64_t length, address, other, flags;
	enum wait_class wait;
};

struct firefox {
	struct timeline timeline;
	struct gather gather;
	struct json json;
	bool lines; /* frames have the line that ran */
	VECTOR(struct firefox_wait) waits;
	struct index wait_of; /* order of arrival of a sample -> index in waits */
	struct names functions; /* struct shown_frame with at 0, as bytes: one per function */
	VECTOR(uint32_t) function_of; /* number in functions, by number of the frame */
	struct numbering sources, resources;
	struct index pids; /* pid -> number of processes with this pid written so far */
	struct index spans_of; /* lane.id -> index of its first span; removed once it is written */
	struct index turns; /* index of a process -> number of processes of its pid before */
};

/* Begin a column of a table; end the column with json_array_end(). */
struct json *firefox_column(struct firefox *f, const char *name);
/* Begin a table of length rows; end the table with json_object_end(). */
void firefox_table(struct firefox *f, const char *name, size_t length);
/* Write a column with the same number in all rows. */
void firefox_numbers(struct firefox *f, const char *name, int64_t number, size_t count);

/* Write a time as ms since the start of the recording. */
void firefox_write_time(struct firefox *f, uint64_t time);
/* How the viewer shows the markers of a name; {} in labels are replaced by parts of the marker. */
struct marker_schema {
	const char *name;
	const char *tooltip; /* label when the marker is pointed at; NULL: the name */
	const char *table, *chart; /* labels in these views */
};

/* Begin a schema of markers; its fields follow, then firefox_end_schema(). */
void firefox_begin_schema(struct firefox *f, const struct marker_schema *s);
void firefox_end_schema(struct firefox *f);
/* Write a field of a marker's schema. */
void firefox_write_field(struct json *j, const char *key, const char *label, const char *format);

/* Columns of the table of markers. */
enum marker_column { MARKER_DATA, MARKER_NAME, MARKER_START, MARKER_END, MARKER_CATEGORY };

/* Spans, by index in timeline.spans.list. */
struct firefox_spans {
	size_t first, end;
};

/* firefox_spans.c: markers of spans. */
/* Write how the viewer shows them. */
void firefox_span_schema(struct firefox *f);
int firefox_index_spans(struct firefox *f); /* returns 0 or -ENOMEM */
/* Return the spans of a lane, only once; none if it has none. */
struct firefox_spans firefox_take_spans(struct firefox *f, uint64_t lane);
/* Write the cells of a column for some spans. Return 0 or a negative errno. */
int firefox_span_column(struct firefox *f, enum marker_column column,
			const struct firefox_spans *s);

/* firefox_waits.c: markers of waits. */
/* Write how the viewer shows the markers of waits. */
void firefox_wait_schema(struct firefox *f);
/* Keep what the next sample to gather says of a wait. Return 0 or -ENOMEM. */
int firefox_keep_wait(struct firefox *f, const struct sample *s);
/*
 * Write the table "markers": one for each wait of the samples with indexes in [from, to), and one
 * for each of the spans. Return 0 or a negative errno.
 */
int firefox_markers(struct firefox *f, size_t from, size_t to, const struct firefox_spans *s);

/*
 * Write the member "shared", the tables that all threads share. Call this after all threads are
 * written, since writing them adds strings. Return 0 or a negative errno.
 */
int firefox_shared(struct firefox *f);
void firefox_shared_free(struct firefox *f);

#endif
