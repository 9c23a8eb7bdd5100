/* SPDX-License-Identifier: Apache-2.0 */
/* The call frame information of a file: where it is, and every function in it. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_CFI_H
#define SKEIN_SYMBOLIZERS_UNWIND_CFI_H

#include "symbolizers/unwind_rows.h"
#include "symbolizers/unwind_source.h"

struct unwind_cfi_section {
	uint64_t address, offset, size;
	bool eh;	 /* .eh_frame, or .debug_frame */
	bool open_ended; /* found by its beginning only: it ends where it says so */
};

/*
 * Find .eh_frame by its section header, else by the header that the dynamic linker knows
 * (PT_GNU_EH_FRAME); or .debug_frame. 0, -ENOENT, or -E2BIG.
 */
int unwind_cfi_find(const struct unwind_source *s, bool eh, struct unwind_cfi_section *ret);

/*
 * Add every function that the file describes to rows: from .eh_frame, and where that describes
 * next to nothing, and rows have none of Go's, from .debug_frame. What makes no sense counts as
 * refused. 0, also if there is neither; -ENOMEM, -E2BIG, or what reading says.
 */
int unwind_cfi_read(struct unwind_rows *rows, const struct unwind_source *s);

/*
 * The same function by function, reading no more of .eh_frame than they take. 0; -ENOENT: there is
 * none; -ENOMEM, -E2BIG.
 */
struct unwind_cfi;
int unwind_cfi_open(struct unwind_cfi **ret, struct unwind_rows *rows,
		    const struct unwind_source *s);
void unwind_cfi_close(struct unwind_cfi *c);
const struct unwind_cfi_section *unwind_cfi_section(const struct unwind_cfi *c);

/*
 * Add the function at address, whose entry lies at entry_address. What makes no sense counts as
 * refused. 0; -EBADMSG: there is no entry, or one that describes another function; or what reading
 * says.
 */
int unwind_cfi_add(struct unwind_cfi *c, uint64_t address, uint64_t entry_address);

#endif
