// SPDX-License-Identifier: Apache-2.0
/*
 * Notes times in which the machine was suspended, as losses. Nothing else is to be done: the events
 * and the accounts of samples stand still meanwhile. CPUs that the kernel took offline for the
 * suspend are opened again as after any other absence (live_cpus.c).
 */
#include "capture/clock.h"
#include "capture/live.h"

int live_follow_suspend(struct live *l, struct error *err)
{
	struct suspend_reading r = {.before = clock_ns(CLOCK_MONOTONIC)};
	uint64_t slept;

	r.boot = clock_boot_ns();
	r.after = clock_ns(CLOCK_MONOTONIC);
	slept = suspend_watch(&l->times.suspends, &r);
	if (!slept)
		return 0;
	l->progress.suspended += slept;
	/* It ended since the last tick; when within that second is not known. */
	return ledger_put_suspend(l->ledger, r.boot - slept, r.boot, err);
}
