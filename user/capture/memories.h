/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the memory of processes with an interpreter before the records of these processes are in
 * order. An interpreter frees the code of its first milliseconds, and the names of that code, as
 * soon as the code has run.
 */
#ifndef SKEIN_CAPTURE_MEMORIES_H
#define SKEIN_CAPTURE_MEMORIES_H

#include <stdint.h>

#include "base/hash.h"
#include "capture/objects.h"

struct early_memory {
	uint32_t pid;
	struct object *memory; /* holds a reference (objects_use()) */
	uint64_t since; /* time at which the interpreter was mapped, ns */
	UT_hash_handle hh; /* in the order in which the entries were made */
};

/* The open process memories. A zeroed struct is empty. */
struct memories {
	struct early_memory *early;
};

/*
 * Have the memory of a process opened that mapped an interpreter at the time at->seen. Replaces an
 * earlier memory of the pid, unless its code_type is the same. f: facts of the interpreter's file;
 * code_type: address of PyCode_Type in the process. Returns 0 or -ENOMEM.
 */
int memories_prefetch(struct memories *m, struct objects *o, const struct mapped_place *at,
		      const struct python_file *f, uint64_t code_type);
/* Return the memory of a pid that memories_prefetch() has made; NULL: there is none. */
struct object *memories_find(const struct memories *m, uint32_t pid);
/*
 * Remove the memory of a process whose PyCode_Type is at code_type, and return it; the caller then
 * owns a reference (objects_use()). NULL: there is none, or it belongs to another program of that
 * pid.
 */
struct object *memories_take(struct memories *m, uint32_t pid, uint64_t code_type);
/* Drop the memories that memories_take() has not taken within 3 s of their mapping. now: ns. */
void memories_tick(struct memories *m, uint64_t now);
void memories_free(struct memories *m);

#endif
