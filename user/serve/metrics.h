/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics of the service, in Prometheus' text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/) or as OpenMetrics 1.0
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/).
 */
#ifndef SKEIN_SERVE_METRICS_H
#define SKEIN_SERVE_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Most bytes of a page. 200 services with 20 lines each, 104 kinds of pauses with 12 lines each,
 * and 2 x 700 functions, each line with two names of at most 137 bytes, doubled by escapes, and an
 * exemplar.
 */
#define METRICS_MAX (4 << 20)

struct metrics_page {
	FILE *out;
	bool open; /* OpenMetrics */
	/* exemplars of times name this window and its end, s since 1970; NULL: there is none yet */
	const char *window;
	uint64_t window_end;
};

/* Begin a metric: its name without _total, its type (counter, gauge, histogram), what it is. */
void metric_begin(const struct metrics_page *m, const char *name, const char *type,
		  const char *help);
/* A whole counter without labels. */
void metric_count(const struct metrics_page *m, const char *name, const char *help, uint64_t value);

/* A whole gauge without labels. */
void metric_gauge(const struct metrics_page *m, const char *name, const char *help, double value);

struct on_demand;
/* CPU time by service and function, and what became of samples. */
void metrics_write_times(const struct metrics_page *m, const struct on_demand *d);
/* How long the threads of services ran and waited; nothing without sums of control groups. */
void metrics_write_waits(const struct metrics_page *m, struct on_demand *d);

struct window_counts;
void metrics_write_windows(const struct metrics_page *m, const struct window_counts *c);

#endif
