// SPDX-License-Identifier: Apache-2.0
/*
 * Add up the scheduler's records (sched.h). This file counts everything that needs the records
 * themselves (switches, wake-ups), sched_count.c everything that needs states.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/sched_count.h"

#define NEEDED (WANT(HOST) | WANT(THREAD) | WANT(LANE) | WANT(SLICE) | WANT(EDGE))

/* The most CPUs that Linux supports. Lanes of further CPUs are ignored and count as disorder. */
#define SCHED_CPUS_MAX 8192

/*
 * Limits for pairs of threads whose wake-ups are counted separately: PAIRS_LEAST for the whole
 * trace, and PAIRS_PER_THREAD more for every thread.
 */
#define PAIRS_PER_THREAD 64
#define PAIRS_LEAST 65536

/*
 * Process a host. The first of several hosts started first; the range ends with the last of them.
 */
static void sched_take_host(struct sched_run *r, const struct host *h)
{
	struct sched *s = r->made;

	if (!r->host) {
		r->host = h->id;
		r->start = h->start;
	} else if (!r->end) {
		return; /* the end of an earlier host is unknown */
	}
	r->end = h->end <= h->start ? 0 : h->end > r->end ? h->end : r->end;
	s->from = r->start + r->query->from;
	s->to = r->end;
	if (r->query->to && (!s->to || r->start + r->query->to < s->to))
		s->to = r->start + r->query->to;
	if (s->to && s->to < s->from)
		s->to = s->from;
	r->open = !s->to;
	series_init(&s->waiting_when, s->from, s->to);
}

static int sched_take_cpu(struct sched_run *r, const struct lane *l, uint32_t *out)
{
	struct sched *s = r->made;
	struct sched_cpu *cpu = calloc(1, sizeof(*cpu));

	if (!cpu || vector_push(&s->cpus, cpu) < 0) {
		free(cpu);
		return -ENOMEM;
	}
	cpu->number = l->number;
	series_init(&cpu->busy_when, s->from, s->to);
	series_init(&cpu->unknown_when, s->from, s->to);
	*out = (uint32_t)(s->cpus.count - 1);
	return borders_move(&r->borders, *out, s->from);
}

/*
 * Find or create the lane of an id. A new lane has no kind until its record comes, because threads
 * come before lanes.
 */
static int sched_lane_of(struct sched_run *r, uint64_t id, struct sched_lane **out)
{
	struct sched_lane fresh = {.now = INDEX_NONE, .newest = INDEX_NONE};
	uint32_t at = index_get(&r->lanes_by_id, id);

	if (at == INDEX_NONE) {
		at = (uint32_t)r->lanes.count;
		if (vector_push(&r->lanes, fresh) < 0 || index_put(&r->lanes_by_id, id, at) < 0)
			return -ENOMEM;
	}
	*out = &r->lanes.items[at];
	return 0;
}

static int sched_take_lane(struct sched_run *r, const struct lane *l)
{
	struct sched_lane *lane;
	int ret = sched_lane_of(r, l->id, &lane);

	if (ret < 0 || lane->kind)
		return ret;
	if (l->kind == LANE_CPU && r->made->cpus.count == SCHED_CPUS_MAX) {
		r->made->disorder++;
		return 0;
	}
	lane->kind = l->kind;
	lane->number = l->number;
	return l->kind == LANE_CPU ? sched_take_cpu(r, l, &lane->cpu) : 0;
}

static int sched_process_of(struct sched_run *r, uint64_t id, uint32_t *out)
{
	struct sched_process p = {.id = id};

	*out = index_get(&r->processes_by_id, id);
	if (*out != INDEX_NONE)
		return 0;
	*out = (uint32_t)r->made->processes.count;
	if (vector_push(&r->made->processes, p) < 0)
		return -ENOMEM;
	return index_put(&r->processes_by_id, id, *out);
}

/* Add a thread (one name of a thread lane) to the linked list of its lane's names, oldest first. */
static int link_thread_name(struct sched_run *r, uint64_t lane_id, uint32_t thread)
{
	struct sched_lane *lane;
	int ret = sched_lane_of(r, lane_id, &lane);

	if (ret < 0)
		return ret;
	if (lane->newest == INDEX_NONE)
		lane->now = thread;
	else
		r->next_name.items[lane->newest] = thread;
	lane->newest = thread;
	return 0;
}

