/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a report that says who ran, who waited for what, and who woke whom. */
#ifndef SKEIN_CMD_REPORT_SCHED_H
#define SKEIN_CMD_REPORT_SCHED_H

#include "analyze/sched_rows.h"
#include "base/json.h"
#include "cmd/report.h"

/* What --sched has no tables for. */
#define SCHED_GROUPS GROUP_MODULE

struct report_sched {
	const struct report *report;
	struct sched *all;
	struct sched_names names;
	struct sched_rows rows[SCHED_GROUPS]; /* by enum group_by; of those that are shown */
	struct histogram waits[QUEUED_COUNT]; /* of all CPUs */
	uint64_t busy, idle, unknown, switches; /* of all CPUs; ns */
	uint64_t elapsed; /* ns of the range */
};

/*
 * Read the slices and edges of a trace: r->sched is set if there are any. slices: the source of
 * all of them; filter: of filter_source(), says which threads are asked for, NULL: all. Both are
 * only needed during the call.
 */
int report_sched_make(struct report *r, struct source *slices, const struct source *filter,
		      struct error *err);
/* Accepts NULL. */
void report_sched_free(struct report_sched *s);

/* What a report says first, below what was recorded; then a table, or all of them. */
void report_sched_machine(const struct report_sched *s, const struct screen *to);
int report_sched_programs(const struct report_sched *s, const struct screen *to);
int report_sched_tables(const struct report_sched *s, const struct screen *to);
/* One member of the report's object. */
void report_sched_json(struct json *j, const struct report_sched *s);

/* What its tables share. A row of the report's order. */
const struct sched_row *sched_row_at(const struct sched_rows *rows, size_t i);
/* Rows to show of so many. */
size_t sched_limit(const struct report_sched *s, size_t count, size_t usual);
/* Said instead of tables without rows. */
void sched_nobody(const struct report_sched *s, const struct screen *to);
/* "... and 3 more" */
void sched_more(const struct screen *to, size_t shown, size_t all);
/* The name of a waker. */
const char *sched_waker_name(const struct sched_rows *rows, uint32_t waker);
/* From this width on there is room for everything. */
#define SCHED_WIDE 100
#define SCHED_NUMBER 7 /* columns of a duration or a count in a cell, at most */
/* A cell with a duration or a count of at most SCHED_NUMBER columns; empty for 0. */
void sched_duration_cell(struct table *t, uint64_t ns);
void sched_count_cell(struct table *t, uint64_t count);
void sched_share_cell(struct table *t, uint64_t part, uint64_t whole);
/* A quantile of waits; empty if there were none. */
void sched_quantile_cell(struct table *t, const struct histogram *h, double percent);
/* Whose a row is: columns and cells of pid or tid, and name. */
unsigned int sched_who_columns(struct column *columns, enum group_by by, const struct screen *to);
void sched_who_cells(struct table *t, const struct sched_row *row, enum group_by by,
		     const struct screen *to);

/* CPUs over time, and parallelism. */
int report_sched_cpus(const struct report_sched *s, const struct screen *to);
int report_sched_at_once(const struct report_sched *s, const struct screen *to, enum group_by by);

#endif
