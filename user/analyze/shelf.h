/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep entities of one kind, by id, as a live source puts them: a later record of an id replaces
 * the earlier one. An owner that runs for hours drops unused entities with shelf_sweep().
 */
#ifndef SKEIN_ANALYZE_SHELF_H
#define SKEIN_ANALYZE_SHELF_H

#include <stdbool.h>

#include "analyze/index.h"
#include "base/record.h"

/* The header of an item; the record follows. */
struct shelf_item {
	char *texts; /* all texts of the record in one block; NULL: none */
	uint32_t epoch; /* epoch of the last shelf_put() */
	bool used; /* for the owner's use, such as a mark-and-sweep */
};

struct shelf {
	const struct kind *kind; /* kind of the entities, whose records begin with the id */
	char *items;
	size_t count, capacity;
	struct index by_id;
};

void shelf_init(struct shelf *s, enum record_kind kind);
void shelf_free(struct shelf *s);

/* Store a copy of the record and its texts. Return 0, -ENOMEM or -EOVERFLOW. */
int shelf_put(struct shelf *s, const void *record, uint32_t epoch);

/*
 * Return the item of an id; NULL if there is none. Items do not move until the next shelf_put() or
 * shelf_sweep().
 */
struct shelf_item *shelf_find(const struct shelf *s, uint64_t id);
/* Return an item by number, in the order in which the ids came. */
struct shelf_item *shelf_at(const struct shelf *s, size_t number);

static inline void *shelf_record(struct shelf_item *i)
{
	return i + 1;
}

/*
 * Drop every item for which keep() returns false. Return 0, or -ENOMEM: some ids cannot be found
 * then.
 */
int shelf_sweep(struct shelf *s, bool (*keep)(void *context, struct shelf_item *i), void *context);

#endif
