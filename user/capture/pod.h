/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the pod of the recorder: the control group that holds all containers of its pod. */
#ifndef SKEIN_CAPTURE_POD_H
#define SKEIN_CAPTURE_POD_H

#include "capture/cgroup.h"

/*
 * Find the innermost pod among the control groups above the caller's, in the hierarchy of c, also
 * where a cgroup namespace hides them. Return 0, -ENOENT if there is none, or another negative
 * errno.
 */
int pod_find(const struct cgroups *c, struct cgroup_place *out, struct error *err);

#endif
