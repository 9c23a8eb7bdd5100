// SPDX-License-Identifier: Apache-2.0
/* Add up what runtimes and probes reported (runtime_sums.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lane_owners.h"
#include "analyze/runtime_sums.h"
#include "base/json_members.h"

#define NEEDED \
	(WANT(HOST) | WANT(PROCESS) | WANT(THREAD) | WANT(LANE) | WANT(NAME) | WANT(SPAN) | \
	 WANT(COUNTER))

/* One run of the source. */
struct runtime_run {
	struct sink sink;
	struct runtime_sums *made;
	const struct runtime_query *query;
	bool second; /* the range and the longest stops are known */
	bool started; /* a host has come */
	uint64_t start, end; /* of the recording, ns; end 0: not known */
	uint64_t newest; /* latest time in any record, ns */
	struct index names; /* name.id -> number in texts */
	struct index processes; /* process.id -> index in made->processes */
	struct names row_keys, cause_keys, counter_keys; /* numbers are indexes in made's lists */
	struct lane_owners owners;
	struct index ended; /* process.id -> index in ends */
	VECTOR(uint64_t) ends; /* when processes ended, ns */
};

const char *runtime_sums_text(const struct runtime_sums *r, uint32_t number)
{
	return names_text(&r->texts, number);
}

/* The range is that of the first host, which started first, until the end of the last one. */
static void take_host_range(struct runtime_run *r, const struct host *h)
{
	if (!r->started)
		r->start = h->start;
	if (!r->started || r->end)
		r->end = h->end <= h->start ? 0 : h->end > r->end ? h->end : r->end;
	r->started = true;
	r->made->from = r->start + r->query->from;
}

static void close_runtime_range(struct runtime_run *r)
{
	uint64_t end = r->end ? r->end : r->newest;

	r->made->to = end;
	if (r->query->to && r->start + r->query->to < end)
		r->made->to = r->start + r->query->to;
	if (r->made->to < r->made->from)
		r->made->to = r->made->from;
}

static int keep_runtime_name(struct runtime_run *r, const struct name *n)
{
	uint32_t number;
	int ret = names_intern_text(&r->made->texts, n->text ? n->text : "", &number);

	return ret ? ret : index_put(&r->names, n->id, number);
}

/* Keep when a process ended: what is still open of it then lasted no longer. */
static int keep_process_end(struct runtime_run *r, const struct process *p)
{
	if (!p->end)
		return 0;
	if (vector_push(&r->ends, p->end) < 0)
		return -ENOMEM;
	return index_put(&r->ended, p->id, (uint32_t)r->ends.count - 1);
}

static uint32_t runtime_name_of(const struct runtime_run *r, uint64_t id)
{
	uint32_t number = id ? index_get(&r->names, id) : INDEX_NONE;

	return number == INDEX_NONE ? RUNTIME_NO_NAME : number;
}

/* Names of threads, which their tables show, would make a row of each. */
static bool has_row_by_name(uint64_t kind)
{
	return kind != SPAN_THREAD;
}

static int find_runtime_row(struct runtime_run *r, const struct span *s,
			    const struct lane_owner *owner, struct runtime_row **out)
{
	struct runtime_row row = {
		.process = owner->process,
		.thread = r->query->by_thread ? owner->thread : 0,
		.name = has_row_by_name(s->kind) ? runtime_name_of(r, s->name) : RUNTIME_NO_NAME,
		.kind = s->kind < SPAN_KIND_COUNT ? (uint16_t)s->kind : SPAN_NONE,
	};
	const uint64_t key[] = {row.process, row.thread, row.name, row.kind};
	uint32_t number;

	if (names_intern(&r->row_keys, key, sizeof(key), &number) < 0)
		return -ENOMEM;
	if (number == r->made->rows.count && vector_push(&r->made->rows, row) < 0)
		return -ENOMEM;
	*out = &r->made->rows.items[number];
	return 0;
}

