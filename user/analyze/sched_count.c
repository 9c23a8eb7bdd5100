// SPDX-License-Identifier: Apache-2.0
/* Add up the states of CPUs and threads, stretch by stretch. */
#include <errno.h>
#include <stdlib.h>

#include "analyze/sched_count.h"

/* Cut a stretch to the range. Return false if no part of it lies in the range. */
static bool cut_stretch(const struct sched_run *r, const struct stretch *s, uint64_t *time,
			uint64_t *end)
{
	const struct sched *made = r->made;

	*time = s->time > made->from ? s->time : made->from;
	*end = r->open || s->end < made->to ? s->end : made->to;
	return *time < *end;
}

static int sched_cached_thread(struct sched_run *r, struct sched_lane *l, uint64_t id,
			       uint32_t *out)
{
	const struct thread unknown = {.id = id};
	int ret = 0;

	if (!l->cached_id || l->cached_id != id) {
		ret = sched_thread_of(r, &unknown, &l->cached);
		l->cached_id = ret ? 0 : id;
	}
	*out = l->cached;
	return ret;
}

/*
 * Count one more running thread for the whole machine and, if the thread is selected, for its
 * process.
 */
static int count_running_at_once(struct sched_run *r, struct sched_lane *l, const struct stretch *s,
				 uint64_t time, uint64_t end)
{
	int ret = overlap_add(&r->made->at_once, &r->borders, time, end);
	const struct sched_thread *thread;
	uint32_t at;

	if (ret == -EINVAL) {
		r->made->disorder++;
		return 0;
	}
	if (ret || !s->thread)
		return ret;
	ret = sched_cached_thread(r, l, s->thread, &at);
	if (ret < 0)
		return ret;
	thread = &r->made->threads.items[at];
	if (!thread->selected)
		return 0;
	ret = overlap_add(&r->made->processes.items[thread->process].at_once, &r->borders, time,
			  end);
	return ret == -EINVAL ? 0 : ret;
}

static int count_cpu_stretch(struct sched_run *r, struct sched_lane *l, const struct stretch *s)
{
	struct sched_cpu *cpu = r->made->cpus.items[l->cpu];
	uint64_t time, end;
	int ret = 0;

	if (!cut_stretch(r, s, &time, &end))
		return 0;
	/* The first stretch of a CPU need not begin where the range does. */
	if (l->end != time && borders_move(&r->borders, l->cpu, time) < 0)
		return -ENOMEM;
	l->end = end;
	if (s->state == STATE_IDLE) {
		cpu->idle += end - time;
	} else if (s->state == STATE_RUNNING) {
		cpu->busy += end - time;
		series_add(&cpu->busy_when, time, end);
		ret = count_running_at_once(r, l, s, time, end);
	} else if (s->state != STATE_OFFLINE) {
		cpu->unknown += end - time;
		series_add(&cpu->unknown_when, time, end);
	}
	return ret ? ret : borders_move(&r->borders, l->cpu, end);
}

/* Return whether a wait in the run queue follows a wake-up or the loss of the CPU. */
static enum queued how_queued(const struct sched_lane *l, const struct stretch *s)
{
	bool followed = l->end == s->time && l->state;

	if (s->waker || s->target)
		return QUEUED_WOKEN;
	if (s->state == STATE_PREEMPTED || !followed || l->state == STATE_UNKNOWN)
		return QUEUED_PREEMPTED;
	return l->state == STATE_RUNNING ? QUEUED_PREEMPTED : QUEUED_WOKEN;
}

static bool is_queued(enum slice_state state)
{
	return state == STATE_RUNNABLE || state == STATE_PREEMPTED;
}

/*
 * Return a pointer to the sum of times in a state; for the run queue, the sum depends on how the
 * thread came there.
 */
static uint64_t *sched_state_time(struct sched_times *t, const struct stretch *s,
				  enum queued queued)
{
	switch (s->state) {
	case STATE_RUNNING:
		return &t->running;
	case STATE_RUNNABLE:
	case STATE_PREEMPTED:
		return &t->queued[queued];
	case STATE_SLEEPING:
	case STATE_DISK:
		return &t->blocked[s->wait < WAIT_COUNT ? s->wait : 0];
	case STATE_THROTTLED:
		return &t->blocked[WAIT_THROTTLED];
	case STATE_STOPPED:
		return &t->stopped;
	case STATE_PARKED:
	case STATE_UNUSED:
		return &t->unused;
	default:
		return &t->unknown;
	}
}

/* Count the wait of a thread that has got a CPU and so has stopped waiting. */
static int count_wait(struct sched_run *r, const struct sched_lane *l, const struct stretch *s,
		      struct sched_thread *t)
{
	struct sched *made = r->made;
	uint64_t ns = s->time - l->waits_since, cpu = s->cpu - 1;
	struct sched_counts c = {0};
	int ret = 0;

