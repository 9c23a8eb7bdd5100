/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a fake process: functions to write objects to it, and its reader. */
#ifndef SKEIN_TESTS_PYTHON_MEMORY_H
#define SKEIN_TESTS_PYTHON_MEMORY_H

#include <stdint.h>
#include <string.h>

#include "symbolizers/python_code.h"

#define FAKE_BASE 0x7f0000000000ull
#define FAKE_SIZE (1u << 16)

struct fake {
	unsigned char bytes[FAKE_SIZE];
	unsigned int reads;
	size_t largest; /* size of the largest read */
	/* Before the read with that number (from 1), these 8 bytes change. */
	unsigned int change_at;
	size_t change_offset;
	uint64_t change_to;
};

static bool fake_read(void *context, void *to, size_t size, uint64_t address)
{
	struct fake *f = context;

	if (++f->reads == f->change_at)
		memcpy(f->bytes + f->change_offset, &f->change_to, sizeof(f->change_to));
	if (size > f->largest)
		f->largest = size;
	if (address < FAKE_BASE || address - FAKE_BASE > FAKE_SIZE ||
	    size > FAKE_SIZE - (address - FAKE_BASE))
		return false;
	memcpy(to, f->bytes + (address - FAKE_BASE), size);
	return true;
}

/* The layout of CPython 3.12. */
static const struct python_layout fake_layout = {
	.version = PYTHON_VERSION(3, 12),
	.lines = PYTHON_LINES_LOCATIONS,
	.code_bytes = 144,
	.code_id = {24, 48, 64, 96, 112, 120, 128, 136},
	.code_first_line = 68,
	.code_name = 120,
	.code_file = 112,
	.code_qualified_name = 128,
	.code_lines = 136,
	.text_length = 16,
	.text_state = 32,
	.text_ascii = 40,
	.text_compact = 56,
	.bytes_size = 16,
	.bytes_data = 32,
	.text_shift = 2,
};

/* Write a str whose characters have width bytes each; ascii: in the short form. */
static inline uint64_t fake_text(struct fake *f, const struct python_layout *l, size_t offset,
				 const void *characters, uint64_t count, unsigned int width,
				 bool ascii)
{
	uint32_t state = width | PYTHON_TEXT_COMPACT | (ascii ? PYTHON_TEXT_ASCII : 0);
	unsigned char *at = f->bytes + offset;

	state = state << l->text_shift | 1;
	memcpy(at + l->text_length, &count, sizeof(count));
	memcpy(at + l->text_state, &state, sizeof(state));
	memcpy(at + (ascii ? l->text_ascii : l->text_compact), characters, count * width);
	return FAKE_BASE + offset;
}

static inline uint64_t fake_ascii(struct fake *f, size_t offset, const char *text)
{
	return fake_text(f, &fake_layout, offset, text, strlen(text), 1, true);
}

static inline void fake_word(struct fake *f, size_t offset, uint64_t word)
{
	memcpy(f->bytes + offset, &word, sizeof(word));
}

#endif
