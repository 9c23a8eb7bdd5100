/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter is a source that wraps a source and passes only part of the samples. report and export
 * have the same filters.
 */
#ifndef SKEIN_ANALYZE_FILTER_H
#define SKEIN_ANALYZE_FILTER_H

#include <stdbool.h>

#include "base/pipe.h"

/*
 * All given conditions must hold. With a zeroed struct, everything passes except samples of the
 * idle thread.
 */
struct filter {
	uint64_t from, to; /* ns since the start of the recording; to 0: until the end */
	const char *pids; /* list such as "12,13" */
	const char *tids;
	const char *comm; /* glob for the name of the thread or its process */
	const char *cgroup; /* path of a group, which includes the groups below; or a glob */
	const char *container; /* prefix of the container's id */
	const char *service; /* glob for the name of the service */
	const char *event; /* name of an event, or EVENT_WALL */
	const char *python; /* state of the interpreter: any, gil, no-gil, gc or unread */
	bool idle; /* also pass samples of the idle thread */
	bool no_collections; /* leave out samples in collections of garbage */
};

/* Check the conditions. Return 0, or -EINVAL (-ENOMEM) with the cause in *err. */
int filter_check(const struct filter *f, struct error *err);

/*
 * Return the length (ns) of the part of a host's recording that lies in the time range of the
 * filter. If the end of the recording is not known, this is the length of the range, or 0 if the
 * range has no end.
 */
uint64_t filter_time(const struct filter *f, const struct host *h);

/*
 * Make a filtering source. On success the source owns inner; the texts in *f stay the caller's and
 * must outlive the source. Samples and sums are filtered; with a time range, sums are made from
 * samples, because the sums of a trace cover all of the recording. Slices and edges of selected
 * threads pass if they touch the time range; they are not cut. Slices of other threads on lanes of
 * CPUs and actors pass as RUNNING with value 0, so that these lanes have no holes (filter_lanes.h).
 * Spans and counters pass if they touch the time range and their thread is selected, or any thread
 * of their process if they are of a process or its runtime; they are not cut.
 * All other kinds pass unchanged. If a condition other than python holds for nothing in the whole
 * trace, the run ends with -ENOENT. Return 0 or a negative errno.
 */
int filter_source(struct source **out, struct source *inner, const struct filter *f,
		  struct error *err);

/*
 * Return whether a thread of a process is selected, ignoring time, event and python. This is for
 * readers of other records than samples. s is a source of filter_source(), whose inner source may
 * be NULL if s is only used here.
 */
bool filter_selects(const struct source *s, const struct process *p, const struct thread *t);

/* Return a valid word of filter.python by index from 0; NULL after the last one. */
const char *filter_python_word(unsigned int index);

#endif
