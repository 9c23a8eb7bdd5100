/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a report, gathered once and shown as text or as JSON. */
#ifndef SKEIN_CMD_REPORT_H
#define SKEIN_CMD_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/broken.h"
#include "analyze/filter.h"
#include "analyze/functions.h"
#include "analyze/groups.h"
#include "analyze/named.h"
#include "analyze/python.h"
#include "analyze/runtimes.h"
#include "analyze/tree.h"
#include "base/error.h"
#include "cmd/filters.h"
#include "cmd/table.h"
#include "cmd/window_choice.h"
#include "lanes/lanes.h"

#define BY_FUNCTION GROUP_KIND_COUNT /* extends enum group_by */
#define BY_NOTHING (GROUP_KIND_COUNT + 1)
#define LIMIT_UNSET UINT64_MAX
#define REPORT_LEAST 1.0 /* percent */

struct report_options {
	bool tree, sched, off_cpu, runtime, timeline, json, full_names;
	int by; /* enum group_by, BY_FUNCTION or BY_NOTHING */
	enum lanes_by lanes; /* of the timeline */
	uint64_t limit; /* rows of each table; 0 means all, LIMIT_UNSET the default of the table */
	double least; /* least share of a line of the tree, in percent of the whole */
	const char *color;
	struct profile_view view;
	struct filter filter;
	struct window_choice windows;
};

struct report_sched; /* see cmd/report_sched.h */
struct report_off_cpu; /* see cmd/report_off_cpu.h */
struct handler_sums; /* see analyze/handler_sums.h */
struct service_times; /* see analyze/group_times.h */
struct report_runtime; /* see cmd/report_runtime.h */

/* How many stacks are complete, and where the others broke. */
struct report_stacks {
	struct completeness completeness;
	struct breakages breakages;
};

/* Samples with functions without names. */
struct report_names {
	uint64_t unready; /* names that were not resolved by the end */
	struct runtime_shares runtimes;
	struct named_share share; /* of self time in functions with names */
};

/* What runtimes, probes and interrupts reported. */
struct report_events {
	struct report_runtime *runtime; /* NULL if the trace has no spans, or they are not shown */
	struct handler_sums *handlers; /* NULL if interrupts were not recorded, or are not shown */
	struct service_times *services; /* NULL if the trace has none, or they are not shown */
};

struct report {
	const char *path;
	const struct report_options *options;
	const struct profile *profile;
	const struct event *event; /* the shown event; NULL if the trace has no events */
	uint32_t event_index;
	uint64_t count, weight; /* of the samples of the event that pass the filter */
	bool filtered; /* only a part of the recording is shown */
	struct symbols symbols;
	struct functions functions;
	/* Python functions, including the C functions that they call; empty if not shown */
	struct functions python_functions;
	struct groups groups[GROUP_KIND_COUNT]; /* only those that are shown */
	struct tree tree; /* with --tree; labels are symbols; children of the root are programs */
	struct report_stacks stacks;
	struct python_share python;
	struct report_names names;
	struct losses losses;
	struct report_sched *sched; /* NULL if the scheduler was not recorded or is not shown */
	struct report_off_cpu *off_cpu; /* NULL without --off-cpu */
	struct report_events events;
};

int report_make(struct report *r, const char *path, const struct profile *p,
		const struct report_options *o, struct error *err);
/*
 * Add what the options show of the scheduler, of waits and of runtimes, from the input that the
 * profile was read from. Return 0, or a negative errno with the cause in *err.
 */
int report_add_parts(struct report *r, const struct filtered_input *in, struct error *err);
void report_free(struct report *r);

int report_text(const struct report *r, const struct screen *s, struct error *err);
int report_json(const struct report *r, FILE *out, struct error *err);

/*
 * Draw the timeline of the trace at path to stdout, as wide as the terminal. Return 0, or a
 * negative errno with the cause in *err.
 */
int report_timeline(const char *path, const struct report_options *o, struct error *err);

int report_tree_text(const struct report *r, const struct screen *s);

/*
 * Return for how long the recording was paused in the time that the report shows, ns; 0 also if the
 * report shows only a part of the recording, of which that is not known.
 */
uint64_t report_paused(const struct report *r);
/* Return whether a tree node has at least the share of --min. */
bool report_shows_node(const struct report *r, uint32_t node);
/*
 * Append to list the indexes of those children of a tree node that have at least the share of
 * --min, heaviest first. Return 0 or -ENOMEM.
 */
typedef VECTOR(uint32_t) nodes_t;
int report_children(const struct report *r, uint32_t node, nodes_t *list);

/*
 * Return the number of rows to show of count rows. usual is the limit without --limit, 0 for no
 * limit.
 */
size_t report_row_limit(const struct report *r, size_t count, size_t usual);

const char *report_group_word(unsigned int by);

#endif
