// SPDX-License-Identifier: Apache-2.0
/* Write a flight on a thread of its own (flight_copy.h). */
#include "serve/flight_copy.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "trace/trace.h"

#define TICKS_HELD_BACK 10 /* about a second each */
#define READ_WAIT 1000 /* us between two looks whether the file was read */

static void *write_flight_copy(void *context)
{
	struct flight_copy *c = context;

	c->ret = frozen_trace_copy(&c->from, c->path, &c->err);
	if (!c->ret)
		c->ret = flight_files_publish(c->out, &c->name, c->path, &c->budget, &c->err);
	__atomic_store_n(&c->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

int flight_copy_begin(struct flight_copy *c, struct sink *ring, uint64_t now,
		      const struct flight_name *name, struct error *err)
{
	int ret;

	*c = (struct flight_copy){.budget = c->budget};
	snprintf(c->folder, sizeof(c->folder), "%s", name->folder);
	snprintf(c->reason, sizeof(c->reason), "%s", name->reason);
	c->name = (struct flight_name){c->folder, c->reason, name->begin, name->end};
	ret = flight_files_open_path(c->path, sizeof(c->path), c->folder, err);
	if (!ret)
		ret = trace_writer_freeze(ring, now, &c->from, err);
	if (ret)
		return ret;
	c->frozen = c->running = true;
	ret = -pthread_create(&c->thread, NULL, write_flight_copy, c);
	if (!ret)
		return 0;
	trace_writer_thaw(ring);
	frozen_trace_free(&c->from);
	c->frozen = c->running = false;
	return error_errno(err, ret, "cannot write a trace of the flight recorder");
}

/* Thaw the ring if its file was read. */
static void thaw_ring(struct flight_copy *c, struct sink *ring)
{
	if (!c->frozen || !__atomic_load_n(&c->from.copied, __ATOMIC_ACQUIRE))
		return;
	trace_writer_thaw(ring);
	c->frozen = false;
}

bool flight_copy_settle(struct flight_copy *c, struct sink *ring, bool wait)
{
	if (!c->running || (!wait && !__atomic_load_n(&c->ended, __ATOMIC_ACQUIRE))) {
		thaw_ring(c, ring);
		return false;
	}
	pthread_join(c->thread, NULL);
	thaw_ring(c, ring);
	frozen_trace_free(&c->from);
	c->running = false;
	return true;
}

bool flight_copy_allows_tick(struct flight_copy *c, struct sink *ring)
{
	thaw_ring(c, ring);
	if (c->frozen && ++c->held_back < TICKS_HELD_BACK)
		return false;
	for (; c->frozen; thaw_ring(c, ring))
		usleep(READ_WAIT);
	return true;
}
