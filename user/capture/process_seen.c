// SPDX-License-Identifier: Apache-2.0
/* Emits the entities of processes and threads when they are first seen in a sample or switch. */
#include "capture/process_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/clock.h"

/*
 * Difference (ns) up to which two births count as equal: /proc counts births in ticks of 10 ms, and
 * a fork record comes slightly after the birth.
 */
#define BORN_SLACK (100 * NSEC_PER_MSEC)

bool process_same_birth(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < BORN_SLACK;
}

/*
 * Time (ns) for which a process may have no mappings after the record of its exec: their own
 * records follow, and are awaited instead of a scan. (They were dropped if the process was not
 * selected.)
 */
#define EXEC_TIME NSEC_PER_SEC

/*
 * Return whether a process must be scanned once to find its mappings: at time (ns) it has none,
 * because the record of its fork, or of its parent's, was lost.
 */
static bool needs_scan(const struct process_entry *p, uint64_t time)
{
	if (p->executed && !p->outside && time < p->start + EXEC_TIME)
		return false;
	return p->pid && !number_is_outside(p->pid) && !p->kernel && !p->scan &&
	       !p->space->mappings.count;
}

/*
 * Return the entry of a sample's process; NULL without memory. If the birth does not match that of
 * the entry, a fork record was lost, and the pid belongs to a new process.
 */
static struct process_entry *find_sampled_process(struct process_table *t,
						  const struct sampled_task *s, bool *unknown)
{
	struct process_entry *p = process_table_of_pid(t, s->pid);

	if (p && s->pid && s->born &&
	    (p->born.precision == BIRTH_EXACT ? p->born.ns != s->born
					      : !process_same_birth(p->born.ns, s->born))) {
		(void)process_replace(t, s->pid, s->born, NULL);
		p = NULL;
	}
	*unknown = !p && s->pid && !number_is_outside(s->pid);
	if (!p)
		p = process_add(t, s->pid, s->born);
	if (!p)
		return NULL;
	p->born = (struct process_birth){s->born, BIRTH_EXACT};
	p->kernel = s->kernel;
	return p;
}

static int put_seen_process(struct process_table *t, struct process_entry *p, struct error *err)
{
	if (p->id && !p->changed)
		return 0;
	if (!p->id)
		p->id = ++t->last_process;
	return process_put(t, p, err);
}

static void update_sampled_process(struct process_entry *p, const struct sampled_task *s)
{
	/*
	 * Use the cgroup of the main thread, since other threads may be in other cgroups than their
	 * process.
	 */
	if (p->cgroup != s->cgroup && (!p->cgroup || s->pid == s->tid)) {
		p->cgroup = s->cgroup;
		p->changed = true;
	}
	if (s->ns_pid && p->numbers.ns != s->ns_pid) {
		p->numbers.ns = s->ns_pid;
		p->changed = true;
	}
}

/*
 * Emit the lane of a thread that has none. A thread keeps its lane under all its names, which are
 * separate entities.
 */
static int put_lane_of(struct process_table *t, struct thread_entry *th, uint64_t *last_lane,
		       struct error *err)
{
	struct lane lane = {
		.id = ++*last_lane,
		.host = t->context.host,
		.kind = LANE_THREAD,
		.number = th->id,
	};

	th->lane = lane.id;
	return put_lane(t->context.sink, &lane, err);
}

int process_table_need_lane(struct process_table *t, struct thread_entry *thread,
			    uint64_t *last_lane, struct error *err)
{
	int ret;

	if (thread->lane)
		return 0;
	ret = put_lane_of(t, thread, last_lane, err);
	return ret ? ret : process_put_thread(t, thread, thread->process, err);
}

/* Maximum bytes of a name that a runtime gives to a thread. */
#define RUNTIME_NAME_MAX 255

int process_table_name_thread(struct process_table *t, struct thread_entry *thread,
			      const char *name, struct error *err)
{
	char *copy;

	if (!name[0] ||
	    (thread->runtime_name && !strncmp(thread->runtime_name, name, RUNTIME_NAME_MAX)))
		return 0;
	copy = strndup(name, RUNTIME_NAME_MAX);
	if (!copy)
		return error_errno(err, -ENOMEM, "process table");
	free(thread->runtime_name);
	thread->runtime_name = copy;
	return thread->id ? process_put_thread(t, thread, thread->process, err) : 0;
}

static int put_seen_thread(struct process_table *t, struct process_entry *p,
			   struct thread_entry *th, struct error *err)
{
	int ret = 0;

	if (p->name.selected || th->name.selected)
		t->comm_matched = true;
	if (th->id && th->process != p->id) { /* the tid was reused, and the fork record was lost */
		th->id = th->lane = th->seen = 0;
		process_forget_runtime_name(th);
	}
	if (th->id)
		return 0;
	t->generation++;
	th->id = ++t->last_thread;
	th->process = p->id;
	if (t->context.last_lane && !th->lane)
		ret = put_lane_of(t, th, t->context.last_lane, err);
	return ret ? ret : process_put_thread(t, th, p->id, err);
}

/* Emit the process and the thread of *r if they are new or changed, and copy *r to *out. */
static int put_resolved_task(struct process_table *t, const struct resolved_task *r,
			     struct resolved_task *out, struct error *err)
{
	int ret;

	if (r->thread->pid != r->process->pid)
		process_join(t, r->thread, r->process);
	ret = put_seen_process(t, r->process, err);
	if (!ret)
		ret = put_seen_thread(t, r->process, r->thread, err);
	if (!ret)
		*out = *r;
	return ret;
}

int process_table_resolve(struct process_table *t, const struct sampled_task *s,
			  struct resolved_task *out, struct error *err)
{
	struct resolved_task r;
	struct process_entry *p = r.process = find_sampled_process(t, s, &r.unknown);

	r.thread = process_table_thread_of_tid(t, s->tid);
	if (p && !r.thread)
		r.thread = process_add_thread(t, s->pid, s->tid, s->time, p->name.comm);
	if (!p || !r.thread)
		return error_errno(err, -ENOMEM, "process table");
	r.unknown |= needs_scan(p, s->time);
	p->outside = false;
	if (r.unknown)
		p->scan = SCAN_RUNNING;
	update_sampled_process(p, s);
	return put_resolved_task(t, &r, out, err);
}

int process_table_resolve_thread(struct process_table *t, struct own_numbers of, uint64_t time,
				 struct resolved_task *out, struct error *err)
{
	struct resolved_task r = {.thread = process_table_thread_of_tid(t, of.tid)};
	struct process_entry *p = r.thread ? process_table_of_pid(t, r.thread->pid) : NULL;

	r.unknown = !p && !number_is_outside(of.tid);
	if (!of.pid) /* Until a scan corrects this, the thread counts as a main thread. */
		of.pid = of.tid;
	if (!p)
		p = process_table_of_pid(t, of.pid);
	if (!p)
		p = process_add(t, of.pid, time);
	if (p && !r.thread)
		r.thread = process_add_thread(t, p->pid, of.tid, time, p->name.comm);
	if (!p || !r.thread)
		return error_errno(err, -ENOMEM, "process table");
	r.process = p;
	return put_resolved_task(t, &r, out, err);
}

uint64_t process_table_generation(const struct process_table *t)
{
	return t->generation;
}