static int find_runtime_process(struct runtime_run *r, uint64_t id, struct span_process **out)
{
	uint32_t at = index_get(&r->processes, id);
	struct span_process fresh = {.id = id};

	if (at == INDEX_NONE) {
		at = (uint32_t)r->made->processes.count;
		if (vector_push(&r->made->processes, fresh) < 0 ||
		    index_put(&r->processes, id, at) < 0)
			return -ENOMEM;
	}
	*out = &r->made->processes.items[at];
	return 0;
}

/* Add the memory that a collection reports, pool by pool, in its arguments. */
static void add_runtime_heap(struct runtime_heap *h, const char *args, uint64_t end)
{
	struct json_member pools, m;
	uint64_t before = 0, after = 0;
	const char *at = pools.text;

	if (!json_member_find(args, "pools", &pools) || *at != '[')
		return;
	while (*at == '[' || *at == ',') {
		at++;
		while (json_member_next(&at, &m)) {
			if (m.type != JSON_INT || m.negative)
				continue;
			before += strcmp(m.name, "used_before") ? 0 : m.value;
			after += strcmp(m.name, "used_after") ? 0 : m.value;
		}
		at += *at == '}';
	}
	h->count++;
	h->freed += (int64_t)(before - after);
	if (end >= h->last) {
		h->last = end;
		h->after = after;
	}
}

/* Count a collection for its cause, if its arguments name one. */
static int add_runtime_cause(struct runtime_run *r, const struct span *s, uint64_t process)
{
	struct runtime_sums *made = r->made;
	struct runtime_cause fresh = {.process = process, .name = runtime_name_of(r, s->name)};
	uint32_t args = runtime_name_of(r, s->args), number;
	struct json_member cause;

	if (!json_member_find(runtime_sums_text(made, args), "cause", &cause) ||
	    cause.type != JSON_TEXT || !*cause.text)
		return 0;
	if (names_intern_text(&made->texts, cause.text, &fresh.cause) < 0)
		return -ENOMEM;
	if (names_intern(&r->cause_keys, &fresh, offsetof(struct runtime_cause, count), &number) <
	    0)
		return -ENOMEM;
	if (number == made->causes.count && vector_push(&made->causes, fresh) < 0)
		return -ENOMEM;
	made->causes.items[number].count++;
	made->causes.items[number].length += s->end > s->time ? s->end - s->time : 0;
	return 0;
}

static uint64_t stop_length(const struct runtime_stop *s)
{
	return s->end - s->time;
}

/* Keep a stop if it is one of the longest. Where safepoints are known, these are the stops. */
static void keep_longest_stop(struct span_process *p, const struct span *s)
{
	struct runtime_stop stop = {s->time, s->end, 0, 0, RUNTIME_NO_NAME, RUNTIME_NO_NAME};
	bool safepoint = s->kind == SPAN_SAFEPOINT;
	unsigned int at;

	if ((!safepoint && s->kind != SPAN_GC_STOP) || s->end <= s->time)
		return;
	if (safepoint && !p->safepoints)
		p->stop_count = 0;
	p->safepoints = p->safepoints || safepoint;
	if (p->safepoints != safepoint)
		return;
	for (at = p->stop_count; at && stop_length(&p->stops[at - 1]) < stop_length(&stop); at--)
		if (at < RUNTIME_STOPS)
			p->stops[at] = p->stops[at - 1];
	if (at < RUNTIME_STOPS)
		p->stops[at] = stop;
	if (p->stop_count < RUNTIME_STOPS)
		p->stop_count++;
}

static int add_runtime_span(struct runtime_run *r, const struct span *s)
{
	struct lane_owner owner = lane_owners_find(&r->owners, s->lane);
	struct span_process *process;
	struct runtime_row *row;
	int ret = find_runtime_process(r, owner.process, &process);

	if (!ret)
		ret = find_runtime_row(r, s, &owner, &row);
	if (!ret && s->end)
		ret = histogram_add(&row->lengths, s->end > s->time ? s->end - s->time : 0);
	if (!ret && s->kind == SPAN_COLLECTION) {
		add_runtime_heap(&row->heap,
				 runtime_sums_text(r->made, runtime_name_of(r, s->args)), s->end);
		ret = add_runtime_cause(r, s, owner.process);
	}
	if (ret < 0)
		return ret;
	r->made->spans++;
	row->open += !s->end;
	row->origins |= s->origin < ORIGIN_COUNT ? (uint16_t)(1u << s->origin) : 0;
	keep_longest_stop(process, s);
	r->newest = s->end > r->newest ? s->end : s->time > r->newest ? s->time : r->newest;
	return 0;
}

