/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind table of one ELF file (bpf/unwind/rule.h): made from .eh_frame,
 * else .debug_frame, or Go's line table; the functions in which threads begin
 * get rules of their own.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_TABLE_H
#define SKEIN_SYMBOLIZERS_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind/rule.h"
#include "symbolizers/beat.h"
#include "symbolizers/stamp.h"

/* Largest table in bytes: that of 500 MB of code has about half of it. */
#define UNWIND_TABLE_MAX (256u << 20)

/* The parts of a table in one piece of memory. */
struct unwind_table {
	const struct unwind_header *header;
	const struct unwind_rule *rules;
	const struct unwind_page *pages;
	const uint32_t *rows;
	size_t size; /* bytes of the whole */
};

/*
 * What a table is made of, without making it: what the cache on disk is keyed by.
 * The hash is of the bytes of every section and header that the table depends on.
 */
struct unwind_key {
	char build_id[2 * 64 + 1]; /* lowercase hex, "" none; anybody can forge it */
	uint64_t size;		   /* of the file, bytes */
	uint64_t hash[2];	   /* XXH3, 128 bits */
};

/*
 * The key of the file behind fd. stamp: of fd, when the file became known. 0; -ENOENT: there is
 * nothing to make a table of; -EBADMSG: no ELF file, hostile or too large; -ESTALE: it changed.
 */
int unwind_key_read(struct unwind_key *ret, int fd, const struct stamp *stamp, struct beat *b);

/*
 * Make the table of the file behind fd. *ret is one malloc()ed piece for the caller to free, of
 * *ret_size bytes, and holds what unwind_table_check() demands. Errors as above, and -ENOMEM,
 * -E2BIG. What makes no sense in the file is left out and counted (header.refused).
 */
int unwind_table_make(void **ret, size_t *ret_size, int fd, const struct stamp *stamp,
		      struct beat *b);

/*
 * The same, and the key of the very bytes that it was made of, which the owner of a file could
 * change between two readings: what a table may be kept under. A key of size 0: there was too much
 * to read for that.
 */
int unwind_table_make_keyed(void **ret, size_t *ret_size, struct unwind_key *ret_key, int fd,
			    const struct stamp *stamp, struct beat *b);

/* Numbers of pages: file offset >> UNWIND_PAGE_SHIFT. */
struct unwind_question {
	const uint64_t *pages;
	size_t count;
};

/*
 * Make some pages only, in a hundredth of the time: what unwind_pages_check() demands. -ENOENT also
 * if the file has no .eh_frame_hdr, -EBADMSG also if that lies, or is in no order: then the table as
 * a whole has to be waited for.
 */
int unwind_pages_make(void **ret, size_t *ret_size, int fd, const struct stamp *stamp,
		      const struct unwind_question *q, struct beat *b);

/*
 * Whether bytes that come from the worker or the disk are a table: sizes, order of rows, numbers
 * of rules and registers. Nothing else of them need be checked again. 0 or -EBADMSG.
 */
int unwind_table_check(struct unwind_table *ret, const void *bytes, size_t size);
/* The same of some pages; of the others, which have UNWIND_PAGE_UNMADE rows, nothing is used. */
int unwind_pages_check(struct unwind_table *ret, const void *bytes, size_t size);

/* The rule at a file offset; NULL where the table says nothing. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *t, uint64_t offset);

#endif
