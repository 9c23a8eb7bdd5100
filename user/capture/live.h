/* SPDX-License-Identifier: Apache-2.0 */
/* Live capture from the inside: what live.c, live_begin.c and live_records.c share. */
#ifndef SKEIN_CAPTURE_LIVE_H
#define SKEIN_CAPTURE_LIVE_H

#include "capture/capture.h"
#include "capture/cgroup.h"
#include "capture/cpus.h"
#include "capture/intern.h"
#include "capture/ledger.h"
#include "capture/opener.h"
#include "capture/order.h"
#include "capture/process.h"
#include "capture/program.h"
#include "capture/sampler.h"
#include "capture/sideband.h"
#include "symbolizers/client.h"

enum { HOST_ID = 1, EVENT_ID = 1 };

struct live {
	struct source source;
	struct capture_options options;
	struct sampled_event event;
	struct cpu_set wanted; /* CPUs asked for; empty: all */
	struct cgroups *cgroups;
	struct order *order;
	struct program *program;
	struct sampler *sampler;
	struct sideband *sideband;
	struct opener *opener;
	struct symbolizer *symbolizer;
	struct objects *objects;
	struct process_table *table;
	struct intern *intern;
	struct ledger *ledger;
	struct sink *sink;
	int epoll;
	uint64_t started; /* sampling */
	uint64_t last_drain, last_tick;
	uint64_t unselected; /* children that the kernel side could not select, as told */
	bool over; /* every selected process has ended */
	bool scanned; /* the first scan of /proc is over */
	int error; /* of a callback that cannot return it */
	struct error why;
	struct capture_progress progress;
	struct capture_summary summary;
	char container[CGROUP_CONTAINER_MAX];
};

/* Fork the helper processes, with the callbacks of live_records.c. */
int live_start_helpers(struct live *l, struct error *err);

/* One record in its order, as order_release() hands it over; its error's words are in l->why. */
int live_record(void *context, int ring, uint64_t time, const void *data, uint32_t size,
		bool late);

/* The tables that need a sink: processes, stacks, accounts. */
int live_begin_tables(struct live *l, struct error *err);

/* source_ops.run */
int live_run(struct source *source, struct sink *sink, struct error *err);

/* Open the events of CPUs that came online, close those of CPUs that went. */
int live_follow_cpus(struct live *l, struct error *err);

#endif
