/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Varints: numbers in groups of 7 bits, the lowest first, each in a byte whose highest bit is set
 * if more follow. Reading is from a hostile buffer: every call checks the bounds and returns false
 * on failure, after which the caller must stop. The functions are inline, because columns of a
 * trace are read number by number.
 */
#ifndef SKEIN_BASE_VARINT_H
#define SKEIN_BASE_VARINT_H

#include <stdbool.h>
#include <stdint.h>

#define VARINT_MAX 10 /* bytes of a 64-bit value */

/* Write v at p, where VARINT_MAX bytes must be free, and return the end. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* Return the number of bytes that varint_put() writes. */
static inline unsigned int varint_size(uint64_t v)
{
	return (63 - (unsigned int)__builtin_clzll(v | 1)) / 7 + 1;
}

/* Map small differences of either sign to small numbers. */
static inline uint64_t zigzag(uint64_t v)
{
	return (v << 1) ^ (0 - (v >> 63));
}

static inline uint64_t unzigzag(uint64_t v)
{
	return (v >> 1) ^ (0 - (v & 1));
}

/* The unread part of a buffer. */
struct blob_reader {
	const uint8_t *at, *end;
};

static inline bool blob_reader_byte(struct blob_reader *in, uint8_t *out)
{
	if (in->at == in->end)
		return false;
	*out = *in->at++;
	return true;
}

static inline bool blob_reader_varint(struct blob_reader *in, uint64_t *out)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		if (shift > 63 || !blob_reader_byte(in, &byte) || (shift == 63 && byte > 1))
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*out = v;
	return true;
}

static inline bool blob_reader_zigzag(struct blob_reader *in, uint64_t *out)
{
	if (!blob_reader_varint(in, out))
		return false;
	*out = unzigzag(*out);
	return true;
}

/* Set *out to the next size bytes and skip them. */
static inline bool blob_reader_part(struct blob_reader *in, uint64_t size, struct blob_reader *out)
{
	if (size > (uint64_t)(in->end - in->at))
		return false;
	*out = (struct blob_reader){in->at, in->at + size};
	in->at += size;
	return true;
}

#endif
