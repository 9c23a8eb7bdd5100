/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a report about waits: where threads waited, for which lock, and who ended it. */
#ifndef SKEIN_CMD_REPORT_OFF_CPU_H
#define SKEIN_CMD_REPORT_OFF_CPU_H

#include "analyze/off_cpu.h"
#include "base/json.h"
#include "cmd/report.h"

struct report_off_cpu {
	struct off_cpu *all;
	struct sched_names names;
	const struct source *filter; /* only used while the waits are read */
};

/*
 * Read the waits of a trace and set r->off_cpu. Arguments and result are those of
 * report_sched_make().
 */
int report_off_cpu_make(struct report *r, struct source *samples, const struct source *filter,
			struct error *err);
void report_off_cpu_free(struct report_off_cpu *o); /* NULL is accepted */

/* Print the tables of --off-cpu. Return 0 or -ENOMEM. */
int report_off_cpu_tables(const struct report *r, const struct screen *to);
/* Write the member of the report's object about waits. */
int report_off_cpu_json(struct json *j, const struct report *r);
/* Write the members of an estimate: number of stacks, time, ends of its interval, in ns. */
void report_off_cpu_json_sum(struct json *j, const struct off_cpu *o, const struct wait_sum *s);

/*
 * The exact time (ns) that the threads of each group of waits were blocked, from the records of
 * switches: by row of OFF_CPU_GROUPS; and by class of wait, of all selected threads. NULL and 0
 * if the scheduler's part is missing. Return 0 or -ENOMEM; the caller frees out->of_group.
 */
struct exact_waits {
	uint64_t *of_group;
	uint64_t of_class[WAIT_COUNT], all;
};

int report_exact_waits(struct exact_waits *out, const struct report *r);

#endif