static int find_runtime_counter(struct runtime_run *r, const struct counter *c,
				struct runtime_counter **out)
{
	struct lane_owner owner = lane_owners_find(&r->owners, c->lane);
	struct runtime_counter fresh = {.process = owner.process,
					.name = runtime_name_of(r, c->name),
					.first = c->value,
					.least = c->value,
					.most = c->value};
	const uint64_t key[] = {fresh.process, fresh.name};
	struct span_process *process;
	uint32_t number;

	if (find_runtime_process(r, owner.process, &process) < 0 ||
	    names_intern(&r->counter_keys, key, sizeof(key), &number) < 0)
		return -ENOMEM;
	if (number == r->made->counters.count && vector_push(&r->made->counters, fresh) < 0)
		return -ENOMEM;
	*out = &r->made->counters.items[number];
	return 0;
}

static int add_runtime_value(struct runtime_run *r, const struct counter *c)
{
	struct runtime_counter *of;
	int ret = find_runtime_counter(r, c, &of);

	if (ret < 0)
		return ret;
	of->count++;
	of->least = c->value < of->least ? c->value : of->least;
	of->most = c->value > of->most ? c->value : of->most;
	if (c->time >= of->last_time) {
		of->last_time = c->time;
		of->last = c->value;
	}
	r->newest = c->time > r->newest ? c->time : r->newest;
	return 0;
}

/* Return the part of a process's span that lies in the range, ns. */
static uint64_t length_inside(const struct runtime_run *r, uint64_t process, const struct span *s)
{
	uint32_t ended = s->end ? INDEX_NONE : index_get(&r->ended, process);
	uint64_t last = ended == INDEX_NONE ? s->end : r->ends.items[ended];
	uint64_t begin = s->time > r->made->from ? s->time : r->made->from;
	uint64_t end = last && last < r->made->to ? last : r->made->to;

	return end > begin ? end - begin : 0;
}

/* Note what a span of the second run says about a stop that contains its begin. */
static void describe_stop(struct runtime_run *r, struct runtime_stop *stop, const struct span *s)
{
	uint64_t length = s->end > s->time ? s->end - s->time : 0;
	struct json_member by;

	if (s->time < stop->time || s->time > stop->end)
		return;
	if (s->kind == SPAN_REACHING)
		stop->reaching += length;
	if ((s->kind != SPAN_OPERATION && s->kind != SPAN_COLLECTION) ||
	    length < stop->operation_length ||
	    (s->kind == SPAN_COLLECTION && stop->operation != RUNTIME_NO_NAME))
		return;
	stop->operation = runtime_name_of(r, s->name);
	stop->operation_length = length;
	stop->requester = RUNTIME_NO_NAME;
	if (json_member_find(runtime_sums_text(r->made, runtime_name_of(r, s->args)),
			     "requested_by", &by) &&
	    by.type == JSON_TEXT && *by.text &&
	    names_intern_text(&r->made->texts, by.text, &stop->requester) < 0)
		stop->requester = RUNTIME_NO_NAME;
}

static int look_again_at_span(struct runtime_run *r, const struct span *s)
{
	struct lane_owner owner = lane_owners_find(&r->owners, s->lane);
	struct span_process *process;
	struct runtime_row *row;
	int ret = find_runtime_process(r, owner.process, &process);

	if (!ret)
		ret = find_runtime_row(r, s, &owner, &row);
	if (ret < 0)
		return ret;
	row->inside += length_inside(r, owner.process, s);
	for (unsigned int i = 0; i < process->stop_count; i++)
		describe_stop(r, &process->stops[i], s);
	return 0;
}

