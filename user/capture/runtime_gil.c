// SPDX-License-Identifier: Apache-2.0
/*
 * The lane of a Python interpreter's lock. Nothing is probed: a thread that waits for the lock
 * sleeps in a futex inside of the interpreter's state (bpf/runtime_lock.h), and a thread that gives
 * the lock up wakes one of those that wait. So while threads wait, each change of the holder is a
 * wake-up. While none waits, nobody's progress depends on the lock, and nothing is known of it.
 *
 * A thread that waits asks for the lock each 5 ms (sys.getswitchinterval()), when a timer wakes it.
 * One that gave the lock up may wait until another one has it, in the same memory but without a
 * time (CPython, Python/ceval_gil.c: take_gil(), drop_gil()). Waking that one gives nothing up.
 */
#include "capture/runtime_gil.h"

#include <errno.h>
#include <stdio.h>

#include "capture/clock.h"
#include "capture/runtime_lanes.h"

/* CPU time in which a thread that was woken looks at the lock and sleeps again, ns: some us. */
#define GIL_LOOK_MAX (NSEC_PER_MSEC / 2)

/* Time between the moment when nobody sleeps for the lock any more and its change of hands, ns. */
#define GIL_HANDOVER_MAX NSEC_PER_MSEC

/* What a thread does about the lock, by its last event. */
enum gil_state {
	GIL_NOTHING, /* or what is not known */
	GIL_WAITS, /* sleeps until it gets the lock or a time is over */
	GIL_WOKEN, /* from that sleep, and has no CPU yet */
	GIL_TRIES, /* runs after it was woken: it gets the lock, or will wait again */
	GIL_TRIES_LATER, /* was woken, but sleeps until it may look at the lock */
	GIL_GAVE_UP, /* sleeps until another thread has the lock */
};

/* Return the lock of a process, without what was known before records were lost. */
static struct gil *gil_of(struct runtime_lanes *p, const struct schedule_event *event)
{
	struct gil *g = p->gil;

	if (!g)
		g = p->gil = calloc(1, sizeof(*g));
	if (g && g->epoch != event->epoch) {
		g->epoch = event->epoch;
		g->waiting = 0;
		g->contended = event->time;
	}
	return g;
}

static enum gil_state last_state(const struct schedule_event *event)
{
	const struct thread_gil *t = &event->thread->gil;

	return t->epoch == event->epoch ? (enum gil_state)t->state : GIL_NOTHING;
}

/*
 * Return whether a thread that now waits has waited before without getting the lock: it was woken,
 * looked at the lock, and sleeps again.
 */
static bool waits_again(const struct schedule_event *event)
{
	return last_state(event) == GIL_TRIES && event->thread->gil.ran < GIL_LOOK_MAX;
}

/* Note what the thread does now. Those that wait and those that were woken count as waiting. */
static void set_state(struct gil *g, const struct schedule_event *event, enum gil_state now)
{
	const enum gil_state before = last_state(event);
	const bool waited = before == GIL_WAITS || before == GIL_WOKEN;
	const bool waits = now == GIL_WAITS || now == GIL_WOKEN;

	if (waits && !waited && !g->waiting++ && !waits_again(event))
		g->contended = event->time;
	if (waited && !waits && g->waiting && !--g->waiting)
		g->uncontended = event->time;
	event->thread->gil = (struct thread_gil){
		.epoch = event->epoch, .since = event->time, .state = (uint8_t)now};
}

/* Count the CPU time of a thread. */
static void count_time(const struct schedule_event *event)
{
	struct thread_gil *t = &event->thread->gil;

	if (event->kind == THREAD_RUNS) {
		t->running = event->time;
	} else if (event->kind == THREAD_LEAVES && t->running) {
		t->ran += event->time - t->running;
		t->running = 0;
	}
}

/* Return "NAME TID", for the caller to free: the threads of a program often have one name. */
static char *name_of(const struct thread_entry *t)
{
	const char *word = t->runtime_name ? t->runtime_name : t->name.comm;
	char *name;

	return asprintf(&name, "%s %u", word[0] ? word : "thread", t->tid) < 0 ? NULL : name;
}

/* Return the arguments of a span, for the caller to free; NULL without memory. */
static char *gil_arguments(struct runtime_events *r, const struct thread_entry *holder,
			   const struct thread_entry *next)
{
	struct json *j = runtime_args_begin(r);

	json_key_uint(j, "tid", holder->tid);
	if (next)
		json_key_uint(j, "given_to", next->tid);
	return runtime_args_end(r);
}

/* That a thread held the lock while others waited. */
struct held {
	const struct thread_entry *by;
	const struct thread_entry *next; /* the thread that it woke to take it; NULL: none */
	uint64_t time, end; /* ns */
};

/* Put a span, which begins where the one before ends, if that is later. */
static int put_held(struct runtime_lanes *p, const struct held *h, struct error *err)
{
	struct runtime_events *r = p->events;
	struct gil *g = p->gil;
	struct open_span s = {
		.time = h->time > g->last_end ? h->time : g->last_end,
		.kind = SPAN_GIL,
		.origin = ORIGIN_SCHEDULER,
	};
	int ret;

	if (s.time >= h->end)
		return 0;
	s.name = name_of(h->by);
	s.args = gil_arguments(r, h->by, h->next);
	ret = runtime_put_span(r, g->track.lane, &s, h->end, err);
	free(s.name);
	free(s.args);
	g->last_end = g->contended = h->end;
	return ret;
}

