// SPDX-License-Identifier: Apache-2.0
/* Hold entities until the next commit. */
#include "trace/pending_rows.h"

#include "trace/schema.h"

void pending_rows_init(struct pending_rows *w)
{
	for (int k = 0; k < KIND_COUNT; k++)
		entity_store_init(&w->by_kind[k], (enum record_kind)k);
}

void pending_rows_free(struct pending_rows *w)
{
	for (int k = 0; k < KIND_COUNT; k++)
		entity_store_free(&w->by_kind[k]);
}

bool pending_rows_can_hold(enum record_kind kind)
{
	return kinds[kind].storage == STORAGE_TABLE && schema_key_fields(kind) == 1 &&
	       kind != KIND_INFO && kind != KIND_LOSS;
}

int pending_rows_put(struct pending_rows *w, enum record_kind kind, const void *record,
		     struct error *err)
{
	struct entity_store *s = &w->by_kind[kind];
	int ret = entity_store_put(s, record, 0);

	if (ret)
		return error_errno(err, ret, "entities that wait for the trace");
	return s->count >= PENDING_ROWS_MAX;
}

static int write_rows_of_kind(struct entity_store *s, enum record_kind kind, pending_row_writer row,
			      void *context, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < s->count; i++)
		ret = row(context, kind, entity_store_record(entity_store_at(s, i)), err);
	entity_store_free(s);
	return ret;
}

int pending_rows_write(struct pending_rows *w, pending_row_writer row, void *context,
		       struct error *err)
{
	int ret = 0;

	for (int k = 0; !ret && k < KIND_COUNT; k++)
		ret = write_rows_of_kind(&w->by_kind[k], (enum record_kind)k, row, context, err);
	if (ret)
		pending_rows_free(w);
	return ret;
}
