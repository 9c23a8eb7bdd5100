/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .eh_frame_hdr: a table of all functions that .eh_frame describes, in order of address, by which
 * a program finds the description of one function when it throws an exception. The linker makes
 * it. LSB core specification, section 10.6.2.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_INDEX_H
#define SKEIN_SYMBOLIZERS_UNWIND_INDEX_H

#include "symbolizers/unwind_cfi.h"

struct unwind_index {
	const struct unwind_source *source;
	uint64_t address; /* of .eh_frame_hdr: what it says of addresses counts from there */
	uint64_t offset;  /* of its table, in the file */
	uint64_t count;	  /* of entries */
};

/*
 * The table that belongs to that .eh_frame. -ENOENT: there is none, or one of another form than
 * linkers write.
 */
int unwind_index_open(struct unwind_index *ret, const struct unwind_source *s,
		      const struct unwind_cfi_section *frames);

/* Where a function begins and where its description lies: addresses. */
struct unwind_index_entry {
	uint64_t function, description;
};

/* Entry number i, less than count. 0 or what reading says. */
int unwind_index_get(const struct unwind_index *x, uint64_t i, struct unwind_index_entry *ret);

/* How many functions begin before an address. */
int unwind_index_before(const struct unwind_index *x, uint64_t address, uint64_t *ret);

#endif
