// SPDX-License-Identifier: Apache-2.0
/*
 * Find the position of the width bits in the state of a str. From 3.13 on, the bits below them hold
 * the kind of interning, and their number depends on the release (the first 3.14 had 16 such bits,
 * later ones have 2). The interpreter's own names are static str objects in its _PyRuntime: their
 * characters and length are known, and so is their state, except for the position of its bits.
 */
#include <string.h>

#include "symbolizers/python_file.h"

/* Names that every Python has. */
static const char *const known[] = {"__init__", "__module__", "__name__"};

/*
 * The state of a static str with one byte per character, all ASCII, directly after the head. The
 * bits for interning, below, are 0 in the file.
 */
#define STATE (1u | PYTHON_TEXT_COMPACT | PYTHON_TEXT_ASCII | PYTHON_TEXT_STATIC)

/*
 * Return the number of bits below STATE in the state of a str that is not interned yet. Return 0 if
 * the state is not STATE, shifted by 1 to PYTHON_TEXT_SHIFT_MAX bits.
 */
static uint32_t shift_of_state(uint32_t state)
{
	uint32_t shift = state ? (uint32_t)__builtin_ctz(state) : 0;

	return state >> shift == STATE && shift <= PYTHON_TEXT_SHIFT_MAX ? shift : 0;
}

/* Return whether a str with these characters begins at bytes; sets *state to its state. */
static bool is_str_at(const struct python_layout *l, const uint8_t *bytes, const char *name,
		      uint32_t *state)
{
	uint64_t length;

	memcpy(&length, bytes + l->text_length, sizeof(length));
	memcpy(state, bytes + l->text_state, sizeof(*state));
	return length == strlen(name) && memcmp(bytes + l->text_ascii, name, strlen(name) + 1) == 0;
}

/*
 * Return false if there is a str with this name at bytes whose state is invalid or contradicts
 * *shift. The first str sets *shift, which is 0 before.
 */
static bool agrees_on_shift(const struct python_layout *l, const uint8_t *bytes, const char *name,
			    uint32_t *shift)
{
	uint32_t state, found;

	if (!is_str_at(l, bytes, name, &state))
		return true;
	found = shift_of_state(state);
	if (!found || (*shift && *shift != found))
		return false;
	*shift = found;
	return true;
}

uint32_t python_text_shift(const struct python_layout *l, const uint8_t *bytes, size_t size)
{
	uint32_t shift = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		uint64_t end = l->text_ascii + strlen(known[i]) + 1;

		if (end < l->text_length + sizeof(uint64_t))
			end = l->text_length + sizeof(uint64_t);
		if (end < l->text_state + sizeof(uint32_t))
			end = l->text_state + sizeof(uint32_t);
		for (size_t at = 0; end <= size && at <= size - end; at += sizeof(uint64_t))
			if (!agrees_on_shift(l, bytes + at, known[i], &shift))
				return 0;
	}
	return shift;
}
