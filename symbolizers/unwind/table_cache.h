/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of unwind tables on disk, so that a table is made only for a file that is new. Each table
 * is one file, in a directory that no other user can write to, with a name made from struct
 * unwind_key and a checksum over name and contents. Damaged files are removed. Several recorders
 * may use one directory at the same time.
 *
 * Keys and tables both come from the worker. A worker that a hostile file has taken over could put
 * a wrong table under the key of any file. A table read from the cache is still valid
 * (unwind_table_check()): stacks through that file would be wrong until the table is removed,
 * without further harm.
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_TABLE_CACHE_H
#define SKEIN_SYMBOLIZERS_UNWIND_TABLE_CACHE_H

#include <stdint.h>

#include "symbolizers/unwind/table.h"

/* Bytes on disk that the cache may take. */
#define TABLE_CACHE_BUDGET (256ull << 20)

struct table_cache;

/*
 * Use a directory; create it (0700) if only the directory itself is missing. budget: bytes on disk.
 * Return 0; -EPERM: the directory has another owner, or others may write to it; -ENOTDIR: also a
 * symbolic link; or another negative errno.
 */
int table_cache_open(struct table_cache **out, const char *directory, uint64_t budget);
void table_cache_close(struct table_cache *c);

/*
 * Get the table under a key. Return 0, with *out_bytes the memory of *out, which the caller frees;
 * -ENOENT: there is none; -EBADMSG: its file was damaged and has been removed; or another negative
 * errno.
 */
int table_cache_get(struct table_cache *c, const struct unwind_key *key, void **out_bytes,
		    struct unwind_table *out);

/*
 * Keep a table, unless the table takes more than half of the budget or its file cannot be written.
 * After the first table, and whenever more than an eighth of the budget has been written, the least
 * recently used tables are removed, down to seven eighths of the budget.
 */
void table_cache_put(struct table_cache *c, const struct unwind_key *key,
		     const struct unwind_table *t);

#endif
