// SPDX-License-Identifier: Apache-2.0
/* Find a field in the table of a Java class, whose memory is hostile. */
#include "symbolizers/hotspot_fields.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/hotspot_decode.h"

#define FIELDS_MAX 1024 /* of a class that are looked at; java.lang.Thread has some 30 */
#define TABLE_BYTES_MAX 16384
#define NAME_BYTES_MAX 64
/* JDK 17: u16 of a field, and the two of them that have its offset, shifted by 2 bits of a tag. */
#define SLOTS 6
#define SLOT_NAME 1
#define SLOT_LOW 4
#define SLOT_HIGH 5
#define TAG_BITS 2
#define TAG_OFFSET 1 /* the slots have an offset */
/* JDK 21: a field's flags that say that a further integer follows. */
#define FIELD_INITIALIZED 1
#define FIELD_GENERIC 4
#define FIELD_CONTENDED 16
#define OFFSET_MAX 65536 /* bytes of an object */

struct field_offsets {
	uint16_t constants, pool_bytes; /* in InstanceKlass; bytes of a ConstantPool */
	uint16_t symbol_length, symbol_body; /* in Symbol */
	uint16_t length, data; /* in Array<u1> and Array<u2> */
	uint16_t fields, count, stream; /* in InstanceKlass; count: u16 */
};

#define FIELD(member) offsetof(struct field_offsets, member)

static const struct hotspot_wanted field_entries[] = {
	{"InstanceKlass", "_constants", NULL, FIELD(constants), false},
	{"ConstantPool", NULL, NULL, FIELD(pool_bytes), false},
	{"Symbol", "_length", NULL, FIELD(symbol_length), false},
	{"Symbol", "_body", "_body[0]", FIELD(symbol_body), false},
	{"Array<int>", "_length", NULL, FIELD(length), false},
	{"Array<u1>", "_data", NULL, FIELD(data), false},
	{"InstanceKlass", "_fields", NULL, FIELD(fields), true},
	{"InstanceKlass", "_java_fields_count", NULL, FIELD(count), true},
	{"InstanceKlass", "_fieldinfo_stream", NULL, FIELD(stream), true},
};

struct fields_reader {
	const struct hotspot_memory *memory;
	struct field_offsets at;
	uint64_t class, pool;
	const char *name; /* that is looked for */
	uint8_t table[TABLE_BYTES_MAX];
	size_t size; /* bytes of the table */
};

static int read_of(const struct fields_reader *r, void *to, size_t bytes, uint64_t address)
{
	if (!address || address + bytes < address)
		return -EINVAL;
	return r->memory->read(r->memory->context, to, bytes, address);
}

/* Return whether a name in the constant pool is the one that is looked for. */
static bool is_name(const struct fields_reader *r, uint32_t index)
{
	char text[NAME_BYTES_MAX];
	size_t length = strlen(r->name);
	uint16_t had = 0;
	uint64_t symbol;

	return index && length <= sizeof(text) &&
	       !read_of(r, &symbol, 8, r->pool + r->at.pool_bytes + index * 8ull) &&
	       !read_of(r, &had, 2, symbol + r->at.symbol_length) && had == length &&
	       !read_of(r, text, length, symbol + r->at.symbol_body) &&
	       !memcmp(text, r->name, length);
}

/* Read the elements of an array that a member of the class points to. */
static int read_fields(struct fields_reader *r, uint16_t member, size_t element)
{
	uint32_t length = 0;
	uint64_t array = 0;
	int ret = read_of(r, &array, 8, r->class + member);

	if (!ret)
		ret = read_of(r, &length, 4, array + r->at.length);
	if (ret)
		return ret;
	r->size = length * element;
	if (length > TABLE_BYTES_MAX || r->size > TABLE_BYTES_MAX)
		return -EINVAL;
	return read_of(r, r->table, r->size, array + r->at.data);
}

