/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits of this process that stand in the way, in words that name them. */
#ifndef SKEIN_BASE_LIMITS_H
#define SKEIN_BASE_LIMITS_H

#include "base/error.h"

/*
 * If the error of that code (a negative errno) comes of a resource limit, add a line that names the
 * limit and its value, and what raises it: -EMFILE is RLIMIT_NOFILE, -EFBIG is RLIMIT_FSIZE,
 * -ENFILE the system's own table of open files. Adds nothing for other codes.
 */
void limits_explain(struct error *err, int code);

#endif
