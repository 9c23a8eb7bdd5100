/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that keeps the samples of a moving window and the entities to which they refer, and makes
 * profiles of these. It may run for days: an entity to which no sample of the window refers is
 * dropped as soon as no later sample can refer to it. A process or thread is dropped some time
 * after its end; a stack, frame, function or mapping after the source has forgotten it
 * (sink_ops.forget), which the source must do now and then. Hosts and events are kept.
 *
 * A sample from the future (after a jump of the clock) moves the window, whose earlier part is then
 * empty.
 */
#ifndef SKEIN_ANALYZE_RECENT_H
#define SKEIN_ANALYZE_RECENT_H

#include "analyze/profile.h"

/*
 * Make the sink, with a window in ns. Finishing it has no effect; free it with sink_free(). Return
 * 0 or -ENOMEM.
 */
int recent_sink(struct sink **out, uint64_t window, struct error *err);

struct recent_account {
	uint64_t span; /* ns that the accounts cover: up to the last tick */
	struct account total; /* sum over all CPUs; cpu has no meaning */
	unsigned int cpus; /* number of accounts, one per CPU and event */
	/*
	 * Number of lost records by reason. A loss that began before the window counts fully.
	 * LOSS_NOT_DELIVERED includes due samples that no account or loss explains.
	 */
	uint64_t lost[LOSS_COUNT];
};

/* Equal waits whose stacks were taken: samples of the event EVENT_OFF_CPU. */
struct recent_wait {
	uint64_t thread, stack; /* thread.id and stack.id of the thread that waited */
	uint64_t
		other; /* thread.id of the thread that ended them; 0: an interrupt did, see flags */
	enum wait_class wait;
	uint32_t flags; /* enum sample_flag: by which interrupt */
	uint64_t count, weight; /* weight: ns, of long waits only the part in the window */
};

/* The contents of a window. */
struct recent_window {
	/* profile with the names known so far; free it with profile_free() */
	struct profile *profile;
	uint64_t span; /* ns; at first less than the window, later up to a twentieth more */
	struct recent_account account;
	struct recent_wait *waits; /* free them with free() */
	size_t wait_count;
};

/*
 * Get the window of s, a sink of recent_sink(), at the time now (ns). Return 0, or a negative errno
 * with *out unchanged.
 */
int recent_window(struct sink *s, uint64_t now, struct recent_window *out, struct error *err);

#endif
