/* SPDX-License-Identifier: Apache-2.0 */
/* Giving up every right but to read the files that are handed over and to answer. */
#ifndef SKEIN_SYMBOLIZERS_CONFINE_H
#define SKEIN_SYMBOLIZERS_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Memory that the worker may take on top of what it inherited. */
#define CONFINED_MEMORY (1ull << 30)

/* What a worker may have. */
struct confines {
	const char *name; /* what the process is called */
	unsigned int files; /* descriptors that it may hold */
	uint64_t memory; /* bytes on top of what it inherited */
	/* Reading a symbolic link fails, and does not kill: libdw asks for its file's name. */
	bool refuse_links;
};

/*
 * Confine the calling process, which has one thread and was just forked by
 * parent: it keeps only the descriptor socket, which becomes number 0; it has a
 * user of its own (base/own_user.h), no capabilities, no shared memory, tight limits, and a
 * system call filter that kills it. It dies with its parent. 0 or a negative errno;
 * a process that could not be confined must exit.
 */
int confine_within(int socket, int parent, const struct confines *c);
/* The same with what the worker of names may have, and so many descriptors. */
int confine(int socket, int parent, unsigned int files);

/*
 * Allow calls in a filter of libseccomp, whatever their arguments are; and those that
 * AddressSanitizer makes while it runs and to write its report, if this is built with it.
 */
int confine_allow(void *filter, const int *calls, size_t count);
int confine_allow_sanitizer(void *filter);

/*
 * Unmap what is shared with other processes: a fork inherits the rings of the recorder, which other
 * processes' samples go through. 0 or a negative errno.
 */
int confine_drop_shared_memory(void);

#endif
