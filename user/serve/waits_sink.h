/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink before those of the service, which passes stacks of waits to the sessions of wall time
 * (on_demand.h). If the source records them on demand only, nothing else gets them.
 */
#ifndef SKEIN_SERVE_WAITS_SINK_H
#define SKEIN_SERVE_WAITS_SINK_H

#include "serve/on_demand.h"

/*
 * Make the sink. It passes everything else on to another one, which must outlive it. keep: the
 * configuration records switches, and what is recorded of them is passed on, too. Return 0 or a
 * negative errno.
 */
int waits_sink(struct sink **out, struct sink *to, struct on_demand *demand, bool keep,
	       struct error *err);

#endif
