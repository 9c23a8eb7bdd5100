/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Make bytes from hostile processes fit to be shown. Every name that leaves skein passes through
 * one of these functions or through a writer (JSON, protobuf) that uses them.
 */
#ifndef SKEIN_BASE_TEXT_H
#define SKEIN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Copy at most size-1 bytes of valid UTF-8: invalid sequences become U+FFFD, control characters
 * (C0, DEL, C1) become '?', and bidirectional overrides (U+202A..202E, U+2066..2069) become U+FFFD.
 * A character is never split; a text that was cut ends with U+2026 (...) if size is large enough
 * for it. Return buf.
 */
char *text_clean(const char *text, char *buf, size_t size);

/* Like text_clean(), with every byte in reject (printable ASCII) replaced by replacement. */
char *text_clean_but(const char *text, const char *reject, char replacement, char *buf,
		     size_t size);

/*
 * Return the next character of NUL-terminated *text and move *text past it; at the end, return 0
 * and leave *text unchanged. An invalid sequence is returned as U+FFFD, once for each longest part
 * that could begin a character (section 3.9 of the Unicode standard).
 */
uint32_t text_next(const char **text);

/*
 * Make text valid UTF-8 and change nothing else, for writers that do their own escaping. Return the
 * number of bytes of the result, which has no NUL at its end; buf only holds the whole result if
 * that number is at most size.
 */
size_t text_utf8(const char *text, char *buf, size_t size);

/*
 * Append to the text in buf, whose length is used, as snprintf() does. Return the new length, which
 * is less than size also if the text was cut, so that the result can be used for the next call.
 */
size_t text_append(char *buf, size_t size, size_t used, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Return the columns that clean text takes on a terminal. */
unsigned int text_width(const char *text);

/*
 * Copy clean text, cut to columns and to size bytes (with U+2026 in place of the part cut off);
 * keep_tail keeps the end instead of the beginning. Return buf.
 */
char *text_fit(const char *text, unsigned int columns, bool keep_tail, char *buf, size_t size);

#endif
