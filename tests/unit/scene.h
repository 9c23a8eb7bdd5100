/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build a recording for a test, as a source: scene_host(), scene_thread(, 0) and so on put one
 * record each, SCENE_PUT_ALL() puts a list. DEFINE_SCENE() makes a source of a function that calls
 * them.
 */
#ifndef SKEIN_TESTS_SCENE_H
#define SKEIN_TESTS_SCENE_H

#include "base/pipe.h"

/* A recording that is being built. After the first failure, nothing more is put. */
struct scene {
	struct sink *to;
	struct error *err;
	int ret; /* 0, or the negative errno of the first failure */
};

static inline void scene_put(struct scene *s, enum record_kind kind, const void *record)
{
	if (!s->ret)
		s->ret = sink_put(s->to, kind, record, s->err);
}

static inline void scene_put_all(struct scene *s, enum record_kind kind, const void *records,
				 size_t count)
{
	for (size_t i = 0; i < count; i++)
		scene_put(s, kind, (const char *)records + i * kinds[kind].size);
}

#define SCENE_COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define SCENE_PUT_ALL(s, KIND, list) scene_put_all(s, KIND_##KIND, list, SCENE_COUNT(list))

/* Put one record with the given members: scene_thread(s, .id = 1, .comm = "worker"). */
#define scene_host(s, ...) scene_put(s, KIND_HOST, &(struct host){__VA_ARGS__})
#define scene_info(s, ...) scene_put(s, KIND_INFO, &(struct info){__VA_ARGS__})
#define scene_event(s, ...) scene_put(s, KIND_EVENT, &(struct event){__VA_ARGS__})
#define scene_process(s, ...) scene_put(s, KIND_PROCESS, &(struct process){__VA_ARGS__})
#define scene_thread(s, ...) scene_put(s, KIND_THREAD, &(struct thread){__VA_ARGS__})
#define scene_lane(s, ...) scene_put(s, KIND_LANE, &(struct lane){__VA_ARGS__})
#define scene_name(s, ...) scene_put(s, KIND_NAME, &(struct name){__VA_ARGS__})
#define scene_mapping(s, ...) scene_put(s, KIND_MAPPING, &(struct mapping){__VA_ARGS__})
#define scene_function(s, ...) scene_put(s, KIND_FUNCTION, &(struct function){__VA_ARGS__})
#define scene_frame(s, ...) scene_put(s, KIND_FRAME, &(struct frame){__VA_ARGS__})
#define scene_stack(s, ...) scene_put(s, KIND_STACK, &(struct stack){__VA_ARGS__})
#define scene_sample(s, ...) scene_put(s, KIND_SAMPLE, &(struct sample){__VA_ARGS__})
#define scene_slice(s, ...) scene_put(s, KIND_SLICE, &(struct slice){__VA_ARGS__})
#define scene_edge(s, ...) scene_put(s, KIND_EDGE, &(struct edge){__VA_ARGS__})
#define scene_span(s, ...) scene_put(s, KIND_SPAN, &(struct span){__VA_ARGS__})
#define scene_counter(s, ...) scene_put(s, KIND_COUNTER, &(struct counter){__VA_ARGS__})
#define scene_sum(s, ...) scene_put(s, KIND_SUM, &(struct sum){__VA_ARGS__})
#define scene_account(s, ...) scene_put(s, KIND_ACCOUNT, &(struct account){__VA_ARGS__})
#define scene_loss(s, ...) scene_put(s, KIND_LOSS, &(struct loss){__VA_ARGS__})

/* A slice, or an edge if edge.kind is not 0, in a list of both. */
struct scene_step {
	struct slice slice;
	struct edge edge;
};

/* Steps of a list; their times are AT(number), a macro of the scene. */
#define RAN(cpu, from, to, thread, left, wait) \
	{{AT(from), AT(to), cpu, STATE_RUNNING, thread, left, wait}, {0}}
#define CPU_WAS(cpu, from, to, state) \
	{{AT(from), AT(to), cpu, state, 0, 0, 0}, {0}}
#define SEEN(at, lane, state, wait) \
	{{AT(at), 0, lane, state, 0, 0, wait}, {0}}
#define LINKED(at, from, to, kind, cpu) \
	{{0}, {AT(at), AT(at), from, to, kind, cpu, 0}}

static inline void scene_step(struct scene *s, const struct scene_step *step)
{
	if (step->edge.kind)
		scene_put(s, KIND_EDGE, &step->edge);
	else
		scene_put(s, KIND_SLICE, &step->slice);
}

/* A source of what build() puts. */
struct scene_source {
	struct source source;
	void (*build)(struct scene *s, const void *context);
	const void *context;
};

static inline int scene_source_run(struct source *source, struct sink *to, struct error *err)
{
	const struct scene_source *from = (const struct scene_source *)source;
	struct scene s = {to, err, 0};

	from->build(&s, from->context);
	return s.ret;
}

static inline void scene_source_free(struct source *s)
{
	(void)s;
}

static const struct source_ops scene_source_ops = {.run = scene_source_run,
						   .free = scene_source_free};

#define SCENE_OF(build, context) \
	{{&scene_source_ops}, build, context}

/* Define name(), which returns the source of what build() puts and need not be freed. */
#define DEFINE_SCENE(name, build) \
	static inline struct source *name(void) \
	{ \
		static struct scene_source s = SCENE_OF(build, NULL); \
\
		return &s.source; \
	}

#endif
