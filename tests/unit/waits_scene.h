/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_scene.h with stacks of waits: threads that wait for a lock, a sleep and a kernel thread,
 * some with the stacks of their wakers.
 */
#ifndef SKEIN_TESTS_WAITS_SCENE_H
#define SKEIN_TESTS_WAITS_SCENE_H

#include "sample_scene.h"

#define MS 1000000ULL
#define T (2 * MS)
#define OFF 2
#define WAKERS 3

static const struct event wait_events[] = {
	{OFF, 1, EVENT_OFF_CPU, "ns", T, 0},
	{WAKERS, 1, EVENT_OFF_CPU_WAKERS, "ns", T, 0},
};

#define LOCK_A 0x7000
#define WAIT(at, thread, stack, weight, flags, length, wait, address, other) \
	{ \
		SCENE_START + (at)*MS, OFF, thread, 0, stack, weight, flags, length, wait, \
			address, other \
	}
#define WOKE(at, waker, stack, length, thread) \
	{ \
		SCENE_START + (at)*MS, WAKERS, waker, 0, stack, length, 0, length, WAIT_LOCK, \
			LOCK_A, thread \
	}

static const struct sample waits[] = {
	/* thread 1 waits for a lock in fib, twice for sure and once by chance; 2 and 5 wake it */
	WAIT(11, 1, 8, 10 * MS, 0, 10 * MS, WAIT_LOCK, LOCK_A, 2),
	WAIT(41, 1, 8, 20 * MS, 0, 20 * MS, WAIT_LOCK, LOCK_A, 3),
	WAIT(51, 1, 10, T, 0, MS / 2, WAIT_LOCK, LOCK_A, 3),
	/* thread 2 waits for the same lock in a path with another id; a sleep ends by the timer */
	WAIT(61, 2, 7, 30 * MS, 0, 30 * MS, WAIT_LOCK, LOCK_A, 1),
	WAIT(71, 2, 6, 5 * MS, SAMPLE_FLAG_BY_TIMER, 5 * MS, WAIT_SLEEP, 0, 0),
	/* a kernel thread */
	WAIT(81, 4, 11, 40 * MS, SAMPLE_FLAG_BY_IPI, 40 * MS, WAIT_OTHER, 0, 0),
	/* stacks of wakers, not in the order of the waits; the last one is of no wait here */
	WOKE(60, 1, 2, 30 * MS, 2),
	WOKE(10, 2, 2, 10 * MS, 1),
	WOKE(40, 3, 14, 20 * MS, 1),
	WOKE(90, 3, 13, 77 * MS, 1),
};

static void waits_build(struct scene *s, const void *unused)
{
	scene_build(s, unused);
	SCENE_PUT_ALL(s, EVENT, wait_events);
	SCENE_PUT_ALL(s, SAMPLE, waits);
}

DEFINE_SCENE(waits_source, waits_build)

#endif
