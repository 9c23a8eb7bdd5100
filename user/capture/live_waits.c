// SPDX-License-Identifier: Apache-2.0
/*
 * Handles the stacks of waits and of wakers: finds the wait in the records of switches, from which
 * its length and class come, and puts a sample with its weight.
 */
#include "bpf/event.h"
#include "capture/live.h"

#include <sys/syscall.h>

/* Return whether the first argument of a system call (number + 1) is the address of a futex. */
static bool waits_for_futex(unsigned int call)
{
	return call == __NR_futex + 1 || call == 455 + 1; /* futex_wait(), since Linux 6.7 */
}

static enum wait_event wait_event_of(const struct wire_sample *s)
{
	return s->kind == WIRE_WAKER ? WAIT_EVENT_WAKER : WAIT_EVENT_WAIT;
}

int live_describe_wait(struct live *l, const struct wire_sample *s, struct sample *r, bool *known,
		       struct error *err)
{
	const struct wire_wait *wire = (const void *)(s + 1);
	bool waker = s->kind == WIRE_WAKER, open = s->kind == WIRE_OPEN_WAIT;
	struct found_wait w;
	int ret = schedule_find_wait(l->switches.schedule, waker ? wire->other : s->tid, s->time,
				     &w, err);

	*known = !ret && w.left && (waker || open == !w.woken);
	if (ret || !*known)
		return ret;
	r->event = waker ? WAKER_EVENT_ID : WAIT_EVENT_ID;
	r->length = (waker || open ? s->time : w.woken) - w.left;
	r->weight = wait_stacks_weight(l->switches.waits, wire, r->length);
	r->wait = w.wait;
	r->other = waker ? w.thread : w.waker;
	if (open)
		r->flags |= SAMPLE_FLAG_NOT_ENDED;
	else if (!waker && w.interrupt)
		r->flags |= (uint64_t)SAMPLE_FLAG_BY_TIMER << (w.interrupt - INTERRUPT_TIMER);
	r->address = waits_for_futex(wire->call) ? wire->argument : 0;
	return 0;
}

void live_count_wait(struct live *l, const struct wire_sample *s, enum live_outcome outcome)
{
	enum wait_event event = wait_event_of(s);

	if (s->kind == WIRE_OPEN_WAIT)
		return; /* counted by live_put_open_waits() */
	if (outcome == LIVE_FILTERED)
		wait_stacks_count_filtered(l->switches.waits, event, s->cpu);
	else
		wait_stacks_count_unknown(l->switches.waits, event, s->cpu);
}
