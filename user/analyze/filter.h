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
 * All given conditions must hold. With a zeroed struct, everything passes except the idle thread.
 */
struct filter {
	uint64_t from, to; /* ns since the start of the recording; to 0: until the end */
	const char *pids; /* list such as "12,13" */
	const char *tids;
	const char *comm; /* glob for the name of the thread or its process */
	const char *cgroup; /* path of a group, which includes the groups below; or a glob */
	const char *container; /* prefix of the container's id */
	const char *event; /* name of an event */
	const char *python; /* state of the interpreter: any, gil, no-gil, gc or unread */
	bool idle; /* also pass samples of the idle thread */
};

/* Check the conditions. Return 0, or -EINVAL (-ENOMEM) with the cause in *err. */
int filter_check(const struct filter *f, struct error *err);

/*
 * Return the length (ns) of the part of a host's recording that lies in the time range of the
 * filter; 0 if not known.
 */
uint64_t filter_time(const struct filter *f, const struct host *h);

/*
 * Make a filtering source. On success it owns inner; the texts in *f stay the caller's and must
 * outlive the source. Entities pass unchanged; samples and sums are filtered. With a time range,
 * sums are made from samples, because the sums of a trace cover all of it. Slices and edges pass if
 * their thread is selected; they are not cut. Slices of other threads stay as RUNNING with value 0,
 * so that CPU lanes have no holes (filter_lanes.h). A condition that holds for nothing in the whole
 * trace ends the run with -ENOENT. Return 0 or a negative errno.
 */
int filter_source(struct source **out, struct source *inner, const struct filter *f,
		  struct error *err);

/*
 * Return whether a thread of a process is selected, ignoring time and event. This is for readers of
 * other records than samples. s is a source of filter_source(), whose inner source may be NULL if s
 * is only used here.
 */
bool filter_selects(const struct source *s, const struct process *p, const struct thread *t);

/* Return the valid words of filter.python one by one, then NULL. */
const char *filter_python_word(unsigned int index);

#endif
