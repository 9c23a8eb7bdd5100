/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of two sides by skein diff, computed once and shown as text, JSON or picture. */
#ifndef SKEIN_CMD_DIFF_H
#define SKEIN_CMD_DIFF_H

#include "analyze/broken.h"
#include "analyze/diff.h"
#include "cmd/filters.h"
#include "cmd/table.h"
#include "cmd/window_choice.h"
#include "export/export.h"

enum { BEFORE, AFTER, SIDES };

typedef VECTOR(const char *) paths_t;

struct diff_options {
	paths_t paths[SIDES];
	struct diff_criteria compare; /* measure: DIFF_MEASURE_COUNT if none was given */
	bool all, json, exit_code, off_cpu, full_names;
	uint64_t limit; /* rows; 0 means all, LIMIT_UNSET the default of the output */
	const char *color, *format, *out;
	struct window_choice windows;
	struct export_options how;
	struct filter filter;
};

/* One trace and its profile. */
struct diff_trace {
	const char *path;
	struct filtered_input input;
	struct profile *profile;
	uint32_t event_index;
	const struct event *event; /* NULL if the trace has no events */
	uint64_t count, weight; /* of the samples of the event that pass the filter */
	uint64_t time; /* duration of the compared part, ns; 0 if it is not known */
	struct completeness completeness;
	struct losses losses;
	struct diff_run stretches[DIFF_STRETCHES]; /* the comparison owns their profiles */
	size_t stretch_count; /* 0 if the trace was not read in stretches */
	struct diff_trace_waits *waits; /* NULL if samples are compared, not waits */
};

struct comparison {
	const struct diff_options *options;
	struct diff_criteria criteria; /* those of the options, with the measure that was chosen */
	struct diff_trace *traces; /* the traces of BEFORE first */
	size_t count[SIDES];
	VECTOR(char *) differences; /* lines from diff_find_differences() */
	struct diff diff;
};

/*
 * Add lines to c->differences for the facts that make the traces hard to compare, such as other
 * kernels, frequencies or losses. Return 0 or -ENOMEM.
 */
int diff_find_differences(struct comparison *c);

/* Return whether the self or total of a row changed significantly and by at least --min. */
bool diff_row_changed(const struct comparison *c, const struct diff_row *row);
/*
 * Return whether there is only one run per side, so that the variation between runs is not
 * measured.
 */
bool diff_is_weak(const struct comparison *c);

int diff_text(const struct comparison *c, const struct screen *s, struct error *err);
int diff_json(const struct comparison *c, FILE *out, struct error *err);

/*
 * Write a differential flame graph of the two traces in the requested format. Return 0, or a
 * negative errno with the cause in *err; -EINVAL if a side has several traces.
 */
int diff_picture(const struct comparison *c, struct error *err);
/* Return the name of a picture format for two traces by index; NULL after the last. */
const char *diff_format_word(unsigned int index);

const char *diff_measure_word(unsigned int measure);
/* Return the word of a value of diff_criteria.by; NULL after the last. */
const char *diff_by_word(unsigned int by);

/* Return whether times of waiting are compared. */
bool diff_is_of_waits(const struct comparison *c);
/*
 * Read the waits of all traces, after their profiles; with one trace a side, in stretches, too.
 * Return 0, or a negative errno; -ENODATA if a trace has no stacks of waits.
 */
int diff_read_waits(struct comparison *c, struct error *err);
void diff_free_waits(struct diff_trace *t);
struct diff_run diff_run_of_trace(const struct diff_trace *t);
/* Return the unit of the numbers that are shown. */
const char *diff_unit_name(const struct comparison *c);

#endif
