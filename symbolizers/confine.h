/* SPDX-License-Identifier: Apache-2.0 */
/* Confine a process to reading the files that it is given and to replying on its socket. */
#ifndef SKEIN_SYMBOLIZERS_CONFINE_H
#define SKEIN_SYMBOLIZERS_CONFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Bytes of address space that a worker which reads symbols may add to what it inherited. */
#define CONFINED_MEMORY (1ull << 30)

/* The limits of a worker. */
struct confine_limits {
	const char *name; /* name of the process */
	unsigned int files; /* maximum number of descriptors */
	uint64_t memory; /* bytes of address space on top of what the process inherited */
	/*
	 * Let readlink() fail with ENOENT instead of killing the process: libdw calls it to find
	 * the name of the file that it reads.
	 */
	bool refuse_links;
};

/*
 * Confine the calling process, which must have one thread and be freshly forked by parent. It keeps
 * only the descriptor socket, which becomes number 0; it gets a user of its own (base/own_user.h),
 * no capabilities, no shared memory, and tight limits. A filter kills it at any system call that is
 * not needed. It is killed when its parent ends. Return 0 or a negative errno; a process that could
 * not be confined must exit.
 */
int confine_within(int socket, int parent, const struct confine_limits *c);

/*
 * confine_allow() allows system calls in a filter of libseccomp, with any arguments.
 * confine_allow_sanitizer() allows the calls that AddressSanitizer makes while it runs and to write
 * its report, or none in a build without AddressSanitizer. Return 0 or a negative errno.
 */
int confine_allow(void *filter, const int *calls, size_t count);
int confine_allow_sanitizer(void *filter);

/*
 * Unmap memory shared with other processes: a fork inherits the recorder's ring buffers, which
 * carry other processes' samples. Return 0, or -ENOENT if the list of mappings could not be read.
 */
int confine_drop_shared_memory(void);

#endif
