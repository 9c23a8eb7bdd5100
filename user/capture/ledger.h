/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the account of the samples that were due, and their losses, per CPU, and the losses of all
 * other records. Accounts and losses are put into the sink while the recording runs, so that a
 * killed recording has them.
 */
#ifndef SKEIN_CAPTURE_LEDGER_H
#define SKEIN_CAPTURE_LEDGER_H

#include <stdbool.h>

#include "base/pipe.h"
#include "capture/capture.h"
#include "capture/sampler.h"

struct ledger;

/* The event of one rate. */
struct ledger_rate {
	uint64_t event; /* id of its entity */
	uint64_t period; /* weight of a sample, in the event's unit */
};

struct ledger_context {
	const struct sampler *sampler;
	struct sink *sink;
	unsigned int cpus; /* possible CPUs */
	uint64_t host; /* id of its entity */
	struct ledger_rate rates[WIRE_RATES]; /* of the sampler, in its order */
	unsigned int rate_count;
};

/* Make a ledger; the caller keeps ownership of the sampler and the sink. Return 0 or -ENOMEM. */
int ledger_new(struct ledger **out, const struct ledger_context *c, struct error *err);
void ledger_free(struct ledger *l);

/*
 * Count a sample that was put into the sink, or was left out because of the name of its process and
 * thread. rate: index of the rate at which it was taken. late: the sample was processed out of
 * order (ordered_record.late).
 */
void ledger_count_written(struct ledger *l, unsigned int cpu, unsigned int rate, bool late);
void ledger_count_filtered(struct ledger *l, unsigned int cpu, unsigned int rate);
/* Count lost records that are not samples of a CPU. */
void ledger_count_lost(struct ledger *l, enum loss_reason reason, uint64_t count);
/*
 * Return a pointer to the last loss.id given. Other files that put losses increment it and use the
 * new id. The pointer is valid as long as the ledger.
 */
uint64_t *ledger_last_loss(struct ledger *l);

/*
 * ledger_cpu_gone(): record that the CPU is offline, and has not been sampled since that time (ns).
 * ledger_cpu_back(): record that the CPU is online again. now: ns.
 */
void ledger_cpu_gone(struct ledger *l, unsigned int cpu, uint64_t since);
void ledger_cpu_back(struct ledger *l, unsigned int cpu, uint64_t now);
/* Put a time (ns) in which the machine was suspended. */
int ledger_put_suspend(struct ledger *l, uint64_t from, uint64_t to, struct error *err);

/*
 * Put the accounts, and the losses since the last call. now: ns. final: the events are stopped, so
 * samples that were due and are unaccounted for count as not delivered, or as cut off if they are
 * not more than cpu_account.cut_most. Returns 0 or a negative errno.
 */
int ledger_report(struct ledger *l, uint64_t now, bool final, struct error *err);

/*
 * Get the numbers for the line of progress: filtered samples, and the losses that can be read
 * without interrupting a CPU. Cheap enough for every round of the capture loop.
 */
void ledger_progress(const struct ledger *l, uint64_t *filtered, uint64_t *lost);

/* Set the losses of *out, and add the accounts of all CPUs to its samples, which must be zeroed. */
void ledger_get_summary(const struct ledger *l, struct capture_summary *out);

#endif
