/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of every sample that was due, and the losses, kept per CPU and
 * told to the sink while the recording runs, so that a killed one has them.
 */
#ifndef SKEIN_CAPTURE_LEDGER_H
#define SKEIN_CAPTURE_LEDGER_H

#include <stdbool.h>

#include "base/pipe.h"
#include "capture/capture.h"
#include "capture/sampler.h"

struct ledger;

/* event and host: ids of their entities; period: the weight of a sample. */
int ledger_new(struct ledger **ret, const struct sampler *sampler, unsigned int cpus,
	       uint64_t host, uint64_t event, uint64_t period, struct error *err);
void ledger_free(struct ledger *l);

/* A sample has been put into the sink, or left out because of its name. */
void ledger_written(struct ledger *l, unsigned int cpu, bool late);
void ledger_filtered(struct ledger *l, unsigned int cpu);
/* Records lost that belong to no CPU's samples. */
void ledger_lost(struct ledger *l, enum loss_reason reason, uint64_t count);
/* loss.id given last: for who puts losses beside the ledger's. Valid as long as the ledger. */
uint64_t *ledger_last_loss(struct ledger *l);

/* The CPU is not sampled from since on (ns), because it went offline; it is again. */
void ledger_gone(struct ledger *l, unsigned int cpu, uint64_t since);
void ledger_back(struct ledger *l, unsigned int cpu, uint64_t now);

/*
 * Put the accounts, and the losses since the last call. final: the events are
 * stopped, so that what was due and came from nowhere was not delivered.
 */
int ledger_tell(struct ledger *l, struct sink *sink, uint64_t now, bool final,
		struct error *err);

/* What the line of progress shows; cheap enough for every round. */
void ledger_progress(const struct ledger *l, uint64_t *filtered, uint64_t *lost);

void ledger_summary(const struct ledger *l, struct capture_summary *ret);

#endif
