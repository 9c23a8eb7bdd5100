// SPDX-License-Identifier: Apache-2.0
/* Write one window (window_trace.h). */
#include "serve/window_trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "trace/references.h"
#include "trace/trace.h"

#define NSEC_PER_SEC 1000000000ULL

static int no_memory_for_window(int ret, struct error *err)
{
	return ret < 0 ? error_errno(err, ret, "cannot write a window") : 0;
}

/* Begin to write to w->path. */
static int begin_window_trace(struct window_trace *w, uint64_t begin, uint64_t utc,
			      struct error *err)
{
	int ret;

	w->begin = begin;
	w->utc = utc;
	w->stacks = w->lanes = 0;
	w->noted = false;
	ret = trace_writer(&w->writer, w->path, err);
	if (!ret)
		ret = trace_writer_reserve(w->writer, err);
	if (ret < 0) {
		sink_free(w->writer);
		w->writer = NULL;
	}
	return ret;
}

int window_trace_open(struct window_trace *w, const char *folder, uint64_t begin, uint64_t utc,
		      struct error *err)
{
	int ret = window_files_open_path(w->path, sizeof(w->path), folder, utc / NSEC_PER_SEC, err);

	w->folder = folder;
	return ret ? ret : begin_window_trace(w, begin, utc, err);
}

int window_trace_open_at(struct window_trace *w, const char *path, uint64_t begin, uint64_t utc,
			 struct error *err)
{
	w->folder = NULL;
	if (snprintf(w->path, sizeof(w->path), "%s", path) >= (int)sizeof(w->path))
		return error_errno(err, -ENAMETOOLONG, "%s", path);
	return begin_window_trace(w, begin, utc, err);
}

int window_trace_put_host(struct window_trace *w, const struct host *host, uint64_t end,
			  struct error *err)
{
	struct host h = *host;

	/* The wall clock may have been set since the recording began, or since the window began. */
	h.realtime_offset = (int64_t)(w->utc - w->begin);
	h.start = w->begin;
	h.end = end;
	return put_host(w->writer, &h, err);
}

int window_trace_describe(struct window_trace *w, struct entity_store *stores,
			  const struct host *host, struct error *err)
{
	int ret = host ? window_trace_put_host(w, host, 0, err) : 0;

	for (int kind = 0; kind < KIND_COUNT && !ret; kind++)
		for (size_t i = 0; !ret && IN_EVERY_WINDOW >> kind & 1 && i < stores[kind].count;
		     i++) {
			void *record = entity_store_record(entity_store_at(&stores[kind], i));

			ret = window_trace_put(w, stores, (enum record_kind)kind, record, err);
		}
	return ret;
}

static int put_with_references(struct window_trace *w, const struct entity_store *stores,
			       enum record_kind kind, union merge_record *r, struct error *err);

/*
 * Put an entity unless the window has it. One that is not in the stores yet, such as a frame whose
 * name is being looked up, is put when it comes (window_trace_update()). Stacks and lanes have
 * functions of their own.
 */
static int need_entity(struct window_trace *w, const struct entity_store *stores,
		       enum record_kind kind, uint64_t id, struct error *err)
{
	struct entity_store_item *item;
	union merge_record r;
	int ret;

	if (!id || index_get(&w->written[kind], id) != INDEX_NONE)
		return 0;
	ret = no_memory_for_window(index_put(&w->written[kind], id, 1), err);
	item = stores[kind].kind ? entity_store_find(&stores[kind], id) : NULL;
	if (ret || !item)
		return ret;
	memcpy(&r, entity_store_record(item), kinds[kind].size);
	return put_with_references(w, stores, kind, &r, err);
}

/* Put a stack whose parent the window has, under the next id of the window. */
static int put_stack_of_path(struct window_trace *w, const struct entity_store *stores, uint64_t id,
			     struct error *err)
{
	struct stack s =
		*(struct stack *)entity_store_record(entity_store_find(&stores[KIND_STACK], id));
	uint32_t parent = s.parent ? index_get(&w->written[KIND_STACK], s.parent) : 0;
	int ret = need_entity(w, stores, KIND_FRAME, s.frame, err);

	if (ret)
		return ret;
	s.id = ++w->stacks;
	s.parent = parent == INDEX_NONE ? 0 : parent;
	ret = no_memory_for_window(index_put(&w->written[KIND_STACK], id, w->stacks), err);
	return ret ? ret : put_stack(w->writer, &s, err);
}

/*
 * Replace the id of a stack by its id in the window, with which the stack and its callers are put
 * unless the window has them. Ids of stacks must grow from record to record, and records refer to
 * stacks in any order: so the window numbers them itself.
 */
static int need_stack(struct window_trace *w, const struct entity_store *stores, uint64_t *id,
		      struct error *err)
{
	uint32_t known = 0;
	int ret = 0;

	w->path_of_stack.count = 0;
	for (uint64_t at = *id; at && !ret;) {
		struct entity_store_item *item;

		if (index_get(&w->written[KIND_STACK], at) != INDEX_NONE)
			break;
		item = entity_store_find(&stores[KIND_STACK], at);
		if (!item)
			break;
		ret = no_memory_for_window(vector_push(&w->path_of_stack, at), err);
		at = ((struct stack *)entity_store_record(item))->parent;
	}
	for (size_t i = w->path_of_stack.count; !ret && i-- > 0;)
		ret = put_stack_of_path(w, stores, w->path_of_stack.items[i], err);
	if (*id)
		known = index_get(&w->written[KIND_STACK], *id);
	*id = known == INDEX_NONE ? 0 : known;
	return ret;
}

