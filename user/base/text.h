/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes from hostile processes, made fit to be shown. Every name that leaves
 * skein goes through one of these or through a writer (JSON, protobuf) that
 * does.
 */
#ifndef SKEIN_BASE_TEXT_H
#define SKEIN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Copy at most size-1 bytes of valid UTF-8: invalid sequences become U+FFFD,
 * control characters (C0, DEL, C1) become '?', and bidirectional overrides
 * (U+202A..202E, U+2066..2069) U+FFFD. Never cuts a character in two; text cut
 * short ends with U+2026 (...),
 * if size is large enough for one. Returns buf.
 */
char *text_clean(const char *text, char *buf, size_t size);

/* The same, with every byte in reject (printable ASCII) replaced by replacement. */
char *text_clean_but(const char *text, const char *reject, char replacement, char *buf,
		     size_t size);

/*
 * The next character of NUL-terminated text, which is stepped past it; 0 at
 * the end, where it stays. An invalid sequence is U+FFFD, one for each longest
 * part that could begin a character (the Unicode standard's section 3.9).
 */
uint32_t text_next(const char **text);

/*
 * Make text valid UTF-8 and change nothing else, for writers that escape by
 * themselves. Returns the bytes that it takes; buf is only complete (without a
 * NUL) if that is at most size.
 */
size_t text_utf8(const char *text, char *buf, size_t size);

/* Columns that clean text takes on a terminal. */
unsigned int text_width(const char *text);

/* Copy clean text cut to columns (with U+2026 where cut), from the front or the back. */
char *text_fit(const char *text, unsigned int columns, bool keep_tail, char *buf, size_t size);

#endif
