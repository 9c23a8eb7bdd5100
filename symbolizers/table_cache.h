/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables on disk, so that a file is read only when it is new: one file
 * per table in a directory that nobody else can write to, named after what the
 * table was made of (struct unwind_key) and checked as a whole when it is read.
 * What is damaged is removed and counts as absent. Many recorders may use one
 * directory at the same time.
 *
 * Keys and tables both come from the worker. One that a hostile file has taken
 * over could put a wrong table under the key of any file. What is read here is
 * a valid table all the same (unwind_table_check()): stacks through that file
 * would be wrong until the table is removed, and nothing worse.
 */
#ifndef SKEIN_SYMBOLIZERS_TABLE_CACHE_H
#define SKEIN_SYMBOLIZERS_TABLE_CACHE_H

#include <stdint.h>

#include "symbolizers/unwind_table.h"

/* Bytes on disk. */
#define TABLE_CACHE_BUDGET (256ull << 20)

struct table_cache;

/*
 * Use a directory, made (0700) if its parent is there. budget: bytes on disk. -EPERM: it is not
 * ours, or others may write to it; -ENOTDIR: also a symbolic link; or another negative errno.
 */
int table_cache_open(struct table_cache **ret, const char *directory, uint64_t budget);
void table_cache_close(struct table_cache *c);

/*
 * The table under a key: 0, and *ret lies in *ret_bytes, for the caller to free; else -ENOENT or
 * what kept it from being read.
 */
int table_cache_get(struct table_cache *c, const struct unwind_key *key, void **ret_bytes,
		    struct unwind_table *ret);

/*
 * Keep a table: what cannot be written is not kept. Removes those least recently used when an
 * eighth of the budget has been written, and at the first time.
 */
void table_cache_put(struct table_cache *c, const struct unwind_key *key,
		     const struct unwind_table *t);

#endif
