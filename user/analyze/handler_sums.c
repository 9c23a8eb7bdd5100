// SPDX-License-Identifier: Apache-2.0
/* Add up what served interrupts (handler_sums.h). */
#include "analyze/handler_sums.h"

#include <errno.h>
#include <stdlib.h>

#define WHOLE (WANT(HOST) | WANT(LANE) | WANT(HANDLER))
#define PART (WHOLE | WANT(NAME) | WANT(SPAN))

struct handler_sink {
	struct sink sink;
	struct handler_sums *sums;
	struct index cpu_of; /* lane.id of HANDLERS lanes -> index in cpus */
	VECTOR(uint64_t) cpus; /* numbers of CPUs */
	struct index texts; /* name.id -> number in sums->names */
	VECTOR(struct handler_row) parts; /* of one handler on one CPU each */
	struct index part_of; /* number of a name and a CPU -> index in parts */
	struct {
		uint64_t from, to; /* ns since the start; to 0: the end */
	} wanted;
	bool known; /* a host has come */
};

/* Set the range from the first host; several hosts of a merged trace begin with the earliest. */
static void put_handlers_host(struct handler_sink *s, const struct host *h)
{
	uint64_t end = h->end ? h->end : UINT64_MAX;

	if (!s->known)
		s->sums->from = h->start + s->wanted.from;
	if (s->wanted.to && s->wanted.to < end - h->start)
		end = h->start + s->wanted.to;
	if (!s->known || end > s->sums->to)
		s->sums->to = end;
	s->known = true;
}

static int put_handlers_lane(struct handler_sink *s, const struct lane *l)
{
	if (l->kind != LANE_HANDLERS)
		return 0;
	if (vector_push(&s->cpus, l->number) < 0)
		return -ENOMEM;
	return index_put(&s->cpu_of, l->id, (uint32_t)s->cpus.count - 1);
}

/* Add a part to the one of the same name and CPU. */
static int add_handler_part(struct handler_sink *s, uint64_t lane, const struct handler_row *add)
{
	uint32_t cpu = index_get(&s->cpu_of, lane), at;
	uint64_t key = (uint64_t)add->name << 32 | cpu;
	struct handler_row *row;

	if (cpu == INDEX_NONE)
		return 0;
	at = index_get(&s->part_of, key);
	if (at == INDEX_NONE) {
		struct handler_row part = {
			.name = add->name, .kind = add->kind, .cpu = s->cpus.items[cpu]};

		at = (uint32_t)s->parts.count;
		if (vector_push(&s->parts, part) < 0 || index_put(&s->part_of, key, at) < 0)
			return -ENOMEM;
	}
	row = &s->parts.items[at];
	row->count += add->count;
	row->time += add->time;
	row->without += add->without;
	row->longest = add->longest > row->longest ? add->longest : row->longest;
	return 0;
}

static int put_handler_sum(struct handler_sink *s, const struct handler *h)
{
	struct handler_row add = {.kind = h->kind,
				  .count = h->count,
				  .time = h->time,
				  .longest = h->longest,
				  .without = h->without};
	int ret = names_intern_text(&s->sums->names, h->name ? h->name : "", &add.name);

	return ret || s->sums->ranged ? ret : add_handler_part(s, h->lane, &add);
}

/* Add the part of a span that lies in the range. */
static int put_handler_span(struct handler_sink *s, const struct span *r)
{
	uint64_t from = r->time > s->sums->from ? r->time : s->sums->from;
	uint64_t to = r->end < s->sums->to ? r->end : s->sums->to;
	struct handler_row add = {.name = index_get(&s->texts, r->name),
				  .kind = r->kind,
				  .count = 1,
				  .time = to - from,
				  .longest = r->end - r->time};

	if (!r->end || to < from || add.name == INDEX_NONE)
		return 0;
	return add_handler_part(s, r->lane, &add);
}

