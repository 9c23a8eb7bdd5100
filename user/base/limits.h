/* SPDX-License-Identifier: Apache-2.0 */
/* Explain errors that come from a resource limit of this process. */
#ifndef SKEIN_BASE_LIMITS_H
#define SKEIN_BASE_LIMITS_H

#include <stdint.h>

#include "base/error.h"

/*
 * If code (a negative errno) results from a resource limit, add a hint to *err that names the
 * limit, its value and how to raise it: RLIMIT_NOFILE for -EMFILE, RLIMIT_FSIZE for -EFBIG, the
 * system's own table of open files for -ENFILE. Add nothing for other codes.
 */
void limits_explain(struct error *err, int code);

/*
 * Return the first file descriptor that is reserved for files that the recorder itself opens later.
 * The kernel assigns the lowest free descriptor, so files of profiled programs must not take this
 * one or a higher one. UINT64_MAX without a limit.
 */
uint64_t limits_first_spare(void);

#endif
