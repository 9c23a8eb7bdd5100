/* SPDX-License-Identifier: Apache-2.0 */
/* Find the call frame information of a file and add its functions to the rows of a table. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_CFI_H
#define SKEIN_SYMBOLIZERS_UNWIND_CFI_H

#include "symbolizers/unwind/rows.h"
#include "symbolizers/unwind/source.h"

struct unwind_cfi_section {
	uint64_t address, offset, size;
	bool eh; /* true: .eh_frame; false: .debug_frame */
	bool open_ended; /* only the start is known; a terminator entry marks the end */
};

/*
 * Find .eh_frame (eh) by its section header, else by the program header PT_GNU_EH_FRAME; or find
 * .debug_frame (not eh) by its section header. Return 0; -ENOENT: there is none, or its section is
 * empty or compressed; -E2BIG: it is too large.
 */
int unwind_cfi_find(const struct unwind_source *s, bool eh, struct unwind_cfi_section *out);

/*
 * Add the functions of .eh_frame to rows. If these are fewer than 8 (start-up code and the PLT),
 * and rows has no functions of Go, also add the functions of .debug_frame. Invalid descriptions are
 * counted in rows->refused. Return 0, also if the file has neither section; -ENOMEM, -E2BIG, or an
 * error of unwind_source_read().
 */
int unwind_cfi_read(struct unwind_rows *rows, const struct unwind_source *s);

/*
 * An alternative to unwind_cfi_read() that adds single functions: it reads only the blocks of
 * .eh_frame that the added functions need. unwind_cfi_open() returns 0; -ENOENT: there is no
 * .eh_frame; -ENOMEM, -E2BIG.
 */
struct unwind_cfi;
int unwind_cfi_open(struct unwind_cfi **out, struct unwind_rows *rows,
		    const struct unwind_source *s);
void unwind_cfi_close(struct unwind_cfi *c);
const struct unwind_cfi_section *unwind_cfi_section(const struct unwind_cfi *c);

/*
 * Add the function at address, whose entry lies at address entry_address. An invalid description
 * counts as refused. Return 0; -EBADMSG: there is no entry, or one that describes another function;
 * -ENOMEM, -E2BIG, or an error of unwind_source_read().
 */
int unwind_cfi_add(struct unwind_cfi *c, uint64_t address, uint64_t entry_address);

#endif
