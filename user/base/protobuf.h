/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A protobuf writer that appends to a growing buffer. Nested messages are written in place, and
 * their length is patched in when they end. Source of the format:
 * https://protobuf.dev/programming-guides/encoding/
 */
#ifndef SKEIN_BASE_PROTOBUF_H
#define SKEIN_BASE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

struct protobuf {
	uint8_t *data;
	size_t size;
	size_t capacity;
	int error; /* 0, -ENOMEM or -EMSGSIZE; sticky: later calls do nothing */
};

void protobuf_free(struct protobuf *p);
/* Discard the data, keep the memory. */
void protobuf_reset(struct protobuf *p);

void protobuf_varint(struct protobuf *p, unsigned int field, uint64_t value);
void protobuf_double(struct protobuf *p, unsigned int field, double value);
void protobuf_bytes(struct protobuf *p, unsigned int field, const void *data, size_t size);
/* Like protobuf_bytes(), with the text made valid UTF-8 first by text_utf8() (base/text.h). */
void protobuf_text(struct protobuf *p, unsigned int field, const char *text);
void protobuf_packed(struct protobuf *p, unsigned int field, const uint64_t *values, size_t count);

/*
 * Begin a nested message; pass the returned mark to protobuf_end(). The length of a message takes 4
 * bytes; a message of 256 MiB or more sets error to -EMSGSIZE.
 */
size_t protobuf_begin(struct protobuf *p, unsigned int field);
void protobuf_end(struct protobuf *p, size_t mark);

#endif
