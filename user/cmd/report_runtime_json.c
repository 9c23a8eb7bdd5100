// SPDX-License-Identifier: Apache-2.0
/*
 * Write the part of a report about runtimes and probes as JSON. Times are in ns; quantiles are up
 * to 3.1 % off (see analyze/histogram.h); sums, counts and maxima are exact.
 */
#include "analyze/quantities.h"
#include "cmd/report_runtime.h"

static void runtime_json_put_row(struct json *j, const struct report_runtime *t,
				 const struct runtime_row *row)
{
	const struct thread *thread = sched_names_thread(&t->names, row->thread);
	const struct histogram *h = &row->lengths;

	json_object(j);
	json_key_text(j, "kind", span_kind_word(row->kind));
	json_key_text(j, "name", runtime_sums_text(t->all, row->name));
	if (thread)
		json_key_uint(j, "tid", thread->tid);
	json_key(j, "known_by");
	json_array(j);
	for (unsigned int origin = 1; origin < ORIGIN_COUNT; origin++)
		if (row->origins & 1u << origin)
			json_text(j, span_origin_word(origin));
	json_array_end(j);
	json_key_uint(j, "count", report_runtime_count(row));
	json_key_uint(j, "open", row->open);
	json_key_uint(j, "sum", h->sum);
	json_key_uint(j, "inside", row->inside);
	json_key_uint(j, "p50", histogram_quantile(h, 50));
	json_key_uint(j, "p95", histogram_quantile(h, 95));
	json_key_uint(j, "p99", histogram_quantile(h, 99));
	json_key_uint(j, "max", h->max);
	if (row->heap.count) {
		json_key_uint(j, "pools_known", row->heap.count);
		json_key_int(j, "freed", row->heap.freed);
		json_key_uint(j, "used_after_last", row->heap.after);
	}
	json_object_end(j);
}

static void runtime_json_put_causes(struct json *j, const struct report_runtime *t,
				    uint64_t process)
{
	json_key(j, "causes");
	json_array(j);
	for (size_t i = 0; i < t->all->causes.count; i++) {
		const struct runtime_cause *c = &t->all->causes.items[i];

		if (c->process != process)
			continue;
		json_object(j);
		json_key_text(j, "collections", runtime_sums_text(t->all, c->name));
		json_key_text(j, "cause", runtime_sums_text(t->all, c->cause));
		json_key_uint(j, "count", c->count);
		json_key_uint(j, "sum", c->length);
		json_object_end(j);
	}
	json_array_end(j);
}

static void runtime_json_put_stops(struct json *j, const struct report_runtime *t,
				   const struct span_process *p)
{
	json_key(j, "longest_stops");
	json_array(j);
	for (unsigned int i = 0; i < p->stop_count; i++) {
		const struct runtime_stop *s = &p->stops[i];

		json_object(j);
		json_key_uint(j, "time", s->time);
		json_key_uint(j, "length", s->end - s->time);
		json_key_uint(j, "reaching", s->reaching);
		json_key_text(j, "operation", runtime_sums_text(t->all, s->operation));
		json_key_uint(j, "operation_length", s->operation_length);
		json_key_text(j, "requester", runtime_sums_text(t->all, s->requester));
		json_object_end(j);
	}
	json_array_end(j);
}

static void runtime_json_put_counters(struct json *j, const struct report_runtime *t,
				      uint64_t process)
{
	json_key(j, "counters");
	json_array(j);
	for (size_t i = 0; i < t->all->counters.count; i++) {
		const struct runtime_counter *c = &t->all->counters.items[i];
		const struct quantity *q;

		if (c->process != process)
			continue;
		q = quantity_of_name(runtime_sums_text(t->all, c->name));
		json_object(j);
		json_key_text(j, "name", runtime_sums_text(t->all, c->name));
		json_key_text(j, "unit", q->unit);
		json_key(j, "total");
		json_bool(j, q->total);
		json_key_uint(j, "values", c->count);
		json_key_int(j, "first", c->first);
		json_key_int(j, "least", c->least);
		json_key_int(j, "most", c->most);
		json_key_int(j, "last", c->last);
		json_key(j, "most_over_time");
		json_array(j);
		for (unsigned int point = 0; point < RUNTIME_POINTS; point++)
			if (c->seen[point])
				json_int(j, c->points[point]);
			else
				json_null(j);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static void runtime_json_put_process(struct json *j, const struct report_runtime *t,
				     const struct report_runtime_process *p)
{
	const struct runtime_row *end, *row = report_runtime_rows(t, p->stops->id, &end);

	json_object(j);
	json_key_uint(j, "pid", p->process->pid);
	json_key_text(j, "comm", p->process->comm);
	json_key(j, "spans");
	json_array(j);
	for (; row < end; row++)
		runtime_json_put_row(j, t, row);
	json_array_end(j);
	runtime_json_put_causes(j, t, p->stops->id);
	runtime_json_put_stops(j, t, p->stops);
	runtime_json_put_counters(j, t, p->stops->id);
	json_object_end(j);
}

void report_runtime_json(struct json *j, const struct report *r)
{
	const struct report_runtime *t = r->events.runtime;

	json_key(j, "runtime");
	json_object(j);
	json_key_uint(j, "from", t->all->from);
	json_key_uint(j, "elapsed", t->elapsed);
	json_key_uint(j, "spans", t->all->spans);
	json_key_uint(j, "samples_in_collections_of_jvms", t->collecting);
	json_key(j, "processes");
	json_array(j);
	for (size_t i = 0; i < t->processes.count; i++)
		runtime_json_put_process(j, t, &t->processes.items[i]);
	json_array_end(j);
	json_object_end(j);
}
