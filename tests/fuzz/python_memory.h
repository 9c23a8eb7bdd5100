/* SPDX-License-Identifier: Apache-2.0 */
/* An input as the memory of a process, from an address on. */
#ifndef SKEIN_TESTS_FUZZ_PYTHON_MEMORY_H
#define SKEIN_TESTS_FUZZ_PYTHON_MEMORY_H

#include <stdbool.h>
#include <string.h>

#include "symbolizers/python_code.h"

/* Small, so that what looks for pointers finds some. */
#define MEMORY_BASE 0x10000

struct memory {
	const uint8_t *bytes;
	size_t size;
	size_t read; /* bytes, in all */
};

static inline bool memory_read(void *context, void *to, size_t size, uint64_t address)
{
	struct memory *m = context;

	m->read += size;
	if (address < MEMORY_BASE || address - MEMORY_BASE > m->size ||
	    size > m->size - (address - MEMORY_BASE))
		return false;
	memcpy(to, m->bytes + (address - MEMORY_BASE), size);
	return true;
}

/* Length of a text that must be UTF-8 and end within room. */
static inline size_t memory_check_text(const char *text, size_t room)
{
	size_t length = strnlen(text, room);
	const unsigned char *p = (const unsigned char *)text;

	if (length == room)
		abort();
	while (*p) {
		int more = *p < 0x80   ? 0
			   : *p < 0xc2 ? -1
			   : *p < 0xe0 ? 1
			   : *p < 0xf0 ? 2
			   : *p < 0xf5 ? 3
				       : -1;

		if (more < 0 || (*p == 0xed && p[1] >= 0xa0))
			abort();
		for (p++; more; more--, p++) {
			if ((*p & 0xc0) != 0x80)
				abort();
		}
	}
	return length;
}

#endif
