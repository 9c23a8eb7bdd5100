// SPDX-License-Identifier: Apache-2.0
/* Read the processes, threads and lanes of a trace, and keep them while a timeline is drawn. */
#include <errno.h>
#include <string.h>

#include "analyze/filter.h"
#include "analyze/groups.h"
#include "lanes/join.h"

#define NEEDED \
	(WANT(HOST) | WANT(PROCESS) | WANT(THREAD) | WANT(LANE) | WANT(NAME) | WANT(SPAN) | \
	 WANT(COUNTER) | WANT(LOSS))

struct entities_sink {
	struct sink sink;
	struct lanes_entities *entities;
	const struct source *filter;
};

/* Return a copy of a text, owned by *c, the same copy for equal texts; NULL if memory ran out. */
static const char *intern_entity_text(struct lanes_entities *c, const char *text)
{
	uint32_t number;

	return names_intern_text(&c->names, text ? text : "", &number) < 0
		       ? NULL
		       : names_text(&c->names, number);
}

static int lanes_add_process(struct lanes_entities *c, const struct process *p)
{
	struct lane_process one = {
		.p = {.id = p->id,
		      .pid = p->pid,
		      .end = p->end,
		      .comm = intern_entity_text(c, p->comm),
		      .exe = intern_entity_text(c, p->exe),
		      .cgroup = intern_entity_text(c, p->cgroup),
		      .container = intern_entity_text(c, p->container),
		      .service = intern_entity_text(c, p->service)},
	};

	if (!one.p.comm || !one.p.exe || !one.p.cgroup || !one.p.container || !one.p.service)
		return -ENOMEM;
	if (names_intern_text(&c->programs, process_name(&one.p), &one.program) < 0)
		return -ENOMEM;
	if (c->processes.count >= LANES_NONE || vector_push(&c->processes, one) < 0)
		return -ENOMEM;
	return index_put(&c->process_by_id, p->id, c->processes.count - 1);
}

static int lanes_add_thread(const struct entities_sink *s, const struct thread *t)
{
	struct lanes_entities *c = s->entities;
	struct lane_thread one = {
		.lane = t->lane,
		.tid = t->tid,
		.start = t->start,
		.end = t->end,
		.name = intern_entity_text(c, thread_display_name(t)),
		.process = index_get(&c->process_by_id, t->process),
	};
	struct process nobody = {0};

	if (!one.name)
		return -ENOMEM;
	one.selected = filter_selects(
		s->filter, one.process == LANES_NONE ? &nobody : &c->processes.items[one.process].p,
		t);
	if (c->threads.count >= LANES_NONE || vector_push(&c->threads, one) < 0)
		return -ENOMEM;
	return index_put(&c->thread_by_id, t->id, c->threads.count - 1);
}

/* Add the lane of a CPU, runtime or LANE_STATES_SLICES; those of threads come with the threads. */
static int lanes_add_lane(struct lanes_entities *c, const struct lane *l)
{
	enum lane_states states = lane_traits(l->kind)->states;
	struct lane one = *l;

	one.name = NULL;
	if (states == LANE_STATES_TILES)
		return vector_push(&c->cpus, one);
	if (l->kind == LANE_RUNTIME || l->kind == LANE_HANDLERS) {
		one.name = intern_entity_text(c, l->name);
		return one.name ? vector_push(&c->runtimes, one) : -ENOMEM;
	}
	if (states != LANE_STATES_SLICES)
		return 0;
	one.name = intern_entity_text(c, l->name);
	return one.name ? vector_push(&c->sliced, one) : -ENOMEM;
}

static int lanes_add_host(struct lanes_entities *c, const struct host *h)
{
	if (c->host.id) {
		/* another host of a merged trace, whose hosts come in the order of their starts */
		c->host.end = !c->host.end || !h->end ? 0
			      : h->end > c->host.end  ? h->end
						      : c->host.end;
		c->host.cpus += h->cpus;
		c->host.hostname = "several hosts";
		return 0;
	}
	c->host = (struct host){.id = h->id, .cpus = h->cpus, .start = h->start, .end = h->end};
	c->host.hostname = intern_entity_text(c, h->hostname);
	return c->host.hostname ? 0 : -ENOMEM;
}

static int entities_put(struct sink *sink, enum record_kind kind, const void *record,
			struct error *err)
{
	const struct entities_sink *s = (const struct entities_sink *)sink;
	const struct loss *loss = record;
	int ret = 0;

	if (kind == KIND_HOST)
		ret = lanes_add_host(s->entities, record);
	else if (kind == KIND_PROCESS)
		ret = lanes_add_process(s->entities, record);
	else if (kind == KIND_THREAD)
		ret = lanes_add_thread(s, record);
	else if (kind == KIND_LANE)
		ret = lanes_add_lane(s->entities, record);
	else if (kind == KIND_NAME)
		ret = lanes_add_name(s->entities, record);
	else if (kind == KIND_SPAN)
		ret = lanes_add_span(s->entities, record);
	else if (kind == KIND_COUNTER)
		ret = lanes_add_value(s->entities, record);
	else if (kind == KIND_LOSS && !loss->event)
		ret = vector_push(&s->entities->losses, *loss);
	if (!ret)
		ret = lane_owners_put(&s->entities->owners, kind, record);
	return ret < 0 ? error_errno(err, ret, "cannot read who has lanes") : 0;
}

static const struct sink_ops entities_ops = {.put = entities_put};

int lanes_read(struct lanes *l, struct source *filtered, struct error *err)
{
	struct entities_sink s = {
		.sink = {.ops = &entities_ops, .wants = WANTS(NEEDED)},
		.entities = &l->entities,
		.filter = filtered,
	};

	int ret = filtered->ops->run(filtered, &s.sink, err);

	if (!ret && (lanes_divide_acts(&l->entities) < 0 || lanes_end_counters(&l->entities) < 0))
		ret = error_errno(err, -ENOMEM, "cannot read who has lanes");
	return ret ? ret : lanes_name_acts(&l->entities, filtered, err);
}

void lanes_free(struct lanes *l)
{
	struct lanes_entities *c = &l->entities;

	names_free(&c->names);
	names_free(&c->programs);
	vector_free(&c->processes);
	vector_free(&c->threads);
	vector_free(&c->cpus);
	vector_free(&c->sliced);
	vector_free(&c->runtimes);
	vector_free(&c->acts);
	lanes_free_counters(&c->counters);
	lane_owners_free(&c->owners);
	vector_free(&c->losses);
	index_free(&c->process_by_id);
	index_free(&c->thread_by_id);
	for (size_t i = 0; i < l->cpus.count; i++)
		free(l->cpus.items[i].strokes);
	lanes_drop_rows(&l->threads, 0);
	for (unsigned int by = 0; by < LANES_BY_COUNT; by++) {
		lanes_drop_rows(&l->joined[by], 0);
		vector_free(&l->joined[by]);
	}
	for (size_t i = 0; i < l->sliced.count; i++)
		free(l->sliced.items[i].strokes);
	for (size_t i = 0; i < l->runtimes.count; i++)
		free(l->runtimes.items[i].strokes);
	vector_free(&l->runtimes);
	vector_free(&l->cpus);
	vector_free(&l->threads);
	vector_free(&l->sliced);
	free(l->thread_fills);
}
