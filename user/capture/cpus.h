/* SPDX-License-Identifier: Apache-2.0 */
/* Declares sets of CPU numbers, which are parsed from lists such as "0,2-3". */
#ifndef SKEIN_CAPTURE_CPUS_H
#define SKEIN_CAPTURE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cpu_set {
	bool *in; /* whether a CPU is in the set, by CPU number */
	unsigned int count; /* entries of in */
};

/*
 * Parse a list of CPUs. Returns 0, -EINVAL or -ENOMEM, with a message in *err. Free the set with
 * cpu_set_free().
 */
int cpu_set_parse(struct cpu_set *out, const char *list, struct error *err);
/*
 * Fill *out with the CPUs that are online now. Returns 0 or a negative errno. Free the set with
 * cpu_set_free().
 */
int cpu_set_online(struct cpu_set *out, struct error *err);
bool cpu_set_has(const struct cpu_set *s, unsigned int cpu);
void cpu_set_free(struct cpu_set *s);

#endif
