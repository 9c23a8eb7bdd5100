/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .eh_frame_hdr is the linker's table of all functions that .eh_frame describes, in order of
 * address. A program that throws an exception finds the descriptions of functions by this table.
 * Source: LSB core specification, section 10.6.2.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_INDEX_H
#define SKEIN_SYMBOLIZERS_UNWIND_INDEX_H

#include "symbolizers/unwind/cfi.h"

struct unwind_index {
	const struct unwind_source *source;
	/* address of .eh_frame_hdr, to which the addresses in its table are relative */
	uint64_t address;
	uint64_t offset; /* file offset of the table after the header */
	uint64_t count; /* number of entries */
};

/*
 * Open the .eh_frame_hdr that belongs to the section frames. Return 0; -ENOENT: there is none, or
 * it has another form than linkers write.
 */
int unwind_index_open(struct unwind_index *out, const struct unwind_source *s,
		      const struct unwind_cfi_section *frames);

/* The addresses of a function and of its description. */
struct unwind_index_entry {
	uint64_t function, description;
};

/* Read entry i, which must be less than count. Return 0 or an error of unwind_source_read(). */
int unwind_index_get(const struct unwind_index *x, uint64_t i, struct unwind_index_entry *out);

/*
 * Count the functions that begin before an address. Return 0 or an error of unwind_source_read().
 */
int unwind_index_count_before(const struct unwind_index *x, uint64_t address, uint64_t *out);

#endif
