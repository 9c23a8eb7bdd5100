/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of CPU numbers, as lists such as "0,2-3" tell them. */
#ifndef SKEIN_CAPTURE_CPUS_H
#define SKEIN_CAPTURE_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cpu_set {
	bool *in; /* by CPU number */
	unsigned int count; /* of the array */
};

/* Parse a list. -EINVAL with a line in *err. Free with cpu_set_free(). */
int cpu_set_parse(struct cpu_set *ret, const char *list, struct error *err);
/* The CPUs online now. */
int cpu_set_online(struct cpu_set *ret, struct error *err);
bool cpu_set_has(const struct cpu_set *s, unsigned int cpu);
void cpu_set_free(struct cpu_set *s);

#endif
