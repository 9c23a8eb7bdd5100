/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects whether a perf event of a CPU still runs. When its CPU goes offline, the kernel stops the
 * event for good without any notification, even if the CPU comes back before the recorder looks.
 * The enabled time of a stopped event stands still.
 */
#ifndef SKEIN_CAPTURE_PULSE_H
#define SKEIN_CAPTURE_PULSE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "capture/clock.h"

/* perf_event_attr.read_format with which read(2) returns a struct pulse_reading. */
#define PULSE_FORMAT PERF_FORMAT_TOTAL_TIME_ENABLED

struct pulse_reading {
	uint64_t count;
	uint64_t enabled; /* ns */
};

/*
 * Enabled time of the event, and CLOCK_BOOTTIME, at the last check, ns; zeroed when the event is
 * opened.
 */
struct pulse {
	uint64_t enabled, time;
};

/* Read an event; all zero if that fails. */
static inline struct pulse_reading pulse_read_event(int fd)
{
	struct pulse_reading r = {0};

	if (read(fd, &r, sizeof(r)) != sizeof(r))
		r = (struct pulse_reading){0};
	return r;
}

/*
 * Return whether the event has stopped since the last check. now: ns of CLOCK_BOOTTIME. The first
 * call returns false, as does a call within 100 ms of the last check, which checks nothing. An
 * event counts as running if it was enabled for half the time since the last check, since the
 * clocks differ a little.
 */
static inline bool pulse_stopped(struct pulse *p, int fd, uint64_t now)
{
	uint64_t enabled = pulse_read_event(fd).enabled;
	bool stopped;

	if (p->time && now - p->time < 100 * NSEC_PER_MSEC)
		return false;
	stopped = p->time && enabled - p->enabled < (now - p->time) / 2;
	*p = (struct pulse){.enabled = enabled, .time = now};
	return stopped;
}

#endif
