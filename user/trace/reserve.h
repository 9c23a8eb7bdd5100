/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room on the disk that a recording takes at its begin and gives back at its end, so that a disk
 * that is full by then still takes the rows that say so.
 */
#ifndef SKEIN_TRACE_RESERVE_H
#define SKEIN_TRACE_RESERVE_H

#include <stdint.h>

#include "base/error.h"

struct reserve {
	int fd; /* of a file without a name, whose blocks are allocated */
	uint64_t bytes; /* 0: there is none */
};

/*
 * Room for the rows at the end of a recording of all CPUs of this machine, on the file system of
 * the trace of that path. 0, or a negative errno such as -ENOSPC.
 */
int reserve_take(struct reserve *r, const char *path, struct error *err);
/* Give it back. Accepts zeroed memory, and may be repeated. */
void reserve_release(struct reserve *r);

#endif
