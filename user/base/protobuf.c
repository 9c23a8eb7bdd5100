// SPDX-License-Identifier: Apache-2.0
/* An append-only protobuf writer. The tag of a value is its field number and a wire type. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"
#include "base/text.h"
#include "base/varint.h"

#define WIRE_VARINT 0
#define WIRE_FIXED64 1
#define WIRE_LENGTH 2
#define LENGTH_BYTES 4 /* length of a nested message: 4 * 7 bits */

void protobuf_free(struct protobuf *p)
{
	free(p->data);
	*p = (struct protobuf){0};
}

void protobuf_reset(struct protobuf *p)
{
	p->size = 0;
	p->error = 0;
}

/* Make room for more bytes. Return false if this or an earlier call failed. */
static bool protobuf_reserve(struct protobuf *p, size_t more)
{
	size_t capacity = p->capacity ? p->capacity : 4096;
	uint8_t *data;

	if (p->error)
		return false;
	if (more <= p->capacity - p->size)
		return true;
	while (capacity - p->size < more && capacity <= SIZE_MAX / 4)
		capacity *= 2;
	data = capacity - p->size < more ? NULL : realloc(p->data, capacity);
	if (!data) {
		p->error = -ENOMEM;
		return false;
	}
	p->data = data;
	p->capacity = capacity;
	return true;
}

static void protobuf_put_varint(struct protobuf *p, uint64_t value)
{
	if (!protobuf_reserve(p, VARINT_MAX))
		return;
	p->size = (size_t)(varint_put(p->data + p->size, value) - p->data);
}

static void protobuf_put_tag(struct protobuf *p, unsigned int field, unsigned int wire_type)
{
	protobuf_put_varint(p, (uint64_t)field << 3 | wire_type);
}

void protobuf_varint(struct protobuf *p, unsigned int field, uint64_t value)
{
	protobuf_put_tag(p, field, WIRE_VARINT);
	protobuf_put_varint(p, value);
}

void protobuf_double(struct protobuf *p, unsigned int field, double value)
{
	uint64_t bits;

	protobuf_put_tag(p, field, WIRE_FIXED64);
	if (!protobuf_reserve(p, sizeof(bits)))
		return;
	memcpy(&bits, &value, sizeof(bits));
	for (size_t i = 0; i < sizeof(bits); i++)
		p->data[p->size++] = (uint8_t)(bits >> 8 * i);
}

void protobuf_bytes(struct protobuf *p, unsigned int field, const void *data, size_t size)
{
	protobuf_put_tag(p, field, WIRE_LENGTH);
	protobuf_put_varint(p, size);
	if (!size || !protobuf_reserve(p, size))
		return;
	memcpy(p->data + p->size, data, size);
	p->size += size;
}

void protobuf_text(struct protobuf *p, unsigned int field, const char *text)
{
	size_t size = text ? text_utf8(text, NULL, 0) : 0;

	protobuf_put_tag(p, field, WIRE_LENGTH);
	protobuf_put_varint(p, size);
	if (!size || !protobuf_reserve(p, size))
		return;
	p->size += text_utf8(text, (char *)p->data + p->size, size);
}

void protobuf_packed(struct protobuf *p, unsigned int field, const uint64_t *values, size_t count)
{
	size_t size = 0;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		size += varint_size(values[i]);
	protobuf_put_tag(p, field, WIRE_LENGTH);
	protobuf_put_varint(p, size);
	for (size_t i = 0; i < count; i++)
		protobuf_put_varint(p, values[i]);
}

size_t protobuf_begin(struct protobuf *p, unsigned int field)
{
	protobuf_put_tag(p, field, WIRE_LENGTH);
	if (!protobuf_reserve(p, LENGTH_BYTES))
		return 0;
	p->size += LENGTH_BYTES;
	return p->size;
}

void protobuf_end(struct protobuf *p, size_t mark)
{
	uint64_t size = p->size - mark;

	if (p->error)
		return;
	if (size >> (7 * LENGTH_BYTES)) {
		p->error = -EMSGSIZE;
		return;
	}
	/*
	 * Always write 4 bytes: a varint may be padded with continuation bytes whose payload is
	 * zero.
	 */
	for (size_t i = mark - LENGTH_BYTES; i < mark; i++, size >>= 7)
		p->data[i] = (uint8_t)((size & 0x7f) | (i + 1 < mark ? 0x80 : 0));
}