/* The thread leaves a CPU, and does not wait for the lock. */
static void on_other_wait(struct runtime_lanes *p, const struct schedule_event *event)
{
	/*
	 * If others wait, it sleeps with the lock: giving it up would have woken one of them. If
	 * none waits, it may have given it up.
	 */
	if (last_state(event) == GIL_TRIES && (!p->gil->waiting || event->state == STATE_DEAD))
		set_state(p->gil, event, GIL_NOTHING);
}

/*
 * The thread waits again, and has run for long since its last wait: it held the lock since then,
 * and gave it up at a moment when all others that want it were looking at it, and none slept. That
 * was just now: it waits at once until another one has it. If nobody has wanted it for some time,
 * it may have given it up at any time.
 */
static int on_silent_release(struct runtime_lanes *p, const struct schedule_event *event,
			     struct error *err)
{
	const struct gil *g = p->gil;
	const struct held h = {
		.by = event->thread,
		.time = event->thread->gil.since > g->contended ? event->thread->gil.since
								: g->contended,
		.end = event->time,
	};

	if (!g->waiting && event->time - g->uncontended > GIL_HANDOVER_MAX)
		return 0;
	return put_held(p, &h, err);
}

static int on_leaving(struct runtime_lanes *p, const struct schedule_event *event,
		      struct error *err)
{
	const bool sleeps = event->state == STATE_SLEEPING;
	const bool waits = sleeps && event->lock == WIRE_LOCK_GIL;
	const bool gives_up = sleeps && event->lock == WIRE_LOCK_GIL_STATE;
	const enum gil_state before = last_state(event);
	bool held;
	int ret = 0;

	count_time(event);
	held = before == GIL_TRIES && !waits_again(event);
	if (!waits && !gives_up) {
		if (sleeps || event->state == STATE_DISK || event->state == STATE_DEAD)
			on_other_wait(p, event);
		return 0;
	}
	if (held)
		ret = on_silent_release(p, event, err);
	if (waits)
		set_state(p->gil, event, GIL_WAITS);
	else if (!held && (before == GIL_TRIES || before == GIL_TRIES_LATER))
		set_state(p->gil, event, GIL_TRIES_LATER);
	else
		set_state(p->gil, event, GIL_GAVE_UP);
	return ret;
}

/* Return false for a thread whose last switch was not reported: it runs since an unknown time. */
static bool is_known_to_run(const struct thread_gil *t)
{
	return t->state == GIL_NOTHING || t->state == GIL_TRIES;
}

/*
 * A thread that waits is woken. If a thread of its process did that, it has just given the lock up:
 * it had the lock since the others began to wait, or since it came back from its own wait, if that
 * was later.
 */
static int on_woken(struct runtime_lanes *p, const struct schedule_event *event, struct error *err)
{
	struct thread_entry *waker = event->waker;
	struct held h = {
		.by = waker, .next = event->thread, .time = p->gil->contended, .end = event->time};

	if (last_state(event) != GIL_WAITS)
		return 0;
	set_state(p->gil, event, GIL_WOKEN);
	if (!waker || waker->process != event->thread->process)
		return 0;
	if (waker->gil.epoch == event->epoch && waker->gil.since > h.time)
		h.time = is_known_to_run(&waker->gil) ? waker->gil.since : event->time;
	waker->gil = (struct thread_gil){.epoch = event->epoch, .since = event->time};
	return put_held(p, &h, err);
}

static void on_running(struct runtime_lanes *p, const struct schedule_event *event)
{
	const enum gil_state before = last_state(event);

	if (before == GIL_WAITS || before == GIL_WOKEN || before == GIL_TRIES_LATER)
		set_state(p->gil, event, GIL_TRIES);
	else if (before == GIL_GAVE_UP)
		set_state(p->gil, event, GIL_NOTHING);
	count_time(event);
}

static bool concerns_gil(const struct schedule_event *event)
{
	return last_state(event) != GIL_NOTHING ||
	       (event->kind == THREAD_LEAVES && event->state == STATE_SLEEPING &&
		(event->lock == WIRE_LOCK_GIL || event->lock == WIRE_LOCK_GIL_STATE));
}

int runtime_gil_event(struct runtime_events *r, const struct schedule_event *event,
		      struct error *err)
{
	struct process_entry *of;
	struct runtime_lanes *p;
	int ret;

	if (!concerns_gil(event))
		return 0;
	of = process_table_find(r->c.table, event->thread->pid, event->thread->process);
	if (!of || !of->id)
		return 0;
	p = runtime_lanes_of(r, of, event->time);
	if (!p || !gil_of(p, event))
		return error_errno(err, -ENOMEM, "the lock of an interpreter");
	ret = runtime_gil_lane(p, of, err);
	if (ret)
		return ret;
	if (event->kind == THREAD_IS_WOKEN)
		return on_woken(p, event, err);
	if (event->kind == THREAD_LEAVES)
		return on_leaving(p, event, err);
	on_running(p, event);
	return 0;
}
