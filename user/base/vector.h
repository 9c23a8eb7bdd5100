/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing array: struct { T *items; size_t count, capacity; }. Zeroed memory is an empty array.
 *
 *	VECTOR(struct mapping *) v = {0};
 *	if (vector_push(&v, m) < 0) ...
 */
#ifndef SKEIN_BASE_VECTOR_H
#define SKEIN_BASE_VECTOR_H

#include <stddef.h>
#include <stdlib.h>

#define VECTOR(T) \
	struct { \
		T *items; \
		size_t count, capacity; \
	}

/*
 * Make room for extra items more. Return 0 or -ENOMEM. Use vector_reserve(), except for arrays that
 * are no VECTOR().
 */
int vector_grow(void *items, size_t *capacity, size_t count, size_t extra, size_t item_size);

/* Free the unused room, unless there is no memory for the move. Use vector_fit(). */
void vector_shrink(void *items, size_t *capacity, size_t count, size_t item_size);

/*
 * Make room for extra items more; evaluates to 0 or -ENOMEM. The check is inline because there
 * usually is room.
 */
#define vector_reserve(v, extra) \
	((size_t)(extra) <= (v)->capacity - (v)->count \
		 ? 0 \
		 : vector_grow(&(v)->items, &(v)->capacity, (v)->count, (extra), \
			       sizeof(*(v)->items)))

#define vector_push(v, item) \
	(vector_reserve(v, 1) < 0 ? -12 /* ENOMEM */ : ((v)->items[(v)->count++] = (item), 0))

#define vector_fit(v) \
	vector_shrink(&(v)->items, &(v)->capacity, (v)->count, sizeof(*(v)->items))

#define vector_free(v) (free((v)->items), (v)->items = NULL, (v)->count = (v)->capacity = 0)

#endif
