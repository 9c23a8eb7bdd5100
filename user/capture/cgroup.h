/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control groups: which hierarchies there are, which of them tells most of the
 * processes here, and the way between a cgroup's id (st_ino of its directory,
 * what BPF programs see) and its path (as /proc/PID/cgroup shows it).
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

/* Where a cgroup is. */
struct cgroup_place {
	const char *subsystem; /* kernel's name of a v1 controller ("memory", "io"); NULL: v2 */
	uint64_t id;
	/*
	 * Depth below the root of the hierarchy; CGROUP_LEVEL_UNKNOWN inside a
	 * cgroup namespace, which hides what is above it.
	 */
	uint32_t level;
};

/*
 * Read which hierarchies are mounted from mountinfo ("/proc/self/mountinfo"),
 * and choose one: of v1 controllers, where container managers put everything
 * into all of them, the first mounted of memory, cpu, pids, cpuset, freezer;
 * else v2. None mounted is no error: then no process has a path.
 */
int cgroups_new(struct cgroups **ret, const char *mountinfo, struct error *err);
void cgroups_free(struct cgroups *c);

/* The kernel's name of a v1 controller of the chosen hierarchy; NULL: v2, or none at all. */
const char *cgroups_subsystem(const struct cgroups *c);

/* Where the chosen hierarchy is mounted, for messages; "" if there is none. */
const char *cgroups_mount(const struct cgroups *c);

/*
 * Find the cgroup a user means: a directory below any hierarchy's mount point,
 * or a path in the chosen hierarchy (else in another one), as /proc/PID/cgroup
 * shows it. Errors: -ENOENT there is none, -EOPNOTSUPP it is in a hierarchy
 * without a controller, which BPF programs cannot see.
 */
int cgroups_find(struct cgroups *c, const char *name, struct cgroup_place *ret, struct error *err);

/* The path of an id in the chosen hierarchy, "" if unknown; valid until the next call. */
const char *cgroups_path(struct cgroups *c, uint64_t id);

/* The path in the chosen hierarchy out of the text of /proc/PID/cgroup; "" if there is none. */
char *cgroups_path_in(const struct cgroups *c, const char *text, char *buf, size_t size);

/*
 * The container's id in a cgroup path, "" if it is in none: the 64 hex digits of
 * Docker, containerd, CRI-O and Podman, the name of LXC. Of nested ones, the
 * innermost. buf should hold CGROUP_CONTAINER_MAX bytes.
 */
char *cgroup_container(const char *path, char *buf, size_t size);

#endif
