/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intern texts: equal bytes get equal numbers, so that code that merges by name compares numbers.
 * Zeroed memory is an empty table.
 */
#ifndef SKEIN_ANALYZE_NAMES_H
#define SKEIN_ANALYZE_NAMES_H

#include "analyze/index.h"
#include "base/vector.h"

struct names_block;

struct names {
	struct names_block *blocks; /* the first one is being filled */
	struct index by_hash;
	VECTOR(const char *) texts;
	VECTOR(size_t) sizes;
};

/* Set *out to the number of these bytes, which may contain NULs. Return 0 or -ENOMEM. */
int names_intern(struct names *n, const void *data, size_t size, uint32_t *out);
int names_intern_text(struct names *n, const char *text, uint32_t *out);
/* Intern a text as text_clean() shows it. */
int names_intern_clean(struct names *n, const char *text, uint32_t *out);
/*
 * Return the interned bytes by their number, followed by a NUL; "" for a number that is not in use.
 * Valid until names_free().
 */
const char *names_text(const struct names *n, uint32_t number);
/*
 * Store a copy, followed by a NUL and without a number, until names_free(), and return it. No equal
 * copy is looked for. NULL without memory.
 */
const char *names_keep(struct names *n, const void *data, size_t size);
void names_free(struct names *n);

#endif
