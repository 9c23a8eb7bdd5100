// SPDX-License-Identifier: Apache-2.0
/* Run jobs on threads of their own (jobs.h). */
#include "base/jobs.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>

struct running_job {
	const struct job *job;
	pthread_t thread;
	bool threaded; /* false if the caller runs the job */
	int result;
	struct error err;
};

bool jobs_are_parallel(void)
{
	cpu_set_t cpus;

	/* The call fails on a machine with more CPUs than the set holds, which has several. */
	return sched_getaffinity(0, sizeof(cpus), &cpus) < 0 || CPU_COUNT(&cpus) > 1;
}

static void *run_job(void *context)
{
	struct running_job *r = context;

	r->result = r->job->run(r->job->context, &r->err);
	return NULL;
}

int jobs_run(const struct job *jobs, unsigned int count, struct error *err)
{
	struct running_job running[JOBS_MAX];
	bool parallel = jobs_are_parallel();

	for (unsigned int i = 0; i < count; i++) {
		struct running_job *r = &running[i];

		r->job = &jobs[i];
		r->err.text[0] = '\0';
		r->threaded = i && parallel && !pthread_create(&r->thread, NULL, run_job, r);
	}
	for (unsigned int i = 0; i < count; i++)
		if (!running[i].threaded)
			run_job(&running[i]);
	for (unsigned int i = 0; i < count; i++)
		if (running[i].threaded)
			pthread_join(running[i].thread, NULL);
	for (unsigned int i = 0; i < count; i++) {
		if (running[i].result >= 0)
			continue;
		if (err)
			*err = running[i].err;
		return running[i].result;
	}
	return 0;
}
