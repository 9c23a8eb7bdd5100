// SPDX-License-Identifier: Apache-2.0
/* Mark the entities to which samples refer, and put them (entity_marks.h). */
#include "analyze/entity_marks.h"

/* Return the record of an entity that was not marked before; NULL: there is none. */
static void *mark_entity(struct entity_store *stores, enum record_kind kind, uint64_t id)
{
	struct entity_store_item *i =
		id && stores[kind].kind ? entity_store_find(&stores[kind], id) : NULL;

	if (!i || i->used)
		return NULL;
	i->used = true;
	return entity_store_record(i);
}

void entity_mark_thread(struct entity_store *stores, uint64_t id)
{
	const struct thread *t = mark_entity(stores, KIND_THREAD, id);

	if (t)
		mark_entity(stores, KIND_PROCESS, t->process);
}

static void mark_mapping(struct entity_store *stores, uint64_t id)
{
	const struct mapping *m = mark_entity(stores, KIND_MAPPING, id);

	if (m)
		mark_entity(stores, KIND_PROCESS, m->process);
}

static void mark_frame(struct entity_store *stores, uint64_t id)
{
	const struct frame *f = mark_entity(stores, KIND_FRAME, id);
	const struct function *of = f ? mark_entity(stores, KIND_FUNCTION, f->function) : NULL;

	if (f)
		mark_mapping(stores, f->mapping);
	if (of)
		mark_mapping(stores, of->mapping);
}

void entity_mark_stack(struct entity_store *stores, uint64_t id)
{
	const struct stack *s;

	for (; (s = mark_entity(stores, KIND_STACK, id)); id = s->parent)
		mark_frame(stores, s->frame);
}

void entity_marks_begin(struct entity_store *stores)
{
	for (int kind = 0; kind < KIND_COUNT; kind++)
		for (size_t i = 0; stores[kind].kind && i < stores[kind].count; i++)
			entity_store_at(&stores[kind], i)->used =
				kind == KIND_HOST || kind == KIND_EVENT;
}

static int put_marked(struct entity_store *store, enum record_kind kind, struct sink *to,
		      struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && store->kind && i < store->count; i++)
		if (entity_store_at(store, i)->used)
			ret = sink_put(to, kind, entity_store_record(entity_store_at(store, i)),
				       err);
	return ret;
}

int entity_marks_put(struct entity_store *stores, struct sink *to, struct error *err)
{
	int ret = 0;

#define PUT_MARKED(KIND) \
	if (!ret) \
		ret = put_marked(&stores[KIND_##KIND], KIND_##KIND, to, err);
	ENTITY_MARK_KINDS(PUT_MARKED)
#undef PUT_MARKED
	return ret;
}
