/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph page while it is written; for html*.c only. */
#ifndef SKEIN_EXPORT_HTML_PAGE_H
#define SKEIN_EXPORT_HTML_PAGE_H

#include "analyze/functions.h"
#include "analyze/tree.h"
#include "base/json.h"

/*
 * The samples of one thread, event and class of wait at one node of the tree. thread is the index
 * in the profile, or the number of threads if the thread is unknown.
 */
struct html_sum {
	uint32_t node, thread, event, wait;
	bool collecting; /* in a collection of garbage */
	uint64_t count, weight;
};

/* How many samples have a frame of a symbol at a line of a file, which is at least 1. */
struct html_line {
	uint32_t symbol, line;
	const char *file;
	uint64_t count;
};

/* One of the page's profiles while it is written. */
struct html_side {
	const struct profile *profile;
	struct symbols symbols;
	uint32_t ends[END_COUNT], no_stack; /* symbols for the ends of stacks, and for no stack */
	struct tree tree; /* labels are symbols */
	VECTOR(struct html_sum) sums;
	VECTOR(struct html_line) lines;
	struct index line_of; /* (symbol, line) -> index in lines */
	uint32_t *label_of; /* number in the page by symbol; INDEX_NONE if not used */
	/* node by index of stack, of no stack behind these; INDEX_NONE: no sum has it */
	uint32_t *node_of;
	VECTOR(uint32_t) labels; /* symbols by number */
};

struct html_page {
	struct json json;
	struct names strings; /* cleaned texts by number */
	char *samples; /* columns of html_write_times(); NULL: none */
	uint64_t from, to; /* the page's part of the recording, ns after its start; to 0: its end */
	int error; /* the first error, a negative errno; 0: none */
};

/* Keep an error, unless rc is none or there is one already. Return 0, the number of a text. */
uint32_t html_fail(struct html_page *p, int rc);
/* Write the number of a text in the table of strings. */
void html_put_string(struct html_page *p, const char *text);

/*
 * Write the labels, the lines at which their frames stood, and their other names. common: the names
 * are those of html_make_side() for a comparison.
 */
void html_write_labels(struct html_page *p, struct html_side *side, bool common);

struct html_samples;
/*
 * html_times.c. Write when samples were taken, as a member of the profile. Set *columns to what the
 * member describes, compressed, as base64, which the caller frees. Nothing if a sample has no node.
 */
void html_write_times(struct html_page *p, const struct html_side *side,
		      const struct html_samples *s, char **columns);

#endif
