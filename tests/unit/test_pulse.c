// SPDX-License-Identifier: Apache-2.0
/* pulse.h: whether an event has stopped, with and without reading it. The event is a file here. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/pulse.h"
#include "suite.h"

#define START (1000 * NSEC_PER_SEC)
#define NOT_READ 0 /* an enabled time that would show a stop if it was read */

static int event;

/* Check at the time now of an event that has been enabled for so long, ns. */
static bool stops(struct pulse *p, uint64_t enabled, bool ticked, uint64_t now)
{
	struct pulse_reading r = {.enabled = enabled};

	ck_assert_int_eq(pwrite(event, &r, sizeof(r), 0), sizeof(r));
	ck_assert_int_eq(lseek(event, 0, SEEK_SET), 0);
	return pulse_stopped(p, event, ticked, now);
}

static void begin_pulse(struct pulse *p)
{
	event = memfd_create("event", 0);
	ck_assert_int_ge(event, 0);
	*p = (struct pulse){0};
	ck_assert(!stops(p, NSEC_PER_SEC, false, START));
}

START_TEST(events_that_are_read)
{
	struct pulse p;

	begin_pulse(&p);
	ck_assert(!stops(&p, NOT_READ, false, START + NSEC_PER_MSEC));
	ck_assert(!stops(&p, 2 * NSEC_PER_SEC, false, START + NSEC_PER_SEC));
	ck_assert(!stops(&p, 3 * NSEC_PER_SEC, false, START + 2 * NSEC_PER_SEC));
	ck_assert(stops(&p, 3 * NSEC_PER_SEC + 1, false, START + 3 * NSEC_PER_SEC));
	close(event);
}
END_TEST

START_TEST(events_that_tick)
{
	struct pulse p;

	begin_pulse(&p);
	for (uint64_t second = 1; second < 60; second++)
		ck_assert(!stops(&p, NOT_READ, true, START + second * NSEC_PER_SEC));
	/* it stopped after its last tick */
	ck_assert(stops(&p, 60 * NSEC_PER_SEC, false, START + 61 * NSEC_PER_SEC));
	close(event);
	/* it stopped long before, and another one ticks: it is read once a minute */
	begin_pulse(&p);
	for (uint64_t second = 1; second < 60; second++)
		ck_assert(!stops(&p, NOT_READ, true, START + second * NSEC_PER_SEC));
	ck_assert(stops(&p, 2 * NSEC_PER_SEC, true, START + 60 * NSEC_PER_SEC));
	close(event);
	/* its clock is slower by 1 in 1,000: that does not add up over days */
	begin_pulse(&p);
	for (uint64_t second = 1; second < 200000; second++)
		ck_assert(!stops(&p, NSEC_PER_SEC + second * (NSEC_PER_SEC / 1000 * 999),
				 second % 100, START + second * NSEC_PER_SEC));
	close(event);
}
END_TEST

SUITE("pulse", events_that_are_read, events_that_tick)
