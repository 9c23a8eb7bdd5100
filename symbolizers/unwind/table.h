/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind table of one ELF file (layout: bpf/unwind/rule.h). The table is made from .eh_frame,
 * from .debug_frame if .eh_frame has only a few functions, and from Go's table of functions. The
 * PLT, start-up code, functions in which threads begin and signal frames get rules of their own.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_TABLE_H
#define SKEIN_SYMBOLIZERS_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind/rule.h"
#include "symbolizers/stamp.h"

/* Largest table in bytes; the table of 500 MB of code takes about half of this. */
#define UNWIND_TABLE_MAX (256u << 20)

/* The parts of a table, all in one block of memory. */
struct unwind_table {
	const struct unwind_header *header;
	const struct unwind_rule *rules;
	const struct unwind_page *pages;
	const uint32_t *rows;
	size_t size; /* bytes of the whole table */
};

/*
 * The key of a table in the cache on disk, computed without making the table. The hash covers the
 * bytes of every section and header that the table depends on.
 */
struct unwind_key {
	char build_id[2 * 64 + 1]; /* lowercase hex, "" none; anybody can forge it */
	uint64_t size; /* bytes of the file */
	uint64_t hash[2]; /* XXH3, 128 bits */
};

/*
 * Compute the key of a file. Return 0; -ENOENT: the file has nothing to make a table from;
 * -EBADMSG: no ELF file, or an invalid one; -E2BIG: the file is too large; -ESTALE: the file
 * changed; -ENOMEM or another negative errno.
 */
int unwind_key_read(struct unwind_key *out, const struct stamped_file *file);

/*
 * Make the table of a file. *out is malloc()ed memory of *out_size bytes that the caller frees; the
 * table satisfies unwind_table_check(). Errors as for unwind_key_read(). Descriptions that make no
 * sense are left out or become UNWIND_BAD, and are counted (header.refused).
 *
 * *out_key (out_key may be NULL) is the key computed from the very bytes that the table was made
 * from, under which the table may be cached. (The owner of the file could change it between two
 * readings.) If the bytes that were read were too many to keep, the key has size 0 and the table
 * must not be cached.
 */
int unwind_table_make(void **out, size_t *out_size, struct unwind_key *out_key,
		      const struct stamped_file *file);

/* The requested pages, by number: file offset >> UNWIND_PAGE_SHIFT. */
struct unwind_page_list {
	const uint64_t *pages;
	size_t count;
};

/*
 * Make only the requested pages, in a hundredth of the time of a whole table; the result satisfies
 * unwind_pages_check(). Errors as for unwind_table_make(); -ENOENT also if the file has no usual
 * .eh_frame_hdr, is a Go program, or has no code in these pages; -EBADMSG also if .eh_frame_hdr is
 * wrong or unsorted. After either of these the caller has to wait for the whole table.
 */
int unwind_pages_make(void **out, size_t *out_size, const struct stamped_file *file,
		      const struct unwind_page_list *q);

/*
 * Check that bytes from the worker or the disk are a table: sizes, order of rows, numbers of rules
 * and registers. Nothing else in the table needs checking later. Return 0 or -EBADMSG.
 */
int unwind_table_check(struct unwind_table *out, const void *bytes, size_t size);
/*
 * Like unwind_table_check(), for the result of unwind_pages_make(): pages whose count is
 * UNWIND_PAGE_UNMADE have no rows to check.
 */
int unwind_pages_check(struct unwind_table *out, const void *bytes, size_t size);

#endif
