/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that read from a hostile buffer: every call checks the bounds; after a failure the
 * caller must stop.
 */
#ifndef SKEIN_TRACE_BLOB_READER_H
#define SKEIN_TRACE_BLOB_READER_H

#include <stdbool.h>
#include <stdint.h>

/* The part of the buffer that is not read yet. */
struct blob_reader {
	const uint8_t *at, *end;
};

/* Read a varint; false at the end of the buffer. Inline, because columns are read word by word. */
static inline bool blob_reader_varint(struct blob_reader *in, uint64_t *out)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		if (in->at == in->end || shift > 63)
			return false;
		byte = *in->at++;
		if (shift == 63 && byte > 1)
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*out = v;
	return true;
}

#endif
