/* SPDX-License-Identifier: Apache-2.0 */
/* The processes and threads of runtimes, and the lanes of their spans. */
#ifndef SKEIN_CAPTURE_RUNTIME_LANES_H
#define SKEIN_CAPTURE_RUNTIME_LANES_H

#include "capture/runtime_spans.h"

/* Find or make the state of a process; NULL without memory. */
struct runtime_lanes *runtime_lanes_of(struct runtime_events *r, const struct process_entry *p,
				       uint64_t time);
/* Find or make the state of a thread, with a lane. *out: NULL if there are too many. */
int runtime_thread_of(struct runtime_lanes *p, const struct probe_event *e,
		      struct runtime_thread **out, struct error *err);
/* Give the track of the VM thread its lane. */
int runtime_vm_lane(struct runtime_lanes *p, const struct process_entry *of, struct error *err);
/* Give the lock of a Python interpreter its lane. */
int runtime_gil_lane(struct runtime_lanes *p, const struct process_entry *of, struct error *err);
/*
 * Find the track of a thread's concurrent phases. add: take a free one, with a lane, if it has
 * none. *out: NULL if there is none.
 */
int runtime_concurrent_of(struct runtime_lanes *p, const struct probe_event *e, bool add,
			  struct track **out, struct error *err);
void runtime_lanes_free(struct runtime_lanes *p);
void runtime_thread_free(struct runtime_events *r, struct runtime_thread *t);

#endif
