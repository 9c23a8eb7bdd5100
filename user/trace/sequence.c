// SPDX-License-Identifier: Apache-2.0
/* Read traces that follow each other in time as one source (sequence.h). */
#include "trace/sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group_times.h"
#include "analyze/handler_parts.h"
#include "trace/merge_hosts.h"
#include "trace/trace.h"

struct sequence_part {
	struct source_hosts hosts;
	struct merge_map map; /* empty while the part is not read */
	bool gone; /* the file was removed */
};

struct sequence {
	struct source source;
	sequence_opener *open;
	void *context; /* of open() */
	struct sequence_part *parts;
	size_t count;
	struct merge_hosts hosts;
	struct merge_ids ids;
	VECTOR(struct account) accounts; /* sums, by event and CPU */
	struct group_times groups; /* sums of all parts */
	struct handler_parts handlers; /* the same */
	VECTOR(uint64_t) cpus; /* lane.id of the CPUs of all parts so far */
	uint64_t end; /* when the last part ended that was read, ns */
	struct sink *to; /* the sink of the current run */
};

/* The sink into which a part is read. */
struct sequence_sink {
	struct sink sink;
	struct sequence *of;
	struct sequence_part *part;
};

/* The sink that assigns the ids of the lanes of a part. */
struct sequence_lanes {
	struct sink sink;
	struct sequence *of;
	struct sequence_part *part;
	struct index taken; /* new ids of the lanes so far, of this part: id -> 1 */
	uint32_t fresh; /* the last new id */
};

static int sequence_no_memory(int ret, struct error *err)
{
	return ret < 0 ? error_errno(err, ret, "cannot add traces up") : 0;
}

static int add_sequence_account(struct sequence *q, const struct account *a)
{
	for (size_t i = 0; i < q->accounts.count; i++) {
		struct account *sum = &q->accounts.items[i];

		if (sum->event != a->event || sum->cpu != a->cpu)
			continue;
		sum->due += a->due;
		sum->written += a->written;
		sum->filtered += a->filtered;
		sum->idle += a->idle;
		sum->late += a->late;
		sum->cut_off += a->cut_off;
		return 0;
	}
	return vector_push(&q->accounts, *a);
}

static bool has_cpu_lane(const struct sequence *q, uint64_t lane)
{
	for (size_t i = 0; i < q->cpus.count; i++)
		if (q->cpus.items[i] == lane)
			return true;
	return false;
}

/* Put an entity once, but each time if it is one of which the next trace knows more. */
static int put_sequence_entity(struct sequence_sink *in, enum record_kind kind,
			       union merge_record *r, struct error *err)
{
	bool known;
	int ret = merge_ids_assign(&in->of->ids, &in->part->map, kind, r, &known);

	if (ret < 0)
		return sequence_no_memory(ret, err);
	if (known && kind != KIND_PROCESS && kind != KIND_THREAD)
		return 0;
	if (kind == KIND_LANE && r->lane.kind == LANE_CPU && !has_cpu_lane(in->of, r->id) &&
	    vector_push(&in->of->cpus, r->id) < 0)
		return sequence_no_memory(-ENOMEM, err);
	return sink_put(in->of->to, kind, r, err);
}

static int sequence_put(struct sink *s, enum record_kind kind, const void *record,
			struct error *err)
{
	struct sequence_sink *in = (struct sequence_sink *)s;
	struct sequence *q = in->of;
	union merge_record r;
	int ret;

	memcpy(&r, record, kinds[kind].size);
	if (kind == KIND_LOSS && !r.loss.host && in->part->hosts.list.count)
		r.loss.host = in->part->hosts.list.items[0].host.id;
	ret = merge_ids_convert(&q->ids, &in->part->map, kind, &r);
	if (ret < 0)
		return sequence_no_memory(ret, err);
	if (kind == KIND_ACCOUNT)
		return sequence_no_memory(add_sequence_account(q, &r.account), err);
	if (kind == KIND_GROUP_TIME)
		return sequence_no_memory(group_times_add(&q->groups, &r.group_time), err);
	if (kind == KIND_HANDLER)
		return sequence_no_memory(handler_parts_take(&q->handlers, &r.handler), err);
	if (kind == KIND_INFO || kind == KIND_LOSS)
		r.id = 0; /* the next free one */
	if (kind == KIND_INFO || kind == KIND_LOSS || kind == KIND_INLINED || kind == KIND_SUM ||
	    kinds[kind].storage == STORAGE_STREAM)
		return kind == KIND_STACK ? put_sequence_entity(in, kind, &r, err)
					  : sink_put(q->to, kind, &r, err);
	return put_sequence_entity(in, kind, &r, err);
}

