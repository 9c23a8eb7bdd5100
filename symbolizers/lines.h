/* SPDX-License-Identifier: Apache-2.0 */
/* Read a text file line by line from a descriptor, with bounds on lines and file. */
#ifndef SKEIN_SYMBOLIZERS_LINES_H
#define SKEIN_SYMBOLIZERS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizers/heartbeat.h"

#define LINE_BYTES_MAX (64 * 1024) /* without the newline */

struct lines {
	int fd;
	uint64_t offset; /* file offset after the last line taken */
	uint64_t limit; /* file offset at which reading stops, as at the end of the file */
	struct heartbeat *heartbeat; /* may be NULL */
	size_t first, end; /* range of the buffer that is not taken yet */
	bool skipping; /* the position is inside a line that is too long */
	char buffer[2 * LINE_BYTES_MAX];
};

struct text_line {
	const char *text; /* without its newline, not NUL-terminated */
	size_t length;
	bool too_long; /* there is no text: the line exceeded LINE_BYTES_MAX and was skipped */
};

/*
 * Take the next complete line. Return 1, 0 at the end of the file or at the limit, or a negative
 * errno. out->text is valid until the next call. A last line without a newline is not taken: offset
 * stays before it, unless the line is too long.
 */
int lines_next(struct lines *l, struct text_line *out);

/*
 * Parse a number in hexadecimal digits, with or without 0x, that a space or tab ends; move *p after
 * all spaces and tabs. Return false, with *p and *out untouched, if there is no such number or it
 * exceeds 64 bits.
 */
bool lines_parse_hex(const char **p, const char *end, uint64_t *out);

#endif
