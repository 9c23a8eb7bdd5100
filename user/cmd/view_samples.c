// SPDX-License-Identifier: Apache-2.0
/* Read the samples of a part of a recording (view_samples.h). */
#include "cmd/view_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS (VIEW_COLUMN(time) | VIEW_COLUMN(event) | VIEW_COLUMN(thread))

/* What decides about a sample. */
struct sample_choice {
	const struct lanes_entities *entities;
	bool *threads; /* by index of entities->threads */
	bool others; /* threads that the trace lacks */
	struct index events; /* event.id -> 1 if the event is chosen, else 0 */
	bool all_events;
	uint64_t from, to; /* ns, both inclusive */
};

static uint64_t start_of_samples(const struct view_server *v)
{
	return v->names->count.hosts ? v->names->hosts[0].start : 0;
}

/* Return the range of a choice as times of records. */
static void range_of_choice(const struct view_server *v, const struct view_choice *c,
			    uint64_t *from, uint64_t *to)
{
	uint64_t start = start_of_samples(v);

	*from = c->from < UINT64_MAX - start ? start + c->from : UINT64_MAX;
	*to = c->to && c->to < UINT64_MAX - start ? start + c->to : UINT64_MAX;
}

static bool is_thread_chosen(const struct lanes_entities *e, const struct view_choice *c,
			     const struct lane_thread *t)
{
	const struct process *p =
		t->process == LANES_NONE ? NULL : &e->processes.items[t->process].p;

	if (p && !p->pid) /* the idle thread, which no profile has */
		return false;
	return (!c->by_pid || (p && p->pid == c->pid)) && (!c->by_tid || t->tid == c->tid);
}

static int choose_samples(struct sample_choice *out, const struct view_samples *s)
{
	const struct lanes_entities *e = &s->view->input.lanes.entities;
	const struct profile *names = s->view->names;
	const struct view_choice *c = &s->choice;

	*out = (struct sample_choice){
		.entities = e, .others = !c->by_pid && !c->by_tid, .all_events = !c->event};
	range_of_choice(s->view, c, &out->from, &out->to);
	for (uint32_t i = 0; c->event && i < names->count.events; i++)
		if (index_put(&out->events, names->events[i].id,
			      !strcmp(names->events[i].name, c->event)) < 0)
			return -ENOMEM;
	out->threads = calloc(e->threads.count + 1, sizeof(*out->threads));
	if (!out->threads)
		return -ENOMEM;
	for (size_t i = 0; i < e->threads.count; i++)
		out->threads[i] = is_thread_chosen(e, c, &e->threads.items[i]);
	return 0;
}

static bool is_event_chosen(const struct sample_choice *c, uint64_t event)
{
	uint32_t chosen = c->all_events ? 1 : index_get(&c->events, event);

	return chosen && chosen != INDEX_NONE;
}

/* Pass the samples of a chunk that are chosen on. */
static int take_chunk(struct view_samples *s, const struct sample_choice *c,
		      const struct columns *rows)
{
	const struct lanes_entities *e = c->entities;
	struct sample one = {0};
	int ret = 0;

	for (uint32_t i = 0; i < rows->count && !ret; i++) {
		uint32_t at;

		columns_record(rows, i, (uint64_t *)&one);
		s->reached = one.time > s->reached ? one.time : s->reached;
		at = index_get(&e->thread_by_id, one.thread);
		if (one.time < c->from || one.time > c->to || !is_event_chosen(c, one.event) ||
		    !(at == INDEX_NONE ? c->others : c->threads[at]))
			continue;
		ret = s->take(s->context, &one, at == INDEX_NONE ? NULL : &e->threads.items[at]);
	}
	return ret;
}

static int read_chosen(struct view_samples *s, const struct sample_choice *c, struct trace *t,
		       struct error *err)
{
	const struct chunk_query q = {.kind = KIND_SAMPLE,
				      .from = s->choice.from ? c->from : 0,
				      .to = s->choice.to ? c->to : UINT64_MAX,
				      .after = s->after,
				      .columns = s->columns | ALWAYS,
				      /* what else is missing is known since the names were read */
				      .losses = {s->lost, s->context, true}};
	struct chunks chunks;
	bool stopped = false;
	int ret = chunks_open(&chunks, t, &q, err);

	while (!ret && !stopped && (ret = chunks_next(&chunks, err)) > 0) {
		ret = take_chunk(s, c, &chunks.columns);
		if (ret < 0)
			error_errno(err, ret, "cannot read the samples");
		s->after = chunks.id;
		stopped = s->stop(s->context);
	}
	s->done = !ret && !stopped;
	chunks_close(&chunks);
	return ret;
}

int view_samples_read(struct view_samples *s, struct error *err)
{
	struct sample_choice c = {0};
	struct trace *t = NULL;
	int ret = trace_open(&t, s->view->path, err);

	if (!ret && choose_samples(&c, s) < 0)
		ret = error_errno(err, -ENOMEM, "cannot read the samples");
	if (!ret)
		ret = read_chosen(s, &c, t, err);
	free(c.threads);
	index_free(&c.events);
	trace_close(t);
	return ret;
}

double view_samples_share(const struct view_samples *s)
{
	const struct host *h = &s->view->names->host;
	uint64_t from, to;

	range_of_choice(s->view, &s->choice, &from, &to);
	if (h->end && h->end < to)
		to = h->end;
	if (s->done || to <= from)
		return 1;
	if (s->reached <= from)
		return 0;
	/* late samples may be behind those of the end of the range */
	return s->reached < to ? (double)(s->reached - from) / (double)(to - from) : 0.99;
}
