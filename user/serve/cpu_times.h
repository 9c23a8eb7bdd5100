/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time by service and by function since the service began. All counters only grow, and few
 * functions are listed: of each service those with the most time of late, by their own time and,
 * separately, by their time with what they call.
 *
 * Of a service: time = the times of its listed functions + other + retired, exactly.
 */
#ifndef SKEIN_SERVE_CPU_TIMES_H
#define SKEIN_SERVE_CPU_TIMES_H

#include <stdbool.h>

#include "analyze/names.h"

#define CPU_TIMES_SERVICES 200 /* most services */
#define CPU_TIMES_OTHERS "(other)" /* all services for which there was no room */
#define CPU_TIMES_NO_SERVICE "(none)" /* of processes without one, as in reports by service */
#define CPU_TIMES_TOP 10 /* functions listed of each service, unless chosen otherwise */
#define CPU_TIMES_MORE 3 /* times as many are listed by time with what they call */
#define CPU_TIMES_LISTED 500 /* most functions of all services, for each kind of time */
#define CPU_TIMES_KNOWN 20000 /* most functions of which times are kept */
#define CPU_TIMES_NAMES 60000 /* most names that are kept, of functions without times, too */

enum function_time_kind { FUNCTION_SELF, FUNCTION_INCLUSIVE, FUNCTION_TIME_KINDS };

struct function_time {
	uint32_t service; /* index */
	const char *name; /* as reports show it: bytes of a hostile process */
	uint64_t fresh[FUNCTION_TIME_KINDS]; /* ns that are not counted yet */
	uint64_t time[FUNCTION_TIME_KINDS]; /* ns, counted while it was listed */
	uint64_t recent[FUNCTION_TIME_KINDS]; /* ns since the last choice, listed or not */
	/* choices in a row in which it was far from the top */
	unsigned int low[FUNCTION_TIME_KINDS];
	bool listed[FUNCTION_TIME_KINDS];
};

struct service_cpu {
	const char *name;
	uint64_t time; /* ns */
	uint64_t other; /* ns of own time of functions that were not listed then */
	/*
	 * ns of own time of functions that were listed once and are not now; one that is listed
	 * again continues where it was
	 */
	uint64_t retired;
};

/* Zeroed memory is an empty table. */
struct cpu_times {
	struct names names; /* of services and functions */
	struct index services_by_name; /* number in names -> index in services */
	struct index functions_by_name; /* service << 32 | number in names -> index in functions */
	VECTOR(struct service_cpu) services;
	VECTOR(struct function_time) functions;
	uint64_t dropped; /* times that a function was not kept for want of room */
};

/* Find a service, which is added if there is room for it. Return 0 or -ENOMEM. */
int cpu_times_find_service(struct cpu_times *t, const char *name, uint32_t *out);
/*
 * Add ns of a function of a service, by kind, which cpu_times_settle() counts. Return 0 or
 * -ENOMEM. The time of the service is for the caller to count.
 */
int cpu_times_add(struct cpu_times *t, uint32_t service, const char *name,
		  const uint64_t ns[FUNCTION_TIME_KINDS]);
/* Count what was added: of functions that are listed as their time, of others as other. */
void cpu_times_settle(struct cpu_times *t);
/*
 * Choose which functions are listed, at most top of each service by own time and CPU_TIMES_MORE
 * times as many by time with what they call (whose first ones are main() and the like), by their
 * times since the last choice. A function is listed when it is one of the top and there is room; it
 * leaves its place to another when it was not among twice as many for six times in a row. What was
 * added is counted then (cpu_times_settle()), and the least used functions are forgotten if there
 * is no room for more. Return 0 or -ENOMEM.
 */
int cpu_times_choose(struct cpu_times *t, unsigned int top);
void cpu_times_free(struct cpu_times *t);

#endif