static int look_again_at_value(struct runtime_run *r, const struct counter *c)
{
	const struct runtime_sums *m = r->made;
	uint64_t range = m->to - m->from, point;
	struct runtime_counter *of;
	int ret = find_runtime_counter(r, c, &of);

	if (ret < 0 || c->time < m->from || c->time > m->to)
		return ret;
	point = range ? (uint64_t)((unsigned __int128)(c->time - m->from) * RUNTIME_POINTS / range)
		      : 0;
	point = point < RUNTIME_POINTS ? point : RUNTIME_POINTS - 1;
	if (!of->seen[point] || c->value > of->points[point])
		of->points[point] = c->value;
	of->seen[point] = true;
	return 0;
}

static int runtime_put(struct sink *sink, enum record_kind kind, const void *record,
		       struct error *err)
{
	struct runtime_run *r = (struct runtime_run *)sink;
	const struct span *span = record;
	int ret = 0;

	if (kind == KIND_SPAN && (span->kind == SPAN_INTERRUPT || span->kind == SPAN_SOFTIRQ))
		return 0; /* of no process: handler_sums.h */
	if (kind == KIND_SPAN)
		ret = r->second ? look_again_at_span(r, record) : add_runtime_span(r, record);
	else if (kind == KIND_COUNTER)
		ret = r->second ? look_again_at_value(r, record) : add_runtime_value(r, record);
	else if (r->second)
		return 0;
	else if (kind == KIND_HOST)
		take_host_range(r, record);
	else if (kind == KIND_NAME)
		ret = keep_runtime_name(r, record);
	else if (kind == KIND_PROCESS)
		ret = keep_process_end(r, record);
	else
		ret = lane_owners_put(&r->owners, kind, record);
	return ret < 0 ? error_errno(err, ret, "cannot add up spans") : 0;
}

static int by_process_kind_time(const void *a, const void *b)
{
	const struct runtime_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->inside != y->inside)
		return x->inside < y->inside ? 1 : -1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static int by_process_name_count(const void *a, const void *b)
{
	const struct runtime_cause *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

static void sort_runtime_sums(struct runtime_sums *m)
{
	if (m->rows.count)
		qsort(m->rows.items, m->rows.count, sizeof(*m->rows.items), by_process_kind_time);
	if (m->causes.count)
		qsort(m->causes.items, m->causes.count, sizeof(*m->causes.items),
		      by_process_name_count);
}

static const struct sink_ops runtime_sink_ops = {.put = runtime_put};

int runtime_sums_read(struct runtime_sums **out, struct source *source,
		      const struct runtime_query *q, struct error *err)
{
	struct runtime_run r = {
		.sink = {.ops = &runtime_sink_ops, .wants = WANTS(NEEDED)},
		.made = calloc(1, sizeof(*r.made)),
		.query = q,
	};
	int ret;

	if (!r.made)
		return error_errno(err, -ENOMEM, "cannot add up spans");
	ret = source->ops->run(source, &r.sink, err);
	close_runtime_range(&r);
	r.second = true;
	r.sink.wants = WANTS(WANT(SPAN) | WANT(COUNTER));
	if (!ret && (r.made->rows.count || r.made->counters.count))
		ret = source->ops->run(source, &r.sink, err);
	if (!ret)
		sort_runtime_sums(r.made);
	index_free(&r.names);
	index_free(&r.processes);
	names_free(&r.row_keys);
	names_free(&r.cause_keys);
	names_free(&r.counter_keys);
	lane_owners_free(&r.owners);
	index_free(&r.ended);
	vector_free(&r.ends);
	if (ret < 0)
		runtime_sums_free(r.made);
	else
		*out = r.made;
	return ret;
}

void runtime_sums_free(struct runtime_sums *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->rows.count; i++)
		histogram_free(&r->rows.items[i].lengths);
	names_free(&r->texts);
	vector_free(&r->processes);
	vector_free(&r->rows);
	vector_free(&r->causes);
	vector_free(&r->counters);
	free(r);
}
