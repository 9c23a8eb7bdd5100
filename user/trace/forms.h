/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms in which a column stands in a chunk: what is taken from each word, and how the rest
 * is written. Layout: docs/trace-format.md, "The blob of a chunk".
 */
#ifndef SKEIN_TRACE_FORMS_H
#define SKEIN_TRACE_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"
#include "trace/columns.h"

#define VARINT_MAX 10 /* bytes of a 64-bit value in groups of 7 bits */

/* Bits of a column's form. At most one of DELTA, SAME_ROW and ROW_BEFORE; and of RUNS and SPLIT. */
enum {
	FORM_DELTA = 1, /* differences to the word before */
	FORM_RUNS = 2,	/* equal words as one and their number */
	FORM_SPLIT =
		4, /* the first bytes of all words, then the second of those that have one... */
	FORM_SCALED = 8,      /* without the lowest bits, which are 0 in all of them */
	FORM_SAME_ROW = 16,   /* differences to another column's word of the same record */
	FORM_ROW_BEFORE = 32, /* differences to another column's word of the record before */
	FORM_POSITIVE = 64,   /* differences as they are: hardly any is negative */
	FORM_AS_LAST = 128,   /* less what was left of the last one with the same word elsewhere */
	FORM_OLD = FORM_DELTA | FORM_RUNS, /* all that version 1 knows */
	FORM_DIFFERENCES = FORM_DELTA | FORM_SAME_ROW | FORM_ROW_BEFORE,
	FORM_LINKED = FORM_SAME_ROW | FORM_ROW_BEFORE,
};

struct form {
	uint8_t bits;
	uint8_t scale;	   /* bits left out */
	uint8_t reference; /* the other column; lower than its own with SAME_ROW */
	uint8_t context;   /* with AS_LAST the column of the same word */
};

/*
 * Choose how to write a column of records of that kind (KIND_COUNT: of none), and what to write:
 * count words in rest. Looks at some of the words closely, at all of them once.
 */
struct form form_choose(const struct columns *c, unsigned int column, enum record_kind kind,
			uint64_t *rest);

/* Where bytes of one kind end, and others begin: the first bytes of varints, the second, ... */
struct form_groups {
	const uint8_t *end[VARINT_MAX];
	unsigned int count;
};

/* Write them behind p, where count * VARINT_MAX bytes are free. rest is used up. */
uint8_t *form_put(uint8_t *p, struct form f, uint64_t *rest, uint32_t count,
		  struct form_groups *groups);

/* Whether a form from a file makes sense for that column of so many; and all of them together. */
bool form_is_good(struct form f, unsigned int column, unsigned int width);
bool forms_are_good(const struct form *forms, unsigned int width);

/*
 * Read count words that take all of size bytes: what was taken from them is still missing if the
 * form is linked, or AS_LAST. later: memory for count numbers.
 */
bool form_get(struct form f, const uint8_t *data, size_t size, uint64_t *words, uint32_t count,
	      uint32_t *later);

/* Add what a column with AS_LAST lacks beside that. Its context has been read. */
void form_recall(struct columns *c, unsigned int column, struct form f, uint32_t count);

/* Add what linked columns (bits of mask) lack. All that they refer to has been read. */
void form_link(struct columns *c, const struct form *forms, uint64_t mask, uint32_t count);

#endif
