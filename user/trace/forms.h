/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms in which a chunk stores a column: how each word is predicted (the prediction is
 * subtracted from the word), and how the result, called the rest of the word, is encoded. Layout:
 * docs/trace-format.md, "The blob of a chunk".
 */
#ifndef SKEIN_TRACE_FORMS_H
#define SKEIN_TRACE_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"
#include "base/varint.h"
#include "trace/columns.h"

/*
 * Bits of a column's form. At most one of DELTA, SAME_ROW and ROW_BEFORE is set, and at most one of
 * RUNS and SPLIT.
 */
enum {
	FORM_DELTA = 1, /* differences to the previous word of the column */
	FORM_RUNS = 2, /* each run of equal words as the word and the length of the run */
	/*
	 * the first bytes of all words, then the second bytes of the words that have one, and so on
	 */
	FORM_SPLIT = 4,
	FORM_SCALED = 8, /* without the lowest bits, which are 0 in all words */
	FORM_SAME_ROW = 16, /* differences to another column's word of the same record */
	FORM_ROW_BEFORE = 32, /* differences to another column's word of the previous record */
	FORM_POSITIVE = 64, /* differences without zigzag; older writers made it */
	/*
	 * differences to the rest of the last record that has the same word in another column, the
	 * context column
	 */
	FORM_AS_LAST = 128,
	FORM_OLD = FORM_DELTA | FORM_RUNS, /* the forms of version 1 */
	FORM_DIFFERENCES = FORM_DELTA | FORM_SAME_ROW | FORM_ROW_BEFORE,
	FORM_LINKED = FORM_SAME_ROW | FORM_ROW_BEFORE,
};

struct form {
	uint8_t bits;
	uint8_t scale; /* number of lowest bits left out */
	/*
	 * with SAME_ROW or ROW_BEFORE, the number of the other column; with SAME_ROW it is lower
	 * than the column's own number
	 */
	uint8_t reference;
	uint8_t context; /* with AS_LAST, the number of the context column */
};

/* A column of records of one kind; kind is KIND_COUNT if they belong to no stream. */
struct form_column {
	const struct columns *columns;
	unsigned int column;
	enum record_kind kind;
};

/* Choose the form for a column, and write the column's words in that form to rest. */
struct form form_choose(const struct form_column *of, uint64_t *rest);

/*
 * The ends of the groups of similar bytes. With SPLIT: the first bytes of all varints, the second
 * bytes, ... With RUNS: one group.
 */
struct form_groups {
	const uint8_t *end[VARINT_MAX];
	unsigned int count;
};

/*
 * Write the count words in rest at p, where count * VARINT_MAX bytes must be free, and return the
 * end of the bytes. f must come from form_choose(). The contents of rest are lost. *groups becomes
 * the ends of the groups of bytes.
 */
uint8_t *form_put(uint8_t *p, struct form f, uint64_t *rest, uint32_t count,
		  struct form_groups *groups);

/*
 * Check forms read from a file: form_is_valid() the form of one of width columns; after that,
 * forms_are_valid() whether the forms of all columns fit together.
 */
bool form_is_valid(struct form f, unsigned int column, unsigned int width);
bool forms_are_valid(const struct form *forms, unsigned int width);

/*
 * Read count words, which must take all bytes of in; return false if they do not. The words of a
 * form with AS_LAST must be completed by form_recall(), after that those of a linked form by
 * form_link(). later: memory for count row numbers.
 */
bool form_get(struct form f, struct blob_reader in, uint64_t *words, uint32_t count,
	      uint32_t *later);

/*
 * Complete a column with AS_LAST, except for its links. The words of its context column must be
 * complete.
 */
void form_recall(struct columns *c, unsigned int column, struct form f, uint32_t count);

/*
 * Complete the linked columns among those in mask. All columns to which they refer must have been
 * read by form_get() and form_recall().
 */
void form_link(struct columns *c, const struct form *forms, uint64_t mask, uint32_t count);

#endif