int sched_thread_of(struct sched_run *r, const struct thread *t, uint32_t *out)
{
	struct sched_thread thread = {.id = t->id, .start = t->start};
	const struct sched_query *q = r->query;
	int ret;

	*out = index_get(&r->threads_by_id, t->id);
	if (*out != INDEX_NONE)
		return 0;
	ret = sched_process_of(r, t->process, &thread.process);
	if (ret < 0)
		return ret;
	thread.selected = !q->selected || q->selected(q->context, t);
	*out = (uint32_t)r->made->threads.count;
	if (vector_push(&r->made->threads, thread) < 0 ||
	    vector_push(&r->next_name, INDEX_NONE) < 0)
		return -ENOMEM;
	return index_put(&r->threads_by_id, t->id, *out);
}

static int sched_take_thread(struct sched_run *r, const struct thread *t)
{
	bool known = index_get(&r->threads_by_id, t->id) != INDEX_NONE;
	uint32_t thread;
	int ret = sched_thread_of(r, t, &thread);

	return ret || known || !t->lane ? ret : link_thread_name(r, t->lane, thread);
}

/*
 * Return the index of the thread that a lane has at a time, that is, under its name at that time.
 * The times of successive calls must not decrease. INDEX_NONE if the lane is not a thread's.
 */
static uint32_t thread_at_time(struct sched_run *r, struct sched_lane *l, uint64_t time)
{
	uint32_t next = l->now == INDEX_NONE ? INDEX_NONE : r->next_name.items[l->now];

	for (; next != INDEX_NONE && r->made->threads.items[next].start <= time;
	     next = r->next_name.items[next])
		l->now = next;
	return l->now;
}

static bool sched_in_range(const struct sched_run *r, uint64_t time)
{
	return time >= r->made->from && (r->open || time < r->made->to);
}

static bool is_involuntary(uint64_t left)
{
	return left == STATE_RUNNABLE || left == STATE_PREEMPTED || left == STATE_THROTTLED;
}

/* Count the switch at the end of a slice for the CPU, and for the thread that left the CPU. */
static int count_switch(struct sched_run *r, const struct slice *slice)
{
	struct sched *s = r->made;
	struct sched_lane *lane = sched_lane(r, slice->lane);
	const struct thread unknown = {.id = slice->value};
	bool left = slice->left && slice->left != STATE_RUNNING;
	enum sched_switch how;
	uint32_t thread;

	s->slices++;
	if (!lane || lane->kind != LANE_CPU || !sched_in_range(r, slice->end))
		return 0;
	if (slice->state == STATE_IDLE || (slice->state == STATE_RUNNING && left))
		s->cpus.items[lane->cpu]->switches++;
	if (slice->state != STATE_RUNNING || !left || !slice->value)
		return 0;
	if (sched_thread_of(r, &unknown, &thread) < 0)
		return -ENOMEM;
	how = is_involuntary(slice->left) ? SWITCH_INVOLUNTARY : SWITCH_VOLUNTARY;
	s->threads.items[thread].counts.switches[how]++;
	s->counts.switches[how]++;
	return 0;
}

/* Return the waker of an edge as struct sched_wakes represents it. */
static uint32_t waker_of(struct sched_run *r, const struct edge *e)
{
	struct sched_lane *from = sched_lane(r, e->from);
	uint32_t thread = from ? thread_at_time(r, from, e->time) : INDEX_NONE;

	if (from && from->kind == LANE_INTERRUPT && from->number < INTERRUPT_COUNT)
		return SCHED_INTERRUPT + (uint32_t)from->number;
	return thread == INDEX_NONE ? SCHED_INTERRUPT : thread;
}

