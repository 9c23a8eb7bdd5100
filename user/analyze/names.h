/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts kept once each: equal bytes get equal numbers, so that everything
 * that merges by name compares numbers. Zeroed memory is an empty table.
 */
#ifndef SKEIN_ANALYZE_NAMES_H
#define SKEIN_ANALYZE_NAMES_H

#include "analyze/index.h"
#include "base/vector.h"

struct names_block;

struct names {
	struct names_block *blocks; /* the one being filled first */
	struct index by_hash;
	VECTOR(const char *) texts;
	VECTOR(size_t) sizes;
};

/* The number of these bytes, in *ret; they may hold NULs. 0 or -ENOMEM. */
int names_intern(struct names *n, const void *data, size_t size, uint32_t *ret);
int names_intern_text(struct names *n, const char *text, uint32_t *ret);
/* The bytes under a number, with a NUL behind them; valid until names_free(). */
const char *names_text(const struct names *n, uint32_t number);
/* Keep a copy without looking for an equal one: NULL without memory. */
const char *names_keep(struct names *n, const void *data, size_t size);
void names_free(struct names *n);

#endif
