/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a report about the scheduler: which threads ran, for what other threads waited, and
 * which thread woke which.
 */
#ifndef SKEIN_CMD_REPORT_SCHED_H
#define SKEIN_CMD_REPORT_SCHED_H

#include "analyze/sched_rows.h"
#include "base/json.h"
#include "cmd/report.h"

/* Number of kinds of groups with tables in --sched: those before GROUP_MODULE. */
#define SCHED_GROUPS GROUP_MODULE

struct report_sched {
	const struct report *report;
	struct sched *all;
	struct sched_names names;
	struct sched_rows rows[SCHED_GROUPS]; /* by enum group_by; only those that are shown */
	struct histogram waits[QUEUED_COUNT]; /* waits in the run queues of all CPUs, ns */
	uint64_t busy, idle, unknown, switches; /* sums over all CPUs; times in ns */
	uint64_t elapsed; /* length of the range, ns */
};

/*
 * Read the slices and edges of a trace, and set r->sched if the trace has slices. slices is the
 * source of all records. filter, made by filter_source(), determines which threads are selected;
 * NULL selects all. Both sources are only used during the call. Return 0, or a negative errno with
 * the cause in *err.
 */
int report_sched_make(struct report *r, struct source *slices, const struct source *filter,
		      struct error *err);
/* Free s; NULL is accepted. */
void report_sched_free(struct report_sched *s);

/*
 * Print the summary of the machine; the table of programs that every report has; all tables of
 * --sched or --by. The functions with a result return 0 or -ENOMEM.
 */
void report_sched_machine(const struct report_sched *s, const struct screen *to);
int report_sched_programs(const struct report_sched *s, const struct screen *to);
int report_sched_tables(const struct report_sched *s, const struct screen *to);
/* Write the scheduler's member of the report's object. */
int report_sched_json(struct json *j, const struct report_sched *s);

/* Helpers shared by the tables. Return row i in the order of the report. */
const struct sched_row *report_sched_row(const struct sched_rows *rows, size_t i);
/* Print that no thread passes the filters, instead of tables; nothing if the range is empty. */
void report_sched_put_none(const struct report_sched *s, const struct screen *to);
/* Return the name of a waker: the index of a row in rows->list, or an interrupt. */
const char *report_sched_waker_name(const struct sched_rows *rows, uint32_t waker);
/* With at least this number of columns, a screen has room for all columns of the tables. */
#define SCHED_WIDE 100
#define SCHED_NUMBER_COLUMNS 7 /* columns of a duration or a count in a cell, at most */
/*
 * Add a cell of at most SCHED_NUMBER_COLUMNS columns with a duration, a count or a share; empty for
 * 0.
 */
void report_sched_duration_cell(struct table *t, uint64_t ns);
void report_sched_count_cell(struct table *t, uint64_t count);
void report_sched_share_cell(struct table *t, uint64_t part, uint64_t whole);
/* Return a block whose height is the share (0 to 1); a dot only if the share is 0. */
const char *report_share_block(double share);
/* Add a cell with a quantile of waits, in percent; empty if there were no waits. */
void report_sched_quantile_cell(struct table *t, const struct histogram *h, double percent);
/*
 * Add the columns (return their number) or the cells that identify a row: a tid, a pid or the
 * number of processes; the name; for threads on a wide screen, the process.
 */
unsigned int report_sched_id_columns(struct column *columns, enum group_by by,
				     const struct screen *to);
void report_sched_id_cells(struct table *t, const struct sched_row *row, enum group_by by,
			   const struct screen *to);

/*
 * The wait classes with the most time, as many as fit on the screen. rest: other classes have time,
 * too, which the last column sums.
 */
struct report_wait_classes {
	int wait[WAIT_COUNT];
	unsigned int count;
	bool rest;
};

/* Choose the classes for a table of these times, in room columns of the screen. */
void report_sched_choose_classes(struct report_wait_classes *c, const struct sched_times *all,
				 unsigned int room);
/* Add the columns of the classes, whose number is returned; add the cells of blocked times. */
unsigned int report_sched_blocked_columns(struct column *columns,
					  const struct report_wait_classes *c);
void report_sched_blocked_cells(struct table *t, const struct sched_times *times,
				const struct report_wait_classes *c);

/*
 * Show in which functions threads were blocked, as text or as members of the scheduler's object;
 * r->off_cpu is set. Return 0 or -ENOMEM.
 */
int report_sched_functions(const struct report *r, const struct screen *to);
int report_sched_functions_json(struct json *j, const struct report *r);

/*
 * Print the use of CPUs over time and the waits for them; print how many threads ran at once on the
 * machine and in each group. Return 0 or -ENOMEM.
 */
int report_sched_cpus(const struct report_sched *s, const struct screen *to);
int report_sched_at_once(const struct report_sched *s, const struct screen *to, enum group_by by);

#endif
