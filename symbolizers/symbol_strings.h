/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of strings that stays in its file. Those of large programs have tens of MiB, and are
 * needed once: to pack the names of functions (symtab_pack()).
 */
#ifndef SKEIN_SYMBOLIZERS_SYMBOL_STRINGS_H
#define SKEIN_SYMBOLIZERS_SYMBOL_STRINGS_H

#include <stddef.h>
#include <stdint.h>

/* Longer strings are cut; bytes. */
#define STRING_MOST ((64u << 10) - 1)

/* Zeroed memory is no table. */
struct symbol_strings {
	/* read exactly size bytes at an offset of the file; return 0 or a negative errno */
	int (*read)(const void *file, uint64_t offset, void *buf, size_t size);
	const void *file; /* of read(); not owned */
	uint64_t from, size; /* place in the file, bytes */
	/* the part that was read last, with a NUL after it; NULL: none yet */
	char *window;
	uint64_t at; /* offset of the window in the table */
	size_t have; /* bytes of the window, without the NUL */
};

/*
 * Get the string at an offset of the table, valid until the next call: without a search in the
 * file, if it follows the one before. NULL: it cannot be read, or there is no memory.
 */
const char *symbol_strings_next(struct symbol_strings *s, uint64_t offset);

/*
 * Copy the string at an offset, at most size - 1 bytes and a NUL; "" if it cannot be read. This
 * does not move the place of symbol_strings_next().
 */
void symbol_strings_copy(const struct symbol_strings *s, uint64_t offset, char *buf, size_t size);

/* Free what the table has allocated: it is none any more. */
void symbol_strings_close(struct symbol_strings *s);

#endif
