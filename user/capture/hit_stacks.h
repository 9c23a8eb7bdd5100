/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the account of stacks of hits of probes: how many were chosen (bpf/hit_choice.h), written
 * and lost, per event and CPU.
 */
#ifndef SKEIN_CAPTURE_HIT_STACKS_H
#define SKEIN_CAPTURE_HIT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "base/probes.h"
#include "bpf/event.h"

struct hit_stacks;

struct hit_stacks_context {
	/* return the state of a CPU, in memory shared with the kernel */
	const struct wire_probe_cpu *(*cpu)(const void *context, unsigned int cpu);
	const void *context;
	unsigned int cpus; /* possible ones */
	struct sink *sink;
	uint64_t host; /* host.id */
	uint64_t events[HIT_EVENTS]; /* event.id */
	uint64_t *last_loss; /* loss.id last given, shared with other sources */
};

int hit_stacks_new(struct hit_stacks **out, const struct hit_stacks_context *c, struct error *err);
void hit_stacks_free(struct hit_stacks *h);

/* What became of a stack that the BPF programs sent. */
enum hit_outcome {
	HIT_WRITTEN,
	HIT_FILTERED, /* its thread was not asked for */
	HIT_CUT_OFF, /* it was taken before the recording began, or in a pause */
	HIT_OUTCOMES,
};

void hit_stacks_count(struct hit_stacks *h, enum hit_event event, unsigned int cpu,
		      enum hit_outcome outcome);

/*
 * Put the accounts of all events, and the losses since the last call. now: ns. final: recording has
 * ended, and what was chosen and is neither counted nor lost was still being taken.
 */
int hit_stacks_report(struct hit_stacks *h, uint64_t now, bool final, struct error *err);

struct hit_stacks_summary {
	uint64_t written, lost;
	uint64_t taken; /* as far as the BPF programs know: written, filtered or cut off */
	uint64_t spent; /* ns in which these were taken */
};

/* Return the time in which stacks of hits were taken so far, ns. */
uint64_t hit_stacks_time_spent(const struct hit_stacks *h);
void hit_stacks_get_summary(const struct hit_stacks *h, struct hit_stacks_summary *out);

#endif
