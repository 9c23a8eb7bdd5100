/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A protobuf writer: append-only, into a growing buffer. Nested messages are
 * written in place and their length is patched in when they end.
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
	int error; /* 0, -ENOMEM or -EMSGSIZE; sticky: every call after it does nothing */
};

void protobuf_free(struct protobuf *p);
/* Forget what was written, keep the memory. */
void protobuf_reset(struct protobuf *p);

void protobuf_varint(struct protobuf *p, unsigned int field, uint64_t value);
void protobuf_double(struct protobuf *p, unsigned int field, double value);
void protobuf_bytes(struct protobuf *p, unsigned int field, const void *data, size_t size);
/* As bytes, made valid UTF-8 first (base/text.h's rules for invalid sequences only). */
void protobuf_text(struct protobuf *p, unsigned int field, const char *text);
void protobuf_packed(struct protobuf *p, unsigned int field, const uint64_t *values, size_t count);

/* begin returns a mark for end. Messages up to 256 MiB; the length takes 4 bytes. */
size_t protobuf_begin(struct protobuf *p, unsigned int field);
void protobuf_end(struct protobuf *p, size_t mark);

#endif
