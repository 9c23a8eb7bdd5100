/* SPDX-License-Identifier: Apache-2.0 */
/* Run independent jobs at the same time, if the process may use several CPUs. */
#ifndef SKEIN_BASE_JOBS_H
#define SKEIN_BASE_JOBS_H

#include <stdbool.h>

#include "base/error.h"

#define JOBS_MAX 4

/*
 * One of several jobs of jobs_run(). Until jobs_run() returns, no other job may access the data
 * that run() writes; data that run() only reads may be shared.
 */
struct job {
	int (*run)(void *context, struct error *err); /* 0 or a negative errno */
	void *context;
};

/* Return whether jobs run at the same time: whether this process may use several CPUs. */
bool jobs_are_parallel(void);

/*
 * Run up to JOBS_MAX jobs: the caller runs the first, and each other job runs on a thread of its
 * own. With only one CPU, or without a thread, the caller runs the others too. All jobs have ended
 * when jobs_run() returns. The result and *err are those of the first failed job in the order of
 * the array; 0 if none failed.
 */
int jobs_run(const struct job *jobs, unsigned int count, struct error *err);

#endif
