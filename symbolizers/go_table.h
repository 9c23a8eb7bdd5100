/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's table of functions (.gopclntab), which the linker puts into every Go
 * program and which stripping leaves: addresses, names, and by how much the
 * stack pointer has moved. Of Go 1.16 and later, on 64-bit machines.
 *
 * Layout: src/runtime/symtab.go and src/cmd/link/internal/ld/pcln.go of Go.
 */
#ifndef SKEIN_SYMBOLIZERS_GO_TABLE_H
#define SKEIN_SYMBOLIZERS_GO_TABLE_H

#include "symbolizers/elf_image.h"

struct go_table {
	const struct elf_image *image;
	char *bytes; /* owned: the table, or what may be of it where no section bounds it */
	uint64_t size;
	uint64_t address;   /* of the table */
	uint64_t text;	    /* what the addresses in it are relative to */
	uint64_t functions; /* how many */
	uint64_t index;	    /* where their addresses and descriptions are listed */
	uint64_t names, names_end;
	uint64_t deltas;	   /* where the tables of values by pc are */
	unsigned int address_size; /* bytes of an address in the index */
	unsigned int quantum;	   /* bytes that addresses of code are multiples of */
	bool has_lines;		   /* descriptions have the line of the function: since 1.20 */
	uint64_t end;		   /* of the functions seen so far: they must not go back */
};

enum go_flag {
	GO_TOP_FRAME = 1,
	GO_SP_WRITE = 2, /* the stack pointer is set to what the table cannot say */
};

struct go_function {
	uint64_t start, end; /* addresses */
	uint64_t name;	     /* offset in names */
	uint64_t deltas;     /* offset of its first step; 0: none */
	unsigned int flags;  /* enum go_flag */
};

/*
 * Read the table of an image, which must outlive t. 0; -ENOENT: it is no Go program; -EBADMSG: it
 * is, and its table makes no sense or is of a kind that is not known; -ENOMEM or another negative
 * errno. Close also after failure.
 */
int go_table_open(struct go_table *t, const struct elf_image *image);
void go_table_close(struct go_table *t);

/*
 * Function number i, below t->functions, in ascending order. 0; -ENOENT: it is empty; -EBADMSG: it
 * makes no sense, or does not lie behind those before it.
 */
int go_table_function(struct go_table *t, uint64_t i, struct go_function *ret);

/* The name of a function: in the table, NUL-terminated. */
const char *go_table_name(const struct go_table *t, const struct go_function *f);

/* Stepping through a function's stack pointer deltas. */
struct go_steps {
	const struct go_table *table;
	uint64_t at; /* in the table */
	uint64_t address, end;
	int32_t value;
	bool begun;
};

struct go_steps go_steps_begin(const struct go_table *t, const struct go_function *f);

/*
 * From *start on, the stack pointer is *value bytes below where it was when the function was
 * called. 1; 0: no more; -EBADMSG: the table makes no sense. Every step is at least one byte of
 * code, so that there are no more of them than that.
 */
int go_steps_next(struct go_steps *s, uint64_t *start, int32_t *value);

/*
 * go_find.c: fill bytes, size and address; and text, which programs of Go 1.26 have only in their
 * module's description. Errors as above.
 */
int go_find_table(struct go_table *t);
int go_find_text(struct go_table *t);

#endif
