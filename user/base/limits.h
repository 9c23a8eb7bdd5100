/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits of this process that stand in the way, in words that name them. */
#ifndef SKEIN_BASE_LIMITS_H
#define SKEIN_BASE_LIMITS_H

#include <stdint.h>

#include "base/error.h"

/*
 * If the error of that code (a negative errno) comes of a resource limit, add a line that names the
 * limit and its value, and what raises it: -EMFILE is RLIMIT_NOFILE, -EFBIG is RLIMIT_FSIZE,
 * -ENFILE the system's own table of open files. Adds nothing for other codes.
 */
void limits_explain(struct error *err, int code);

/*
 * Descriptors are given out from the lowest free one on: from this one on they are kept for what
 * the recorder itself opens later, and files of profiled programs get none.
 */
uint64_t limits_first_spare(void);

#endif
