/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads which control group hierarchies are mounted, chooses the one whose cgroups are recorded,
 * and translates between a cgroup's id (st_ino of its directory, which BPF programs see) and its
 * path (as /proc/PID/cgroup shows it).
 */
#ifndef SKEIN_CAPTURE_CGROUP_H
#define SKEIN_CAPTURE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CGROUP_LEVEL_UNKNOWN UINT32_MAX
#define CGROUP_CONTAINER_MAX 256 /* bytes of a container's id, NUL included */

struct cgroups;

/* A cgroup found by name. */
struct cgroup_place {
	const char *subsystem; /* the kernel's name of a v1 controller ("memory", "io"); NULL: v2 */
	uint64_t id;
	/*
	 * Depth below the root of the hierarchy; CGROUP_LEVEL_UNKNOWN if this process is in a
	 * cgroup namespace of its own and the hierarchy's root is not mounted, so that the upper
	 * levels cannot be seen.
	 */
	uint32_t level;
};

/*
 * Read the mounted hierarchies from mountinfo ("/proc/self/mountinfo") and choose one: the first
 * mounted of the v1 controllers memory, cpu, pids, cpuset and freezer, since container managers put
 * every process into all of these; else v2. Without any hierarchy this succeeds, and no process has
 * a path. Returns 0 or a negative errno.
 */
int cgroups_new(struct cgroups **out, const char *mountinfo, struct error *err);
void cgroups_free(struct cgroups *c);

/*
 * Return the kernel's name of a v1 controller of the chosen hierarchy; NULL for v2, or if no
 * hierarchy is mounted.
 */
const char *cgroups_subsystem(const struct cgroups *c);

/* Return the mount point of the chosen hierarchy, for messages; "" if there is none. */
const char *cgroups_mount(const struct cgroups *c);

/*
 * Find a cgroup by the name a user gives: a directory below any hierarchy's mount point, or a path
 * in the chosen hierarchy (else in another one), as /proc/PID/cgroup shows it. Returns 0, -ENOENT
 * if there is no such cgroup, -ENAMETOOLONG, or -EOPNOTSUPP if the cgroup is in a v1 hierarchy
 * without a known controller, which BPF programs cannot see.
 */
int cgroups_find(struct cgroups *c, const char *name, struct cgroup_place *out, struct error *err);

/*
 * Return the path of a cgroup id in the chosen hierarchy, "" if unknown. The text is valid until
 * the next call.
 */
const char *cgroups_path(struct cgroups *c, uint64_t id);

/*
 * Copy the container id found in a cgroup path to buf, "" if there is none: the 64 hex digits of
 * Docker, containerd, CRI-O and Podman, or the name of an LXC container. If containers are nested,
 * this is the id of the innermost one. buf should hold CGROUP_CONTAINER_MAX bytes. Returns buf.
 */
char *cgroup_container(const char *path, char *buf, size_t size);

/*
 * Return whether the name of a control group's directory is that of a pod: with Kubernetes' pod
 * UID, by either of its cgroup drivers, or podman's libpod_pod_ID.
 */
bool cgroup_is_pod(const char *name);

#endif
