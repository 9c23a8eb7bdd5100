// SPDX-License-Identifier: Apache-2.0
/*
 * Test the filter of slices and edges: CPUs keep all slices, only selected threads are named, and
 * nothing is cut.
 */
#include <string.h>

#include "analyze/filter.h"
#include "base/vector.h"
#include "scene.h"
#include "suite.h"

#define START 1000000ULL
#define CPU_LANE 1
#define LANE(thread) (10 + (thread))

/*
 * Threads 1 and 2 of process 100, and 3 of process 200, on one CPU, and a source of their records.
 */
static const struct slice slices[] = {
	{START, 0, LANE(1), STATE_RUNNABLE, 0, 0, 0},
	{START, 0, LANE(2), STATE_SLEEPING, 0, 0, WAIT_POLL},
	{START, 0, LANE(3), STATE_SLEEPING, 0, 0, WAIT_IO},
	{START, START + 100, CPU_LANE, STATE_RUNNING, 1, STATE_SLEEPING, WAIT_LOCK},
	{START + 100, START + 200, CPU_LANE, STATE_RUNNING, 3, STATE_SLEEPING, WAIT_IO},
	{START + 200, START + 300, CPU_LANE, STATE_IDLE, 0, 0, 0},
	{START + 300, START + 400, CPU_LANE, STATE_RUNNING, 2, STATE_PREEMPTED, 0},
	{START + 400, START + 450, CPU_LANE, STATE_UNKNOWN, 0, 0, 0},
	{START + 450, START + 500, CPU_LANE, STATE_RUNNING, 3, 0, 0},
};

static const struct edge edges[] = {
	{START + 50, START + 50, LANE(1), LANE(3), EDGE_WAKEUP, 1, 0},
	{START + 150, START + 150, LANE(3), LANE(2), EDGE_WAKEUP, 1, 0},
	{START + 350, START + 350, LANE(2), LANE(1), EDGE_WAKEUP, 1, 0},
	{START + 360, START + 360, CPU_LANE, CPU_LANE, EDGE_MIGRATION, 3, 0},
};

static void build(struct scene *s, const void *unused)
{
	size_t slice = 0, edge = 0;

	(void)unused;
	scene_host(s, .id = 1, .start = START, .end = START + 500);
	for (uint64_t pid = 100; pid <= 200; pid += 100)
		scene_process(s, .id = pid, .host = 1, .pid = pid);
	for (uint64_t i = 1; i <= 3; i++)
		scene_thread(s, i, i < 3 ? 100 : 200, 100 + i, 0, 0, "thread", LANE(i), 0, "");
	scene_lane(s, .id = CPU_LANE, .host = 1, .kind = LANE_CPU);
	for (uint64_t i = 1; i <= 3; i++)
		scene_lane(s, .id = LANE(i), .host = 1, .kind = LANE_THREAD, .number = i);
	while (slice < SCENE_COUNT(slices) || edge < SCENE_COUNT(edges))
		if (edge == SCENE_COUNT(edges) || (slice < SCENE_COUNT(slices) &&
						   slice_order(&slices[slice]) <= edges[edge].time))
			scene_put(s, KIND_SLICE, &slices[slice++]);
		else
			scene_put(s, KIND_EDGE, &edges[edge++]);
}

struct got {
	struct sink sink;
	VECTOR(struct slice) slices;
	VECTOR(struct edge) edges;
};

static int take(struct sink *sink, enum record_kind kind, const void *record, struct error *err)
{
	struct got *g = (struct got *)sink;

	(void)err;
	if (kind == KIND_SLICE)
		return vector_push(&g->slices, *(const struct slice *)record);
	return kind == KIND_EDGE ? vector_push(&g->edges, *(const struct edge *)record) : 0;
}

static struct got filtered(struct filter f, uint64_t wants)
{
	static const struct sink_ops sink_ops = {.put = take};
	struct scene_source inner = SCENE_OF(build, NULL);
	struct source *source = NULL;
	struct got g = {.sink = {&sink_ops, wants}};
	struct error err = {""};

	ck_assert_msg(!filter_source(&source, &inner.source, &f, &err), "%s", err.text);
	ck_assert_msg(!source->ops->run(source, &g.sink, &err), "%s", err.text);
	source_free(source);
	return g;
}

