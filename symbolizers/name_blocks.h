/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are kept in little memory: they are put one after the other into blocks, which zstd
 * compresses. Names of C++ in the order of their addresses take a fifth. Getting a name
 * decompresses its block of 16 KiB, unless that is the block of the name before.
 */
#ifndef SKEIN_SYMBOLIZERS_NAME_BLOCKS_H
#define SKEIN_SYMBOLIZERS_NAME_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct name_blocks;

/* Make an empty one, or return NULL without memory. */
struct name_blocks *name_blocks_new(void);
void name_blocks_free(struct name_blocks *b);

/*
 * Add a name, and set *out to what name_blocks_get() finds it by. Return 0, -ENOMEM, or -E2BIG: too
 * many names.
 */
int name_blocks_add(struct name_blocks *b, const char *name, uint32_t *out);

/* Compress the last block: nothing can be added any more. Return 0 or -ENOMEM. */
int name_blocks_end(struct name_blocks *b);

/* Return a name, valid until the next call; NULL without memory. */
const char *name_blocks_get(struct name_blocks *b, uint32_t name);

/* Return the bytes of memory in use. */
size_t name_blocks_bytes(const struct name_blocks *b);

#endif
