/* SPDX-License-Identifier: Apache-2.0 */
/* Read a text file line by line from a descriptor, with bounds on lines and file. */
#ifndef SKEIN_SYMBOLIZERS_LINES_H
#define SKEIN_SYMBOLIZERS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizers/heartbeat.h"

#define LINE_BYTES_MAX (64 * 1024)

struct lines {
	int fd;
	uint64_t offset; /* offset in the file, after the lines taken */
	uint64_t limit; /* file offset at which reading stops */
	struct heartbeat *heartbeat;
	size_t first, end; /* bytes in the buffer that are not taken yet */
	bool skipping; /* the position is inside a line that is too long */
	char buffer[2 * LINE_BYTES_MAX];
};

struct text_line {
	const char *text; /* without its newline, not NUL-terminated */
	size_t length;
	bool too_long; /* there is no text: the line exceeded LINE_BYTES_MAX and was skipped */
};

/*
 * Take the next complete line. Return 1, 0 at the end of the file, or a negative errno. An
 * incomplete last line is not taken: offset stays before it, unless the line is too long.
 */
int lines_next(struct lines *l, struct text_line *out);

/* Parse hexadecimal digits, with or without 0x, up to a blank; moves *p after the blanks. */
bool lines_parse_hex(const char **p, const char *end, uint64_t *out);

#endif
