// SPDX-License-Identifier: Apache-2.0
/* Convert the ids, references and stamps of one trace to those of the merged trace. */
#include "trace/merge_ids.h"

#include <errno.h>
#include <string.h>

#include "trace/references.h"

/* The fields with stamps, except those of hosts; a stamp of 0 means none and is not shifted. */
#define STAMPS(X) \
	X(PROCESS, process, born) X(PROCESS, process, start) X(PROCESS, process, end) \
	X(THREAD, thread, start) X(THREAD, thread, end) \
	X(SAMPLE, sample, time) \
	X(SLICE, slice, time) X(SLICE, slice, end) \
	X(EDGE, edge, time) X(EDGE, edge, end) \
	X(SPAN, span, time) X(SPAN, span, end) \
	X(COUNTER, counter, time) \
	X(LOSS, loss, time) X(LOSS, loss, end)

struct stamp_field {
	enum record_kind kind;
	size_t offset;
};

static const struct stamp_field stamps[] = {
#define STAMP(KIND, kind, field) {KIND_##KIND, offsetof(struct kind, field)},
	STAMPS(STAMP)
#undef STAMP
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

void merge_map_free(struct merge_map *m)
{
	for (int k = 0; k < KIND_COUNT; k++)
		index_free(&m->ids[k]);
	index_free(&m->lane_kinds);
}

void merge_ids_free(struct merge_ids *ids)
{
	for (int k = 0; k < KIND_COUNT; k++) {
		names_free(&ids->shared[k]);
		vector_free(&ids->shared_ids[k]);
	}
	index_free(&ids->stacks);
	vector_free(&ids->key);
}

int merge_ids_set(struct merge_map *m, enum record_kind kind, uint64_t id, uint32_t fresh)
{
	return index_put(&m->ids[kind], id, fresh);
}

static int next_new_id(struct merge_ids *ids, enum record_kind kind, uint32_t *out)
{
	if (ids->last[kind] == INDEX_NONE - 1)
		return -EOVERFLOW;
	*out = ++ids->last[kind];
	return 0;
}

/*
 * Replace the id of an entity by its new id, which is assigned now if the entity has not come yet.
 * 0 stays 0. Return 0, -ENOMEM or -EOVERFLOW.
 */
static int convert_id(struct merge_ids *ids, struct merge_map *m, enum record_kind kind,
		      uint64_t *id)
{
	uint32_t fresh = *id ? index_get(&m->ids[kind], *id) : 0;
	int ret = 0;

	if (fresh == INDEX_NONE) {
		ret = next_new_id(ids, kind, &fresh);
		if (!ret)
			ret = index_put(&m->ids[kind], *id, fresh);
	}
	if (!ret)
		*id = fresh;
	return ret;
}

static uint64_t *record_word(union merge_record *record, size_t offset)
{
	return (uint64_t *)((char *)record + offset);
}

static void shift_stamp(const struct merge_map *m, uint64_t *stamp)
{
	if (*stamp)
		*stamp += m->shift;
}

/* Convert lane.number or slice.value, which refers to something of the kind to. */
static int convert_reference(struct merge_ids *ids, struct merge_map *m, enum lane_reference to,
			     uint64_t *number)
{
	switch (to) {
	case LANE_REFERENCE_NOTHING:
		return 0;
	case LANE_REFERENCE_CPU:
		*number += m->cpus;
		return 0;
	case LANE_REFERENCE_PROCESS:
		return convert_id(ids, m, KIND_PROCESS, number);
	case LANE_REFERENCE_THREAD:
		return convert_id(ids, m, KIND_THREAD, number);
	case LANE_REFERENCE_TIME:
		shift_stamp(m, number);
		return 0;
	}
	return 0;
}

static int convert_slice(struct merge_ids *ids, struct merge_map *m, struct slice *s)
{
	uint32_t kind = index_get(&m->lane_kinds, s->lane);

	return convert_reference(ids, m, lane_traits(kind)->value, &s->value);
}

static int convert_lane(struct merge_ids *ids, struct merge_map *m, struct lane *l)
{
	int ret = index_put(&m->lane_kinds, l->id,
			    l->kind < LANE_KIND_COUNT ? (uint32_t)l->kind : LANE_NONE);

	return ret ? ret : convert_reference(ids, m, lane_traits(l->kind)->number, &l->number);
}

/* Convert edge.value: the thread.id of a migration, or the target CPU + 1 of a wake-up or fork. */
static int convert_edge(struct merge_ids *ids, struct merge_map *m, struct edge *e)
{
	if (e->kind == EDGE_MIGRATION)
		return convert_id(ids, m, KIND_THREAD, &e->value);
	if ((e->kind == EDGE_WAKEUP || e->kind == EDGE_FORK) && e->value)
		e->value += m->cpus;
	return 0;
}

/* Convert CPU numbers, and the fields whose meaning depends on other fields. */
static int convert_by_kind(struct merge_ids *ids, struct merge_map *m, enum record_kind kind,
			   union merge_record *r)
{
	switch (kind) {
	case KIND_LANE:
		return convert_lane(ids, m, &r->lane);
	case KIND_SLICE:
		return convert_slice(ids, m, &r->slice);
	case KIND_EDGE:
		return convert_edge(ids, m, &r->edge);
	case KIND_SAMPLE:
		r->sample.cpu += m->cpus;
		return 0;
	case KIND_ACCOUNT:
		r->account.cpu += m->cpus;
		return 0;
	case KIND_LOSS:
		r->loss.cpu += r->loss.cpu ? m->cpus : 0;
		return 0;
	default:
		return 0;
	}
}

int merge_ids_convert(struct merge_ids *ids, struct merge_map *m, enum record_kind kind,
		      union merge_record *record)
{
	int ret = convert_by_kind(ids, m, kind, record);

	for (const struct reference *f = references_of(kind); f && f->kind == kind && !ret; f++)
		ret = convert_id(ids, m, f->to, record_word(record, f->offset));
	for (size_t i = 0; i < COUNT(stamps); i++)
		if (stamps[i].kind == kind)
			shift_stamp(m, record_word(record, stamps[i].offset));
	return ret;
}

/* Return whether a field of a process or thread may change while it lives. */
static bool is_field_of_life(enum record_kind kind, const struct field *f)
{
	static const char *const names[] = {"parent", "start", "end", "lane", "runtime_name"};

	for (size_t i = 0; (kind == KIND_PROCESS || kind == KIND_THREAD) && i < COUNT(names); i++)
		if (!strcmp(f->name, names[i]))
			return true;
	return false;
}

/* Write the fields of an entity that make it the same, without its id, to ids->key, as bytes. */
static int make_entity_key(struct merge_ids *ids, enum record_kind kind,
			   const union merge_record *r)
{
	const struct kind *k = &kinds[kind];

	ids->key.count = 0;
	for (unsigned int i = 1; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		bool is_text = f->type == FIELD_TEXT;
		uint64_t number = is_text ? 0 : field_int(f, r);
		const void *from = is_text ? (const void *)field_text(f, r) : &number;
		size_t size = is_text ? strlen(from) + 1 : sizeof(number);

		if (ids->by_life && is_field_of_life(kind, f))
			continue;
		if (vector_reserve(&ids->key, size) < 0)
			return -ENOMEM;
		memcpy(ids->key.items + ids->key.count, from, size);
		ids->key.count += size;
	}
	return 0;
}

/* Find or assign the id of an entity that may be equal to one of another trace. */
static int share_entity(struct merge_ids *ids, enum record_kind kind, const union merge_record *r,
			uint32_t *out, bool *known)
{
	uint32_t number;
	int ret = make_entity_key(ids, kind, r);

	if (!ret)
		ret = names_intern(&ids->shared[kind], ids->key.items, ids->key.count, &number);
	if (ret < 0)
		return ret;
	*known = number < ids->shared_ids[kind].count;
	if (*known) {
		*out = ids->shared_ids[kind].items[number];
		return 0;
	}
	ret = next_new_id(ids, kind, out);
	return ret ? ret : vector_push(&ids->shared_ids[kind], *out);
}

/* Find or assign the id of a stack. There are many stacks, so the key is just parent and frame. */
static int share_stack(struct merge_ids *ids, const struct stack *s, uint32_t *out, bool *known)
{
	uint64_t key = s->parent << 32 | s->frame;
	int ret = 0;

	*out = index_get(&ids->stacks, key);
	*known = *out != INDEX_NONE;
	if (!*known)
		ret = next_new_id(ids, KIND_STACK, out);
	return ret || *known ? ret : index_put(&ids->stacks, key, *out);
}

int merge_ids_assign(struct merge_ids *ids, struct merge_map *m, enum record_kind kind,
		     union merge_record *record, bool *known)
{
	uint32_t fresh = index_get(&m->ids[kind], record->id);
	int ret = 0;

	*known = false;
	/*
	 * Ids of stacks must grow from record to record, so the id that convert_id() may have
	 * assigned for an earlier reference to this stack is not used.
	 */
	if (kind == KIND_STACK)
		ret = share_stack(ids, &record->stack, &fresh, known);
	else if (fresh == INDEX_NONE)
		ret = kind == KIND_LANE && !ids->by_life
			      ? next_new_id(ids, kind, &fresh)
			      : share_entity(ids, kind, record, &fresh, known);
	if (!ret)
		ret = index_put(&m->ids[kind], record->id, fresh);
	if (!ret)
		record->id = fresh;
	return ret;
}
