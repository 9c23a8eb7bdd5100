// SPDX-License-Identifier: Apache-2.0
/*
 * Read Python's str objects (PEP 393): a head with the number and the width of the characters,
 * followed by the characters. A str with its characters elsewhere (up to 3.11) is not supported,
 * since the interpreter does not make names in that form.
 */
#include <errno.h>
#include <string.h>

#include "symbolizers/python_code.h"

#define PART_BYTES 1024 /* bytes of characters that are read at once */
/* most bytes from the start of one of the members length and state to the end of the other */
#define HEAD_BYTES 64
#define REPLACEMENT 0xfffd /* U+FFFD, in place of NUL and invalid characters */
#define NAME_UNITS_MAX 4 /* bytes of the longest character in UTF-8 */

static const char ellipsis[] = "\xe2\x80\xa6";
#define ELLIPSIS_BYTES (sizeof(ellipsis) - 1)

struct str_characters {
	uint64_t address; /* address of the next characters */
	uint64_t left; /* characters left */
	unsigned int width; /* bytes of a character */
};

struct text_buffer {
	char *to;
	size_t room; /* bytes of room without the NUL */
	size_t used; /* bytes */
	size_t cut; /* the largest number of whole characters' bytes with room for an ellipsis */
};

static bool read_text_memory(const struct python_memory *m, void *to, size_t size, uint64_t address)
{
	return address + size > address && m->read(m->context, to, size, address);
}

static uint32_t smaller_offset(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

static int read_text_head(struct str_characters *out, const struct python_memory *memory,
			  const struct python_layout *layout, uint64_t address)
{
	/* read both members at once: each read is a system call */
	const uint32_t from = smaller_offset(layout->text_length, layout->text_state);
	const uint32_t length_at = layout->text_length - from, state_at = layout->text_state - from;
	unsigned char head[HEAD_BYTES];
	uint32_t state;
	int64_t length;
	size_t size;

	if (length_at > sizeof(head) - sizeof(length) || state_at > sizeof(head) - sizeof(state))
		return -EBADMSG;
	size = max_size(length_at + sizeof(length), state_at + sizeof(state));
	if (!read_text_memory(memory, head, size, address + from))
		return -EFAULT;
	memcpy(&length, head + length_at, sizeof(length));
	memcpy(&state, head + state_at, sizeof(state));
	state >>= layout->text_shift;
	out->width = PYTHON_TEXT_WIDTH(state);
	if (length < 0 || !(state & PYTHON_TEXT_COMPACT) ||
	    (out->width != 1 && out->width != 2 && out->width != 4) ||
	    ((state & PYTHON_TEXT_ASCII) && out->width != 1))
		return -EBADMSG;
	out->left = (uint64_t)length;
	out->address =
		address + (state & PYTHON_TEXT_ASCII ? layout->text_ascii : layout->text_compact);
	return 0;
}

static uint32_t decode_character(const unsigned char *bytes, unsigned int width)
{
	uint32_t c = 0;

	memcpy(&c, bytes, width);
	/* Replace NUL as well as invalid characters, since a NUL would end the text. */
	return !c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? REPLACEMENT : c;
}

static size_t encode_character(char to[NAME_UNITS_MAX], uint32_t c)
{
	size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	for (size_t i = more; i; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(more ? 0xff00 >> (more + 1) | c : c);
	return more + 1;
}

/* Append a character. If it does not fit, cut the text, append an ellipsis, and return false. */
static bool append_character(struct text_buffer *o, uint32_t c)
{
	char units[NAME_UNITS_MAX];
	size_t size = encode_character(units, c);

	if (size > o->room - o->used) {
		if (o->cut + ELLIPSIS_BYTES <= o->room) {
			memcpy(o->to + o->cut, ellipsis, ELLIPSIS_BYTES);
			o->used = o->cut + ELLIPSIS_BYTES;
		}
		return false;
	}
	memcpy(o->to + o->used, units, size);
	o->used += size;
	if (o->used + ELLIPSIS_BYTES <= o->room)
		o->cut = o->used;
	return true;
}

static int copy_characters(struct text_buffer *o, const struct python_memory *memory,
			   struct str_characters *t)
{
	unsigned char part[PART_BYTES];

	while (t->left) {
		/*
		 * A character takes at least one byte. Read one character more than fits, to notice
		 * that the text must be cut.
		 */
		uint64_t max_size = o->room - o->used + 1,
			 count = t->left < max_size ? t->left : max_size;

		if (count > sizeof(part) / t->width)
			count = sizeof(part) / t->width;
		if (!read_text_memory(memory, part, count * t->width, t->address))
			return -EFAULT;
		for (uint64_t i = 0; i < count; i++) {
			if (!append_character(o, decode_character(part + i * t->width, t->width)))
				return 0;
		}
		t->left -= count;
		t->address += count * t->width;
	}
	return 0;
}

bool python_text_is_cut(const char *text, size_t room)
{
	size_t size = strlen(text);

	/*
	 * A text is cut before a character that does not fit, so fewer bytes are free than the
	 * largest character takes.
	 */
	return size + NAME_UNITS_MAX >= room && size >= ELLIPSIS_BYTES &&
	       !strcmp(text + size - ELLIPSIS_BYTES, ellipsis);
}

int python_text_read(char *to, size_t room, const struct python_memory *memory,
		     const struct python_layout *layout, uint64_t address)
{
	struct text_buffer o = {.to = to, .room = room - 1};
	struct str_characters t;
	int ret = read_text_head(&t, memory, layout, address);

	if (!ret)
		ret = copy_characters(&o, memory, &t);
	if (!ret)
		to[o.used] = '\0';
	return ret;
}
