/* SPDX-License-Identifier: Apache-2.0 */
/* What the page's timeline asks the server for: the lanes of a trace, and how they look in a range.
 */
#ifndef SKEIN_VIEW_TIMELINE_H
#define SKEIN_VIEW_TIMELINE_H

#include <stdio.h>

#include "lanes/lanes.h"

/* Largest window: lanes of a request, columns, and strokes of all lanes. */
/* The lane of the number of threads that wanted a CPU: it has columns as counters have. */
#define VIEW_WANTED "wanted"
#define VIEW_LANES_MAX 1024
#define VIEW_COLUMNS_MAX 16384
#define VIEW_STROKES_MAX (2u << 20)

/* Texts about the recording, owned by the caller. */
struct view_about {
	const char *version, *subject, *kernel;
	const char *warning; /* "" for none */
	int64_t utc; /* begin of the recording, ns since 1970; 0: not known */
	enum lanes_by usual; /* what lanes of threads show unless the page chooses */
	const char *file; /* name of the trace; NULL: the page is of one trace, which has no name */
	unsigned int traces; /* that the page shows */
	/* Of a second trace: ns from the begin of the first to its begin; NULL: not known. */
	const int64_t *after;
};

/*
 * Write the lanes as JSON, in the order in which they are shown: CPUs; each process with what its
 * runtimes did and its threads, as by says; lanes of other kinds. l: after lanes_choose() and
 * lanes_choose_programs() for the whole recording, and lanes_join_all() unless by is
 * LANES_BY_THREAD. Return 0 or a negative errno.
 */
int view_write_trace(const struct lanes *l, const struct view_about *about, enum lanes_by by,
		     FILE *out);

/*
 * Set *body to the strokes of lanes in a range, which the caller frees, and *size to its size in
 * bytes: four little-endian numbers of 32 bits (VIEW_MAGIC, columns, lanes, flags), then for each
 * lane three bytes for each column: level, bar, ground (struct stroke). Flags are VIEW_PARTIAL if
 * expired() returned true: lanes that were not painted by then are unknown. from, to: ns since the
 * start of the recording. names: the lanes with commas between, each a lane.id, or "p" and the
 * number of a process, whose threads are shown as one lane, or the letter of a choice of lanes
 * (lanes_by_letter()) and the number of a row of lanes_rows_by(), or "parallel", which is how many
 * CPUs are in use, or "c" and the number of a counter. A counter has no strokes but a number of 32
 * bits, of columns that do not just continue the one before, and for each of these its number, 1 if
 * a value may be lost in it, and as numbers of 64 bits with a fraction its least, most and last
 * value (struct counter_column). l: after lanes_join_all(). Outside of the recording lanes are
 * empty. Return 0, or a negative errno with the cause in *err: -EINVAL if the request makes no
 * sense.
 */
#define VIEW_MAGIC 0x31574b53u /* "SKW1" */
#define VIEW_PARTIAL 1u
struct view_range {
	uint64_t from, to;
	unsigned int columns;
	const char *names;
	/* NULL: takes as long as it takes. Asked between parts of 1 million strokes. */
	bool (*expired)(const void *context);
	const void *context;
};
int view_window(const struct lanes *l, const struct view_range *r, uint8_t **body, size_t *size,
		struct error *err);

#endif
