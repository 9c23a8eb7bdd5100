/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read call frame information: little-endian numbers from untrusted bytes. Reading beyond the end
 * returns zeros and sets bad.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_READER_H
#define SKEIN_SYMBOLIZERS_UNWIND_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cfi_reader {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint64_t cfi_read_fixed(struct cfi_reader *r, size_t bytes)
{
	uint64_t value = 0;

	if ((size_t)(r->end - r->at) < bytes) {
		r->bad = true;
		r->at = r->end;
		return 0;
	}
	memcpy(&value, r->at, bytes); /* the file and this machine are both little-endian */
	r->at += bytes;
	return value;
}

static inline uint8_t cfi_read_byte(struct cfi_reader *r)
{
	if (r->at < r->end)
		return *r->at++;
	r->bad = true;
	return 0;
}

static inline int64_t cfi_read_fixed_signed(struct cfi_reader *r, size_t bytes)
{
	unsigned int unused = 64 - 8 * (unsigned int)bytes;

	return (int64_t)(cfi_read_fixed(r, bytes) << unused) >> unused;
}

/*
 * Decode a LEB128 number of at most ten bytes, padding included. is_signed: the highest value bit
 * of the last byte is the sign.
 */
static inline uint64_t cfi_read_leb(struct cfi_reader *r, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cfi_read_byte(r);
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 70);
	if (byte & 0x80)
		r->bad = true;
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~0ULL << shift;
	return value;
}

static inline uint64_t cfi_read_uleb(struct cfi_reader *r)
{
	return cfi_read_leb(r, false);
}

static inline int64_t cfi_read_sleb(struct cfi_reader *r)
{
	return (int64_t)cfi_read_leb(r, true);
}

/* Return a reader of the next size bytes, and skip them. If there are fewer, both become bad. */
static inline struct cfi_reader cfi_read_block(struct cfi_reader *r, uint64_t size)
{
	struct cfi_reader block = {r->at, r->at, false};

	if (size > (uint64_t)(r->end - r->at)) {
		r->bad = true;
		r->at = r->end;
		block.bad = true;
		return block;
	}
	r->at += size;
	block.end = r->at;
	return block;
}

#endif
