/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memories of processes with an interpreter, opened before the records of their
 * life are in order: the code of an interpreter's first milliseconds is freed
 * as soon as it has run, and so are the names that it had.
 */
#ifndef SKEIN_CAPTURE_MEMORIES_H
#define SKEIN_CAPTURE_MEMORIES_H

#include <stdint.h>

#include "base/hash.h"
#include "capture/objects.h"

struct early_memory {
	uint32_t pid;
	struct object *memory; /* in use */
	uint64_t since; /* ns */
	UT_hash_handle hh; /* the list is in order of time */
};

/* Zeroed: none. */
struct memories {
	struct early_memory *early;
};

/*
 * A process has mapped an interpreter, at that time (ns): have its memory opened. What was foreseen
 * of the pid before is forgotten. 0 or -ENOMEM.
 */
int memories_foresee(struct memories *m, struct objects *o, uint32_t pid,
		     const struct python_file *f, uint64_t code_type, uint64_t time);
/* The memory foreseen of a pid; NULL: none. */
struct object *memories_find(const struct memories *m, uint32_t pid);
/*
 * The same for good, for a process whose PyCode_Type is there: in use by the caller from now on.
 * NULL: none, or it is another program's.
 */
struct object *memories_take(struct memories *m, uint32_t pid, uint64_t code_type);
/* Forget what nobody took for some seconds. */
void memories_tick(struct memories *m, uint64_t now);
void memories_free(struct memories *m);

#endif
