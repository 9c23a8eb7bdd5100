/* SPDX-License-Identifier: Apache-2.0 */
/* One window that is being written: a trace, and which entities it has. */
#ifndef SKEIN_SERVE_WINDOW_TRACE_H
#define SKEIN_SERVE_WINDOW_TRACE_H

#include "analyze/entity_store.h"
#include "base/pipe.h"
#include "serve/window_files.h"
#include "trace/merge_ids.h"

struct window_trace {
	struct sink *writer; /* NULL: there is none */
	const char *folder; /* in which it is published; NULL: it is not */
	char path[PATH_MAX]; /* while it is written */
	uint64_t begin; /* ns */
	uint64_t utc; /* when it began, ns since 1970 */
	/*
	 * entities in the trace, and those that its records refer to and that are to come: id -> id
	 * in the trace, for stacks and lanes only; else 1
	 */
	struct index written[KIND_COUNT];
	uint32_t stacks; /* number of stacks in the trace, and the last id of one */
	uint32_t lanes; /* the same for lanes */
	bool with_lanes; /* threads have lanes; set after the trace was opened */
	bool noted; /* it has the record of window_sink_note() */
	VECTOR(uint64_t) path_of_stack; /* working memory: ids, from a stack to its root */
};

/*
 * Begin a window in a folder, which must outlive it, at begin, ns, which is utc, ns since 1970.
 * Return 0, or a negative errno with w->writer NULL.
 */
int window_trace_open(struct window_trace *w, const char *folder, uint64_t begin, uint64_t utc,
		      struct error *err);
/*
 * Begin a trace at a path, which is not published when it is closed. The rest is as for
 * window_trace_open().
 */
int window_trace_open_at(struct window_trace *w, const char *path, uint64_t begin, uint64_t utc,
			 struct error *err);
/* Put the host, recorded from the begin of the window until end, ns; 0: it has not ended. */
int window_trace_put_host(struct window_trace *w, const struct host *host, uint64_t end,
			  struct error *err);
/* The kinds of entity that every window has all of; others come when a record needs them. */
#define IN_EVERY_WINDOW (WANT(INFO) | WANT(EVENT))
/* Put what every window has: the host (NULL: not known yet), and IN_EVERY_WINDOW. */
int window_trace_describe(struct window_trace *w, struct entity_store *stores,
			  const struct host *host, struct error *err);
/*
 * Put a record with all entities to which it refers, as far as they are in stores (by kind). Return
 * 0 or a negative errno.
 */
int window_trace_put(struct window_trace *w, const struct entity_store *stores,
		     enum record_kind kind, const void *record, struct error *err);
/* Put an entity unless the window has it. Return 0 or a negative errno. */
int window_trace_need(struct window_trace *w, const struct entity_store *stores,
		      enum record_kind kind, uint64_t id, struct error *err);
/* Return whether the window has an entity, or a record that refers to it. */
bool window_trace_has(const struct window_trace *w, enum record_kind kind, uint64_t id);
/*
 * Put an entity that is new, or of which more is known now, if the window refers to it. Return 0 or
 * a negative errno.
 */
int window_trace_update(struct window_trace *w, const struct entity_store *stores,
			enum record_kind kind, const void *record, struct error *err);
/*
 * Complete the window, which ended at end, ns, and publish it in its folder: its name has the
 * length by the clock of the trace, whatever was done to the wall clock. Return 0 or a negative
 * errno; also then the window is closed, and what could be stored of it is published.
 */
int window_trace_close(struct window_trace *w, uint64_t end, struct error *err);
/* Free everything; a window that is not closed stays open for window_files_recover(). */
void window_trace_free(struct window_trace *w);

#endif
