/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what the files that find probes share: probe_sites.c, _notes.c, _functions.c, _code.c.
 */
#ifndef SKEIN_SYMBOLIZERS_PROBE_FINDER_H
#define SKEIN_SYMBOLIZERS_PROBE_FINDER_H

#include "symbolizers/elf_lookup.h"
#include "symbolizers/probe_sites.h"

struct probe_symbols;

struct probe_finder {
	struct probe_sites *out;
	const struct probe_wanted *wanted;
	const struct elf_image *image;
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	struct probe_symbols *symbols; /* NULL: not read yet, or there are none */
	bool tried; /* to read symbols */
};

/* The functions and objects of a file by their symbols. */
struct probe_symbols {
	struct elf_symbol_table table;
	char *strings; /* of table.strings.sh_size bytes, and a NUL */
};

/* probe_functions.c: free the symbols, which may be NULL. */
void probe_symbols_free(struct probe_symbols *s);
/* Find the address of a symbol of any type, by its whole name. */
bool probe_symbols_find(struct probe_finder *f, const char *name, uint64_t *address);
/* Add the sites of the functions that are wanted. Return 0 or a negative errno. */
int probe_functions_find(struct probe_finder *f);

/* probe_notes.c: add the sites of the notes that are wanted. Return 0 or a negative errno. */
int probe_notes_find(struct probe_finder *f);

/* probe_sites.c: add a site, if there is room for it. */
void probe_finder_add(struct probe_finder *f, const struct probe_site *s);
/* Return whether a pattern may have one more note or function; always true for the table. */
bool probe_finder_has_room(const struct probe_finder *f, unsigned int row);
/* Return whether a row of the table is wanted. */
bool probe_finder_wants_row(const struct probe_finder *f, const struct probe_row *row);
/* Return whether a pattern is wanted. */
bool probe_finder_wants_pattern(const struct probe_finder *f, unsigned int pattern);

/*
 * probe_code.c: find the file offset of an address in a segment with one of these flags, such as
 * PF_X. Return false if there is none in the file.
 */
bool probe_file_offset(const struct elf_image *image, uint64_t address, unsigned int flags,
		       uint64_t *out);
/*
 * Set offset, instruction, bytes and refused of a site by the code at an address.
 * entry: a function begins there.
 */
void probe_code_classify(const struct probe_finder *f, uint64_t address, bool entry,
			 struct probe_site *s);
/* A part of a function's code: most have one, others also a part that GCC expects to be cold. */
struct probe_code_part {
	uint64_t address, size;
};

/*
 * Find the addresses at which a function with these parts is left. Return their number; -EBADMSG if
 * its code cannot be decoded; -E2BIG if they are more than most; -ENOMEM.
 */
int probe_code_returns(const struct probe_finder *f, const struct probe_code_part *parts,
		       unsigned int count, uint64_t *out, unsigned int most);

#endif
