// SPDX-License-Identifier: Apache-2.0
/* Allocate large blocks of memory (large.h). */
#include "base/large.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/vector.h"

#define PAGE_BYTES (2UL * 1024 * 1024) /* a large page of x86-64, or arm64 with 4 KiB pages */
#define GROWTH 4

void *large_alloc(size_t bytes)
{
	void *block = NULL;

	if (bytes < LARGE_LEAST)
		return malloc(bytes ? bytes : 1);
	if (__builtin_add_overflow(bytes, PAGE_BYTES - 1, &bytes))
		return NULL;
	bytes -= bytes % PAGE_BYTES; /* Whole large pages only: a rest would take small pages. */
	if (posix_memalign(&block, PAGE_BYTES, bytes))
		return NULL;
	/* If this fails, small pages are used. */
	madvise(block, bytes, MADV_HUGEPAGE);
	return block;
}

void *large_zeroed(size_t count, size_t size)
{
	void *block;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	block = large_alloc(bytes);
	if (block)
		memset(block, 0, bytes);
	return block;
}

int large_grow(void *items, size_t *capacity, size_t count, size_t item_size)
{
	size_t bytes, wanted;
	void *old, *new;

	if (__builtin_mul_overflow(*capacity, GROWTH * item_size, &bytes))
		return -ENOMEM;
	if (bytes < LARGE_LEAST)
		return vector_grow(items, capacity, count, 1, item_size);
	wanted = *capacity * GROWTH;
	new = large_alloc(bytes);
	if (!new)
		return -ENOMEM;
	/*
	 * items points to a pointer of the array's own type, so only its bytes may be accessed
	 * here.
	 */
	memcpy(&old, items, sizeof(old));
	if (count)
		memcpy(new, old, count * item_size);
	free(old);
	memcpy(items, &new, sizeof(new));
	*capacity = wanted;
	return 0;
}