static const struct sink_ops sequence_sink_ops = {.put = sequence_put};

/* Open a part for one run into a sink. A part that is gone is none. */
static int run_sequence_part(struct sequence *q, size_t i, struct sink *to, struct error *err)
{
	struct trace *t = NULL;
	struct source *source = NULL;
	int ret = q->parts[i].gone ? -ENOENT : q->open(q->context, i, &t, err);

	if (ret == -ENOENT) {
		q->parts[i].gone = true;
		return 0;
	}
	if (!ret)
		ret = trace_source(&source, t, err);
	if (!ret)
		ret = source->ops->run(source, to, err);
	source_free(source);
	trace_close(t);
	return ret;
}

/*
 * Give a lane the id of an equal one. Lanes of a runtime may be equal to others of the same trace:
 * they are counted, which is their number here.
 */
static int assign_lane(struct sequence_lanes *in, union merge_record *r)
{
	const uint64_t old = r->id;
	uint32_t *fresh = &in->fresh;
	bool known = true;
	int ret = 0;

	for (bool taken = true; taken && !ret; r->lane.number += taken) {
		index_remove(&in->part->map.ids[KIND_LANE], old);
		r->id = old;
		ret = merge_ids_assign(&in->of->ids, &in->part->map, KIND_LANE, r, &known);
		*fresh = (uint32_t)r->id;
		taken = !ret && known && r->lane.kind == LANE_RUNTIME &&
			index_get(&in->taken, *fresh) != INDEX_NONE;
	}
	return ret ? ret : index_put(&in->taken, *fresh, 1);
}

/* Processes, threads and lanes get their ids first, since threads and lanes refer to each other. */
static int lanes_of_sequence_put(struct sink *s, enum record_kind kind, const void *record,
				 struct error *err)
{
	struct sequence_lanes *in = (struct sequence_lanes *)s;
	union merge_record r;
	bool known;
	int ret;

	if (kind != KIND_PROCESS && kind != KIND_THREAD && kind != KIND_LANE)
		return 0;
	memcpy(&r, record, kinds[kind].size);
	if (kind == KIND_THREAD)
		r.thread.lane = 0;
	ret = merge_ids_convert(&in->of->ids, &in->part->map, kind, &r);
	if (!ret)
		ret = kind == KIND_LANE
			      ? assign_lane(in, &r)
			      : merge_ids_assign(&in->of->ids, &in->part->map, kind, &r, &known);
	return sequence_no_memory(ret, err);
}

static int assign_lanes_of_part(struct sequence *q, size_t i, struct error *err)
{
	static const struct sink_ops lanes_ops = {.put = lanes_of_sequence_put};
	struct sequence_lanes in = {
		.sink = {&lanes_ops, WANT(PROCESS) | WANT(THREAD) | WANT(LANE)},
		.of = q,
		.part = &q->parts[i],
	};
	int ret = run_sequence_part(q, i, &in.sink, err);

	index_free(&in.taken);
	return ret;
}

/* The begin of a part of one machine, in the stamps of the result, ns; its end. */
static void find_part_times(const struct sequence_part *part, uint64_t *start, uint64_t *end)
{
	*start = *end = 0;
	for (size_t i = 0; i < part->hosts.list.count; i++) {
		const struct host *h = &part->hosts.list.items[i].host;

		*start = h->start + part->map.shift;
		*end = h->end ? h->end + part->map.shift : 0;
	}
}

/* Put the time since the last part as unknown, unless this part begins where that one ended. */
static int put_time_between_parts(struct sequence *q, uint64_t start, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < q->cpus.count && q->end && start > q->end && !ret; i++) {
		const struct slice hole = {.time = q->end,
					   .end = start,
					   .lane = q->cpus.items[i],
					   .state = STATE_UNKNOWN};

		ret = put_slice(q->to, &hole, err);
	}
	return ret;
}

