/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the stacks of threads whose waits have not ended, by a BPF iterator over all threads
 * (bpf/open_waits.bpf.c). The iterator reads memory of the threads' processes, which may hang in a
 * file system. So a child process runs it, which can be killed.
 */
#ifndef SKEIN_CAPTURE_OPEN_WAITS_H
#define SKEIN_CAPTURE_OPEN_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/event.h"
#include "capture/program.h"

struct open_waits;

/* Which parts of stacks are read. */
struct open_waits_parts {
	bool kernel, user;
	bool hurry; /* as if there was no time to read more than the innermost frames (for tests) */
	bool no_java; /* as if the kernel refused open_waits_load_java() (for tests) */
};

/*
 * Load the iterator, which shares the selection, tables and mappings of program. Return 0 or a
 * negative errno.
 */
int open_waits_load(struct open_waits **out, const struct program *program,
		    const struct open_waits_parts *parts, struct error *err);
/*
 * Load the iterator again, with frames of JVMs; it then takes the other's place. A
 * program_java_loader, which may run on another thread.
 */
int open_waits_load_java(void *open_waits);
/* Stop reading, and free everything. Accepts NULL. */
void open_waits_free(struct open_waits *o);

/*
 * Begin to read the stacks of all selected threads that wait. now: ns. Return 0 or a negative
 * errno: -EBUSY if too many children of earlier calls hang.
 */
int open_waits_begin(struct open_waits *o, uint64_t now);
/*
 * Wait for records, for at most some ms, and call each for those that have come. now: ns. Return 1
 * if there may be more, 0 at the end of all, a negative errno if some could not be read
 * (-ETIMEDOUT: in time), or the first non-zero result of each. Nothing is left to be read after any
 * return value but 1.
 */
typedef int (*open_waits_each)(void *context, const struct wire_sample *s, uint32_t size);
int open_waits_read(struct open_waits *o, uint64_t now, open_waits_each each, void *context);

#endif
