// SPDX-License-Identifier: Apache-2.0
/* Read strings of a table in a file, one after the other. */
#include "symbolizers/symbol_strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Read the part of the table that begins at an offset. */
static int move_window(struct symbol_strings *s, uint64_t offset)
{
	uint64_t rest = s->size - offset;
	size_t size = rest < STRING_MOST ? (size_t)rest : STRING_MOST;
	int ret;

	s->have = 0;
	if (!s->window)
		s->window = malloc(STRING_MOST + 1);
	if (!s->window)
		return -ENOMEM;
	ret = s->read(s->file, s->from + offset, s->window, size);
	if (ret)
		return ret;
	s->window[size] = '\0';
	s->at = offset;
	s->have = size;
	return 0;
}

const char *symbol_strings_next(struct symbol_strings *s, uint64_t offset)
{
	if (offset >= s->size)
		return NULL;
	if (offset >= s->at && offset - s->at < s->have) {
		const char *text = s->window + (offset - s->at);

		if (memchr(text, '\0', s->have - (size_t)(offset - s->at)))
			return text;
	}
	return move_window(s, offset) ? NULL : s->window;
}

void symbol_strings_copy(const struct symbol_strings *s, uint64_t offset, char *buf, size_t size)
{
	uint64_t rest = offset < s->size ? s->size - offset : 0;
	size_t length = rest < size - 1 ? (size_t)rest : size - 1;

	if (s->read(s->file, s->from + offset, buf, length))
		length = 0;
	buf[length] = '\0';
}

void symbol_strings_close(struct symbol_strings *s)
{
	free(s->window);
	*s = (struct symbol_strings){0};
}
