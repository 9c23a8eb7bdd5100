// SPDX-License-Identifier: Apache-2.0
/* Hold entities until the next commit. */
#include "trace/waiting.h"

#include "trace/schema.h"

void waiting_init(struct waiting_rows *w)
{
	for (int k = 0; k < KIND_COUNT; k++)
		entity_store_init(&w->shelves[k], (enum record_kind)k);
}

void waiting_free(struct waiting_rows *w)
{
	for (int k = 0; k < KIND_COUNT; k++)
		entity_store_free(&w->shelves[k]);
}

bool waiting_takes(enum record_kind kind)
{
	return kinds[kind].storage == STORAGE_TABLE && schema_key_fields(kind) == 1 &&
	       kind != KIND_INFO && kind != KIND_LOSS;
}

int waiting_put(struct waiting_rows *w, enum record_kind kind, const void *record,
		struct error *err)
{
	struct entity_store *s = &w->shelves[kind];
	int ret = entity_store_put(s, record, 0);

	if (ret)
		return error_errno(err, ret, "entities that wait for the trace");
	return s->count >= WAITING_MAX;
}

static int write_shelf(struct entity_store *s, enum record_kind kind, waiting_row row, void *context,
		       struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < s->count; i++)
		ret = row(context, kind, entity_store_record(entity_store_at(s, i)), err);
	entity_store_free(s);
	return ret;
}

int waiting_write(struct waiting_rows *w, waiting_row row, void *context, struct error *err)
{
	int ret = 0;

	for (int k = 0; !ret && k < KIND_COUNT; k++)
		ret = write_shelf(&w->shelves[k], (enum record_kind)k, row, context, err);
	if (ret)
		waiting_free(w);
	return ret;
}
