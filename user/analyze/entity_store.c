// SPDX-License-Identifier: Apache-2.0
/* Keep entities of one kind by id (entity_store.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/entity_store.h"
#include "base/vector.h"

static size_t item_stride(const struct entity_store *s)
{
	return sizeof(struct entity_store_item) + s->kind->size;
}

static uint64_t item_id(struct entity_store_item *i)
{
	return *(uint64_t *)entity_store_record(i);
}

void entity_store_init(struct entity_store *s, enum record_kind kind)
{
	*s = (struct entity_store){.kind = &kinds[kind]};
}

void entity_store_free(struct entity_store *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(entity_store_at(s, i)->texts);
	free(s->items);
	index_free(&s->by_id);
	*s = (struct entity_store){.kind = s->kind};
}

struct entity_store_item *entity_store_at(const struct entity_store *s, size_t number)
{
	return (struct entity_store_item *)(s->items + number * item_stride(s));
}

struct entity_store_item *entity_store_find(const struct entity_store *s, uint64_t id)
{
	uint32_t number = index_get(&s->by_id, id);

	return number == INDEX_NONE ? NULL : entity_store_at(s, number);
}

/*
 * Copy the texts of a record into one block, one after the other; *out is NULL if the kind has no
 * text fields.
 */
static int copy_record_texts(const struct kind *k, const void *record, char **out)
{
	size_t size = 0;
	char *to = NULL;

	for (unsigned int i = 0; i < k->field_count; i++)
		if (k->fields[i].type == FIELD_TEXT)
			size += strlen(field_text(&k->fields[i], record)) + 1;
	if (size) {
		to = malloc(size);
		if (!to)
			return -ENOMEM;
	}
	*out = to;
	for (unsigned int i = 0; i < k->field_count; i++)
		if (k->fields[i].type == FIELD_TEXT)
			to = stpcpy(to, field_text(&k->fields[i], record)) + 1;
	return 0;
}

static void fill_store_item(const struct kind *k, struct entity_store_item *item,
			    const void *record, char *texts)
{
	char *to = entity_store_record(item);

	free(item->texts);
	item->texts = texts;
	memcpy(to, record, k->size);
	for (unsigned int i = 0; i < k->field_count; i++)
		if (k->fields[i].type == FIELD_TEXT) {
			memcpy(to + k->fields[i].offset, &texts, sizeof(texts));
			texts += strlen(texts) + 1;
		}
}

/* Append an empty item for a new id. */
static int add_store_item(struct entity_store *s, uint64_t id, struct entity_store_item **out)
{
	if (s->count == INDEX_NONE)
		return -EOVERFLOW;
	if (vector_grow(&s->items, &s->capacity, s->count, 1, item_stride(s)) < 0 ||
	    index_put(&s->by_id, id, (uint32_t)s->count) < 0)
		return -ENOMEM;
	*out = entity_store_at(s, s->count++);
	memset(*out, 0, item_stride(s));
	return 0;
}

int entity_store_put(struct entity_store *s, const void *record, uint32_t epoch)
{
	uint64_t id = *(const uint64_t *)record;
	struct entity_store_item *item = entity_store_find(s, id);
	char *texts;
	int ret = copy_record_texts(s->kind, record, &texts);

	if (!ret && !item) {
		ret = add_store_item(s, id, &item);
		if (ret)
			free(texts);
	}
	if (ret)
		return ret;
	fill_store_item(s->kind, item, record, texts);
	item->epoch = epoch;
	return 0;
}

int entity_store_sweep(struct entity_store *s,
		       bool (*keep)(void *context, struct entity_store_item *i), void *context)
{
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct entity_store_item *item = entity_store_at(s, i);

		if (!keep(context, item)) {
			index_remove(&s->by_id, item_id(item));
			free(item->texts);
			continue;
		}
		if (kept != i) {
			memmove(entity_store_at(s, kept), item, item_stride(s));
			if (index_put(&s->by_id, item_id(item), (uint32_t)kept) < 0)
				ret = -ENOMEM;
		}
		kept++;
	}
	s->count = kept;
	return ret;
}
