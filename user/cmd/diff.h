/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of skein diff, computed once and shown as text or as JSON. */
#ifndef SKEIN_CMD_DIFF_H
#define SKEIN_CMD_DIFF_H

#include "analyze/broken.h"
#include "analyze/diff.h"
#include "cmd/filters.h"
#include "cmd/table.h"
#include "export/export.h"

enum { BEFORE, AFTER, SIDES };

typedef VECTOR(const char *) paths_t;

struct diff_options {
	paths_t paths[SIDES];
	struct diff_criteria compare;
	bool all, json, exit_code;
	uint64_t limit; /* rows; 0 means all */
	const char *color, *format, *out;
	struct export_options how;
	struct filter filter;
};

/* One trace and its profile. */
struct diff_trace {
	const char *path;
	struct filtered_input input;
	struct profile *profile;
	uint32_t event_index;
	const struct event *event; /* NULL if there is none */
	uint64_t count, weight; /* of the samples that pass the filter */
	uint64_t time; /* duration of the shown part, ns */
	struct completeness completeness;
	struct losses losses;
	struct diff_run stretches[DIFF_STRETCHES]; /* each with a profile of its own */
	size_t stretch_count; /* 0 if the trace was not read in stretches */
};

struct comparison {
	const struct diff_options *options;
	struct diff_trace *traces; /* the traces of BEFORE first */
	size_t count[SIDES];
	VECTOR(char *) differences; /* in how the traces were recorded, one line each */
	struct diff diff;
};

/* Fill c->differences with what makes the traces hard to compare. Return 0 or -ENOMEM. */
int diff_find_differences(struct comparison *c);

/* Return whether a row has a change that is marked with a star. */
bool diff_row_changed(const struct comparison *c, const struct diff_row *row);
/*
 * Return whether there is only one run per side, so that the variation between runs is not
 * measured.
 */
bool diff_is_weak(const struct comparison *c);

int diff_text(const struct comparison *c, const struct screen *s, struct error *err);
int diff_json(const struct comparison *c, FILE *out, struct error *err);

/*
 * Write a differential flame graph of the first trace of each side in the requested format.
 * Return 0 or a negative errno with the cause in *err.
 */
int diff_picture(const struct comparison *c, struct error *err);
/* Return the name of a format that shows two traces; NULL after the last. */
const char *diff_format_word(unsigned int index);

const char *diff_measure_word(unsigned int measure);

#endif