static int accept_offset(uint32_t *out, uint32_t offset)
{
	if (offset > OFFSET_MAX)
		return -EINVAL;
	*out = offset;
	return 0;
}

/* JDK 17. Injected fields, whose names are in another place, follow those of the class file. */
static int find_in_slots(uint32_t *out, struct fields_reader *r)
{
	uint16_t count = 0, slots[SLOTS];
	int ret = read_fields(r, r->at.fields, sizeof(uint16_t));

	if (!ret)
		ret = read_of(r, &count, 2, r->class + r->at.count);
	for (size_t i = 0; !ret && i < count && i < FIELDS_MAX; i++) {
		uint32_t packed;

		if ((i + 1) * sizeof(slots) > r->size)
			return -EINVAL;
		memcpy(slots, r->table + i * sizeof(slots), sizeof(slots));
		packed = (uint32_t)slots[SLOT_HIGH] << 16 | slots[SLOT_LOW];
		if (is_name(r, slots[SLOT_NAME]))
			return (packed & ((1 << TAG_BITS) - 1)) == TAG_OFFSET
				       ? accept_offset(out, packed >> TAG_BITS)
				       : -EINVAL;
	}
	return ret ? ret : -ENOENT;
}

/* The integers of one field: name, signature, offset, access flags, flags. */
enum { STREAM_NAME, STREAM_SIGNATURE, STREAM_OFFSET, STREAM_ACCESS, STREAM_FLAGS, STREAM_FIRST };

static bool next_field(struct hotspot_stream *s, uint32_t field[STREAM_FIRST])
{
	static const uint32_t further[] = {FIELD_INITIALIZED, FIELD_GENERIC, FIELD_CONTENDED};
	bool whole = true;
	uint32_t ignored;

	for (int i = 0; whole && i < STREAM_FIRST; i++)
		whole = hotspot_integer_next(s, &field[i]);
	for (size_t i = 0; whole && i < sizeof(further) / sizeof(*further); i++) {
		if (field[STREAM_FLAGS] & further[i])
			whole = hotspot_integer_next(s, &ignored);
	}
	return whole;
}

/* JDK 21 and later. */
static int find_in_stream(uint32_t *out, struct fields_reader *r)
{
	struct hotspot_stream s = {.bytes = r->table, .integers = HOTSPOT_INTEGERS_NO_ZERO};
	uint32_t count, injected, field[STREAM_FIRST];
	int ret = read_fields(r, r->at.stream, 1);

	if (ret)
		return ret;
	s.size = r->size;
	if (!hotspot_integer_next(&s, &count) || !hotspot_integer_next(&s, &injected))
		return -EINVAL;
	for (uint32_t i = 0; i < count && i < FIELDS_MAX; i++) {
		if (!next_field(&s, field))
			return -EINVAL;
		if (is_name(r, field[STREAM_NAME]))
			return accept_offset(out, field[STREAM_OFFSET]);
	}
	return -ENOENT;
}

int hotspot_java_field(uint32_t *offset, const struct hotspot_tables *t,
		       const struct hotspot_memory *memory, uint64_t class, const char *name)
{
	struct fields_reader *r = calloc(1, sizeof(*r));
	struct error ignored;
	int ret;

	if (!r)
		return -ENOMEM;
	r->memory = memory;
	r->class = class;
	r->name = name;
	ret = hotspot_fill(&r->at, t, field_entries, sizeof(field_entries) / sizeof(*field_entries),
			   &ignored);
	if (!ret)
		ret = read_of(r, &r->pool, 8, class + r->at.constants);
	if (!ret && r->at.stream != HOTSPOT_ABSENT)
		ret = find_in_stream(offset, r);
	else if (!ret && r->at.fields != HOTSPOT_ABSENT && r->at.count != HOTSPOT_ABSENT)
		ret = find_in_slots(offset, r);
	else if (!ret)
		ret = -ENOENT;
	free(r);
	return ret;
}
