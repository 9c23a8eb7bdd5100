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

/*
 * Return whether the name of a control group's directory is that of a pod: with Kubernetes' pod
 * UID, by either of its cgroup drivers, or podman's libpod_pod_ID.
 */
bool pod_is_name(const char *name);

#endif
