/* SPDX-License-Identifier: Apache-2.0 */
/* Those who know what events of probes mean. */
#ifndef SKEIN_CAPTURE_RUNTIME_MEANINGS_H
#define SKEIN_CAPTURE_RUNTIME_MEANINGS_H

#include "capture/runtime_lanes.h"

/* Handle the events of HotSpot, of Python, of a JVM's threads, and those that only have rows. */
int runtime_hotspot_probe(struct runtime_lanes *p, const struct probe_event *e, struct error *err);
int runtime_python_probe(struct runtime_lanes *p, const struct probe_event *e, struct error *err);
int runtime_thread_probe(struct runtime_lanes *p, const struct probe_event *e, struct error *err);
/* Return whether runtime_thread_probe() handles events of that meaning. */
bool runtime_is_of_thread(enum probe_meaning meaning);
int runtime_pair_probe(struct runtime_lanes *p, const struct probe_event *e, struct error *err);

static inline enum span_origin runtime_origin(const struct probe_event *e)
{
	return e->row->origin == PROBE_NOTE ? ORIGIN_NOTE : ORIGIN_FUNCTION;
}

#endif
