// SPDX-License-Identifier: Apache-2.0
/*
 * Compute the edit distance of two words (Damerau-Levenshtein, adjacent swaps only), row by row of
 * the usual matrix.
 */
#include "base/nearest.h"

#include <string.h>

#define LONGEST 48 /* bytes; longer words and candidates are ignored */

static size_t smaller_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][LONGEST + 1];

	for (size_t j = 0; j <= b_length; j++)
		rows[0][j] = j;
	for (size_t i = 0; i < a_length; i++) {
		size_t *row = rows[(i + 1) % 3];
		const size_t *before = rows[i % 3], *earlier = rows[(i + 2) % 3];

		row[0] = i + 1;
		for (size_t j = 0; j < b_length; j++) {
			row[j + 1] = smaller_of(smaller_of(before[j + 1], row[j]) + 1,
						before[j] + (a[i] != b[j]));
			if (i && j && a[i] == b[j - 1] && a[i - 1] == b[j])
				row[j + 1] = smaller_of(row[j + 1], earlier[j - 1] + 1);
		}
	}
	return rows[a_length % 3][b_length];
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t length = strlen(candidate), far, allowed;

	if (n->length < 2 || n->length > LONGEST || length > LONGEST)
		return;
	allowed = n->length < 3 ? 1 : n->length / 3;
	far = edit_distance(n->word, n->length, candidate, length);
	if (far > allowed || (n->best && far >= n->distance))
		return;
	n->best = candidate;
	n->distance = far;
}
