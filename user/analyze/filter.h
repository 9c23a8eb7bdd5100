/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters: a source around a source that lets only part of the samples
 * through. report and export take the same ones.
 */
#ifndef SKEIN_ANALYZE_FILTER_H
#define SKEIN_ANALYZE_FILTER_H

#include <stdbool.h>

#include "base/pipe.h"

/* Zeroed: everything passes, but the idle thread. All given conditions must hold. */
struct filter {
	uint64_t from, to; /* ns since the start of the recording; to 0: to the end */
	const char *pids; /* list "12,13" */
	const char *tids;
	const char *comm; /* glob on the name of the thread or its process */
	const char *cgroup; /* path: itself and what lies below, or a glob */
	const char *container; /* prefix of the container's id */
	const char *event; /* name */
	const char *python; /* what the interpreter did: any, gil, no-gil, gc or unread */
	bool idle; /* let samples of the idle thread through too */
};

/* Whether a filter makes sense: 0 or -EINVAL with what is wrong. */
int filter_check(const struct filter *f, struct error *err);

/* How long the part of a host's recording is that passes, ns; 0 if that is not known. */
uint64_t filter_time(const struct filter *f, const struct host *h);

/*
 * inner is owned by the new source from success on; the texts in *f stay the
 * caller's and must outlive it. The entities pass untouched; samples and sums
 * are filtered. With a time range, sums are added up from samples, since a
 * trace's own sums cover all of it. Slices and edges pass if their thread is
 * asked for, and none is cut; what other threads ran stays as RUNNING of nobody
 * asked for, so that CPUs stay whole (filter_lanes.h). A condition that nothing
 * in the whole trace meets ends the run with -ENOENT.
 */
int filter_source(struct source **ret, struct source *inner, const struct filter *f,
		  struct error *err);

/*
 * Whether a thread of a process is among those that are asked for, time and event apart: for who
 * reads what is no sample. s: of filter_source(), whose inner source may be NULL for this alone.
 */
bool filter_holds(const struct source *s, const struct process *p, const struct thread *t);

/* The words that filter.python may be, one by one until NULL. */
const char *filter_python_word(unsigned int index);

#endif
