// SPDX-License-Identifier: Apache-2.0
/*
 * Where the state of a str has its bits: from 3.13 on a few of them are in front that say how it is
 * interned, and how many depends on the release (3.14 began with 16, and has 2 since). The
 * interpreter's own names are str objects in its _PyRuntime, made by the compiler: their characters
 * and length are known, so all of their state is, but for where it begins.
 */
#include <string.h>

#include "symbolizers/python_file.h"

/* Names without which there is no Python. */
static const char *const known[] = {"__init__", "__module__", "__name__"};

/* Of characters in one byte each, all of them ASCII, behind the head. */
#define STATE (1u | PYTHON_TEXT_COMPACT | PYTHON_TEXT_ASCII | PYTHON_TEXT_STATIC)

/* The bits below STATE in a state that nobody has interned yet; 0: it is no such state. */
static uint32_t shift_of(uint32_t state)
{
	uint32_t shift = state ? (uint32_t)__builtin_ctz(state) : 0;

	return state >> shift == STATE && shift <= PYTHON_TEXT_SHIFT_MAX ? shift : 0;
}

/* Whether a str with these characters begins at bytes: its state then is in *state. */
static bool is_text(const struct python_layout *l, const uint8_t *bytes, const char *name,
		    uint32_t *state)
{
	uint64_t length;

	memcpy(&length, bytes + l->text_length, sizeof(length));
	memcpy(state, bytes + l->text_state, sizeof(*state));
	return length == strlen(name) &&
	       memcmp(bytes + l->text_ascii, name, strlen(name) + 1) == 0;
}

/* Returns whether what is there, if it is such a str, agrees with *shift, which is 0 at first. */
static bool agrees(const struct python_layout *l, const uint8_t *bytes, const char *name,
		   uint32_t *shift)
{
	uint32_t state, found;

	if (!is_text(l, bytes, name, &state))
		return true;
	found = shift_of(state);
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
			if (!agrees(l, bytes + at, known[i], &shift))
				return 0;
	}
	return shift;
}
