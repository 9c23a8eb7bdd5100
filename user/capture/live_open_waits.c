// SPDX-License-Identifier: Apache-2.0
/*
 * Handles stacks of threads whose waits have not ended, at the end of the recording and for a copy
 * of the trace. All of them are read while switches are still recorded. Then the records say which
 * threads were woken meanwhile: their stacks are dropped, since those waits have ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/live.h"

/* Time (ns) between drains of the rings while stacks are read. */
#define DRAIN_INTERVAL (10 * NSEC_PER_MSEC)
/* Limit (ns) for the records before a copy to come into order. */
#define ORDER_LIMIT (NSEC_PER_SEC / 2)

static int push_open_wait(void *context, const struct wire_sample *s, uint32_t size)
{
	struct live *l = context;

	return order_push(l->rings.order, l->switches.open.ring, s->time, s, size);
}

int live_read_open_waits(struct live *l, struct error *err)
{
	struct live_open_waits *o = &l->switches.open;
	uint64_t now = clock_boot_ns(), drained = now;
	int more, ret = 0;

	o->taken.count = 0;
	o->begun = now;
	/* What cannot be read is counted by live_put_open_waits(). */
	for (more = open_waits_begin(o->reader, now) ? 0 : 1; more > 0 && !ret;) {
		now = clock_boot_ns();
		more = open_waits_read(o->reader, now, push_open_wait, l);
		if (now - drained > DRAIN_INTERVAL) {
			drained = now;
			ret = live_drain(l, err);
		}
	}
	return !ret && more == -ENOMEM ? error_errno(err, more, "stacks of waits") : ret;
}

int live_keep_open_wait(struct live *l, const struct sample *r, struct error *err)
{
	return vector_push(&l->switches.open.taken, *r) < 0
		       ? error_errno(err, -ENOMEM, "stacks of waits")
		       : 0;
}

static int compare_open_waits(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Waits that are put, up to a time. */
struct open_waits_put {
	struct live *live;
	uint64_t time; /* ns */
	struct error *err;
};

static const struct sample *find_taken(const struct live_open_waits *o, uint64_t thread)
{
	const struct sample key = {.thread = thread};

	return o->taken.count ? bsearch(&key, o->taken.items, o->taken.count, sizeof(key),
					compare_open_waits)
			      : NULL;
}

/* Put the wait of a thread whose wait has not ended, if its stack was taken in this wait. */
static int put_open_wait(void *context, const struct thread_entry *t)
{
	const struct open_waits_put *put = context;
	struct live *l = put->live;
	const struct sample *taken = find_taken(&l->switches.open, t->id);
	bool right = taken && taken->time - taken->length == t->wait.left;
	struct sample r;

	if (right && put->time > t->wait.left) {
		r = *taken;
		r.cpu = t->wait.cpu;
		r.time = put->time;
		r.length = r.weight = put->time - schedule_round_time(t->wait.left);
		wait_stacks_count_open(l->switches.waits, t->wait.cpu, OPEN_WAIT_WRITTEN);
		l->progress.samples++;
		return put_sample(l->sink, &r, put->err);
	}
	wait_stacks_count_open(l->switches.waits, t->wait.cpu,
			       t->wait.left >= l->switches.open.begun ? OPEN_WAIT_CUT_OFF
								      : OPEN_WAIT_UNREAD);
	return 0;
}

int live_put_open_waits(struct live *l, uint64_t time, struct error *err)
{
	struct live_open_waits *o = &l->switches.open;
	struct open_waits_put put = {l, time, err};

	if (o->taken.count)
		qsort(o->taken.items, o->taken.count, sizeof(*o->taken.items), compare_open_waits);
	return schedule_each_open_wait(l->switches.schedule, put_open_wait, &put);
}

static bool wants_more_names(const struct live *l)
{
	return symbolizer_pending(l->helpers.symbolizer) || opener_pending(l->helpers.opener);
}

/*
 * Handle all records up to a time (ns), and wait for the names of the stacks, most of which have
 * not been seen before: a copy is read elsewhere.
 */
static int handle_records_until(struct live *l, uint64_t time, struct error *err)
{
	static const struct timespec pause = {.tv_nsec = 2 * NSEC_PER_MSEC};
	uint64_t now;
	int ret;

	do {
		(void)nanosleep(&pause, NULL);
		ret = live_drain(l, err);
		if (!ret)
			ret = live_poll_helpers(l, true, err);
		now = clock_boot_ns();
	} while (!ret && ((l->rings.mark < time && now < time + ORDER_LIMIT) ||
			  (wants_more_names(l) && now < time + l->options.wait_names)));
	return ret;
}

int live_copy_open_waits(struct live *l, struct error *err)
{
	int ret = live_read_open_waits(l, err);

	if (!ret)
		ret = handle_records_until(l, clock_boot_ns(), err);
	l->stacks.put_open = true;
	if (!ret)
		ret = live_retry_stacks(l, false, err);
	l->stacks.put_open = false;
	/* Those that have ended meanwhile have the stacks of their ends. */
	if (!ret)
		ret = live_put_open_waits(l, clock_boot_ns(), err);
	l->switches.open.copied = true;
	return ret;
}

void live_drop_open_waits(struct live *l)
{
	if (!l->switches.open.copied)
		return;
	l->switches.open.copied = false;
	wait_stacks_drop_open(l->switches.waits);
}

void live_free_open_waits(struct live *l)
{
	program_join_java(l->program); /* it loads a part of the reader */
	open_waits_free(l->switches.open.reader);
	l->switches.open.reader = NULL;
	vector_free(&l->switches.open.taken);
}
