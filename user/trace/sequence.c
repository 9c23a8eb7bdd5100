// SPDX-License-Identifier: Apache-2.0
/* Read traces that follow each other in time as one source (sequence.h). */
#include "trace/sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group_times.h"
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
	struct sink *to; /* the sink of the current run */
};

/* The sink into which a part is read. */
struct sequence_sink {
	struct sink sink;
	struct sequence *of;
	struct sequence_part *part;
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
	if (kind == KIND_INFO || kind == KIND_LOSS)
		r.id = 0; /* the next free one */
	if (kind == KIND_INFO || kind == KIND_LOSS || kind == KIND_INLINED ||
	    kind == KIND_HANDLER || kind == KIND_SUM || kinds[kind].storage == STORAGE_STREAM)
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

static int read_sequence_part(struct sequence *q, size_t i, struct error *err)
{
	struct sequence_sink in = {
		.sink = {&sequence_sink_ops,
			 (q->to->wants | WANT_ENTITIES | WANT(LOSS) | WANT(ACCOUNT)) & ~WANT(HOST)},
		.of = q,
		.part = &q->parts[i],
	};
	int ret = run_sequence_part(q, i, &in.sink, err);

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
	group_times_free(&q->groups);
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
