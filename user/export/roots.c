// SPDX-License-Identifier: Apache-2.0
/* Compute the root frames: the container, process and thread of a stack. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/groups.h"
#include "export/roots.h"

static const struct process no_process = {.comm = "", .exe = "", .cgroup = "", .container = ""};
static const struct thread no_thread = {.comm = ""};

static struct root root(const char *name, bool numbered, uint64_t number)
{
	struct root r = {.name = name};

	if (numbered)
		snprintf(r.suffix, sizeof(r.suffix), "-%" PRIu64, number);
	return r;
}

static const char *place(const struct process *p)
{
	return *p->container ? p->container : *p->cgroup ? p->cgroup : "[no_cgroup]";
}

unsigned int roots_of(struct root *ret, const struct profile *p, uint32_t thread,
		      const struct export_options *o)
{
	bool known = thread != PROFILE_NONE;
	uint32_t process = known ? p->threads[thread].process : PROFILE_NONE;
	const struct process *of = process == PROFILE_NONE ? &no_process : &p->processes[process].p;
	const struct thread *t = known ? &p->threads[thread].t : &no_thread;
	unsigned int depth = 0;

	if (o->containers)
		ret[depth++] = root(place(of), false, 0);
	ret[depth++] = root(process_name(of), o->pids, of->pid);
	if (o->threads)
		ret[depth++] = root(*t->comm ? t->comm : process_name(of), o->pids, t->tid);
	return depth;
}

bool profile_has_several_events(const struct profile *p)
{
	for (uint32_t i = 1; i < p->sum_count; i++)
		if (p->sums[i].event != p->sums[0].event)
			return true;
	return false;
}
