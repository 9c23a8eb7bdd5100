/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add up what served interrupts: of the whole recording all runs, as the kernel's side counted
 * them; of a part of it those that have spans.
 */
#ifndef SKEIN_ANALYZE_HANDLER_SUMS_H
#define SKEIN_ANALYZE_HANDLER_SUMS_H

#include "analyze/index.h"
#include "analyze/names.h"
#include "base/pipe.h"
#include "base/vector.h"

/* One handler, on all CPUs. */
struct handler_row {
	uint32_t name; /* number in handler_sums.names */
	uint64_t kind; /* enum span_kind */
	uint64_t count;
	uint64_t time; /* ns, without what interrupted it; of a part of the recording, with that */
	uint64_t longest; /* ns */
	uint64_t without; /* runs that should have a span and have none */
	uint64_t cpu, most; /* the CPU with most of the time, and that time, ns */
	uint64_t cpus; /* number of CPUs */
};

struct handler_sums {
	uint64_t from, to; /* the time that is shown, ns */
	bool ranged; /* only spans are added up */
	struct names names;
	VECTOR(struct handler_row) rows; /* most time first */
};

/*
 * Run a source to its end. from, to: ns since the start of the recording; both 0: all of it. *out
 * is NULL if the trace has none. Return 0 or a negative errno with the cause in *err.
 */
int handler_sums_read(struct handler_sums **out, struct source *source, uint64_t from, uint64_t to,
		      struct error *err);
/* Accepts NULL. */
void handler_sums_free(struct handler_sums *h);

/* Return the name of a row. It is hostile. */
const char *handler_sums_name(const struct handler_sums *h, const struct handler_row *row);

#endif
