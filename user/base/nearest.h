/* SPDX-License-Identifier: Apache-2.0 */
/* Find the word that was probably meant by a mistyped word. */
#ifndef SKEIN_BASE_NEAREST_H
#define SKEIN_BASE_NEAREST_H

#include <stddef.h>

/* Set word and length and zero the rest. The candidates must live as long as best is used. */
struct nearest {
	const char *word; /* as typed; not NUL-terminated */
	size_t length;
	const char *best; /* NULL: no candidate was near enough */
	size_t distance; /* of best */
};

/*
 * Make candidate the best one if it is nearer to the word than the best one so far. The distance is
 * the number of letters that are added, left out, replaced or swapped with their neighbour. Up to
 * one letter in three may be wrong, or one in a word of two letters; a word of one letter has no
 * candidates.
 */
void nearest_try(struct nearest *n, const char *candidate);

#endif
