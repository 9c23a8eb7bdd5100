/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserve disk space at the start of a recording and release it at the end. So even a disk that has
 * become full has room for the rows which say that the recording ran out of space.
 */
#ifndef SKEIN_TRACE_RESERVE_H
#define SKEIN_TRACE_RESERVE_H

#include <stdint.h>

#include "base/error.h"

struct reserve {
	int fd; /* an unnamed file with allocated blocks, if bytes is not 0 */
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
