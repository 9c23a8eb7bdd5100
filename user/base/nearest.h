/* SPDX-License-Identifier: Apache-2.0 */
/* The word that somebody meant who mistyped it. */
#ifndef SKEIN_BASE_NEAREST_H
#define SKEIN_BASE_NEAREST_H

#include <stddef.h>

/* Set word and length; the words that were tried must live as long as best is used. */
struct nearest {
	const char *word; /* as typed */
	size_t length;
	const char *best; /* NULL: none of those tried is near enough */
	size_t distance; /* of best */
};

/*
 * See whether candidate is nearer than those before it. The distance is the
 * number of letters added, left out, exchanged or swapped with their
 * neighbour; up to one in three may be wrong, or one in a word of two.
 */
void nearest_try(struct nearest *n, const char *candidate);

#endif
