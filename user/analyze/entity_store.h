/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep entities of one kind, by id, as a live source puts them: a later record of an id replaces
 * the earlier one. An owner that runs for hours drops unused entities with entity_store_sweep().
 */
#ifndef SKEIN_ANALYZE_ENTITY_STORE_H
#define SKEIN_ANALYZE_ENTITY_STORE_H

#include <stdbool.h>

#include "analyze/index.h"
#include "base/record.h"

/* The header of an item; the record follows. */
struct entity_store_item {
	char *texts; /* all texts of the record in one block; NULL: the kind has no text fields */
	uint32_t epoch; /* number that the caller passed to the last entity_store_put() */
	bool used; /* for the owner's use, such as a mark-and-sweep */
};

struct entity_store {
	const struct kind *kind; /* kind of the entities, whose records begin with the id */
	char *items;
	size_t count, capacity;
	struct index by_id;
};

void entity_store_init(struct entity_store *s, enum record_kind kind);
void entity_store_free(struct entity_store *s);

/* Store a copy of the record and its texts. Return 0, -ENOMEM or -EOVERFLOW. */
int entity_store_put(struct entity_store *s, const void *record, uint32_t epoch);

/*
 * Return the item of an id; NULL if there is none. Items do not move until the next
 * entity_store_put() or entity_store_sweep().
 */
struct entity_store_item *entity_store_find(const struct entity_store *s, uint64_t id);
/* Return an item by number, in the order in which the ids came. */
struct entity_store_item *entity_store_at(const struct entity_store *s, size_t number);

static inline void *entity_store_record(struct entity_store_item *i)
{
	return i + 1;
}

/*
 * Drop every item for which keep() returns false. Return 0, or -ENOMEM: for some ids,
 * entity_store_find() may return a wrong item then, so the store can only be freed.
 */
int entity_store_sweep(struct entity_store *s,
		       bool (*keep)(void *context, struct entity_store_item *i), void *context);

#endif
