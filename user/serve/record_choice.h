/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records of a capture its windows get, and which its flights: both may want less than what
 * is recorded, which is what either of them wants.
 */
#ifndef SKEIN_SERVE_RECORD_CHOICE_H
#define SKEIN_SERVE_RECORD_CHOICE_H

#include <stdbool.h>

#include "base/record.h"

/* Losses of records of the scheduler, which concern no samples. */
#define SCHEDULER_LOSSES \
	(1ULL << LOSS_SWITCHES_LOST | 1ULL << LOSS_UNREPORTED | 1ULL << LOSS_OUT_OF_ORDER)

/* Samples of the clock are always chosen. */
struct record_choice {
	bool sched; /* slices and wake-ups, and what is derived from them */
	bool waits; /* samples of waits and of wakers */
	bool interrupts; /* spans and sums of what served interrupts */
	bool probes; /* spans, counters and samples of hits, of runtimes and of the user's probes */
	/* events that are not chosen, of those put so far: a bit for each event.id below 64 */
	uint64_t hidden;
};

/* Return a mask of WANT() with the kinds that a sink gets beside samples and their entities. */
uint64_t record_choice_wants(const struct record_choice *c);
/*
 * Return whether a record is chosen. All records must be passed in the order of the source, since
 * samples, accounts and losses follow their events.
 */
bool record_choice_takes(struct record_choice *c, enum record_kind kind, const void *record);

#endif
