/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long programs of each service stood still for their runtimes, by kind of span, since the
 * service began. The number of rows is bounded: the services beyond are one.
 */
#ifndef SKEIN_SERVE_PAUSES_H
#define SKEIN_SERVE_PAUSES_H

#include "analyze/entity_store.h"
#include "base/vector.h"
#include "serve/metrics.h"
#include "serve/pause_lanes.h"

#define PAUSE_ROWS 100 /* most pairs of a service and a kind, but for those of other services */

/* Limits of the pauses of a bucket. X(ns, "as Prometheus writes it, s") */
#define PAUSE_BUCKETS(X) \
	X(100000, "0.0001") X(1000000, "0.001") X(5000000, "0.005") X(10000000, "0.01") \
	X(50000000, "0.05") X(100000000, "0.1") X(500000000, "0.5") X(1000000000, "1.0") \
	X(5000000000, "5.0")
#define COUNT_BUCKET(ns, text) +1
#define PAUSE_BUCKET_COUNT (0 PAUSE_BUCKETS(COUNT_BUCKET))

struct pause_row {
	char *service; /* hostile */
	uint64_t kind; /* enum span_kind */
	uint64_t count, ns; /* of all */
	uint64_t within[PAUSE_BUCKET_COUNT]; /* number of those up to each limit */
};

/* Zeroed memory is empty. */
struct pauses {
	struct pause_lanes lanes;
	VECTOR(struct lane) fresh; /* of threads that may not be known yet; without names */
	VECTOR(struct pause_row) rows;
};

/* Note a lane, or count a span. processes and threads: of the sink. Return 0 or -ENOMEM. */
int pauses_put(struct pauses *p, enum record_kind kind, const void *record,
	       const struct entity_store *stores);
/* Find the processes of lanes that have come, before their threads are dropped; as above. */
int pauses_tick(struct pauses *p, const struct entity_store *stores);
/* Write them as a histogram; nothing if there was none. */
void pauses_write(const struct metrics_page *m, const struct pauses *p);
void pauses_free(struct pauses *p);

#endif
