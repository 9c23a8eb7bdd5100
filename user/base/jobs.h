/* SPDX-License-Identifier: Apache-2.0 */
/* Doing independent things at the same time, where the process may use several CPUs. */
#ifndef SKEIN_BASE_JOBS_H
#define SKEIN_BASE_JOBS_H

#include <stdbool.h>

#include "base/error.h"

#define JOBS_MAX 4

/* What run() writes is its job's alone until jobs_run() returns; what it reads may be shared. */
struct job {
	int (*run)(void *context, struct error *err); /* 0 or a negative errno */
	void *context;
};

/* Whether jobs run at the same time here. */
bool jobs_are_parallel(void);

/*
 * Run up to JOBS_MAX jobs, the first by the caller and each other by a thread; one after the other
 * if there is but one CPU, or no thread to be had. All have ended when this returns. The result is
 * that of the first in order that failed, with its error.
 */
int jobs_run(const struct job *jobs, unsigned int count, struct error *err);

#endif
