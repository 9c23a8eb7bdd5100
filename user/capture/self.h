/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the kernel knows about the recorder in a container: bpf/self.bpf.c, run once in the
 * context of the caller.
 */
#ifndef SKEIN_CAPTURE_SELF_H
#define SKEIN_CAPTURE_SELF_H

#include <stdint.h>

#include "base/error.h"
#include "bpf/event.h"

/* Get the depth of the caller's pid namespace below the initial one. Return 0 or an errno. */
int self_find_pid_level(uint32_t *out, struct error *err);

struct self_cgroups {
	struct wire_cgroup levels[WIRE_CGROUP_LEVELS]; /* by level, the root first */
	uint32_t count;
};

/*
 * Get the caller's control group and all above it. subsystem: the kernel's name of a v1 controller;
 * NULL: v2. Return 0 or a negative errno.
 */
int self_find_cgroups(struct self_cgroups *out, const char *subsystem, struct error *err);

#endif
