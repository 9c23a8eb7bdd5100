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

/* Return whether a cgroup with that id still has that path, of cgroups_path(). */
bool cgroups_exists(const struct cgroups *c, const char *path, uint64_t id);

#endif
