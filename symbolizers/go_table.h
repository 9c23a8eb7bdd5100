/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read Go's table of functions (.gopclntab), which the linker puts into every Go program and which
 * stripping keeps: addresses, names, and stack pointer deltas. Go 1.16 and later are supported, on
 * 64-bit machines.
 *
 * Layout: src/runtime/symtab.go and src/cmd/link/internal/ld/pcln.go of Go.
 */
#ifndef SKEIN_SYMBOLIZERS_GO_TABLE_H
#define SKEIN_SYMBOLIZERS_GO_TABLE_H

#include "symbolizers/elf_image.h"

struct go_table {
	const struct elf_image *image;
	char *bytes; /* owned: the table, with the data after it if no section bounds it */
	uint64_t size;
	uint64_t address; /* address of the table */
	uint64_t text; /* the address to which addresses in the table are relative */
	uint64_t functions; /* number of functions */
	uint64_t index; /* offset of the list of addresses and descriptions */
	uint64_t names, names_end;
	uint64_t deltas; /* offset of the tables of values by pc */
	unsigned int address_size; /* bytes of an address in the index */
	unsigned int quantum; /* addresses of code are multiples of this many bytes */
	bool has_lines; /* since 1.20: descriptions have the line of the function */
	uint64_t end; /* end of the functions read so far; must not decrease */
};

enum go_flag {
	GO_TOP_FRAME = 1,
	GO_SP_WRITE = 2, /* the stack pointer is set to a value that the table cannot express */
};

struct go_function {
	uint64_t start, end; /* addresses */
	uint64_t name; /* offset in names */
	uint64_t deltas; /* offset of the function's first step in the table; 0: none */
	unsigned int flags; /* enum go_flag */
};

/*
 * Read the table of an image, which must outlive t. Return 0; -ENOENT: no Go program; -EBADMSG: a
 * Go program whose table is invalid or of an unknown kind; -ENOMEM or another negative errno. Call
 * go_table_close() also after failure.
 */
int go_table_open(struct go_table *t, const struct elf_image *image);
void go_table_close(struct go_table *t);

/*
 * Read function number i, less than t->functions; call this in ascending order. Return 0; -ENOENT:
 * the function is empty; -EBADMSG: its description is invalid, or it begins before the end of the
 * functions read so far.
 */
int go_table_function(struct go_table *t, uint64_t i, struct go_function *out);

/* Return the name of a function, which is a text in the table, with a NUL. */
const char *go_table_name(const struct go_table *t, const struct go_function *f);

/* The state of stepping through a function's stack pointer deltas. */
struct go_steps {
	const struct go_table *table;
	uint64_t at; /* offset in the table */
	uint64_t address, end;
	int32_t value;
	bool begun;
};

struct go_steps go_steps_begin(const struct go_table *t, const struct go_function *f);

/*
 * Read the next step: from *start on, the stack pointer is *value bytes lower than at the
 * function's call. Return 1; 0: there are no more steps; -EBADMSG: the table is invalid. Every step
 * covers at least one byte of code, which bounds the number of steps.
 */
int go_steps_next(struct go_steps *s, uint64_t *start, int32_t *value);

/*
 * go_find.c: find the table (sets bytes, size and address), and the start of the text (sets text),
 * which Go 1.26 has only in moduledata. Errors as for go_table_open().
 */
int go_table_find(struct go_table *t);
int go_table_find_text(struct go_table *t);

#endif
