/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read Go's table of functions (.gopclntab), which the linker puts into every Go program and which
 * stripping keeps: addresses, names, and stack pointer deltas. Go 1.16 and later are supported, on
 * 64-bit little-endian machines. All offsets in this file count bytes from the start of the table,
 * where nothing else is stated.
 *
 * Layout: src/runtime/symtab.go and src/cmd/link/internal/ld/pcln.go of Go.
 */
#ifndef SKEIN_SYMBOLIZERS_GO_TABLE_H
#define SKEIN_SYMBOLIZERS_GO_TABLE_H

#include "symbolizers/elf_image.h"

struct go_table {
	const struct elf_image *image;
	char *bytes; /* owned: the table, and data after it if it has no section of its own */
	uint64_t size; /* number of bytes */
	uint64_t address; /* address of the table */
	uint64_t text; /* the address to which addresses in the table are relative */
	uint64_t functions; /* number of functions */
	uint64_t index; /* offset of the list: each function's address and offset of description */
	uint64_t names, names_end; /* offsets of the names and of their end */
	uint64_t deltas; /* offset of the tables that map code addresses to values */
	unsigned int address_size; /* bytes of an address or offset in the index */
	unsigned int quantum; /* addresses of code are multiples of this many bytes */
	bool has_lines; /* since 1.20: descriptions have the line of the function */
	uint64_t end; /* address where the last function read ends; must not decrease */
};

enum go_flag {
	GO_TOP_FRAME = 1, /* the function has no caller */
	GO_SP_WRITE = 2, /* the stack pointer is set to a value that the table cannot express */
};

struct go_function {
	uint64_t start, end; /* addresses */
	uint64_t name; /* offset from go_table.names */
	uint64_t deltas; /* offset of the function's first step; 0: none */
	unsigned int flags; /* enum go_flag, and flags that are not listed there */
};

/*
 * Read the table of an image, which must outlive t. Return 0; -ENOENT: no table found, because the
 * file is no Go program or is for a 32-bit or big-endian machine; -EBADMSG: a table that is invalid
 * or of an unknown kind; -ENOMEM or another negative errno. Call go_table_close() also after
 * failure.
 */
int go_table_open(struct go_table *t, const struct elf_image *image);
void go_table_close(struct go_table *t);

/*
 * Read function number i, less than t->functions; call this in ascending order. Return 0; -ENOENT:
 * the function is empty; -EBADMSG: its description is invalid, or it begins before the end of the
 * functions read so far.
 */
int go_table_function(struct go_table *t, uint64_t i, struct go_function *out);

/* Return the NUL-terminated name of a function; t owns the text. */
const char *go_table_name(const struct go_table *t, const struct go_function *f);

/* The state of stepping through a function's stack pointer deltas. */
struct go_steps {
	const struct go_table *table;
	uint64_t at; /* offset of the next step */
	uint64_t address, end; /* addresses: of the next step, of the end of the function */
	int32_t value; /* of the last step */
	bool begun; /* a step has been read */
};

struct go_steps go_steps_begin(const struct go_table *t, const struct go_function *f);

/*
 * Read the next step: from the address *start to s->address, the stack pointer is *value bytes
 * lower than at the function's first instruction. Return 1; 0: there are no more steps; -EBADMSG:
 * the table is invalid. Every step covers at least one byte of code, which bounds the number of
 * steps.
 */
int go_steps_next(struct go_steps *s, uint64_t *start, int32_t *value);

/*
 * go_find.c: find the table (sets bytes, size and address), and the start of the text (sets text),
 * which since Go 1.26 is only in moduledata. Errors as for go_table_open().
 */
int go_table_find(struct go_table *t);
int go_table_find_text(struct go_table *t);

#endif
