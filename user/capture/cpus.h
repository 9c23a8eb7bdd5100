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

#endif
