// SPDX-License-Identifier: Apache-2.0
/* Compute the root frames: the container, process and thread of a stack. */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/groups.h"
#include "export/roots.h"

static const struct process no_process = {.comm = "", .exe = "", .cgroup = "", .container = ""};
static const struct thread no_thread = {.comm = ""};

static struct root make_root(const char *name, bool numbered, uint64_t number)
{
	struct root r = {.name = name};

	if (numbered)
		snprintf(r.suffix, sizeof(r.suffix), "-%" PRIu64, number);
	return r;
}

static const char *root_of_place(const struct process *p)
{
	return *p->container ? p->container : *p->cgroup ? p->cgroup : "[no_cgroup]";
}

unsigned int roots_of(struct root *out, const struct profile *p, uint32_t thread,
		      const struct export_options *o)
{
	bool known = thread != PROFILE_NONE;
	uint32_t process = known ? p->threads[thread].process : PROFILE_NONE;
	const struct process *of = process == PROFILE_NONE ? &no_process : &p->processes[process].p;
	const struct thread *t = known ? &p->threads[thread].t : &no_thread;
	unsigned int depth = 0;

	if (o->containers)
		out[depth++] = make_root(root_of_place(of), false, 0);
	out[depth++] = make_root(process_name(of), o->pids, of->pid);
	if (o->threads)
		out[depth++] = make_root(*t->comm ? t->comm : process_name(of), o->pids, t->tid);
	return depth;
}

bool roots_need_events(const struct profile *p)
{
	for (uint32_t i = 1; i < p->sum_count; i++)
		if (p->sums[i].event != p->sums[0].event)
			return true;
	return false;
}
