/* SPDX-License-Identifier: Apache-2.0 */
/* The memory budget of skein serve: what its processes take, steps within a budget, messages. */
#ifndef SKEIN_CMD_SERVE_MEMORY_H
#define SKEIN_CMD_SERVE_MEMORY_H

#include "capture/capture.h"
#include "serve/governor.h"
#include "serve/memory_budget.h"
#include "serve/network.h"

#define SERVE_MEMORY_BUDGET (64ULL << 20) /* default, bytes */

/* What the processes of the service take, bytes (process_memory.h); 0: not measured yet. */
struct serve_memory_use {
	uint64_t core, helpers, network;
};

struct serve_memory {
	struct memory_budget budget;
	struct serve_memory_use use;
	struct memory_helper helpers[CAPTURE_HELPERS_MAX]; /* as of the last measurement */
	unsigned int helper_count;
	char text[32]; /* the budget, such as "64 MiB" */
	uint64_t measured; /* time of the last measurement, ns; 0: there was none */
	bool logged_exceeded;
};

/* Prepare a budget (bytes; 0: no limit) with the lower rates of the governor; set o by it. */
void serve_memory_begin(struct serve_memory *m, uint64_t limit, struct governor *g,
			struct capture_options *o);
/*
 * Measure if that is due, and return what the capture is to do. Steps are logged, and a lower rate
 * is given to the governor. network: NULL: there is none.
 */
struct capture_relief serve_memory_relieve(struct serve_memory *m,
					   const struct capture_helper *helpers, unsigned int count,
					   const struct network *network, struct governor *g);
/* Return whether samples and names of the present window may be affected by steps. */
bool serve_memory_is_clamped(const struct serve_memory *m);
/* Append what is in use to the status of length used in buf, such as "; 31 MiB of memory". */
void serve_memory_status(const struct serve_memory *m, char *buf, size_t size, size_t used);
/* Write a limit for people: "64 MiB of memory", "any memory". Return buf. */
char *serve_memory_show(uint64_t limit, char *buf, size_t size);

#endif
