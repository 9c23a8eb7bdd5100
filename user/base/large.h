/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for arrays of millions of items. It is asked for in large pages (2 MiB), which the kernel
 * gives where it has some: a fault for each small page, and a walk of page tables for most items
 * that are not next to each other, take longer than what is done with them.
 */
#ifndef SKEIN_BASE_LARGE_H
#define SKEIN_BASE_LARGE_H

#include <stddef.h>

#define LARGE_LEAST (1024 * 1024) /* bytes; what is smaller is as malloc() gives it */

/* As malloc() and calloc(); freed by free(). */
void *large_alloc(size_t bytes);
void *large_zeroed(size_t count, size_t size);

/*
 * As vector_grow() by one item, for arrays that may become large: these grow fourfold, since room
 * that is not used takes no memory, and moving them does.
 */
int large_grow(void *items, size_t *capacity, size_t count, size_t item_size);

#endif