static int put_handler_text(struct handler_sink *s, const struct name *n)
{
	uint32_t number;
	int ret = names_intern_text(&s->sums->names, n->text ? n->text : "", &number);

	return ret ? ret : index_put(&s->texts, n->id, number);
}

static int handler_sink_put(struct sink *sink, enum record_kind kind, const void *record,
			    struct error *err)
{
	struct handler_sink *s = (struct handler_sink *)sink;
	int ret = 0;

	if (kind == KIND_HOST)
		put_handlers_host(s, record);
	else if (kind == KIND_LANE)
		ret = put_handlers_lane(s, record);
	else if (kind == KIND_HANDLER)
		ret = put_handler_sum(s, record);
	else if (kind == KIND_NAME)
		ret = put_handler_text(s, record);
	else if (kind == KIND_SPAN && s->cpus.count)
		ret = put_handler_span(s, record);
	return ret < 0 ? error_errno(err, ret, "cannot add up the interrupts") : 0;
}

static int by_handler_name(const void *a, const void *b)
{
	const struct handler_row *x = a, *y = b;

	return (x->name > y->name) - (x->name < y->name);
}

static int by_handler_time(const void *a, const void *b)
{
	const struct handler_row *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	return x->count != y->count ? (x->count < y->count ? 1 : -1) : by_handler_name(a, b);
}

/* Add what a CPU has to the row of its handler. */
static void add_cpu_handler(struct handler_row *to, const struct handler_row *part)
{
	to->count += part->count;
	to->time += part->time;
	to->without += part->without;
	to->cpus++;
	if (part->longest > to->longest)
		to->longest = part->longest;
	if (part->time < to->most)
		return;
	to->most = part->time;
	to->cpu = part->cpu;
}

static int join_handlers(struct handler_sink *s)
{
	struct handler_sums *h = s->sums;

	if (!s->parts.count)
		return 0;
	qsort(s->parts.items, s->parts.count, sizeof(*s->parts.items), by_handler_name);
	for (size_t i = 0; i < s->parts.count; i++) {
		const struct handler_row *part = &s->parts.items[i];
		struct handler_row fresh = {.name = part->name, .kind = part->kind};

		if (!h->rows.count || h->rows.items[h->rows.count - 1].name != part->name)
			if (vector_push(&h->rows, fresh) < 0)
				return -ENOMEM;
		add_cpu_handler(&h->rows.items[h->rows.count - 1], part);
	}
	qsort(h->rows.items, h->rows.count, sizeof(*h->rows.items), by_handler_time);
	return 0;
}

static void free_handler_sink(struct handler_sink *s)
{
	index_free(&s->cpu_of);
	index_free(&s->texts);
	index_free(&s->part_of);
	vector_free(&s->cpus);
	vector_free(&s->parts);
}

int handler_sums_read(struct handler_sums **out, struct source *source, uint64_t from, uint64_t to,
		      struct error *err)
{
	static const struct sink_ops ops = {.put = handler_sink_put};
	bool ranged = from || to;
	struct handler_sink s = {
		.sink = {.ops = &ops, .wants = WANTS(ranged ? PART : WHOLE)},
		.sums = calloc(1, sizeof(*s.sums)),
		.wanted = {from, to},
	};
	int ret;

	if (!s.sums)
		return error_errno(err, -ENOMEM, "cannot add up the interrupts");
	s.sums->ranged = ranged;
	ret = source->ops->run(source, &s.sink, err);
	if (!ret && join_handlers(&s) < 0)
		ret = error_errno(err, -ENOMEM, "cannot add up the interrupts");
	free_handler_sink(&s);
	if (ret || !s.sums->rows.count) {
		handler_sums_free(s.sums);
		s.sums = NULL;
	}
	if (!ret)
		*out = s.sums;
	return ret;
}

void handler_sums_free(struct handler_sums *h)
{
	if (!h)
		return;
	names_free(&h->names);
	vector_free(&h->rows);
	free(h);
}

const char *handler_sums_name(const struct handler_sums *h, const struct handler_row *row)
{
	return names_text(&h->names, row->name);
}
