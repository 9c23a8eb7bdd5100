/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the account of every sample that was due, and the losses, per CPU. Both are put into the
 * sink while the recording runs, so that a killed recording has them.
 */
#ifndef SKEIN_CAPTURE_LEDGER_H
#define SKEIN_CAPTURE_LEDGER_H

#include <stdbool.h>

#include "base/pipe.h"
#include "capture/capture.h"
#include "capture/sampler.h"

struct ledger;

struct ledger_context {
	const struct sampler *sampler;
	struct sink *sink;
	unsigned int cpus; /* possible CPUs */
	uint64_t host, event; /* ids of their entities */
	uint64_t period; /* weight of a sample, in the event's unit */
};

/* Return 0 or -ENOMEM. */
int ledger_new(struct ledger **out, const struct ledger_context *c, struct error *err);
void ledger_free(struct ledger *l);

/* Count a sample that was put into the sink, or was left out because of its name. */
void ledger_count_written(struct ledger *l, unsigned int cpu, bool late);
void ledger_count_filtered(struct ledger *l, unsigned int cpu);
/* Count lost records that are not samples of a CPU. */
void ledger_count_lost(struct ledger *l, enum loss_reason reason, uint64_t count);
/*
 * Return a pointer to the last loss.id, which other parts that put losses increment; valid as long
 * as the ledger.
 */
uint64_t *ledger_last_loss(struct ledger *l);

/*
 * ledger_cpu_gone(): report that the CPU is offline, and not sampled since that time (ns).
 * ledger_cpu_back(): report that it is online again.
 */
void ledger_cpu_gone(struct ledger *l, unsigned int cpu, uint64_t since);
void ledger_cpu_back(struct ledger *l, unsigned int cpu, uint64_t now);

/*
 * Put the accounts, and the losses since the last call. final: the events are stopped, so samples
 * that were due and are unaccounted for count as not delivered. Returns 0 or a negative errno.
 */
int ledger_report(struct ledger *l, uint64_t now, bool final, struct error *err);

/* Get the numbers for the line of progress; cheap enough for every round of the capture loop. */
void ledger_progress(const struct ledger *l, uint64_t *filtered, uint64_t *lost);

/* Fill the account and the losses of *out, summed over all CPUs. */
void ledger_get_summary(const struct ledger *l, struct capture_summary *out);

#endif
