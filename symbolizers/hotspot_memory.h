/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a Java process, read in blocks: HotSpot's tables have thousands of words and
 * strings that lie close together. The memory is hostile, so the number of blocks is bounded.
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_MEMORY_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Read exactly bytes at address. Return 0, or a negative errno. */
typedef int hotspot_read_fn(void *context, void *to, size_t bytes, uint64_t address);

#define HOTSPOT_BLOCK_BYTES (64u << 10)
#define HOTSPOT_BLOCKS_MAX 64 /* tables and strings of JDK 17, 21 and 25 need 9 to 15 */

struct hotspot_block {
	uint64_t address; /* multiple of HOTSPOT_BLOCK_BYTES */
	unsigned char *bytes;
	uint32_t pages; /* bit mask of the pages that were read */
};

/* Zeroed but for read and context, it is ready for use. Free with hotspot_blocks_free(). */
struct hotspot_blocks {
	hotspot_read_fn *read;
	void *context;
	struct hotspot_block blocks[HOTSPOT_BLOCKS_MAX];
	unsigned int count, last; /* last: number of the block used last */
};

/*
 * Read exactly bytes at address. Return 0; -EINVAL: the address range wraps, or more than
 * HOTSPOT_BLOCKS_MAX blocks would be needed; -ENOMEM; or the error of b->read.
 */
int hotspot_blocks_read(struct hotspot_blocks *b, void *to, size_t bytes, uint64_t address);

/*
 * Read the text that begins at address, with its NUL, into room bytes. Return 0, or an error of
 * hotspot_blocks_read(), which is -EINVAL for a text that is too long.
 */
int hotspot_blocks_read_text(struct hotspot_blocks *b, char *to, size_t room, uint64_t address);

void hotspot_blocks_free(struct hotspot_blocks *b);

#endif
