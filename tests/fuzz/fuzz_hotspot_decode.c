// SPDX-License-Identifier: Apache-2.0
/*
 * Decode scopes, tables of lines and names of HotSpot. The input is a byte that chooses the form of
 * integers, and the data.
 */
#include <string.h>

#include "fuzz.h"
#include "symbolizers/hotspot_decode.h"

static void decode_all_scopes(const struct hotspot_stream *s)
{
	struct hotspot_scope scopes[HOTSPOT_FRAMES_MAX];

	for (uint32_t offset = 0; offset <= s->size && offset < 4096; offset++) {
		unsigned int count = hotspot_scopes_decode(scopes, s, offset);

		if (count > HOTSPOT_FRAMES_MAX)
			abort();
		for (unsigned int i = 0; i < count; i++) {
			if (!scopes[i].method || scopes[i].bci < -1 || scopes[i].bci > UINT16_MAX)
				abort();
		}
	}
	(void)hotspot_scopes_decode(scopes, s, UINT32_MAX);
}

static void decode_lines(struct hotspot_stream s)
{
	struct hotspot_line *lines = malloc((s.size + 1) * sizeof(*lines));
	int count = hotspot_lines_decode(lines, &s, 1000);

	if (count > 0 && (size_t)count > s.size)
		abort();
	for (int i = 0; i < count; i++) {
		if (lines[i].bci >= 1000)
			abort();
	}
	for (int32_t bci = -1; count >= 0 && bci < 1000; bci += 7)
		(void)hotspot_line_of(lines, (size_t)count, bci);
	free(lines);
}

static void convert_text(const struct hotspot_stream *s)
{
	char text[64];

	for (size_t room = 4; room <= sizeof(text); room += 5) {
		(void)hotspot_text_convert(text, room, s->bytes, s->size);
		if (strnlen(text, room) == room)
			abort();
		hotspot_class_shown(text);
	}
}

static void find_pcs(const struct hotspot_stream *s)
{
	size_t count = s->size / sizeof(struct hotspot_pc);
	struct hotspot_pc *pcs = malloc(s->size + 1);

	memcpy(pcs, s->bytes, s->size);
	for (uint32_t pc = 0; pc < 1u << 31; pc = pc * 2 + 1) {
		const struct hotspot_pc *found = hotspot_pc_find(pcs, count, pc);

		if (found && (found < pcs || found >= pcs + count || !found->scope))
			abort();
	}
	free(pcs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hotspot_stream s = {.bytes = data + 1, .size = size - 1};

	if (!size)
		return 0;
	s.integers = data[0] & 1 ? HOTSPOT_INTEGERS_NO_ZERO : HOTSPOT_INTEGERS_PLAIN;
	decode_all_scopes(&s);
	decode_lines(s);
	convert_text(&s);
	find_pcs(&s);
	return 0;
}
