/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entities of one kind by id, as a live source tells of them: a later record of an id replaces the
 * earlier one. Who keeps them for hours says now and then which ones are to stay.
 */
#ifndef SKEIN_ANALYZE_SHELF_H
#define SKEIN_ANALYZE_SHELF_H

#include <stdbool.h>

#include "analyze/index.h"
#include "base/record.h"

/* The record stands behind it. */
struct shelf_item {
	char *texts; /* of the record, in one block; NULL: it has none */
	uint32_t epoch; /* in which it was put last */
	bool used; /* the owner's mark */
};

struct shelf {
	const struct kind *kind; /* of entities: their records begin with the id */
	char *items;
	size_t count, capacity;
	struct index by_id;
};

void shelf_init(struct shelf *s, enum record_kind kind);
void shelf_free(struct shelf *s);

/* Copies the record and its texts: 0, -ENOMEM or -EOVERFLOW. */
int shelf_put(struct shelf *s, const void *record, uint32_t epoch);

/* NULL: no such id. Items stay where they are until the next shelf_put() or shelf_sweep(). */
struct shelf_item *shelf_find(const struct shelf *s, uint64_t id);
/* By their number: in the order in which their ids came. */
struct shelf_item *shelf_at(const struct shelf *s, size_t number);

static inline void *shelf_record(struct shelf_item *i)
{
	return i + 1;
}

/* Drop every item for which keep() says no: 0, or -ENOMEM and some ids are not found any more. */
int shelf_sweep(struct shelf *s, bool (*keep)(void *context, struct shelf_item *i), void *context);

#endif