	if (s->time < made->from || (!r->open && s->time >= made->to))
		return 0;
	c.waits[l->queued] = 1;
	c.waited[l->queued] = c.longest[l->queued] = ns;
	sched_counts_add(&t->counts, &c);
	sched_counts_add(&made->counts, &c);
	if (t->selected)
		ret = histogram_add(&made->processes.items[t->process].waits[l->queued], ns);
	for (size_t i = 0; i < made->cpus.count && !ret && s->cpu; i++) {
		/* Usually the index of a CPU is its number. */
		size_t at = (i + cpu) % made->cpus.count;

		if (made->cpus.items[at]->number != cpu)
			continue;
		return histogram_add(&made->cpus.items[at]->waits[l->queued], ns);
	}
	return ret;
}

/* Follow a thread from stretch to stretch, for its waits in the run queue. */
static int follow_waits(struct sched_run *r, struct sched_lane *l, const struct stretch *s,
			struct sched_thread *t)
{
	bool followed = l->waits && l->end == s->time;
	int ret = 0;

	if (s->state == STATE_RUNNING && followed && l->whole)
		ret = count_wait(r, l, s, t);
	if (is_queued(s->state) && !followed) {
		l->queued = how_queued(l, s);
		l->waits_since = s->time;
		l->whole = s->whole;
	} else if (is_queued(s->state)) {
		l->whole = l->whole && s->whole;
	}
	l->waits = is_queued(s->state);
	l->state = s->state;
	l->end = s->end;
	return ret;
}

static int count_thread_stretch(struct sched_run *r, struct sched_lane *l, const struct stretch *s)
{
	struct sched *made = r->made;
	uint64_t time, end;
	struct sched_thread *t;
	uint32_t at;
	int ret = sched_cached_thread(r, l, s->thread, &at);

	if (ret < 0 || s->state == STATE_DEAD)
		return ret;
	t = &made->threads.items[at];
	ret = follow_waits(r, l, s, t);
	if (ret || !cut_stretch(r, s, &time, &end))
		return ret;
	*sched_state_time(&t->times, s, l->queued) += end - time;
	*sched_state_time(&made->times, s, l->queued) += end - time;
	if (is_queued(s->state))
		series_add(&made->waiting_when, time, end);
	return 0;
}

int sched_count_stretch(void *context, const struct stretch *s, struct error *err)
{
	struct sched_run *r = context;
	struct sched_lane *l = sched_lane(r, s->lane);
	int ret = 0;

	if (l && l->kind == LANE_CPU)
		ret = count_cpu_stretch(r, l, s);
	else if (l && l->kind == LANE_THREAD)
		ret = count_thread_stretch(r, l, s);
	return ret < 0 ? error_errno(err, ret, "cannot add up what the scheduler did") : 0;
}

uint64_t sched_blocked(const struct sched_times *t)
{
	uint64_t ns = 0;

	for (int wait = 0; wait < WAIT_COUNT; wait++)
		ns += t->blocked[wait];
	return ns;
}

uint64_t sched_queued(const struct sched_times *t)
{
	return t->queued[QUEUED_WOKEN] + t->queued[QUEUED_PREEMPTED];
}

uint64_t sched_life(const struct sched_times *t)
{
	return t->running + sched_queued(t) + sched_blocked(t) + t->stopped + t->unused +
	       t->unknown;
}

void sched_times_add(struct sched_times *to, const struct sched_times *from)
{
	to->running += from->running;
	to->stopped += from->stopped;
	to->unused += from->unused;
	to->unknown += from->unknown;
	for (int how = 0; how < QUEUED_COUNT; how++)
		to->queued[how] += from->queued[how];
	for (int wait = 0; wait < WAIT_COUNT; wait++)
		to->blocked[wait] += from->blocked[wait];
}

void sched_counts_add(struct sched_counts *to, const struct sched_counts *from)
{
	to->wakeups += from->wakeups;
	to->wakes += from->wakes;
	for (int how = 0; how < SWITCH_COUNT; how++)
		to->switches[how] += from->switches[how];
	for (int how = 0; how < QUEUED_COUNT; how++) {
		to->waits[how] += from->waits[how];
		to->waited[how] += from->waited[how];
		if (from->longest[how] > to->longest[how])
			to->longest[how] = from->longest[how];
	}
}

static void free_wait_histograms(struct histogram *waits)
{
	for (int how = 0; how < QUEUED_COUNT; how++)
		histogram_free(&waits[how]);
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->processes.count; i++) {
		free_wait_histograms(s->processes.items[i].waits);
		overlap_free(&s->processes.items[i].at_once);
	}
	for (size_t i = 0; i < s->cpus.count; i++) {
		free_wait_histograms(s->cpus.items[i]->waits);
		free(s->cpus.items[i]);
	}
	vector_free(&s->threads);
	vector_free(&s->processes);
	vector_free(&s->cpus);
	vector_free(&s->wakes);
	overlap_free(&s->at_once);
	free(s);
}
