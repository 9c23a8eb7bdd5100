/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserve disk space at the start of a recording and release it at its end, so that even a disk
 * that is full by then can take the rows that report so.
 */
#ifndef SKEIN_TRACE_RESERVE_H
#define SKEIN_TRACE_RESERVE_H

#include <stdint.h>

#include "base/error.h"

struct reserve {
	int fd; /* an unnamed file with allocated blocks */
	uint64_t bytes; /* 0: no reserve */
};

/*
 * Reserve space for the last rows of a recording of all CPUs of this machine, on the file system of
 * the trace at path. Return 0, or a negative errno such as -ENOSPC.
 */
int reserve_take(struct reserve *r, const char *path, struct error *err);
/* Release the reserve. Accepts zeroed memory, and may be called again. */
void reserve_release(struct reserve *r);

#endif
