/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the sums of what served interrupts in the last part of a recording, for a flight: each part
 * that the source has put, with its time.
 */
#ifndef SKEIN_SERVE_HANDLER_RECENT_H
#define SKEIN_SERVE_HANDLER_RECENT_H

#include "analyze/handler_parts.h"
#include "base/pipe.h"

/* What was added to a sum until a time. */
struct handler_addition {
	uint64_t time, ns; /* of the runs; base/record.h has the rest */
	uint32_t of; /* index in handler_parts.list */
	uint32_t count, longest, without; /* longest: ns, at most UINT32_MAX, which is 4 s */
};

/* Zeroed memory is empty. */
struct handler_recent {
	struct handler_parts parts; /* the handlers; their sums are those of the last flight */
	VECTOR(struct handler_addition) list; /* in the order of time */
};

/* Take a record of the source, put at a time (ns). Return 0 or -ENOMEM. */
int handler_recent_take(struct handler_recent *h, const struct handler *r, uint64_t time);
/* Forget what was added before a time. */
void handler_recent_trim(struct handler_recent *h, uint64_t time);
/*
 * Put the sums of what was added since a time; those that have nothing are put, too, since the sink
 * may have them from before. Return 0 or a negative errno.
 */
int handler_recent_put(struct handler_recent *h, uint64_t since, struct sink *to,
		       struct error *err);
void handler_recent_free(struct handler_recent *h);

#endif
