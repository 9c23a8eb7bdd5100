/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds the lock of a Python interpreter (GIL) while other threads wait for it, from the
 * records of switches and wake-ups alone.
 */
#ifndef SKEIN_CAPTURE_RUNTIME_GIL_H
#define SKEIN_CAPTURE_RUNTIME_GIL_H

#include "capture/runtime_events.h"
#include "capture/schedule.h"

/*
 * Handle an event of the schedule. Puts a span of kind GIL on the lane "GIL" of the process when a
 * thread gives the lock up. Return 0 or a negative errno.
 */
int runtime_gil_event(struct runtime_events *r, const struct schedule_event *event,
		      struct error *err);

#endif
