/* SPDX-License-Identifier: Apache-2.0 */
/* What skein diff compares, gathered once and shown as text or as JSON. */
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
	struct diff_how compare;
	bool all, json, exit_code;
	uint64_t limit; /* rows; 0: all */
	const char *color, *format, *out;
	struct export_options how;
	struct filter filter;
};

/* One trace, read. */
struct diff_trace {
	const char *path;
	struct input input;
	struct profile *profile;
	uint32_t event_index;
	const struct event *event; /* NULL: there is none */
	uint64_t count, weight; /* of its samples that passed */
	uint64_t time; /* how long what is shown is, ns */
	struct completeness completeness;
	struct losses losses;
	struct diff_run stretches[DIFF_STRETCHES]; /* with profiles of its own */
	size_t stretch_count; /* 0: not read */
};

struct comparison {
	const struct diff_options *options;
	struct diff_trace *traces; /* those of before first */
	size_t count[SIDES];
	VECTOR(char *) differences; /* in how they were made: one line each */
	struct diff diff;
};

/* Fill differences: what makes the traces hard to compare. 0 or -ENOMEM. */
int diff_find_differences(struct comparison *c);

/* Whether a row has a change that is shown with a star. */
bool diff_row_changed(const struct comparison *c, const struct diff_row *row);
/* Whether there is one run a side, so that nothing measures how runs differ by themselves. */
bool diff_is_weak(const struct comparison *c);

int diff_text(const struct comparison *c, const struct screen *s, struct error *err);
int diff_json(const struct comparison *c, FILE *out, struct error *err);

/* A differential picture of the first trace of each side, in the format that was asked for. */
int diff_picture(const struct comparison *c, struct error *err);
/* NULL: it is none that shows two traces. */
const char *diff_format_word(unsigned int index);

const char *diff_measure_word(unsigned int measure);

#endif
