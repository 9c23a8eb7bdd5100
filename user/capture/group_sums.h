/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of time that bpf/group_time.bpf.c keeps for each control group: what its threads did,
 * and for how long.
 */
#ifndef SKEIN_CAPTURE_GROUP_SUMS_H
#define SKEIN_CAPTURE_GROUP_SUMS_H

#include "base/pipe.h"
#include "bpf/group_time.h"
#include "capture/cgroup.h"
#include "capture/program.h"
#include "capture/service.h"

struct group_sums;

/* Load the programs for the CPUs and the hierarchy of p's records. Return 0 or a negative errno. */
int group_sums_load(struct group_sums **out, const struct program *p, struct error *err);
/* Accepts NULL. */
void group_sums_free(struct group_sums *g);
/* Add up from now on. Return 0 or a negative errno. */
int group_sums_attach(struct group_sums *g, struct error *err);

/*
 * Return the time that the programs have taken, ns: estimated from some of their runs, without the
 * kernel's way into and out of them.
 */
uint64_t group_sums_time_spent(const struct group_sums *g);

/* By what the paths of groups are found, and their services. */
struct group_naming {
	struct cgroups *cgroups;
	const struct services *services;
};

/* Have the sums begin now, ns, although the programs run already. Return 0 or a negative errno. */
int group_sums_begin(struct group_sums *g, uint64_t now, const struct group_naming *by,
		     struct error *err);
/*
 * Put a group_time for each sum of the host that has grown since the last call. now: ns. Return 0
 * or a negative errno.
 */
int group_sums_put(struct group_sums *g, uint64_t now, const struct group_naming *by,
		   struct sink *to, struct error *err);

#endif
