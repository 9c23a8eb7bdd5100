// SPDX-License-Identifier: Apache-2.0
/* What threads wait for, by the records of switches and wake-ups: the last wait of each thread. */
#include "capture/schedule_private.h"

#include "capture/waits.h"

struct leaving schedule_leaving(const struct wire_switch *r)
{
	unsigned int how = switch_how(r), detail = switch_detail(r);

	return (struct leaving){
		.state = waits_state(how, detail),
		.wait = waits_class(how, detail, switch_number(r)),
	};
}

static int pass_event(const struct schedule *s, struct schedule_event event, struct error *err)
{
	event.epoch = s->epoch;
	return s->c.on_event ? s->c.on_event(s->c.context, &event, err) : 0;
}

int schedule_leaves(struct schedule *s, const struct scheduled_cpu *c,
		    const struct switched_thread *thread, const struct wire_switch *r,
		    struct error *err)
{
	const struct leaving left = schedule_leaving(r);
	const bool waits = left.state == STATE_SLEEPING || left.state == STATE_DISK;
	const struct cached_thread *k;
	int ret;

	if (!thread->tid || thread->other || !((s->c.waits && waits) || s->c.on_event))
		return 0;
	ret = schedule_find_thread(s, thread->tid, c->last, &k, err);
	if (ret)
		return ret;
	if (s->c.waits && waits)
		k->thread->wait = (struct thread_wait){.epoch = s->epoch,
						       .left = c->last,
						       .wait = (uint8_t)left.wait,
						       .cpu = (uint16_t)(c - s->cpus)};
	if (!k->wanted)
		return 0;
	return pass_event(s,
			  (struct schedule_event){
				  .time = c->last,
				  .thread = k->thread,
				  .kind = THREAD_LEAVES,
				  .state = left.state,
				  .lock = waits_lock(switch_number(r)),
				  .class = c->class,
			  },
			  err);
}

int schedule_runs(struct schedule *s, struct thread_entry *t, uint64_t time, struct error *err)
{
	return pass_event(
		s, (struct schedule_event){.time = time, .thread = t, .kind = THREAD_RUNS}, err);
}

/* Keep when a thread's wait ends, and what ended it. */
static void end_wait(const struct schedule *s, struct thread_entry *t, uint64_t time,
		     const struct found_waker *waker)
{
	if (!s->c.waits || t->wait.epoch != s->epoch)
		return;
	if (t->wait.woken) {
		/* it ran and left in between, which was not reported: this is another wait */
		t->wait.left = 0;
		return;
	}
	t->wait.woken = time;
	t->wait.waker = waker->thread;
	t->wait.interrupt = (uint8_t)waker->interrupt;
}

int schedule_is_woken(struct schedule *s, struct thread_entry *t, uint64_t time,
		      const struct found_waker *waker, struct error *err)
{
	end_wait(s, t, time, waker);
	return pass_event(s,
			  (struct schedule_event){
				  .time = time,
				  .thread = t,
				  .waker = waker->entry,
				  .kind = THREAD_IS_WOKEN,
			  },
			  err);
}

int schedule_find_wait(struct schedule *s, uint32_t tid, uint64_t time, struct found_wait *out,
		       struct error *err)
{
	const struct cached_thread *k;
	int ret = schedule_find_thread(s, tid, time, &k, err);
	const struct thread_wait *w;

	*out = (struct found_wait){0};
	if (ret)
		return ret;
	w = &k->thread->wait;
	out->thread = k->thread->id;
	if (!w->left || w->epoch != s->epoch || w->left > time || (w->woken && w->woken < w->left))
		return 0;
	out->left = w->left;
	out->woken = w->woken;
	out->waker = w->waker;
	out->interrupt = (enum interrupt)w->interrupt;
	out->wait = (enum wait_class)w->wait;
	return 0;
}

/* What schedule_each_open_wait() passes on. */
struct open_wait_visit {
	struct schedule *schedule;
	schedule_open_wait each;
	void *context;
};

static int visit_open_wait(void *context, struct thread_entry *t)
{
	const struct open_wait_visit *v = context;
	const struct schedule *s = v->schedule;
	const struct process_entry *p;

	if (!t->wait.left || t->wait.woken || t->wait.epoch != s->epoch || t->tid == NUMBER_OUTSIDE)
		return 0;
	p = process_table_of_pid(s->c.table, t->pid);
	if (!p || (s->c.wanted && !s->c.wanted(s->c.context, p, t)))
		return 0;
	return v->each(v->context, t);
}

int schedule_each_open_wait(struct schedule *s, schedule_open_wait each, void *context)
{
	struct open_wait_visit v = {s, each, context};

	return process_table_each_thread(s->c.table, visit_open_wait, &v);
}
