/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decode the compressed data of HotSpot's methods: which methods are inlined at an address of a
 * compiled method, and which line a bytecode belongs to. The bytes are copies from a process's
 * memory, which is hostile: all work is bounded by their size.
 *
 * Integers are of 1 to 5 bytes ("UNSIGNED5"), in one of two forms; no table of libjvm says which.
 * It follows from the data: what one form has written is invalid in the other.
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_DECODE_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hotspot_integers {
	HOTSPOT_INTEGERS_UNKNOWN,
	HOTSPOT_INTEGERS_PLAIN, /* up to JDK 19: 0 is a byte 0 */
	HOTSPOT_INTEGERS_NO_ZERO, /* since JDK 20: each byte is one more, so that none is 0 */
};

/* Bytes that are read from the first to the last. */
struct hotspot_stream {
	const uint8_t *bytes;
	size_t size, at;
	enum hotspot_integers integers; /* not UNKNOWN */
};

/* Read the next integer. Return false if the bytes end before, or are invalid in this form. */
bool hotspot_integer_next(struct hotspot_stream *s, uint32_t *out);

/* The most methods at one address that are read. */
#define HOTSPOT_FRAMES_MAX 128

/* A method at an address of a compiled method, and the bytecode that it is at. */
struct hotspot_scope {
	uint32_t method; /* number in the compiled method's array of metadata; 1 is the first */
	int32_t bci; /* -1: before the first bytecode */
};

/*
 * Decode the scopes from the one at offset on to the outermost, which is the compiled method's.
 * Return their number, or 0 if they are invalid: the caller of each scope lies before it, so the
 * work is bounded by the size, too. s->at is not used.
 */
unsigned int hotspot_scopes_decode(struct hotspot_scope out[HOTSPOT_FRAMES_MAX],
				   const struct hotspot_stream *s, uint32_t offset);

/* An address of a compiled method that has scopes. */
struct hotspot_pc {
	int32_t pc; /* bytes from the begin of the code */
	uint32_t scope; /* offset of the innermost scope; 0: none */
};

/*
 * Find the first of count addresses, which are sorted, that is not before pc and has a scope; NULL:
 * none.
 */
const struct hotspot_pc *hotspot_pc_find(const struct hotspot_pc *pcs, size_t count, uint32_t pc);

/* The bytecodes from bci on, up to the next element's, belong to a line. */
struct hotspot_line {
	uint16_t bci, line;
};

/*
 * Decode a table of lines of a method with code_size bytes of bytecodes. out has room for s->size
 * elements. Return their number, or -1 if the table is invalid. s->at is moved behind the table.
 */
int hotspot_lines_decode(struct hotspot_line *out, struct hotspot_stream *s, uint32_t code_size);

/*
 * Return the line of a bytecode as a Java stack trace shows it: that of the element with the same
 * bci, else with the largest smaller one; -1 counts as 0. Return 0 if there is none.
 */
uint32_t hotspot_line_of(const struct hotspot_line *lines, size_t count, int32_t bci);

/*
 * hotspot_text.c: convert a Symbol's bytes ("modified UTF-8") into UTF-8 with a NUL, room bytes at
 * most. NUL and invalid characters become U+FFFD; a text that does not fit is cut, and ends with
 * U+2026. Return whether all bytes that were converted are valid.
 */
bool hotspot_text_convert(char *to, size_t room, const uint8_t *bytes, size_t size);
/*
 * Return the size of the first bytes of a Symbol without a last character of several bytes, of
 * which only a part may be there.
 */
size_t hotspot_text_whole(const uint8_t *bytes, size_t size);

/*
 * Change a class's internal name into the one that a Java stack trace shows ("java.lang.String"),
 * without the address or the number that a hidden class has in it ("Main$$Lambda$14+0x00000800c0"
 * becomes "Main$$Lambda"): they differ from run to run.
 */
void hotspot_class_shown(char *name);

#endif
