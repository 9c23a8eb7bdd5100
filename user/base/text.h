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
#include <stdio.h>

/*
 * Copy at most size-1 bytes of valid UTF-8: invalid sequences become U+FFFD,
 * control characters (C0, DEL, C1) become '?', and bidirectional overrides
 * (U+202A..202E, U+2066..2069) U+FFFD. Never cuts a character in two; text cut
 * short ends with U+2026 (...). Returns buf.
 */
char *text_clean(const char *text, char *buf, size_t size);

/* The same, with every byte in reject replaced by replacement. */
char *text_clean_but(const char *text, const char *reject, char replacement, char *buf,
		     size_t size);

/* Columns that clean text takes on a terminal. */
unsigned int text_width(const char *text);

/* Copy clean text cut to columns (with U+2026 where cut), from the front or the back. */
char *text_fit(const char *text, unsigned int columns, bool keep_tail, char *buf, size_t size);

#endif
