// SPDX-License-Identifier: Apache-2.0
/* The metrics of the service (metrics.h). */
#include "serve/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "base/record.h"
#include "serve/label.h"
#include "serve/on_demand.h"
#include "serve/window_sink.h"

#define NSEC_PER_SEC ((uint64_t)1000000000)

/* OpenMetrics names counters without the _total of their lines, the older form with it. */
void metric_begin(const struct metrics_page *m, const char *name, const char *type,
		  const char *help)
{
	const char *suffix = !m->open && !strcmp(type, "counter") ? "_total" : "";

	fprintf(m->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix, type);
}

void metric_count(const struct metrics_page *m, const char *name, const char *help, uint64_t value)
{
	metric_begin(m, name, "counter", help);
	fprintf(m->out, "%s_total %" PRIu64 "\n", name, value);
}

void metric_gauge(const struct metrics_page *m, const char *name, const char *help, double value)
{
	metric_begin(m, name, "gauge", help);
	fprintf(m->out, "%s %.9g\n", name, value);
}

/* End a line with ns as seconds, exactly, and the window in which they were last seen. */
static void write_seconds(const struct metrics_page *m, uint64_t ns)
{
	fprintf(m->out, " %" PRIu64 ".%09" PRIu64, ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
	if (m->open && m->window)
		fprintf(m->out, " # {window=\"%s\"} %" PRIu64 ".%09" PRIu64 " %" PRIu64, m->window,
			ns / NSEC_PER_SEC, ns % NSEC_PER_SEC, m->window_end);
	putc('\n', m->out);
}

static void write_service_label(const struct metrics_page *m, const char *metric,
				const char *service)
{
	fprintf(m->out, "%s_total{service=", metric);
	label_write(m->out, service);
}

/* A function that has the name of the rest gets a hash, as names with odd bytes do. */
static void write_function_labels(const struct metrics_page *m, const char *metric,
				  const char *service, const char *function)
{
	write_service_label(m, metric, service);
	fputs(",function=", m->out);
	if (strcmp(function, "other") != 0)
		label_write(m->out, function);
	else
		fputs("\"other~function\"", m->out);
	putc('}', m->out);
}

static void write_function_times(const struct metrics_page *m, const struct cpu_times *t, int kind,
				 const char *metric)
{
	for (size_t i = 0; i < t->functions.count; i++) {
		const struct function_time *f = &t->functions.items[i];

		if (!f->listed[kind])
			continue;
		write_function_labels(m, metric, t->services.items[f->service].name, f->name);
		write_seconds(m, f->time[kind]);
	}
}

static void write_service_times(const struct metrics_page *m, const struct cpu_times *t)
{
	metric_begin(m, "skein_service_cpu_seconds", "counter",
		     "CPU time of a service, from samples.");
	for (size_t i = 0; i < t->services.count; i++) {
		write_service_label(m, "skein_service_cpu_seconds", t->services.items[i].name);
		putc('}', m->out);
		write_seconds(m, t->services.items[i].time);
	}
}

static void write_rests(const struct metrics_page *m, const struct cpu_times *t)
{
	for (size_t i = 0; i < t->services.count; i++) {
		write_service_label(m, "skein_function_cpu_seconds", t->services.items[i].name);
		fputs(",function=\"other\"}", m->out);
		write_seconds(m, t->services.items[i].other);
	}
	metric_begin(m, "skein_function_retired_cpu_seconds", "gauge",
		     "CPU time of functions that are not listed any more; with the function's "
		     "times it is that of the service.");
	for (size_t i = 0; i < t->services.count; i++) {
		const struct service_cpu *s = &t->services.items[i];

		fputs("skein_function_retired_cpu_seconds{service=", m->out);
		label_write(m->out, s->name);
		fprintf(m->out, "} %" PRIu64 ".%09" PRIu64 "\n", s->retired / NSEC_PER_SEC,
			s->retired % NSEC_PER_SEC);
	}
}

static void write_accounts(const struct metrics_page *m, const struct on_demand *d)
{
	struct account sum = {0};

	for (size_t i = 0; i < d->accounts.count; i++) {
		const struct account *a = &d->accounts.items[i];

		sum.due += a->due;
		sum.written += a->written;
		sum.filtered += a->filtered;
		sum.idle += a->idle;
	}
	metric_count(m, "skein_samples_due", "Samples that were due on all CPUs.", sum.due);
	metric_count(m, "skein_samples_written", "Samples in windows.", sum.written);
	metric_count(m, "skein_samples_filtered", "Samples of threads that were not asked for.",
		     sum.filtered);
	metric_count(m, "skein_samples_idle", "Samples that were due while a CPU was idle.",
		     sum.idle);
	metric_begin(m, "skein_lost", "counter",
		     "Samples and other records that could not be recorded.");
	for (uint64_t reason = 1; reason < LOSS_COUNT; reason++) {
		fputs("skein_lost_total{reason=", m->out);
		label_write(m->out, loss_reason_word(reason));
		fprintf(m->out, "} %" PRIu64 "\n", d->lost[reason]);
	}
}

void metrics_write_times(const struct metrics_page *m, const struct on_demand *d)
{
	const struct cpu_times *t = &d->functions.table;

	write_service_times(m, t);
	metric_begin(m, "skein_function_inclusive_cpu_seconds", "counter",
		     "CPU time of a function with all that it called, counted while it was "
		     "listed. These times overlap: they have no sum.");
	write_function_times(m, t, FUNCTION_INCLUSIVE, "skein_function_inclusive_cpu_seconds");
	metric_begin(m, "skein_function_cpu_seconds", "counter",
		     "CPU time of a function itself, counted while it was listed; other: of "
		     "those that were not.");
	write_function_times(m, t, FUNCTION_SELF, "skein_function_cpu_seconds");
	write_rests(m, t);
	metric_count(m, "skein_functions_dropped",
		     "Times that a function was not counted by itself for want of room.",
		     t->dropped);
	write_accounts(m, d);
}

/* Write a metric of which each service has one value. */
static void write_service_metric(const struct metrics_page *m, const struct cpu_times *t,
				 const struct service_waits *w, const char *name,
				 uint64_t (*value)(const struct service_time *s))
{
	for (size_t i = 0; i < w->rows.count; i++) {
		write_service_label(m, name, t->services.items[i].name);
		putc('}', m->out);
		write_seconds(m, value(&w->rows.items[i]));
	}
}

static uint64_t service_ran(const struct service_time *s)
{
	return s->ns[STATE_RUNNING][WAIT_NONE];
}

static uint64_t service_unknown(const struct service_time *s)
{
	return s->ns[STATE_UNKNOWN][WAIT_NONE];
}

static void write_blocked(const struct metrics_page *m, const struct cpu_times *t,
			  const struct service_waits *w)
{
	for (size_t i = 0; i < w->rows.count; i++)
		for (int wait = WAIT_NONE + 1; wait < WAIT_COUNT; wait++) {
			uint64_t ns =
				service_time_blocked(&w->rows.items[i], (enum wait_class)wait);

			if (!ns)
				continue;
			write_service_label(m, "skein_service_blocked_seconds",
					    t->services.items[i].name);
			fputs(",wait=", m->out);
			label_write(m->out, wait_class_word((uint64_t)wait));
			putc('}', m->out);
			write_seconds(m, ns);
		}
}

void metrics_write_waits(const struct metrics_page *m, struct on_demand *d)
{
	struct cpu_times *t = &d->functions.table;
	struct service_waits all;

	if (!d->groups || service_waits_copy(&all, &d->waits) < 0)
		return;
	if (service_waits_add(&all, t, d->groups) == 0 && all.rows.count) {
		metric_begin(m, "skein_service_run_seconds", "counter",
			     "Time that threads of a service ran, from every switch.");
		write_service_metric(m, t, &all, "skein_service_run_seconds", service_ran);
		metric_begin(m, "skein_service_run_queue_seconds", "counter",
			     "Time that threads of a service could run and waited for a CPU.");
		write_service_metric(m, t, &all, "skein_service_run_queue_seconds",
				     service_time_queued);
		metric_begin(m, "skein_service_blocked_seconds", "counter",
			     "Time that threads of a service were blocked, by what they waited "
			     "for, counted when a wait ends.");
		write_blocked(m, t, &all);
		metric_begin(m, "skein_service_unknown_seconds", "counter",
			     "Time of threads of a service of which no switch is known.");
		write_service_metric(m, t, &all, "skein_service_unknown_seconds", service_unknown);
	}
	service_waits_free(&all);
}

void metrics_write_windows(const struct metrics_page *m, const struct window_counts *c)
{
	metric_count(m, "skein_windows_written", "Windows that were completed.", c->written);
	metric_count(m, "skein_windows_removed", "Windows that were removed, for the budget.",
		     c->removed);
	metric_count(m, "skein_windows_failed", "Windows that could not be written to their end.",
		     c->failed);
}
