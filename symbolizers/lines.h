/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a text file line by line from a descriptor, with bounds on both. */
#ifndef SKEIN_SYMBOLIZERS_LINES_H
#define SKEIN_SYMBOLIZERS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizers/beat.h"

#define LINE_BYTES_MAX (64 * 1024)

struct lines {
	int fd;
	uint64_t offset; /* in the file, behind what was taken */
	uint64_t limit;	 /* nothing behind this offset is read */
	struct beat *beat;
	size_t first, end; /* what is in the buffer and not taken yet */
	bool skipping;	   /* inside a line that is too long */
	char buffer[2 * LINE_BYTES_MAX];
};

struct line {
	const char *text; /* without its newline, not NUL-terminated */
	size_t length;
	bool too_long; /* there is no text: the line exceeded LINE_BYTES_MAX and was skipped */
};

/*
 * The next complete line: 1, 0 at the end of the file (a half last line is not
 * taken: offset stands before it unless it is too long), or a negative errno.
 */
int lines_next(struct lines *l, struct line *ret);

/* Hexadecimal digits, with or without 0x, up to a blank: moves *p behind the blanks. */
bool line_hex(const char **p, const char *end, uint64_t *ret);

#endif
