/* SPDX-License-Identifier: Apache-2.0 */
/* Watch the records of a capture, and the machine, for what triggers name (trigger.h). */
#ifndef SKEIN_SERVE_TRIGGER_WATCH_H
#define SKEIN_SERVE_TRIGGER_WATCH_H

#include "base/pipe.h"
#include "serve/trigger.h"

struct trigger_watch;

struct trigger_events {
	/*
	 * Called when a condition is met; of: the service that met it, whose name is hostile, or
	 * NULL; at: when it was, ns, which may be some seconds ago.
	 */
	void (*met)(void *context, const struct trigger *t, const char *of, uint64_t at);
	void *context;
};

/* Watch for triggers, which must outlive it. Return 0 or a negative errno. */
int trigger_watch_new(struct trigger_watch **out, const trigger_list *triggers,
		      const struct trigger_events *events, struct error *err);
void trigger_watch_free(struct trigger_watch *w);
/* Process a record, in the order of the source. Return 0 or -ENOMEM. */
int trigger_watch_put(struct trigger_watch *w, enum record_kind kind, const void *record,
		      struct error *err);
/* A tick of the source, by whose time (ns) its sums have come. Return 0 or -ENOMEM. */
int trigger_watch_tick(struct trigger_watch *w, uint64_t time, struct error *err);
/* Look at the machine, at now (ns). Call this several times a second. */
void trigger_watch_poll(struct trigger_watch *w, uint64_t now);

#endif
