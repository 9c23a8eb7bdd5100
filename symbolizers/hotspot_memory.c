// SPDX-License-Identifier: Apache-2.0
/* Read the memory of a Java process in aligned blocks, which are kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/hotspot_memory.h"

#define PAGE_BYTES 4096u
#define BLOCK_PAGES (HOTSPOT_BLOCK_BYTES / PAGE_BYTES)
#define ALL_PAGES ((1u << BLOCK_PAGES) - 1)

/* Add the block at address, read if all its pages can be read; otherwise it has no page yet. */
static int add_block(struct hotspot_blocks *b, uint64_t address)
{
	struct hotspot_block *new = &b->blocks[b->count];

	if (b->count == HOTSPOT_BLOCKS_MAX)
		return -EINVAL;
	*new = (struct hotspot_block){.address = address, .bytes = malloc(HOTSPOT_BLOCK_BYTES)};
	if (!new->bytes)
		return -ENOMEM;
	if (b->read(b->context, new->bytes, HOTSPOT_BLOCK_BYTES, address) == 0)
		new->pages = ALL_PAGES;
	b->last = b->count++;
	return 0;
}

static int find_block(struct hotspot_blocks *b, uint64_t address)
{
	const uint64_t aligned = address & ~(uint64_t)(HOTSPOT_BLOCK_BYTES - 1);

	if (b->count && b->blocks[b->last].address == aligned)
		return 0;
	for (unsigned int i = 0; i < b->count; i++) {
		if (b->blocks[i].address == aligned) {
			b->last = i;
			return 0;
		}
	}
	return add_block(b, aligned);
}

/* Set *out to the bytes at address, which are valid to the end of their page. */
static int page_bytes_at(struct hotspot_blocks *b, uint64_t address, const unsigned char **out)
{
	uint64_t offset = address % HOTSPOT_BLOCK_BYTES, page = offset / PAGE_BYTES;
	int ret = find_block(b, address);
	struct hotspot_block *block = &b->blocks[b->last];

	if (ret)
		return ret;
	if (!(block->pages >> page & 1)) {
		ret = b->read(b->context, block->bytes + page * PAGE_BYTES, PAGE_BYTES,
			      block->address + page * PAGE_BYTES);
		if (ret)
			return ret;
		block->pages |= 1u << page;
	}
	*out = block->bytes + offset;
	return 0;
}

static size_t left_in_page(uint64_t address)
{
	return PAGE_BYTES - address % PAGE_BYTES;
}

int hotspot_blocks_read(struct hotspot_blocks *b, void *to, size_t bytes, uint64_t address)
{
	unsigned char *p = to;

	if (address + bytes < address)
		return -EINVAL;
	while (bytes) {
		size_t n = bytes < left_in_page(address) ? bytes : left_in_page(address);
		const unsigned char *from;
		int ret = page_bytes_at(b, address, &from);

		if (ret)
			return ret;
		memcpy(p, from, n);
		p += n;
		address += n;
		bytes -= n;
	}
	return 0;
}

int hotspot_blocks_read_text(struct hotspot_blocks *b, char *to, size_t room, uint64_t address)
{
	while (room) {
		size_t n = room < left_in_page(address) ? room : left_in_page(address);
		const unsigned char *from;
		int ret = page_bytes_at(b, address, &from);

		if (ret)
			return ret;
		if (memccpy(to, from, '\0', n))
			return 0;
		if (address + n < address)
			break;
		to += n;
		address += n;
		room -= n;
	}
	return -EINVAL;
}

void hotspot_blocks_free(struct hotspot_blocks *b)
{
	for (unsigned int i = 0; i < b->count; i++)
		free(b->blocks[i].bytes);
	b->count = b->last = 0;
}
