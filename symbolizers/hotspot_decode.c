// SPDX-License-Identifier: Apache-2.0
/*
 * Scopes, addresses and lines of HotSpot's methods. Sources: OpenJDK, compressedStream.hpp (17),
 * unsigned5.hpp (20 and later), debugInfoRec.cpp, scopeDesc.cpp, method.cpp.
 */
#include "symbolizers/hotspot_decode.h"
#include "base/varint.h"

#define INTEGER_BYTES_MAX 5
#define INTEGER_SHIFT 6 /* bits of each byte after the first */
#define LAST_BYTE_MAX 191 /* a byte above it is followed by another byte of the integer */

bool hotspot_integer_next(struct hotspot_stream *s, uint32_t *out)
{
	const uint32_t excluded = s->integers == HOTSPOT_INTEGERS_NO_ZERO;
	uint32_t sum = 0, byte = UINT8_MAX;

	for (unsigned int i = 0; i < INTEGER_BYTES_MAX && byte > LAST_BYTE_MAX; i++) {
		if (s->at >= s->size)
			return false;
		byte = s->bytes[s->at++];
		if (byte < excluded)
			return false;
		sum += (byte - excluded) << (i * INTEGER_SHIFT);
	}
	*out = sum;
	return true;
}

unsigned int hotspot_scopes_decode(struct hotspot_scope out[HOTSPOT_FRAMES_MAX],
				   const struct hotspot_stream *s, uint32_t offset)
{
	struct hotspot_stream at = *s;
	uint32_t sender, bci;

	for (unsigned int count = 0; count < HOTSPOT_FRAMES_MAX; offset = sender) {
		at.at = offset;
		if (!hotspot_integer_next(&at, &sender) ||
		    !hotspot_integer_next(&at, &out[count].method) ||
		    !hotspot_integer_next(&at, &bci) || !out[count].method || bci > UINT16_MAX + 1)
			return 0;
		out[count++].bci = (int32_t)bci - 1;
		if (!sender)
			return count;
		if (sender >= offset)
			return 0;
	}
	return 0;
}

const struct hotspot_pc *hotspot_pc_find(const struct hotspot_pc *pcs, size_t count, uint32_t pc)
{
	size_t low = 0, high = count;

	if (pc > INT32_MAX)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pcs[middle].pc < (int32_t)pc)
			low = middle + 1;
		else
			high = middle;
	}
	while (low < count && !pcs[low].scope)
		low++;
	return low < count ? &pcs[low] : NULL;
}

/* Read the next pair of differences. Return 1, 0 at the end of the table, or -1. */
static int read_difference(struct hotspot_stream *s, int64_t *bci, int64_t *line)
{
	uint32_t a, b;
	uint8_t byte;

	if (s->at >= s->size)
		return -1;
	byte = s->bytes[s->at++];
	if (byte == UINT8_MAX) {
		if (!hotspot_integer_next(s, &a) || !hotspot_integer_next(s, &b))
			return -1;
		*bci += (int64_t)unzigzag(a);
		*line += (int64_t)unzigzag(b);
	} else {
		*bci += byte >> 3;
		*line += byte & 7;
	}
	return byte != 0;
}

int hotspot_lines_decode(struct hotspot_line *out, struct hotspot_stream *s, uint32_t code_size)
{
	int64_t bci = 0, line = 0;
	int count = 0, more;

	while ((more = read_difference(s, &bci, &line)) > 0) {
		if (bci < 0 || bci >= code_size || line < 0 || line > UINT16_MAX)
			return -1;
		out[count++] = (struct hotspot_line){(uint16_t)bci, (uint16_t)line};
	}
	return more < 0 ? -1 : count;
}

uint32_t hotspot_line_of(const struct hotspot_line *lines, size_t count, int32_t bci)
{
	const uint32_t wanted = bci < 0 ? 0 : (uint32_t)bci;
	uint32_t best = 0, line = 0;

	for (size_t i = 0; i < count; i++) {
		if (lines[i].bci == wanted)
			return lines[i].line;
		if (lines[i].bci < wanted && lines[i].bci >= best) {
			best = lines[i].bci;
			line = lines[i].line;
		}
	}
	return line;
}
