/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink before those of the service, for a source that records waits on demand: stacks of waits
 * are for sessions of wall time (on_demand.h) alone, and records of switches for nobody.
 */
#ifndef SKEIN_SERVE_WAITS_SINK_H
#define SKEIN_SERVE_WAITS_SINK_H

#include "serve/on_demand.h"

/* Losses of records of the scheduler, which concern no samples. */
#define SCHEDULER_LOSSES \
	(1ULL << LOSS_SWITCHES_LOST | 1ULL << LOSS_UNREPORTED | 1ULL << LOSS_OUT_OF_ORDER)

/*
 * Make the sink. It passes everything else on to another one, which must outlive it. keep: the
 * configuration records switches, and what is recorded of them is passed on, too. Return 0 or a
 * negative errno.
 */
int waits_sink(struct sink **out, struct sink *to, struct on_demand *demand, bool keep,
	       struct error *err);

#endif
