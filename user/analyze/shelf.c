// SPDX-License-Identifier: Apache-2.0
/* Keep entities of one kind by id (shelf.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/shelf.h"
#include "base/vector.h"

static size_t stride(const struct shelf *s)
{
	return sizeof(struct shelf_item) + s->kind->size;
}

static uint64_t id_of(struct shelf_item *i)
{
	return *(uint64_t *)shelf_record(i);
}

void shelf_init(struct shelf *s, enum record_kind kind)
{
	*s = (struct shelf){.kind = &kinds[kind]};
}

void shelf_free(struct shelf *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(shelf_at(s, i)->texts);
	free(s->items);
	index_free(&s->by_id);
	*s = (struct shelf){.kind = s->kind};
}

struct shelf_item *shelf_at(const struct shelf *s, size_t number)
{
	return (struct shelf_item *)(s->items + number * stride(s));
}

struct shelf_item *shelf_find(const struct shelf *s, uint64_t id)
{
	uint32_t number = index_get(&s->by_id, id);

	return number == INDEX_NONE ? NULL : shelf_at(s, number);
}

/*
 * Copy the texts of a record into one block, one after the other; *ret is NULL if the record has
 * none.
 */
static int copy_texts(const struct kind *k, const void *record, char **ret)
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
	*ret = to;
	for (unsigned int i = 0; i < k->field_count; i++)
		if (k->fields[i].type == FIELD_TEXT)
			to = stpcpy(to, field_text(&k->fields[i], record)) + 1;
	return 0;
}

static void fill(const struct kind *k, struct shelf_item *item, const void *record, char *texts)
{
	char *to = shelf_record(item);

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
static int add(struct shelf *s, uint64_t id, struct shelf_item **ret)
{
	if (s->count == INDEX_NONE)
		return -EOVERFLOW;
	if (vector_grow(&s->items, &s->capacity, s->count, 1, stride(s)) < 0 ||
	    index_put(&s->by_id, id, (uint32_t)s->count) < 0)
		return -ENOMEM;
	*ret = shelf_at(s, s->count++);
	memset(*ret, 0, stride(s));
	return 0;
}

int shelf_put(struct shelf *s, const void *record, uint32_t epoch)
{
	uint64_t id = *(const uint64_t *)record;
	struct shelf_item *item = shelf_find(s, id);
	char *texts;
	int rc = copy_texts(s->kind, record, &texts);

	if (!rc && !item) {
		rc = add(s, id, &item);
		if (rc)
			free(texts);
	}
	if (rc)
		return rc;
	fill(s->kind, item, record, texts);
	item->epoch = epoch;
	return 0;
}

int shelf_sweep(struct shelf *s, bool (*keep)(void *context, struct shelf_item *i), void *context)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct shelf_item *item = shelf_at(s, i);

		if (!keep(context, item)) {
			index_remove(&s->by_id, id_of(item));
			free(item->texts);
			continue;
		}
		if (kept != i) {
			memmove(shelf_at(s, kept), item, stride(s));
			if (index_put(&s->by_id, id_of(item), (uint32_t)kept) < 0)
				rc = -ENOMEM;
		}
		kept++;
	}
	s->count = kept;
	return rc;
}
