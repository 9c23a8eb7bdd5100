// SPDX-License-Identifier: Apache-2.0
/* Read lines from a file that may be huge, endless, or still being written. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symbolizers/lines.h"

/*
 * Read more bytes into the buffer. Return 1, 0 at the end of the file or at the limit, or a
 * negative errno.
 */
static int lines_fill_buffer(struct lines *l)
{
	size_t held = l->end - l->first, room = sizeof(l->buffer) - held;
	uint64_t at = l->offset + held;
	ssize_t got;

	if (at >= l->limit)
		return 0;
	if (room > l->limit - at)
		room = (size_t)(l->limit - at);
	memmove(l->buffer, l->buffer + l->first, held);
	l->first = 0;
	l->end = held;
	do
		got = pread(l->fd, l->buffer + held, room, (off_t)at);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 ? -errno : 0;
	l->end += (size_t)got;
	heartbeat_send(l->heartbeat);
	return 1;
}

static void lines_consume(struct lines *l, size_t length)
{
	l->first += length;
	l->offset += length;
}

int lines_next(struct lines *l, struct text_line *out)
{
	for (;;) {
		size_t held = l->end - l->first;
		char *text = l->buffer + l->first;
		char *newline = memchr(text, '\n', held);
		int ret;

		if (newline) {
			*out = (struct text_line){text, (size_t)(newline - text), l->skipping};
			out->too_long |= out->length > LINE_BYTES_MAX;
			l->skipping = false;
			lines_consume(l, (size_t)(newline - text) + 1);
			return 1;
		}
		if (held > LINE_BYTES_MAX) {
			l->skipping = true;
			lines_consume(l, held);
		}
		ret = lines_fill_buffer(l);
		if (ret <= 0)
			return ret;
	}
}

static int line_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool lines_parse_hex(const char **p, const char *end, uint64_t *out)
{
	const char *at = *p, *first;
	uint64_t value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (first = at; at < end && line_hex_digit(*at) >= 0; at++) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)line_hex_digit(*at);
	}
	if (at == first || at == end || (*at != ' ' && *at != '\t'))
		return false;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	*p = at;
	*out = value;
	return true;
}
