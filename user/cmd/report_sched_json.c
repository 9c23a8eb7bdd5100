// SPDX-License-Identifier: Apache-2.0
/*
 * Write the scheduler's part of a report as JSON. Times are in ns; quantiles are up to 3.1 % off
 * (see analyze/histogram.h); sums, counts and maxima are exact.
 */

#include "cmd/report_sched.h"

#define SERIES_POINTS 240

static size_t sched_json_row_limit(const struct report_sched *s, size_t count)
{
	return report_row_limit(s->report, count, 0);
}

static void sched_json_put_waits(struct json *j, const char *key, const struct histogram *h)
{
	json_key(j, key);
	json_object(j);
	json_key_uint(j, "count", h->count);
	json_key_uint(j, "sum", h->sum);
	json_key_uint(j, "p50", histogram_quantile(h, 50));
	json_key_uint(j, "p90", histogram_quantile(h, 90));
	json_key_uint(j, "p99", histogram_quantile(h, 99));
	json_key_uint(j, "max", h->max);
	json_object_end(j);
}

static void sched_json_put_both_waits(struct json *j, const struct histogram *waits)
{
	sched_json_put_waits(j, "waits_woken", &waits[QUEUED_WOKEN]);
	sched_json_put_waits(j, "waits_preempted", &waits[QUEUED_PREEMPTED]);
}

static void sched_json_put_times(struct json *j, const struct sched_times *t)
{
	json_key_uint(j, "life", sched_life(t));
	json_key_uint(j, "running", t->running);
	json_key_uint(j, "runnable_woken", t->queued[QUEUED_WOKEN]);
	json_key_uint(j, "runnable_preempted", t->queued[QUEUED_PREEMPTED]);
	json_key(j, "blocked");
	json_object(j);
	for (int wait = 1; wait < WAIT_COUNT; wait++)
		json_key_uint(j, wait_class_word(wait),
			      t->blocked[wait] + (wait == WAIT_OTHER ? t->blocked[0] : 0));
	json_object_end(j);
	json_key_uint(j, "stopped", t->stopped);
	json_key_uint(j, "unused", t->unused);
	json_key_uint(j, "unknown", t->unknown);
}

static void sched_json_put_counts(struct json *j, const struct sched_counts *c)
{
	json_key_uint(j, "voluntary", c->switches[SWITCH_VOLUNTARY]);
	json_key_uint(j, "involuntary", c->switches[SWITCH_INVOLUNTARY]);
	json_key_uint(j, "wakeups", c->wakeups);
	json_key_uint(j, "wakes", c->wakes);
}

/* Write waits without quantiles, which single threads do not have. */
static void sched_json_put_counted_waits(struct json *j, const char *key,
					 const struct sched_counts *c, enum queued how)
{
	json_key(j, key);
	json_object(j);
	json_key_uint(j, "count", c->waits[how]);
	json_key_uint(j, "sum", c->waited[how]);
	json_key_uint(j, "max", c->longest[how]);
	json_object_end(j);
}

static void sched_json_put_at_once(struct json *j, const struct report_sched *s, const uint64_t *ns,
				   size_t count)
{
	uint64_t none = s->elapsed;

	for (size_t k = 1; k < count; k++)
		none -= ns[k] < none ? ns[k] : none;
	json_key(j, "at_once");
	json_array(j);
	json_uint(j, none);
	for (size_t k = 1; k < count; k++)
		json_uint(j, ns[k]);
	json_array_end(j);
}

static void sched_json_put_series(struct json *j, const char *key, const struct report_sched *s,
				  const struct series *series)
{
	double step = (double)s->elapsed / SERIES_POINTS;

	json_key(j, key);
	json_array(j);
	for (unsigned int i = 0; i < SERIES_POINTS && s->elapsed; i++)
		json_uint(j, (uint64_t)(series_sum(series, s->all->from + (uint64_t)(step * i),
						   s->all->from + (uint64_t)(step * (i + 1))) +
					0.5));
	json_array_end(j);
}

static void sched_json_put_cpus(struct json *j, const struct report_sched *s)
{
	json_key(j, "cpus");
	json_array(j);
	for (size_t i = 0; i < s->all->cpus.count; i++) {
		const struct sched_cpu *c = s->all->cpus.items[i];

		json_object(j);
		json_key_uint(j, "cpu", c->number);
		json_key_uint(j, "busy", c->busy);
		json_key_uint(j, "idle", c->idle);
		json_key_uint(j, "unknown", c->unknown);
		json_key_uint(j, "absent", s->elapsed - c->busy - c->idle - c->unknown);
		json_key_uint(j, "switches", c->switches);
		sched_json_put_both_waits(j, c->waits);
		sched_json_put_series(j, "busy_over_time", s, &c->busy_when);
		sched_json_put_series(j, "unknown_over_time", s, &c->unknown_when);
		json_object_end(j);
	}
	json_array_end(j);
}

