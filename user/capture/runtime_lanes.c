// SPDX-License-Identifier: Apache-2.0
/* The processes and threads of runtimes, and the lanes of their spans. */
#include "capture/runtime_lanes.h"

#include <errno.h>
#include <stdio.h>

struct runtime_lanes *runtime_lanes_of(struct runtime_events *r, const struct process_entry *p,
				       uint64_t time)
{
	struct runtime_lanes *of = NULL;

	HASH_FIND(hh, r->processes, &p->id, sizeof(p->id), of);
	if (of)
		return of;
	of = calloc(1, sizeof(*of));
	if (!of)
		return NULL;
	of->events = r;
	of->id = p->id;
	of->pid = p->pid;
	of->since = time;
	HASH_ADD(hh, r->processes, id, sizeof(of->id), of);
	if (HASH_HAS(hh, of))
		return of;
	free(of);
	return NULL;
}

void runtime_lanes_free(struct runtime_lanes *p)
{
	struct runtime_events *r = p->events;

	HASH_DEL(r->processes, p);
	track_free(r, &p->vm);
	for (int i = 0; p->concurrent && i < RUNTIME_CONCURRENT; i++)
		track_free(r, &p->concurrent[i].track);
	free(p->concurrent);
	if (p->gil)
		track_free(r, &p->gil->track);
	free(p->gil);
	vector_free(&p->counted);
	free(p);
}

void runtime_thread_free(struct runtime_events *r, struct runtime_thread *t)
{
	HASH_DEL(r->threads, t);
	track_free(r, &t->track);
	free(t);
}

static int put_new_lane(struct runtime_events *r, struct lane lane, uint64_t *out,
			struct error *err)
{
	int ret;

	lane.id = *r->c.last_lane + 1;
	lane.host = r->c.host;
	ret = put_lane(r->c.sink, &lane, err);
	if (!ret)
		*out = *r->c.last_lane = lane.id;
	return ret;
}

static int process_lane(struct runtime_lanes *p, const struct process_entry *of, struct error *err)
{
	const struct lane lane = {.kind = LANE_PROCESS, .number = p->id, .name = of->name.comm};

	return p->lane ? 0 : put_new_lane(p->events, lane, &p->lane, err);
}

/* Emit the lane of a track below its process, unless it has one. */
static int runtime_lane(struct runtime_lanes *p, const struct process_entry *of, struct track *t,
			const char *name, struct error *err)
{
	struct lane lane = {.kind = LANE_RUNTIME, .name = name};
	int ret = t->lane ? 0 : process_lane(p, of, err);

	lane.parent = p->lane;
	return ret || t->lane ? ret : put_new_lane(p->events, lane, &t->lane, err);
}

int runtime_vm_lane(struct runtime_lanes *p, const struct process_entry *of, struct error *err)
{
	return runtime_lane(p, of, &p->vm, "JVM", err);
}

int runtime_gil_lane(struct runtime_lanes *p, const struct process_entry *of, struct error *err)
{
	return runtime_lane(p, of, &p->gil->track, "GIL", err);
}

/* Return the phases of a thread, or if it has none and add is set, free ones; else NULL. */
static struct concurrent *find_concurrent(struct runtime_lanes *p, uint32_t tid, bool add)
{
	struct concurrent *unused = NULL;

	for (int i = RUNTIME_CONCURRENT; i > 0; i--) {
		struct concurrent *c = &p->concurrent[i - 1];
		bool used = c->track.open.count && c->track.epoch == p->events->epoch;

		if (used && c->tid == tid)
			return c;
		if (!used)
			unused = c;
	}
	if (add && unused)
		unused->tid = tid;
	return add ? unused : NULL;
}

int runtime_concurrent_of(struct runtime_lanes *p, const struct probe_event *e, bool add,
			  struct track **out, struct error *err)
{
	struct concurrent *c;
	char name[48] = "concurrent phases";

	*out = NULL;
	if (!p->concurrent && add) {
		p->concurrent = calloc(RUNTIME_CONCURRENT, sizeof(*p->concurrent));
		if (!p->concurrent)
			return error_errno(err, -ENOMEM, "concurrent phases");
	}
	c = p->concurrent ? find_concurrent(p, e->thread->tid, add) : NULL;
	if (!c)
		return 0;
	*out = &c->track;
	if (c > p->concurrent)
		snprintf(name, sizeof(name), "concurrent phases %td", c - p->concurrent + 1);
	return runtime_lane(p, e->process, &c->track, name, err);
}

static struct runtime_thread *add_runtime_thread(const struct runtime_lanes *p,
						 const struct thread_entry *of)
{
	struct runtime_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->lane = t->track.lane = of->lane;
	t->process = p->id;
	t->tid = of->tid;
	t->old = of->start <= p->since;
	HASH_ADD(hh, p->events->threads, lane, sizeof(t->lane), t);
	if (HASH_HAS(hh, t))
		return t;
	free(t);
	return NULL;
}

int runtime_thread_of(struct runtime_lanes *p, const struct probe_event *e,
		      struct runtime_thread **out, struct error *err)
{
	struct runtime_events *r = p->events;
	struct runtime_thread *t = NULL;
	int ret = process_table_need_lane(r->c.table, e->thread, r->c.last_lane, err);

	*out = NULL;
	if (ret)
		return ret;
	HASH_FIND(hh, r->threads, &e->thread->lane, sizeof(e->thread->lane), t);
	if (!t && HASH_COUNT(r->threads) >= RUNTIME_THREADS)
		return 0;
	if (!t)
		t = add_runtime_thread(p, e->thread);
	if (!t)
		return error_errno(err, -ENOMEM, "threads of a runtime");
	*out = t;
	return 0;
}