static int count_pair(struct sched_run *r, uint32_t from, uint32_t to)
{
	struct sched *s = r->made;
	uint64_t key = (uint64_t)from << 32 | to;
	struct sched_wakes fresh = {.from = from, .to = to};
	uint32_t at = index_get(&r->wakes_by_pair, key);

	if (at == INDEX_NONE) {
		if (s->wakes.count >= PAIRS_LEAST + PAIRS_PER_THREAD * s->threads.count) {
			s->other_wakes++;
			return 0;
		}
		at = (uint32_t)s->wakes.count;
		if (vector_push(&s->wakes, fresh) < 0 || index_put(&r->wakes_by_pair, key, at) < 0)
			return -ENOMEM;
	}
	s->wakes.items[at].count++;
	return 0;
}

static int count_wakeup(struct sched_run *r, const struct edge *e)
{
	struct sched *s = r->made;
	struct sched_lane *to = sched_lane(r, e->to);
	uint32_t woken = to ? thread_at_time(r, to, e->time) : INDEX_NONE, from;

	if (e->kind != EDGE_WAKEUP || woken == INDEX_NONE || !sched_in_range(r, e->time))
		return 0;
	from = waker_of(r, e);
	s->counts.wakeups++;
	s->threads.items[woken].counts.wakeups++;
	if (from < SCHED_INTERRUPT)
		s->threads.items[from].counts.wakes++;
	if (!s->threads.items[woken].selected &&
	    (from >= SCHED_INTERRUPT || !s->threads.items[from].selected))
		return 0;
	return count_pair(r, from, woken);
}

static int sched_take(struct sched_run *r, enum record_kind kind, const void *record)
{
	const struct slice *slice = record;
	const struct edge *edge = record;

	switch (kind) {
	case KIND_HOST:
		sched_take_host(r, record);
		return 0;
	case KIND_LANE:
		return sched_take_lane(r, record);
	case KIND_THREAD:
		return sched_take_thread(r, record);
	case KIND_SLICE:
		r->last = slice->end > r->last ? slice->end : r->last;
		return count_switch(r, slice);
	case KIND_EDGE:
		r->last = edge->time > r->last ? edge->time : r->last;
		return count_wakeup(r, edge);
	default:
		return 0;
	}
}

static int sched_run_put(struct sink *sink, enum record_kind kind, const void *record,
			 struct error *err)
{
	struct sched_run *r = (struct sched_run *)sink;
	int ret = sched_take(r, kind, record);

	if (ret < 0)
		return error_errno(err, ret, "cannot add up what the scheduler did");
	return states_put(r->states, kind, record, err);
}

/*
 * Finish after all records have come: end the states, which reports their last stretches, and then
 * complete the counts of threads that ran at once.
 */
static int sched_end(struct sched_run *r, struct error *err)
{
	struct sched *s = r->made;
	int ret = states_end(r->states, s->to > r->last ? s->to : r->last, err);

	if (ret < 0)
		return ret;
	s->disorder += states_disorder(r->states);
	if (r->open)
		s->to = r->last > s->from ? r->last : s->from;
	ret = overlap_finish(&s->at_once);
	for (size_t i = 0; i < s->processes.count && !ret; i++)
		ret = overlap_finish(&s->processes.items[i].at_once);
	return ret < 0 ? error_errno(err, ret, "cannot add up what the scheduler did") : 0;
}

static const struct sink_ops sched_run_ops = {.put = sched_run_put};

int sched_read(struct sched **out, struct source *source, const struct sched_query *q,
	       struct error *err)
{
	struct sched_run r = {
		.sink = {.ops = &sched_run_ops, .wants = WANTS(NEEDED)},
		.query = q,
		.open = true,
	};
	const struct states_events events = {.stretch = sched_count_stretch, .context = &r};
	int ret;

	r.made = calloc(1, sizeof(*r.made));
	if (!r.made)
		return error_errno(err, -ENOMEM, "cannot read the scheduler's records");
	ret = states_new(&r.states, &events, err);
	if (!ret)
		ret = source->ops->run(source, &r.sink, err);
	if (!ret)
		ret = sched_end(&r, err);
	states_free(r.states);
	index_free(&r.lanes_by_id);
	index_free(&r.threads_by_id);
	index_free(&r.processes_by_id);
	index_free(&r.wakes_by_pair);
	vector_free(&r.lanes);
	vector_free(&r.next_name);
	borders_free(&r.borders);
	if (ret < 0)
		sched_free(r.made);
	else
		*out = r.made;
	return ret;
}
