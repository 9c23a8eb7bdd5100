/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for arrays of millions of items. The memory is requested in large pages (2 MiB), which the
 * kernel provides if it has free ones. With small pages, the page faults, and the page table walks
 * for items that are not next to each other, take longer than the work on the items.
 */
#ifndef SKEIN_BASE_LARGE_H
#define SKEIN_BASE_LARGE_H

#include <stddef.h>

#define LARGE_LEAST (1024 * 1024) /* bytes; smaller blocks come from malloc() */

/* Like malloc() and calloc(); free the block with free(). */
void *large_alloc(size_t bytes);
void *large_zeroed(size_t count, size_t size);

/*
 * Like vector_grow() by one item, for arrays that may become large. An array of LARGE_LEAST bytes
 * or more grows fourfold: unused room takes no memory, but moving the items takes time, and memory
 * for two copies.
 */
int large_grow(void *items, size_t *capacity, size_t count, size_t item_size);

#endif
