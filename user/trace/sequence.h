/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read traces that follow each other in time as one source, such as the windows of a service. One
 * of them is open at a time, so memory grows with the number of different entities only.
 *
 * As merge.h, but: CPUs of equal numbers are one CPU, whose accounts are added up; a process or
 * thread that several traces have is one, with the last name and end that it has, and so is a lane;
 * records come trace by trace, each after the entities of its trace, as a live source puts them.
 *
 * So the states of CPUs and threads go on from trace to trace. Between two traces of which one does
 * not begin where the other ends, CPUs are in an unknown state.
 */
#ifndef SKEIN_TRACE_SEQUENCE_H
#define SKEIN_TRACE_SEQUENCE_H

#include "base/pipe.h"

/*
 * Make a source of the traces at paths, in the order of time. paths must outlive it. A trace that
 * was removed since (ENOENT) is left out. Return 0 or a negative errno.
 */
int sequence_source(struct source **out, const char *const *paths, size_t count, struct error *err);

struct trace;

/*
 * Like sequence_source() for count traces that open() opens, by their number; it returns -ENOENT
 * for one that was removed. Each is opened twice.
 */
typedef int sequence_opener(void *context, size_t number, struct trace **out, struct error *err);
int sequence_source_of(struct source **out, sequence_opener *open, void *context, size_t count,
		       struct error *err);

/* Return how many of the traces are there; valid after the source has run. */
size_t sequence_count(const struct source *s);

#endif
