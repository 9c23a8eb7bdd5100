// SPDX-License-Identifier: Apache-2.0
/* Read Go's table of functions. Every offset in the table is untrusted. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/go_table.h"

#define MAGIC_1_16 0xfffffffaU
#define MAGIC_1_18 0xfffffff0U
#define MAGIC_1_20 0xfffffff1U

static uint32_t u32_at(const struct go_table *t, uint64_t at)
{
	uint32_t value;

	memcpy(&value, t->bytes + at, sizeof(value));
	return value;
}

static uint64_t u64_at(const struct go_table *t, uint64_t at)
{
	uint64_t value;

	memcpy(&value, t->bytes + at, sizeof(value));
	return value;
}

/*
 * Read the header: magic, two zeros, quantum and size of a pointer (one byte each), then words of 8
 * bytes: number of functions, of files, address of the text (not in Go 1.16, and 0 since 1.26), and
 * offsets of names, compilation units, files, values by code address, functions.
 */
static int read_go_header(struct go_table *t)
{
	uint32_t magic = u32_at(t, 0);
	bool has_text = magic != MAGIC_1_16;
	uint64_t at = has_text ? 32 : 24;

	t->quantum = (uint8_t)t->bytes[6];
	t->functions = u64_at(t, 8);
	t->text = has_text ? u64_at(t, 24) : 0;
	t->names = u64_at(t, at);
	t->names_end = u64_at(t, at + 8);
	t->deltas = u64_at(t, at + 24);
	t->index = u64_at(t, at + 32);
	t->address_size = has_text ? 4 : 8;
	t->has_lines = magic == MAGIC_1_20;
	if (t->names_end > t->size || t->names >= t->names_end || t->deltas >= t->size ||
	    t->index >= t->size || t->bytes[t->names_end - 1] != '\0')
		return -EBADMSG;
	/* After the last function, the list has one more address: the end of that function. */
	if (!t->functions || t->functions >= (t->size - t->index) / (2 * t->address_size))
		return -EBADMSG;
	return 0;
}

int go_table_open(struct go_table *t, const struct elf_image *image)
{
	const GElf_Ehdr *header = &image->header;
	int ret;

	*t = (struct go_table){.image = image};
	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    __BYTE_ORDER != __LITTLE_ENDIAN)
		return -ENOENT;
	ret = go_table_find(t);
	if (!ret)
		ret = read_go_header(t);
	if (!ret && t->address_size == 4 && !t->text)
		ret = go_table_find_text(t);
	return ret;
}

void go_table_close(struct go_table *t)
{
	free(t->bytes);
	t->bytes = NULL;
}

static uint64_t entry_address(const struct go_table *t, uint64_t i)
{
	uint64_t at = t->index + i * 2 * t->address_size;

	return t->text + (t->address_size == 4 ? u32_at(t, at) : u64_at(t, at));
}

static uint64_t entry_description(const struct go_table *t, uint64_t i)
{
	uint64_t at = t->index + (i * 2 + 1) * t->address_size;

	return t->address_size == 4 ? u32_at(t, at) : u64_at(t, at);
}

/*
 * Read a description: the address again, then words of four bytes: name, arguments, deferreturn,
 * stack pointer deltas, files, lines, number of values, compilation unit, line (since Go 1.20);
 * then bytes: kind, flags.
 */
int go_table_function(struct go_table *t, uint64_t i, struct go_function *out)
{
	uint64_t start = entry_address(t, i), end = entry_address(t, i + 1);
	uint64_t at = entry_description(t, i), room = t->size - t->index, name, deltas;
	unsigned int words = t->has_lines ? 9 : 8;

	if (start < t->end || end < start)
		return -EBADMSG;
	if (end == start)
		return -ENOENT;
	t->end = end;
	if (at > room || room - at < t->address_size + 4 * words + 4)
		return -EBADMSG;
	at += t->index;
	name = u32_at(t, at + t->address_size);
	deltas = u32_at(t, at + t->address_size + 12);
	if (name >= t->names_end - t->names || deltas >= t->size - t->deltas)
		return -EBADMSG;
	*out = (struct go_function){
		.start = start,
		.end = end,
		.name = name,
		.deltas = deltas ? t->deltas + deltas : 0,
		.flags = (uint8_t)t->bytes[at + t->address_size + 4 * words + 1],
	};
	return 0;
}

const char *go_table_name(const struct go_table *t, const struct go_function *f)
{
	return t->bytes + t->names + f->name;
}

struct go_steps go_steps_begin(const struct go_table *t, const struct go_function *f)
{
	return (struct go_steps){
		.table = t,
		.at = f->deltas,
		.address = f->start,
		.end = f->end,
		.value = -1,
	};
}

/* Decode an unsigned LEB128 number; false if it exceeds five bytes or the table. */
static bool read_varint(struct go_steps *s, uint32_t *out)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; shift < 35; shift += 7) {
		uint8_t byte;

		if (s->at >= s->table->size)
			return false;
		byte = (uint8_t)s->table->bytes[s->at++];
		value |= (uint32_t)(byte & 127) << shift;
		if (byte < 128) {
			*out = value;
			return true;
		}
	}
	return false;
}

/*
 * Read the next pair of a table that maps code addresses to values: change of the value (zigzag; a
 * change of 0 ends the table unless the pair is the first), and bytes of code divided by the
 * quantum.
 */
int go_steps_next(struct go_steps *s, uint64_t *start, int32_t *value)
{
	uint32_t change, length;

	if (!s->at || s->address >= s->end)
		return 0;
	if (!read_varint(s, &change))
		return -EBADMSG;
	if (!change && s->begun)
		return 0;
	if (!read_varint(s, &length) || !length)
		return -EBADMSG;
	s->begun = true;
	s->value = (int32_t)((uint32_t)s->value + (-(change & 1) ^ change >> 1));
	*start = s->address;
	*value = s->value;
	s->address += (uint64_t)length * s->table->quantum;
	return 1;
}
