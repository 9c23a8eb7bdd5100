/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms in which a chunk stores a column: how each word is predicted (the prediction is
 * subtracted from it), and how the rest of the word is encoded. Layout: docs/trace-format.md, "The
 * blob of a chunk".
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
	FORM_DELTA = 1, /* differences to the previous word */
	FORM_RUNS = 2, /* a run of equal words as the word and its count */
	/*
	 * the first bytes of all words, then the second bytes of the words that have one, and so on
	 */
	FORM_SPLIT = 4,
	FORM_SCALED = 8, /* without the lowest bits, which are 0 in all words */
	FORM_SAME_ROW = 16, /* differences to another column's word of the same record */
	FORM_ROW_BEFORE = 32, /* differences to another column's word of the previous record */
	FORM_POSITIVE = 64, /* differences without zigzag; older writers made it */
	/* less the last rest for which the context column had the same word */
	FORM_AS_LAST = 128,
	FORM_OLD = FORM_DELTA | FORM_RUNS, /* the forms of version 1 */
	FORM_DIFFERENCES = FORM_DELTA | FORM_SAME_ROW | FORM_ROW_BEFORE,
	FORM_LINKED = FORM_SAME_ROW | FORM_ROW_BEFORE,
};

struct form {
	uint8_t bits;
	uint8_t scale; /* number of lowest bits left out */
	/* number of the other column; with SAME_ROW lower than the column's own number */
	uint8_t reference;
	uint8_t context; /* with AS_LAST, the column that must have the same word */
};

/* A column of records of one kind; KIND_COUNT: of no stream kind. */
struct form_column {
	const struct columns *columns;
	unsigned int column;
	enum record_kind kind;
};

/* Choose the form for a column, and write its encoded words to rest. */
struct form form_choose(const struct form_column *of, uint64_t *rest);

/* The ends of the groups of similar bytes: the first bytes of all varints, the second bytes, ... */
struct form_groups {
	const uint8_t *end[VARINT_MAX];
	unsigned int count;
};

/*
 * Write count words at p, where count * VARINT_MAX bytes must be free, and return the end. Destroys
 * rest. *groups receives the ends of the groups of bytes.
 */
uint8_t *form_put(uint8_t *p, struct form f, uint64_t *rest, uint32_t count,
		  struct form_groups *groups);

/*
 * Check a form read from a file: form_is_valid() for one column out of width, forms_are_valid()
 * whether the forms of all columns fit together.
 */
bool form_is_valid(struct form f, unsigned int column, unsigned int width);
bool forms_are_valid(const struct form *forms, unsigned int width);

/*
 * Read count words, which must take all of in; false if they do not. Words of a linked or
 * AS_LAST form still lack what form_link() or form_recall() adds. later: memory for count numbers.
 */
bool form_get(struct form f, struct blob_reader in, uint64_t *words, uint32_t count,
	      uint32_t *later);

/* Complete a column with AS_LAST, except for its links. Its context column must have been read. */
void form_recall(struct columns *c, unsigned int column, struct form f, uint32_t count);

/*
 * Complete the linked columns (bits of mask). All columns that they refer to must have been read.
 */
void form_link(struct columns *c, const struct form *forms, uint64_t mask, uint32_t count);

#endif