static void done(struct got *g)
{
	vector_free(&g->slices);
	vector_free(&g->edges);
}

static void is_slice(const struct got *g, size_t i, struct slice wanted)
{
	ck_assert_uint_lt(i, g->slices.count);
	ck_assert_mem_eq(&g->slices.items[i], &wanted, sizeof(wanted));
}

START_TEST(everything)
{
	struct got g = filtered((struct filter){0}, WANT_ALL);

	ck_assert_uint_eq(g.slices.count, SCENE_COUNT(slices));
	for (size_t i = 0; i < SCENE_COUNT(slices); i++)
		is_slice(&g, i, slices[i]);
	ck_assert_uint_eq(g.edges.count, SCENE_COUNT(edges));
	ck_assert_mem_eq(g.edges.items, edges, sizeof(edges));
	done(&g);
	g = filtered((struct filter){0}, WANT_ALL & ~WANT(SLICE));
	ck_assert_uint_eq(g.slices.count, 0);
	ck_assert_uint_eq(g.edges.count, SCENE_COUNT(edges));
	done(&g);
}
END_TEST

START_TEST(one_process)
{
	struct got g = filtered((struct filter){.pids = "100"}, WANT_ALL);

	ck_assert_uint_eq(g.slices.count, SCENE_COUNT(slices) - 1);
	is_slice(&g, 0, slices[0]);
	is_slice(&g, 1, slices[1]);
	is_slice(&g, 2, slices[3]);
	is_slice(&g, 3, (struct slice){START + 100, START + 200, CPU_LANE, STATE_RUNNING, 0, 0, 0});
	is_slice(&g, 4, slices[5]);
	is_slice(&g, 6, slices[7]);
	ck_assert_uint_eq(g.edges.count, 2);
	ck_assert_uint_eq(g.edges.items[0].to, LANE(2));
	ck_assert_uint_eq(g.edges.items[1].to, LANE(1));
	done(&g);
}
END_TEST

START_TEST(one_thread_of_another)
{
	struct got g = filtered((struct filter){.tids = "103"}, WANT_ALL);

	ck_assert_uint_eq(g.slices.count, SCENE_COUNT(slices) - 2);
	is_slice(&g, 0, slices[2]);
	is_slice(&g, 1, (struct slice){START, START + 100, CPU_LANE, STATE_RUNNING, 0, 0, 0});
	ck_assert_uint_eq(g.edges.count, 2); /* the thread's wake-up and migration */
	done(&g);
}
END_TEST

/* Nothing is cut, and the states of threads at the begin of the range come first. */
START_TEST(time_range)
{
	static const uint64_t wants[] = {WANT_ALL, WANT_ALL & ~WANT(EDGE)};

	for (size_t i = 0; i < SCENE_COUNT(wants); i++) {
		struct got g = filtered((struct filter){.from = 250, .to = 380}, wants[i]);

		is_slice(&g, 0,
			 (struct slice){START + 250, 0, LANE(1), STATE_SLEEPING, 0, 0, WAIT_LOCK});
		is_slice(&g, 1, (struct slice){START + 250, 0, LANE(2), STATE_RUNNABLE, 0, 0, 0});
		is_slice(&g, 2,
			 (struct slice){START + 250, 0, LANE(3), STATE_SLEEPING, 0, 0, WAIT_IO});
		is_slice(&g, 3, slices[5]);
		is_slice(&g, 4, slices[6]);
		ck_assert_uint_eq(g.slices.count, 5);
		ck_assert_uint_eq(g.edges.count, i ? 0 : 2);
		done(&g);
	}
}
END_TEST

/* A gap is put when it begins, and reaches into the range. */
START_TEST(gap_into_range)
{
	struct got g = filtered((struct filter){.from = 420, .tids = "103"}, WANT_ALL);

	is_slice(&g, 0, slices[7]);
	is_slice(&g, 1, (struct slice){START + 420, 0, LANE(3), STATE_UNKNOWN, 0, 0, 0});
	is_slice(&g, 2, slices[8]);
	ck_assert_uint_eq(g.slices.count, 3);
	ck_assert_uint_eq(g.edges.count, 0);
	done(&g);
}
END_TEST

SUITE("filter-lanes", everything, one_process, one_thread_of_another, time_range, gap_into_range)
