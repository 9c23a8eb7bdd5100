/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields of a record refer to entities. */
#ifndef SKEIN_TRACE_REFERENCES_H
#define SKEIN_TRACE_REFERENCES_H

#include "base/record.h"

/* A field, an id or 0, that refers to an entity. */
struct reference {
	enum record_kind kind, to; /* of the record; of the entity */
	size_t offset; /* of the field in the struct of the kind, bytes */
};

/*
 * Return the first of the references of a kind, which follow each other in a table until an item of
 * another kind; NULL if the kind has none. References whose kind depends on other fields are not in
 * the table: lane.number, slice.value and edge.value.
 */
const struct reference *references_of(enum record_kind kind);

#endif
