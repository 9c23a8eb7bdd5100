// SPDX-License-Identifier: Apache-2.0
/* Grow an array by half of its size, so that adding an item costs constant time on average. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

_Static_assert(ENOMEM == 12, "vector_push() says so");

int vector_grow(void *items, size_t *capacity, size_t count, size_t extra, size_t item_size)
{
	size_t wanted, bytes, grown = *capacity + *capacity / 2;
	void *old, *new;

	if (extra <= *capacity - count)
		return 0;
	if (__builtin_add_overflow(count, extra, &wanted))
		return -ENOMEM;
	if (wanted < grown)
		wanted = grown;
	if (wanted < 8)
		wanted = 8;
	if (__builtin_mul_overflow(wanted, item_size, &bytes))
		return -ENOMEM;
	/*
	 * items points to a pointer of the vector's own type, so only its bytes may be accessed
	 * here.
	 */
	memcpy(&old, items, sizeof(old));
	new = realloc(old, bytes);
	if (!new)
		return -ENOMEM;
	memcpy(items, &new, sizeof(new));
	*capacity = wanted;
	return 0;
}

void vector_shrink(void *items, size_t *capacity, size_t count, size_t item_size)
{
	void *old, *new;

	memcpy(&old, items, sizeof(old));
	if (count) {
		new = realloc(old, count * item_size);
		if (!new)
			return;
	} else {
		free(old);
		new = NULL;
	}
	memcpy(items, &new, sizeof(new));
	*capacity = count;
}
