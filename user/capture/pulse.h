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

/* ns for which the enabled time may be estimated, before it is read again: its clock differs. */
#define PULSE_ESTIMATE (60 * NSEC_PER_SEC)

/* Zeroed when the event is opened. */
struct pulse {
	uint64_t enabled, time; /* of the event, and CLOCK_MONOTONIC, at the last check, ns */
	uint64_t read; /* when the enabled time was read last and not estimated, ns */
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
 * Return whether the event has stopped since the last check. now: ns of CLOCK_MONOTONIC, which
 * stands still with the events while the machine is suspended. The first call returns false, as
 * does a call within 100 ms of the last check, which checks nothing. An event counts as running if
 * it was enabled for half the time since the last check, since the clocks differ a little.
 *
 * ticked: another event of the CPU, which stops with this one, has run since the last check. Then
 * this one is not read, since a reading interrupts the CPU and waits for it (30 µs to 2 ms in a
 * virtual machine). If it has stopped after the tick, the estimate is too high, and the next check
 * finds that.
 */
static inline bool pulse_stopped(struct pulse *p, int fd, bool ticked, uint64_t now)
{
	uint64_t enabled;
	bool stopped;

	if (p->time && now - p->time < 100 * NSEC_PER_MSEC)
		return false;
	if (p->time && ticked && now - p->read < PULSE_ESTIMATE) {
		p->enabled += now - p->time;
		p->time = now;
		return false;
	}
	enabled = pulse_read_event(fd).enabled;
	stopped = p->time && (int64_t)(enabled - p->enabled) < (int64_t)(now - p->time) / 2;
	*p = (struct pulse){.enabled = enabled, .time = now, .read = now};
	return stopped;
}

#endif
