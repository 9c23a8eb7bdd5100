/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sorted flat table of every kind of object: address ranges that do not overlap, each with a
 * name. Ranges are gathered in any order and may overlap; each has a rank, and the highest rank
 * wins where several cover an address. So "the later line of a perf map wins" and "the innermost
 * symbol wins" are the same algorithm, and a lookup is one binary search.
 */
#ifndef SKEIN_SYMBOLIZERS_SYMTAB_H
#define SKEIN_SYMBOLIZERS_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"

/* Bounds against hostile files; an object beyond them is bad. */
#define SYMBOLS_MAX (4u << 20)
#define SYMBOL_NAMES_MAX (256u << 20)
#define SYMBOL_SIZE_MAX UINT32_MAX

struct symbol_range {
	uint64_t start, end; /* end is exclusive */
	uint32_t name; /* offset in names; 0: a hole, which hides ranges of lower rank */
	uint32_t rank;
};

struct symbol_span {
	uint64_t start;
	uint32_t length;
	uint32_t name;
	uint32_t back; /* bytes from the start of the function to start */
	uint32_t size; /* bytes of the whole function */
};

/* Zeroed memory is an empty table. names begins with "" once it has names. */
struct symtab {
	VECTOR(struct symbol_range) ranges;
	VECTOR(char) names;
	VECTOR(struct symbol_span) spans;
};

struct found_symbol {
	const char *name; /* name as in the file, with a NUL; belongs to the table */
	uint64_t start, size;
	unsigned int flags; /* enum symbol_flag */
};

void symtab_free(struct symtab *t);

/* Add a name of length bytes (cut at the first NUL). Return its offset, or -ENOMEM, -E2BIG. */
int64_t symtab_add_name(struct symtab *t, const char *name, size_t length);

/*
 * Add a range. Empty ranges and those longer than SYMBOL_SIZE_MAX are left out. Return 0, -ENOMEM,
 * -E2BIG.
 */
int symtab_add(struct symtab *t, const struct symbol_range *r);

/* Make the table for lookups from the ranges, which are sorted by start. Return 0 or -ENOMEM. */
int symtab_build(struct symtab *t);

/* Free the ranges of a table to which nothing will be added. */
void symtab_seal(struct symtab *t);

/* Find the function that covers address; false if none does. Sets flags to SYMBOL_FOUND. */
bool symtab_find(const struct symtab *t, uint64_t address, struct found_symbol *out);

/* Return the bytes of memory in use. */
size_t symtab_bytes(const struct symtab *t);

#endif
