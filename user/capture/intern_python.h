/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the process memories with the names of Python frames, and prefetches these names. */
#ifndef SKEIN_CAPTURE_INTERN_PYTHON_H
#define SKEIN_CAPTURE_INTERN_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cache.h"
#include "capture/memories.h"
#include "capture/process.h"

/* Maximum number of prefetched names that wait until the memory of their process is open. */
#define PREFETCHED_MAX 4096

/*
 * A request for the name of a Python frame: object.id of the process memory, address of the code
 * object, PYTHON_PLACE().
 */
struct python_name {
	uint64_t object, address, place;
};

struct intern_python {
	struct objects *objects;
	struct symbolizer *symbolizer;
	/* object.id, address and id of a code object -> nothing: the name has been prefetched */
	struct cache *prefetched;
	struct memories memories; /* memories of processes whose records are not in order yet */
	struct python_name early[PREFETCHED_MAX]; /* prefetches that wait for a memory */
	unsigned int early_count;
	bool urgent; /* a name was requested since intern_take_urgent(): its process may exit */
};

/*
 * Return the memory object of a process that runs Python in that space, a new one if the process
 * has none; NULL: the space has no Python interpreter, or there is no memory for the object.
 */
struct object *intern_python_of(struct intern_python *n, struct process_entry *p,
				const struct space *space);
/* Request the name of a frame. Returns 0 or a negative errno. */
int intern_python_request(struct intern_python *n, const struct python_name *name);
/* See intern_prefetch() and intern_prefetch_memory(). */
int intern_python_prefetch(struct intern_python *n, uint32_t pid, struct process_entry *p,
			   const uint64_t *python, unsigned int words);
int intern_python_prefetch_memory(struct intern_python *n, const struct mapped_place *at,
				  const struct python_file *f, uint64_t code_type);
/*
 * Send the prefetches that wait for an object if it is now open, or drop them if it cannot be
 * opened. Does nothing unless the object is a process memory.
 */
void intern_python_updated(struct intern_python *n, const struct object *o);

#endif
