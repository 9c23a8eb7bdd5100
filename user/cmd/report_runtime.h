/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a report about what runtimes and probes reported: collections, safepoints, pauses,
 * waits of runtimes, probes of the user, counters.
 */
#ifndef SKEIN_CMD_REPORT_RUNTIME_H
#define SKEIN_CMD_REPORT_RUNTIME_H

#include "analyze/runtime_sums.h"
#include "analyze/sched_rows.h"
#include "base/json.h"
#include "cmd/report.h"

/* Spans of one process of some kinds, added up. */
struct runtime_total {
	uint64_t count; /* those that are still open included */
	uint64_t length; /* ns, whole lengths of those with an end */
	uint64_t inside; /* ns within the range */
	uint64_t longest; /* ns */
};

/* A process of the report. */
struct report_runtime_process {
	const struct process *process; /* texts are empty if the trace lacks it */
	const struct span_process *stops;
	struct runtime_total collections, stopped; /* stopped: safepoints, else stops */
	uint64_t weight; /* by which processes are ordered, ns */
};

struct report_runtime {
	const struct report *report;
	struct runtime_sums *all;
	struct sched_names names;
	VECTOR(struct report_runtime_process) processes; /* those that stood still longest first */
	uint64_t elapsed; /* length of the range, ns */
	uint64_t collecting; /* samples of the report's event in collections of JVMs */
};

/*
 * Read the spans and counters of a source, which must be filtered, and set r->runtime if there are
 * any. Return 0, or a negative errno with the cause in *err.
 */
int report_runtime_make(struct report *r, struct source *spans, struct error *err);
void report_runtime_free(struct report_runtime *t); /* NULL is accepted */

/* Show the lines that every report of a trace with spans has. */
void report_runtime_summary(const struct report *r, const struct screen *to);
/* Show everything that --runtime shows. Return 0 or -ENOMEM. */
int report_runtime_tables(const struct report *r, const struct screen *to);
/* Write the member "runtime". */
void report_runtime_json(struct json *j, const struct report *r);

/* The first row of a process, and the row after its last one. */
const struct runtime_row *report_runtime_rows(const struct report_runtime *t, uint64_t process,
					      const struct runtime_row **end);
/* Number of spans of a row, those that are still open included. */
uint64_t report_runtime_count(const struct runtime_row *row);
/* Show the counters of a process, and which of its threads waited for what its runtime keeps. */
int report_runtime_counters(const struct report_runtime *t, const struct process *p,
			    const struct screen *to);
int report_runtime_waits(const struct report_runtime *t, const struct process *p,
			 const struct screen *to);

#endif
