/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source produces entities and records, a sink consumes them. Live capture and trace files are
 * sources; the trace writer and each export format are sinks; a filter is a source that wraps a
 * source.
 */
#ifndef SKEIN_BASE_PIPE_H
#define SKEIN_BASE_PIPE_H

#include "base/error.h"
#include "base/record.h"

#define WANT(KIND) (1ULL << KIND_##KIND)
/* Every sink receives losses and accounts. */
#define WANTS(mask) ((mask) | WANT(LOSS) | WANT(ACCOUNT))
#define WANT_ALL ((1ULL << KIND_COUNT) - 1)
#define WANT_ENTITIES \
	(WANT(HOST) | WANT(INFO) | WANT(EVENT) | WANT(PROCESS) | WANT(THREAD) | WANT(LANE) | \
	 WANT(NAME) | WANT(MAPPING) | WANT(FUNCTION) | WANT(FRAME) | WANT(INLINED) | \
	 WANT(STACK))

struct sink;

/* Each int function returns 0 or a negative errno, with the cause in *err. */
struct sink_ops {
	/*
	 * Process one item. record points to the struct of its kind; the struct and its texts are
	 * only valid during the call. A sum may come in several parts with the same event, thread,
	 * stack and flags, which the sink must add up.
	 */
	int (*put)(struct sink *s, enum record_kind kind, const void *record, struct error *err);
	/*
	 * Like put() for many records of one kind, whose structs form an array. May be NULL: put()
	 * is called then.
	 */
	int (*put_many)(struct sink *s, enum record_kind kind, const void *records, size_t count,
			struct error *err);
	/* Called about once a second by a live source with the current time (ns). May be NULL. */
	int (*tick)(struct sink *s, uint64_t time, struct error *err);
	/*
	 * Called when the source begins again with new stacks, frames, functions and mappings: no
	 * later record refers to those put so far. May be NULL.
	 */
	int (*forget)(struct sink *s, struct error *err);
	/*
	 * Return how many of the records that put() accepted cannot be stored for want of room: for
	 * samples, those of an event and CPU (sample_place()); for other kinds, all of them (place
	 * is ignored). The source reports these as losses. May be NULL: everything is stored then.
	 */
	uint64_t (*unstored)(const struct sink *s, enum record_kind kind, uint64_t place);
	/* Complete the output after everything has been put. Called at most once. */
	int (*finish)(struct sink *s, struct error *err);
	/* Free everything, finished or not; unfinished output is discarded or kept as it is. */
	void (*free)(struct sink *s);
};

/* The first member of every sink. wants is a mask of WANT(), made by WANTS(). */
struct sink {
	const struct sink_ops *ops;
	uint64_t wants;
};

struct source;

struct source_ops {
	/*
	 * Put everything that the sink wants, and return when there is no more. Stop at the sink's
	 * first error and return it. Do not finish the sink.
	 */
	int (*run)(struct source *s, struct sink *sink, struct error *err);
	void (*free)(struct source *s);
};

/* The first member of every source. */
struct source {
	const struct source_ops *ops;
};

static inline int sink_put(struct sink *s, enum record_kind kind, const void *record,
			   struct error *err)
{
	if (!(s->wants & (1ULL << kind)))
		return 0;
	return s->ops->put(s, kind, record, err);
}

/* Like sink_put() for an array of many records of one kind. */
int sink_put_many(struct sink *s, enum record_kind kind, const void *records, size_t count,
		  struct error *err);

/* Define put_sample(sink, &sample, err) and so on: sink_put() with the type checked. */
#define PIPE_PUT(kind, KIND, storage, summary) \
	static inline int put_##kind(struct sink *s, const struct kind *r, struct error *err) \
	{ \
		return sink_put(s, KIND_##KIND, r, err); \
	}
RECORD_KINDS(PIPE_PUT)
#undef PIPE_PUT

static inline int sink_tick(struct sink *s, uint64_t time, struct error *err)
{
	return s->ops->tick ? s->ops->tick(s, time, err) : 0;
}

static inline int sink_forget(struct sink *s, struct error *err)
{
	return s->ops->forget ? s->ops->forget(s, err) : 0;
}

#define SAMPLE_CPUS 4096 /* CPUs with this number or a higher one are counted as one */
#define SAMPLE_EVENTS 14 /* events with this id or a higher one are counted as one */

/* Return the place at which samples of an event (event.id) on a CPU are counted. */
static inline uint64_t sample_place(uint64_t event, uint64_t cpu)
{
	uint64_t slot = event && event < SAMPLE_EVENTS ? event : event ? SAMPLE_EVENTS : 1;

	return (slot - 1) * (SAMPLE_CPUS + 1) + (cpu < SAMPLE_CPUS ? cpu : SAMPLE_CPUS);
}

static inline uint64_t sink_unstored(const struct sink *s, enum record_kind kind, uint64_t place)
{
	return s->ops->unstored ? s->ops->unstored(s, kind, place) : 0;
}

/*
 * Run source into sink, then finish the sink. Frees neither of them. Return 0 or a negative errno.
 */
int pipe_join(struct source *source, struct sink *sink, struct error *err);

/* Both functions accept NULL. */
void sink_free(struct sink *s);
void source_free(struct source *s);

#endif
