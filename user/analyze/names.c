// SPDX-License-Identifier: Apache-2.0
/* Intern texts in blocks that are freed together (names.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/names.h"
#include "base/text.h"

#define BLOCK_BYTES (64 * 1024)

struct names_block {
	struct names_block *next;
	size_t used, capacity;
	char data[];
};

const char *names_keep(struct names *n, const void *data, size_t size)
{
	struct names_block *b = n->blocks;
	char *copy;

	if (!b || b->capacity - b->used < size + 1) {
		size_t capacity = size + 1 > BLOCK_BYTES ? size + 1 : BLOCK_BYTES;

		b = malloc(sizeof(*b) + capacity);
		if (!b)
			return NULL;
		*b = (struct names_block){.next = n->blocks, .capacity = capacity};
		n->blocks = b;
	}
	copy = b->data + b->used;
	if (size)
		memcpy(copy, data, size);
	copy[size] = '\0';
	b->used += size + 1;
	return copy;
}

static int names_append(struct names *n, const void *data, size_t size, uint64_t hash,
			uint32_t *out)
{
	uint32_t number = n->texts.count;
	const char *copy;

	if (vector_reserve(&n->texts, 1) < 0 || vector_reserve(&n->sizes, 1) < 0)
		return -ENOMEM;
	copy = names_keep(n, data, size);
	if (!copy || index_put(&n->by_hash, hash, number) < 0)
		return -ENOMEM;
	vector_push(&n->texts, copy);
	vector_push(&n->sizes, size);
	*out = number;
	return 0;
}

int names_intern(struct names *n, const void *data, size_t size, uint32_t *out)
{
	uint64_t hash = XXH3_64bits(data, size);
	uint32_t number;

	/*
	 * Different bytes may have the same hash; the later ones are stored under the next free
	 * hash.
	 */
	while ((number = index_get(&n->by_hash, hash)) != INDEX_NONE) {
		if (n->sizes.items[number] == size && !memcmp(n->texts.items[number], data, size)) {
			*out = number;
			return 0;
		}
		hash++;
	}
	return names_append(n, data, size, hash, out);
}

int names_intern_text(struct names *n, const char *text, uint32_t *out)
{
	return names_intern(n, text, strlen(text), out);
}

int names_intern_clean(struct names *n, const char *text, uint32_t *out)
{
	size_t size = 3 * strlen(text) + 1; /* cleaning may turn one byte into three */
	char small[256];
	char *clean = size <= sizeof(small) ? small : malloc(size);
	int ret = -ENOMEM;

	if (clean)
		ret = names_intern_text(n, text_clean(text, clean, size), out);
	if (clean != small)
		free(clean);
	return ret;
}

const char *names_text(const struct names *n, uint32_t number)
{
	return number < n->texts.count ? n->texts.items[number] : "";
}

void names_free(struct names *n)
{
	for (struct names_block *b = n->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	index_free(&n->by_hash);
	vector_free(&n->texts);
	vector_free(&n->sizes);
	n->blocks = NULL;
}
