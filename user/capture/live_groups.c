// SPDX-License-Identifier: Apache-2.0
/* Puts the sums of time of control groups. */
#include "capture/clock.h"
#include "capture/live.h"

int live_groups_load(struct live *l, struct error *err)
{
	/* the sums are of the whole machine, whatever else is recorded of it */
	bool part = program_selection(l->program)->conditions || l->selection.cpus.count ||
		    l->options.targets.comm;

	if (!l->options.probes.groups || part)
		return 0;
	l->progress.sums = true;
	return group_sums_load(&l->probes.groups, l->program, err);
}

int live_groups_attach(struct live *l, struct error *err)
{
	return l->probes.groups ? group_sums_attach(l->probes.groups, err) : 0;
}

int live_groups_begin(struct live *l, struct error *err)
{
	const struct group_naming by = {l->selection.cgroups, l->selection.services};

	return l->probes.groups
		       ? group_sums_begin(l->probes.groups, clock_ns(CLOCK_MONOTONIC), &by, err)
		       : 0;
}

int live_groups_tick(struct live *l, struct error *err)
{
	const struct group_naming by = {l->selection.cgroups, l->selection.services};
	uint64_t now = clock_ns(CLOCK_MONOTONIC); /* as the BPF programs read it */

	return l->probes.groups ? group_sums_put(l->probes.groups, now, &by, l->sink, err) : 0;
}
