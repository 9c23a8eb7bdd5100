/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the kernel, its modules and BPF programs, from /proc/kallsyms. */
#ifndef SKEIN_SYMBOLIZERS_KERNEL_H
#define SKEIN_SYMBOLIZERS_KERNEL_H

#include "symbolizers/client.h"
#include "symbolizers/heartbeat.h"
#include "symbolizers/symtab.h"

struct kernel {
	struct symtab symbols;
	/* added by kernel_add(); they stay when kallsyms is read again */
	struct symtab added;
	uint32_t next_rank;
	bool dirty; /* added has ranges that are not built yet */
};

/*
 * Read kallsyms: lines "ADDRESS TYPE NAME [MODULE]". Names become "NAME" or "NAME [MODULE]".
 * Return 0; -EACCES: addresses are hidden (all zero); -EBADMSG: no symbols; or another negative
 * errno. On failure the previous symbols stay.
 */
int kernel_read(struct kernel *k, int fd, struct object_facts *facts, struct heartbeat *b);
void kernel_free(struct kernel *k);

/* Add a symbol that hides older ones at its addresses. Return 0 or a negative errno. */
int kernel_add(struct kernel *k, uint64_t address, uint64_t size, const char *name, size_t length);

/* Find the function at an address; false if there is none. Its name belongs to k. */
bool kernel_find(struct kernel *k, uint64_t address, struct found_symbol *out);
/* Return the bytes of memory in use. */
size_t kernel_bytes(const struct kernel *k);

#endif
