/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the kernel, its modules and BPF programs, from /proc/kallsyms and from symbols
 * that appear later.
 */
#ifndef SKEIN_SYMBOLIZERS_KERNEL_H
#define SKEIN_SYMBOLIZERS_KERNEL_H

#include "symbolizers/client.h"
#include "symbolizers/heartbeat.h"
#include "symbolizers/symtab.h"

struct kernel {
	struct symtab symbols;
	/* symbols added by kernel_add(), which stay when kallsyms is read again */
	struct symtab added;
	uint32_t next_rank; /* of the next added symbol: later symbols rank higher */
	bool dirty; /* added has ranges that are not in its table for lookups yet */
};

/*
 * Read kallsyms: lines "ADDRESS TYPE NAME [MODULE]". Names become "NAME" or "NAME [MODULE]". Return
 * 0; -EACCES: the kernel hides addresses (there are symbols, but none above 4 GiB); -EBADMSG: no
 * symbols; or another negative errno. On failure the previous symbols stay. *facts, which the
 * caller has zeroed, is filled as far as the file was read. b may be NULL.
 */
int kernel_read(struct kernel *k, int fd, struct object_facts *facts, struct heartbeat *b);
void kernel_free(struct kernel *k);

/*
 * Add a symbol of size bytes, which hides older symbols at its addresses; a size of 0 has no
 * effect. Return 0; -E2BIG: there are 65,536 added symbols, or the range is invalid; or -ENOMEM.
 */
int kernel_add(struct kernel *k, uint64_t address, uint64_t size, const char *name, size_t length);

/*
 * Find the function at an address; false if there is none. k owns the name, which is valid until
 * the next kernel_read() or kernel_add().
 */
bool kernel_find(struct kernel *k, uint64_t address, struct found_symbol *out);
/* Return the bytes of memory in use. */
size_t kernel_bytes(const struct kernel *k);

#endif
