// SPDX-License-Identifier: Apache-2.0
/* Keep names in compressed blocks. */
#include "symbolizers/name_blocks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/vector.h"

/* A name is found by the number of its block, and its place there in the lowest bits. */
#define PLACE_BITS 14
/* Bytes of names in a block, before compression; a longer name has a block of its own. */
#define BLOCK_BYTES (1u << PLACE_BITS)
#define BLOCKS_MAX (1u << (32 - PLACE_BITS))
/*
 * Faster than level 1 by two fifths, for blocks a third larger (350 and 250 MB/s, 20 and 16 % of
 * the symbols of libLLVM 14, by zstd's own benchmark).
 */
#define FAST_LEVEL (-3)
#define NO_BLOCK UINT32_MAX

struct name_block {
	char *bytes; /* compressed */
	uint32_t size; /* of bytes */
	uint32_t raw; /* bytes of its names */
};

struct name_blocks {
	VECTOR(struct name_block) blocks;
	/* the names of the block that is being filled, or was decompressed last */
	VECTOR(char) raw;
	uint32_t open; /* number of the block in raw; NO_BLOCK: none */
	size_t packed; /* bytes of all compressed blocks */
	ZSTD_CCtx *packer; /* NULL after name_blocks_end() */
};

struct name_blocks *name_blocks_new(void)
{
	struct name_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->packer = ZSTD_createCCtx();
	if (b->packer)
		return b;
	free(b);
	return NULL;
}

void name_blocks_free(struct name_blocks *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->blocks.count; i++)
		free(b->blocks.items[i].bytes);
	vector_free(&b->blocks);
	vector_free(&b->raw);
	ZSTD_freeCCtx(b->packer);
	free(b);
}

static int compress_block(struct name_blocks *b)
{
	const size_t bound = ZSTD_compressBound(b->raw.count);
	struct name_block block = {.bytes = malloc(bound), .raw = (uint32_t)b->raw.count};
	char *fit;
	size_t size;

	if (!block.bytes)
		return -ENOMEM;
	size = ZSTD_compressCCtx(b->packer, block.bytes, bound, b->raw.items, b->raw.count,
				 FAST_LEVEL);
	if (ZSTD_isError(size) || vector_reserve(&b->blocks, 1) < 0) {
		free(block.bytes);
		return -ENOMEM;
	}
	fit = realloc(block.bytes, size);
	if (fit)
		block.bytes = fit;
	block.size = (uint32_t)size;
	b->blocks.items[b->blocks.count++] = block;
	b->packed += size;
	b->raw.count = 0;
	return 0;
}

int name_blocks_add(struct name_blocks *b, const char *name, uint32_t *out)
{
	const size_t size = strlen(name) + 1;
	int ret = 0;

	if (b->raw.count && b->raw.count + size > BLOCK_BYTES)
		ret = compress_block(b);
	if (ret)
		return ret;
	if (b->blocks.count >= BLOCKS_MAX || size > UINT32_MAX)
		return -E2BIG;
	if (vector_reserve(&b->raw, size) < 0)
		return -ENOMEM;
	*out = (uint32_t)(b->blocks.count << PLACE_BITS | b->raw.count);
	memcpy(b->raw.items + b->raw.count, name, size);
	b->raw.count += size;
	return 0;
}

int name_blocks_end(struct name_blocks *b)
{
	/* what fits into one block stays as it is: decompressed, it would take more */
	const bool is_small = !b->blocks.count;
	int ret = is_small ? 0 : compress_block(b);

	if (ret)
		return ret;
	ZSTD_freeCCtx(b->packer);
	b->packer = NULL;
	b->open = is_small ? 0 : NO_BLOCK;
	vector_fit(&b->raw);
	vector_fit(&b->blocks);
	return 0;
}

static int decompress_block(struct name_blocks *b, uint32_t number)
{
	const struct name_block *block = &b->blocks.items[number];
	size_t size;

	b->open = NO_BLOCK;
	b->raw.count = 0;
	if (vector_reserve(&b->raw, block->raw) < 0)
		return -ENOMEM;
	size = ZSTD_decompress(b->raw.items, block->raw, block->bytes, block->size);
	if (ZSTD_isError(size)) /* of what was compressed here: no memory for the context */
		return -ENOMEM;
	b->open = number;
	return 0;
}

const char *name_blocks_get(struct name_blocks *b, uint32_t name)
{
	const uint32_t number = name >> PLACE_BITS;

	if (number != b->open && decompress_block(b, number) < 0)
		return NULL;
	return b->raw.items + (name & (BLOCK_BYTES - 1));
}

size_t name_blocks_bytes(const struct name_blocks *b)
{
	return sizeof(*b) + b->packed + b->raw.capacity +
	       b->blocks.capacity * sizeof(*b->blocks.items);
}