static int read_sequence_part(struct sequence *q, size_t i, struct error *err)
{
	struct sequence_sink in = {
		.sink = {&sequence_sink_ops,
			 (q->to->wants | WANT_ENTITIES | WANT(LOSS) | WANT(ACCOUNT)) & ~WANT(HOST)},
		.of = q,
		.part = &q->parts[i],
	};
	uint64_t start, end;
	int ret = q->to->wants & WANT(SLICE) ? assign_lanes_of_part(q, i, err) : 0;

	find_part_times(in.part, &start, &end);
	if (!ret)
		ret = put_time_between_parts(q, start, err);
	if (!ret)
		ret = run_sequence_part(q, i, &in.sink, err);
	q->end = in.part->gone ? q->end : end;
	merge_map_free(&in.part->map);
	return ret;
}

static int sequence_run(struct source *s, struct sink *to, struct error *err)
{
	struct sequence *q = (struct sequence *)s;
	int ret = 0;

	q->to = to;
	for (size_t i = 0; i < q->hosts.list.count && !ret; i++)
		ret = put_host(to, &q->hosts.list.items[i], err);
	for (size_t i = 0; i < q->count && !ret; i++)
		ret = read_sequence_part(q, i, err);
	for (size_t i = 0; i < q->accounts.count && !ret; i++)
		ret = put_account(to, &q->accounts.items[i], err);
	if (!ret)
		ret = handler_parts_put(&q->handlers, to, err);
	return ret ? ret : group_times_put(&q->groups, to, err);
}

static void sequence_free(struct source *s)
{
	struct sequence *q = (struct sequence *)s;

	for (size_t i = 0; q->parts && i < q->count; i++) {
		vector_free(&q->parts[i].hosts.list);
		merge_map_free(&q->parts[i].map);
	}
	free(q->parts);
	merge_hosts_free(&q->hosts);
	merge_ids_free(&q->ids);
	vector_free(&q->accounts);
	vector_free(&q->cpus);
	group_times_free(&q->groups);
	handler_parts_free(&q->handlers);
	free(q);
}

/* The hosts of all parts must be known before the first one is read: they set the clock. */
static int plan_sequence_put(struct sink *s, enum record_kind kind, const void *record,
			     struct error *err)
{
	struct sequence_sink *in = (struct sequence_sink *)s;

	if (kind != KIND_HOST)
		return 0;
	return sequence_no_memory(merge_hosts_add(&in->of->hosts, &in->part->hosts, record), err);
}

static int plan_sequence(struct sequence *q, struct error *err)
{
	static const struct sink_ops plan_ops = {.put = plan_sequence_put};
	struct source_hosts **hosts = calloc(q->count + 1, sizeof(*hosts));
	struct merge_map **maps = calloc(q->count + 1, sizeof(*maps));
	int ret = hosts && maps ? 0 : sequence_no_memory(-ENOMEM, err);

	for (size_t i = 0; i < q->count && !ret; i++) {
		struct sequence_sink in = {{&plan_ops, WANT(HOST)}, q, &q->parts[i]};

		hosts[i] = &q->parts[i].hosts;
		maps[i] = &q->parts[i].map;
		ret = run_sequence_part(q, i, &in.sink, err);
	}
	if (!ret)
		ret = sequence_no_memory(merge_hosts_unify(&q->hosts, hosts, maps, q->count), err);
	free(hosts);
	free(maps);
	return ret;
}

static const struct source_ops sequence_ops = {.run = sequence_run, .free = sequence_free};

int sequence_source_of(struct source **out, sequence_opener *open, void *context, size_t count,
		       struct error *err)
{
	struct sequence *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return sequence_no_memory(-ENOMEM, err);
	q->source.ops = &sequence_ops;
	q->open = open;
	q->context = context;
	q->count = count;
	q->ids.by_life = true;
	q->parts = calloc(count + 1, sizeof(*q->parts));
	ret = q->parts ? plan_sequence(q, err) : sequence_no_memory(-ENOMEM, err);
	if (ret < 0)
		sequence_free(&q->source);
	else
		*out = &q->source;
	return ret;
}

static int open_path_of_sequence(void *context, size_t number, struct trace **out,
				 struct error *err)
{
	return trace_open(out, ((const char *const *)context)[number], err);
}

int sequence_source(struct source **out, const char *const *paths, size_t count, struct error *err)
{
	return sequence_source_of(out, open_path_of_sequence, (void *)paths, count, err);
}

size_t sequence_count(const struct source *s)
{
	const struct sequence *q = (const struct sequence *)s;
	size_t there = 0;

	for (size_t i = 0; i < q->count; i++)
		there += !q->parts[i].gone;
	return there;
}
