/* SPDX-License-Identifier: Apache-2.0 */
/* The CPUs of this machine, in lists such as "0,2-3". */
#ifndef SKEIN_CAPTURE_CPUS_H
#define SKEIN_CAPTURE_CPUS_H

#include "base/number_list.h"

/*
 * Add the CPUs of a text such as "0,2-3" to *out. Return 0, -EINVAL or -ENOMEM. The caller frees
 * *out with vector_free().
 */
int cpus_parse(number_list *out, const char *text, struct error *err);
/* Add the CPUs that are online now to *out. Return 0 or a negative errno. */
int cpus_online(number_list *out, struct error *err);
/*
 * The same in two steps, for a caller that asks often: opening the file takes most of the time.
 * cpus_open_online() returns a descriptor, which the caller closes, or a negative errno.
 */
int cpus_open_online(struct error *err);
int cpus_read_online(number_list *out, int fd, struct error *err);

#endif
