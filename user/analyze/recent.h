/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was recorded lately: a sink that keeps the samples of a window that moves on, and whatever
 * they refer to, and makes profiles of it. It may run for days: entities that no sample of the
 * window refers to are dropped as soon as no sample to come can. Of processes and threads that is
 * so some time after they have ended; of the others when the source has forgotten them
 * (sink_ops.forget), which it must do now and then.
 *
 * A sample from the future (a clock that jumped) moves the window on; its past is empty then.
 */
#ifndef SKEIN_ANALYZE_RECENT_H
#define SKEIN_ANALYZE_RECENT_H

#include "analyze/profile.h"

/* A sink; finishing it means nothing, free it with sink_free(). window: ns. */
int recent_sink(struct sink **ret, uint64_t window, struct error *err);

struct recent_account {
	uint64_t span; /* ns that the accounts tell of: up to the last tick */
	struct account total; /* of all CPUs; cpu means nothing */
	unsigned int cpus;
	uint64_t lost[LOSS_COUNT]; /* records, by reason; what was not delivered as far as it shows */
};

/* What is in a window. */
struct recent_window {
	struct profile *profile; /* whole names as they are by now; free with profile_free() */
	uint64_t span; /* ns: less than the window at first, and up to a twentieth more later */
	struct recent_account account;
};

/* The window of s, from recent_sink(), as it is now (ns): 0, or -ENOMEM and *ret untouched. */
int recent_window(struct sink *s, uint64_t now, struct recent_window *ret, struct error *err);

/* How many entities of a kind are kept: for tests and for people who doubt. */
size_t recent_count(const struct sink *s, enum record_kind kind);

#endif
