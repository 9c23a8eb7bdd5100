/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for a trace that is complete: find the native frames that have none, and make a copy of the
 * trace in which they have the names that were found for them later.
 */
#ifndef SKEIN_TRACE_LATE_NAMES_H
#define SKEIN_TRACE_LATE_NAMES_H

#include "base/vector.h"
#include "trace/trace.h"

/* The frames of one file that have no name. */
struct nameless_module {
	uint64_t mapping; /* mapping.id */
	char *path, *build_id; /* as in struct mapping */
	/* parallel arrays, in the order of addresses */
	VECTOR(uint64_t) frames; /* frame.id */
	VECTOR(uint64_t) addresses; /* file offsets */
};

struct nameless {
	VECTOR(struct nameless_module) modules;
	uint64_t frames; /* sum of all modules */
	uint64_t native; /* number of native frames of files in the trace, with or without a name */
};

/*
 * Find the frames of files whose function is not known or has no name. Return 0 or a negative
 * errno; -EBADMSG if the trace is damaged in these tables.
 */
int nameless_find(struct nameless *out, struct trace *t, struct error *err);
void nameless_free(struct nameless *n);

/* Names for frames of a trace. Zeroed memory has none. */
struct late_names {
	/* functions whose ids begin at 1; the texts are owned */
	VECTOR(struct function) functions;
	VECTOR(struct frame) frames; /* id, function of the list above, and flags to be set */
};

/*
 * Add a function, whose texts are copied, unless it is the last one added; set *out to its id in
 * the list. Return 0 or -ENOMEM.
 */
int late_names_add_function(struct late_names *n, const struct function *f, uint64_t *out);
void late_names_free(struct late_names *n);

/*
 * Copy the trace to a new file at path, which must not exist, and put the names into the copy.
 * Return 0 or a negative errno; on failure no file is left.
 */
int late_names_write(const struct late_names *n, struct trace *t, const char *path,
		     struct error *err);

#endif
