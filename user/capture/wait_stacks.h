/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the account of stacks of waits: how many were chosen, taken and lost. Adapts the period T
 * with which they are chosen (wait_period.h).
 */
#ifndef SKEIN_CAPTURE_WAIT_STACKS_H
#define SKEIN_CAPTURE_WAIT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "capture/switches.h"

/* The two events: of a wait, and of the thread that ended it. */
enum wait_event { WAIT_EVENT_WAIT, WAIT_EVENT_WAKER, WAIT_EVENTS };

struct wait_stacks;

struct wait_stacks_context {
	struct switches *switches;
	struct sink *sink;
	uint64_t host; /* host.id */
	uint64_t events[WAIT_EVENTS]; /* event.id */
	uint64_t *last_loss; /* loss.id last given, shared with other sources */
	uint64_t period; /* the smallest T, ns; 0: every wait is chosen, whatever that costs */
};

int wait_stacks_new(struct wait_stacks **out, const struct wait_stacks_context *c,
		    struct error *err);
void wait_stacks_free(struct wait_stacks *w);

/* Choose T by the time that taking stacks took since the last call. now: ns. Call this often. */
void wait_stacks_adapt(struct wait_stacks *w, uint64_t now);

/*
 * Return the weight, ns, of a wait of that length (ns, by the records of switches): the length over
 * the probability with which it was chosen. wire: what the BPF programs sent.
 */
uint64_t wait_stacks_weight(const struct wait_stacks *w, const struct wire_wait *wire,
			    uint64_t length);

/* Count what became of a stack of a CPU that the BPF programs sent. */
void wait_stacks_count_written(struct wait_stacks *w, enum wait_event event, unsigned int cpu);
void wait_stacks_count_filtered(struct wait_stacks *w, enum wait_event event, unsigned int cpu);
void wait_stacks_count_unknown(struct wait_stacks *w, enum wait_event event, unsigned int cpu);

/* What became of the stack of a wait that has not ended. */
enum open_wait_outcome {
	OPEN_WAIT_WRITTEN,
	OPEN_WAIT_CUT_OFF, /* the wait began while such stacks were being read */
	OPEN_WAIT_UNREAD,
};

/* Count such a wait of a thread that left a CPU. */
void wait_stacks_count_open(struct wait_stacks *w, unsigned int cpu,
			    enum open_wait_outcome outcome);
/* Forget the waits counted as written or cut off: the trace that goes on does not have them. */
void wait_stacks_drop_open(struct wait_stacks *w);

/*
 * Put the accounts of both events, and the losses since the last call. now: ns. final: recording
 * has ended, and what was chosen and is neither taken nor lost was still waiting for a CPU.
 */
int wait_stacks_report(struct wait_stacks *w, uint64_t now, bool final, struct error *err);

struct wait_stacks_summary {
	uint64_t chosen, written, lost; /* stacks of waits */
	uint64_t open; /* stacks of waits that had not ended */
	uint64_t wakers; /* stacks of wakers */
	uint64_t period_least, period_most; /* of the T that were used, ns */
	uint64_t spent; /* ns, of all CPUs, in which stacks were taken */
	char refused[192]; /* why stacks that were optional were not taken; "" if they were */
};

void wait_stacks_get_summary(const struct wait_stacks *w, struct wait_stacks_summary *out);

#endif