/* Put the process or thread to which the number of a lane or slice refers, if to is one of them. */
static int need_numbered(struct window_trace *w, const struct entity_store *stores,
			 enum lane_reference to, uint64_t number, struct error *err)
{
	if (to == LANE_REFERENCE_THREAD)
		return need_entity(w, stores, KIND_THREAD, number, err);
	return to == LANE_REFERENCE_PROCESS ? need_entity(w, stores, KIND_PROCESS, number, err) : 0;
}

/* Replace the id of a lane by its id in the window; 0: the window has no such lane. */
static void replace_lane(const struct window_trace *w, uint64_t *id)
{
	uint32_t known = *id ? index_get(&w->written[KIND_LANE], *id) : 0;

	*id = known == INDEX_NONE ? 0 : known;
}

/*
 * Put a lane, whose parent the window has, under the next id of the window. Ids of lanes must grow
 * from record to record (analyze/states.h), and records refer to lanes in any order.
 */
static int put_next_lane(struct window_trace *w, const struct entity_store *stores,
			 const struct lane *lane, struct error *err)
{
	struct lane l = *lane;
	int ret = no_memory_for_window(index_put(&w->written[KIND_LANE], l.id, ++w->lanes), err);

	l.id = w->lanes;
	replace_lane(w, &l.parent);
	/* After the lane has its id: the thread refers to the lane. */
	if (!ret)
		ret = need_numbered(w, stores, lane_traits(l.kind)->number, l.number, err);
	return ret ? ret : put_lane(w->writer, &l, err);
}

/* Put a lane with those above it, unless the window has them, and replace its id as above. */
static int need_lane(struct window_trace *w, const struct entity_store *stores, uint64_t *id,
		     struct error *err)
{
	const struct lane *path[8]; /* from the lane upwards: a live source has three levels */
	size_t count = 0;
	int ret = 0;

	for (uint64_t at = w->with_lanes ? *id : 0; at && count < 8;) {
		struct entity_store_item *item;

		if (index_get(&w->written[KIND_LANE], at) != INDEX_NONE)
			break;
		item = entity_store_find(&stores[KIND_LANE], at);
		if (!item)
			break;
		path[count] = entity_store_record(item);
		at = path[count++]->parent;
	}
	while (count-- && !ret)
		ret = put_next_lane(w, stores, path[count], err);
	replace_lane(w, id);
	return ret;
}

/* Put the thread to which a slice or an edge refers by a number. */
static int need_thread_of_record(struct window_trace *w, const struct entity_store *stores,
				 enum record_kind kind, const union merge_record *r,
				 struct error *err)
{
	struct entity_store_item *item;

	if (kind == KIND_EDGE && r->edge.kind == EDGE_MIGRATION)
		return need_entity(w, stores, KIND_THREAD, r->edge.value, err);
	item = kind == KIND_SLICE ? entity_store_find(&stores[KIND_LANE], r->slice.lane) : NULL;
	if (!item)
		return 0;
	return need_numbered(w, stores,
			     lane_traits(((struct lane *)entity_store_record(item))->kind)->value,
			     r->slice.value, err);
}

static int put_with_references(struct window_trace *w, const struct entity_store *stores,
			       enum record_kind kind, union merge_record *r, struct error *err)
{
	int ret = need_thread_of_record(w, stores, kind, r, err);

	for (const struct reference *f = references_of(kind); f && f->kind == kind && !ret; f++) {
		uint64_t *id = (uint64_t *)((char *)r + f->offset);

		if (f->to == KIND_STACK)
			ret = need_stack(w, stores, id, err);
		else if (f->to == KIND_LANE)
			ret = need_lane(w, stores, id, err);
		else
			ret = need_entity(w, stores, f->to, *id, err);
	}
	if (kind == KIND_LANE)
		replace_lane(w, &r->id);
	return ret ? ret : sink_put(w->writer, kind, r, err);
}

int window_trace_need(struct window_trace *w, const struct entity_store *stores,
		      enum record_kind kind, uint64_t id, struct error *err)
{
	if (kind == KIND_LANE)
		return need_lane(w, stores, &id, err);
	return need_entity(w, stores, kind, id, err);
}

bool window_trace_has(const struct window_trace *w, enum record_kind kind, uint64_t id)
{
	return index_get(&w->written[kind], id) != INDEX_NONE;
}

int window_trace_put(struct window_trace *w, const struct entity_store *stores,
		     enum record_kind kind, const void *record, struct error *err)
{
	union merge_record r;

	memcpy(&r, record, kinds[kind].size);
	return put_with_references(w, stores, kind, &r, err);
}

int window_trace_update(struct window_trace *w, const struct entity_store *stores,
			enum record_kind kind, const void *record, struct error *err)
{
	if (!w->writer || index_get(&w->written[kind], *(const uint64_t *)record) == INDEX_NONE)
		return 0;
	return window_trace_put(w, stores, kind, record, err);
}

int window_trace_close(struct window_trace *w, uint64_t end, struct error *err)
{
	struct error unpublished = {""};
	int ret, published;

	if (!w->writer)
		return 0;
	ret = w->writer->ops->finish(w->writer, err);
	sink_free(w->writer);
	w->writer = NULL;
	for (int kind = 0; kind < KIND_COUNT; kind++)
		index_free(&w->written[kind]);
	end = w->utc + (end > w->begin ? end - w->begin : 0);
	published = w->folder ? window_files_publish(w->folder, w->path, w->utc / NSEC_PER_SEC,
						     end / NSEC_PER_SEC, &unpublished)
			      : 0;
	if (ret)
		return ret;
	if (published < 0)
		error_set(err, published, "%s", unpublished.text);
	return published;
}

void window_trace_free(struct window_trace *w)
{
	sink_free(w->writer);
	w->writer = NULL;
	for (int kind = 0; kind < KIND_COUNT; kind++)
		index_free(&w->written[kind]);
	vector_free(&w->path_of_stack);
}
