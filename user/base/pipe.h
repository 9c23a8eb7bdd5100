/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source produces entities and records, a sink consumes them. Everything
 * plugs in here: live capture and trace files are sources; the trace writer
 * and each export format are sinks; a filter is a source around a source.
 */
#ifndef SKEIN_BASE_PIPE_H
#define SKEIN_BASE_PIPE_H

#include "base/error.h"
#include "base/record.h"

#define WANT(KIND) (1ULL << KIND_##KIND)
/* No sink may refuse to hear of losses. */
#define WANTS(mask) ((mask) | WANT(LOSS) | WANT(ACCOUNT))
#define WANT_ALL ((1ULL << KIND_COUNT) - 1)
#define WANT_ENTITIES \
	(WANT(HOST) | WANT(INFO) | WANT(EVENT) | WANT(PROCESS) | WANT(THREAD) | WANT(LANE) | \
	 WANT(NAME) | WANT(MAPPING) | WANT(FUNCTION) | WANT(FRAME) | WANT(INLINED) | \
	 WANT(STACK))

struct sink;

/* Each returns 0 or a negative errno, with the cause in *err. */
struct sink_ops {
	/*
	 * Take one item: record points to the struct of its kind and is only
	 * valid during the call, texts included. A sum may come in several
	 * parts of the same event, thread, stack and flags: add them up.
	 */
	int (*put)(struct sink *s, enum record_kind kind, const void *record, struct error *err);
	/* May be NULL: put() is called. The same of many of a kind, whose structs lie in a row. */
	int (*put_many)(struct sink *s, enum record_kind kind, const void *records, size_t count,
			struct error *err);
	/* May be NULL. About once a second from a live source, at the time given (ns). */
	int (*tick)(struct sink *s, uint64_t time, struct error *err);
	/*
	 * May be NULL. The source begins anew with stacks, frames, functions and mappings: no
	 * record to come refers to those put so far.
	 */
	int (*forget)(struct sink *s, struct error *err);
	/*
	 * May be NULL: then everything is kept. How many of the records put so far cannot be kept,
	 * though put() took them, for want of room: of samples those of a CPU, of other kinds (cpu
	 * is ignored) all. The source tells of them as losses.
	 */
	uint64_t (*unstored)(const struct sink *s, enum record_kind kind, uint64_t cpu);
	/* Everything has been put: complete the output. Called at most once. */
	int (*finish)(struct sink *s, struct error *err);
	/* Release everything, finished or not; what is unfinished is discarded or kept as is. */
	void (*free)(struct sink *s);
};

/* The first member of every sink. wants: mask of WANT(), made by WANTS(). */
struct sink {
	const struct sink_ops *ops;
	uint64_t wants;
};

struct source;

struct source_ops {
	/*
	 * Put everything that the sink wants, and return when there is no
	 * more. Does not finish the sink. Stops at the sink's first error and
	 * returns it.
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

/* The same of many of a kind, in a row. */
int sink_put_many(struct sink *s, enum record_kind kind, const void *records, size_t count,
		  struct error *err);

/* put_sample(sink, &sample, err) and so on: sink_put() with the type checked. */
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

static inline uint64_t sink_unstored(const struct sink *s, enum record_kind kind, uint64_t cpu)
{
	return s->ops->unstored ? s->ops->unstored(s, kind, cpu) : 0;
}

/* Run source into sink, then finish the sink. Frees neither. */
int pipe_join(struct source *source, struct sink *sink, struct error *err);

/* Both accept NULL. */
void sink_free(struct sink *s);
void source_free(struct source *s);

#endif
