/* SPDX-License-Identifier: Apache-2.0 */
/* Read the samples of a part of a recording, for the files view*.c. */
#ifndef SKEIN_CMD_VIEW_SAMPLES_H
#define SKEIN_CMD_VIEW_SAMPLES_H

#include "cmd/view.h"
#include "trace/chunks.h"

/* Which samples are read: those that pass a struct filter with the same conditions. */
struct view_choice {
	uint64_t from, to; /* ns since the start of the recording; to 0: until the end */
	uint64_t pid, tid;
	bool by_pid, by_tid; /* only those of pid, of tid */
	const char *event; /* name; NULL: of all events */
};

/* The columns of a struct sample, as a mask. */
#define VIEW_COLUMN(field) (1ULL << offsetof(struct sample, field) / sizeof(uint64_t))

/*
 * A reading that can stop and go on. The members up to context are the caller's, the others are
 * zeroed at first. Only chunks are decoded that may have such samples.
 */
struct view_samples {
	const struct view_server *view;
	struct view_choice choice;
	uint64_t columns; /* VIEW_COLUMN()s that take() needs, besides time, event and thread */
	/* Take a sample. thread is NULL if the trace lacks it. Return 0 or a negative errno. */
	int (*take)(void *context, const struct sample *s, const struct lane_thread *thread);
	/* Whether to stop, which is asked after each chunk. */
	bool (*stop)(void *context);
	/* See chunk_losses.lost; NULL: losses are not reported. */
	void (*lost)(void *context, enum record_kind kind, uint64_t time, uint64_t end,
		     uint64_t records);
	void *context;
	uint64_t after; /* the last chunk.id that was read */
	uint64_t reached; /* ns: the latest sample that was read */
	bool done; /* all was read */
};

/* Read until the end, or until stop() says so. Return 0, or a negative errno. */
int view_samples_read(struct view_samples *s, struct error *err);

/* Return which share of the range was read, by time: from 0 to 1, which is all of it. */
double view_samples_share(const struct view_samples *s);

#endif
