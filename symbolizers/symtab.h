/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol table of an object of any kind. Ranges of addresses are added in any order and may
 * overlap; where several cover an address, the one with the highest rank wins. From the ranges,
 * symtab_build() makes sorted spans that do not overlap, in which a lookup is one binary search. So
 * "the later line of a perf map wins" and "the innermost symbol wins" are the same algorithm.
 */
#ifndef SKEIN_SYMBOLIZERS_SYMTAB_H
#define SKEIN_SYMBOLIZERS_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vector.h"
#include "symbolizers/name_blocks.h"
#include "symbolizers/symbol_strings.h"

/*
 * Bounds against hostile files: the most ranges and bytes of names of a table, beyond which adding
 * fails with -E2BIG, and the most bytes of a range; longer ranges are left out.
 */
#define SYMBOLS_MAX (4u << 20)
#define SYMBOL_NAMES_MAX (256u << 20)
#define SYMBOL_SIZE_MAX UINT32_MAX

/* Bit of a name that is in symtab.outside; its other bits are the offset there. */
#define SYMBOL_NAME_OUTSIDE (1u << 31)

struct symbol_range {
	uint64_t start, end; /* end is exclusive */
	uint32_t name; /* offset in names, or SYMBOL_NAME_OUTSIDE and that in outside; 0: a hole,
			  which hides ranges of lower rank */
	uint32_t rank;
};

/* A part of a function in which no range of a higher rank begins or ends. */
struct symbol_span {
	uint64_t start;
	uint32_t length; /* bytes */
	uint32_t name; /* as that of the range */
	uint32_t back; /* bytes from the start of the function to start */
	uint32_t size; /* bytes of the whole function */
};

/* Zeroed memory is an empty table. Once there are names, the first of them is "". */
struct symtab {
	VECTOR(struct symbol_range) ranges;
	VECTOR(char) names;
	VECTOR(struct symbol_span) spans;
	/* names that are not in memory: symtab_find() finds them only after symtab_pack() */
	struct symbol_strings outside;
	/* NULL, or in place of names, after symtab_pack(): spans[].name are of name_blocks_add() */
	struct name_blocks *packed;
};

struct found_symbol {
	/* as in the file, with a NUL; owned by the table, until the next symtab_find() in it */
	const char *name;
	uint64_t start, size;
	unsigned int flags; /* enum symbol_flag */
};

void symtab_free(struct symtab *t);

/*
 * Add a name of length bytes, cut at the first NUL. Return its offset in names, or -ENOMEM, -E2BIG.
 * Names in a found_symbol become invalid.
 */
int64_t symtab_add_name(struct symtab *t, const char *name, size_t length);

/*
 * Add a range. Empty ranges and those longer than SYMBOL_SIZE_MAX are left out. Return 0, -ENOMEM,
 * -E2BIG. The range can be found after the next symtab_build().
 */
int symtab_add(struct symtab *t, const struct symbol_range *r);

/*
 * Make the table for lookups, spans, from all ranges; this sorts the ranges by start. Return 0, or
 * -ENOMEM, after which spans is empty.
 */
int symtab_build(struct symtab *t);

/* Free memory that only symtab_build() needs: nothing more can be added, but lookups work. */
void symtab_seal(struct symtab *t);

/*
 * symtab_pack.c: of a table that is sealed, keep only the names that can be found, and keep these
 * compressed. The table may be packed already. Return 0, or -ENOMEM, -E2BIG or -EIO: it stays as it
 * is, and if it has names outside it cannot be used.
 */
int symtab_pack(struct symtab *t);

/*
 * Return a name of a range, at most size - 1 bytes of it if it has to be copied to buf, as those
 * outside have.
 */
const char *symtab_name(const struct symtab *t, uint32_t name, char *buf, size_t size);

/*
 * Find the function at address and set out->flags to SYMBOL_FOUND. Return false, with *out
 * untouched, if there is none, or no memory for its packed name.
 */
bool symtab_find(const struct symtab *t, uint64_t address, struct found_symbol *out);

/* Return the bytes of memory in use. */
size_t symtab_bytes(const struct symtab *t);

#endif