static void sched_json_put_row(struct json *j, const struct report_sched *s,
			       const struct sched_row *r, enum group_by by)
{
	json_object(j);
	json_key_text(j, "name", r->name);
	json_key_uint(j, "processes", r->processes);
	if (by == GROUP_PROCESS || by == GROUP_THREAD)
		json_key_uint(j, "pid", r->process->pid);
	if (by == GROUP_THREAD) {
		json_key_uint(j, "tid", r->thread ? r->thread->tid : 0);
		json_key_text(j, "comm", r->process->comm);
	} else {
		json_key_uint(j, "threads", r->threads);
	}
	sched_json_put_times(j, &r->times);
	sched_json_put_counts(j, &r->counts);
	if (by == GROUP_THREAD) {
		sched_json_put_counted_waits(j, "waits_woken", &r->counts, QUEUED_WOKEN);
		sched_json_put_counted_waits(j, "waits_preempted", &r->counts, QUEUED_PREEMPTED);
	} else {
		sched_json_put_both_waits(j, r->waits);
	}
	if (by == GROUP_PROCESS)
		sched_json_put_at_once(j, s, r->at_once.items, r->at_once.count);
	json_object_end(j);
}

static void sched_json_put_rows(struct json *j, const struct report_sched *s)
{
	static const char *const keys[] = {
		[GROUP_PROGRAM] = "programs",	  [GROUP_PROCESS] = "processes",
		[GROUP_THREAD] = "threads",	  [GROUP_SERVICE] = "services",
		[GROUP_CONTAINER] = "containers", [GROUP_CGROUP] = "cgroups",
	};

	for (int by = 0; by < SCHED_GROUPS; by++) {
		const struct sched_rows *rows = &s->rows[by];

		json_key(j, keys[by]);
		json_array(j);
		for (size_t i = 0; i < sched_json_row_limit(s, rows->order.count); i++)
			sched_json_put_row(j, s, report_sched_row(rows, i), by);
		json_array_end(j);
	}
}

/* Write one end of a wake-up: a thread, or a name only. */
static void sched_json_put_end(struct json *j, const char *key, const struct sched_rows *rows,
			       uint32_t at)
{
	const struct sched_row *r = at < rows->list.count ? &rows->list.items[at] : NULL;

	json_key(j, key);
	json_object(j);
	json_key_text(j, "name", report_sched_waker_name(rows, at));
	if (r) {
		json_key_uint(j, "pid", r->process->pid);
		json_key_uint(j, "tid", r->thread ? r->thread->tid : 0);
	}
	json_object_end(j);
}

static void sched_json_put_wakes(struct json *j, const struct report_sched *s)
{
	const struct sched_rows *rows = &s->rows[GROUP_THREAD];

	json_key(j, "wakes");
	json_array(j);
	for (size_t i = 0; i < sched_json_row_limit(s, rows->wakes.count); i++) {
		json_object(j);
		sched_json_put_end(j, "by", rows, rows->wakes.items[i].from);
		sched_json_put_end(j, "of", rows, rows->wakes.items[i].to);
		json_key_uint(j, "count", rows->wakes.items[i].count);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_uint(j, "other_wakes", s->all->other_wakes);
}

int report_sched_json(struct json *j, const struct report_sched *s)
{
	const struct sched *all = s->all;
	int ret = 0;

	json_key(j, "sched");
	json_object(j);
	json_key_uint(j, "from", all->from);
	json_key_uint(j, "elapsed", s->elapsed);
	json_key_uint(j, "slices", all->slices);
	json_key_uint(j, "disorder", all->disorder);
	json_key_uint(j, "busy", s->busy);
	json_key_uint(j, "idle", s->idle);
	json_key_uint(j, "unknown", s->unknown);
	json_key_uint(j, "switches", s->switches);
	json_key_uint(j, "wakeups", all->counts.wakeups);
	json_key_uint(j, "waiting", sched_queued(&all->times));
	sched_json_put_both_waits(j, s->waits);
	sched_json_put_at_once(j, s, all->at_once.done.items, all->at_once.done.count);
	json_key_real(j, "point", (double)s->elapsed / SERIES_POINTS);
	sched_json_put_series(j, "waiting_over_time", s, &all->waiting_when);
	sched_json_put_cpus(j, s);
	sched_json_put_rows(j, s);
	sched_json_put_wakes(j, s);
	if (s->report->off_cpu && s->report->options->sched)
		ret = report_sched_functions_json(j, s->report);
	json_object_end(j);
	return ret;
}
