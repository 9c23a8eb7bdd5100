// SPDX-License-Identifier: Apache-2.0
/* Profiles: paths, ends and names, from records in any order and with missing ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions.h"
#include "analyze/groups.h"
#include "analyze/profile.h"
#include "sample_scene.h"
#include "suite.h"
#include "totals.h"

static struct profile *scene_profile(void)
{
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_msg(!profile_read(&p, scene_source(), NULL, &err), "%s", err.text);
	return p;
}

static uint32_t stack_of(const struct profile *p, uint64_t id)
{
	uint32_t stack = profile_stack_by_id(p, id);

	ck_assert_msg(stack < p->count.stacks, "no stack %llu", (unsigned long long)id);
	return stack;
}

START_TEST(everything_is_taken)
{
	struct profile *p = scene_profile();

	ck_assert_uint_eq(totals_of(p).count, SCENE_SAMPLES);
	ck_assert_uint_eq(totals_of(p).weight, SCENE_SAMPLES * SCENE_PERIOD);
	ck_assert_str_eq(p->host.hostname, "web-1");
	ck_assert_uint_eq(p->count.losses, 3);
	ck_assert_uint_eq(p->count.accounts, 4);
	/* thread 77 and stack 99 are missing */
	ck_assert_uint_eq(p->missing, 2);
	for (uint32_t i = 0; i < p->count.stacks; i++)
		ck_assert(p->stacks[i].parent == PROFILE_NONE || p->stacks[i].parent < i);
	profile_free(p);
	profile_free(NULL);
}
END_TEST

START_TEST(ends_of_stacks)
{
	static const struct {
		uint64_t stack;
		enum stack_end end;
	} expected[] = {
		{1, END_WALKED},	{6, END_WALKED},	{10, END_WALKED},
		{11, END_WALKED}, /* a kernel thread */
		{12, END_DEPTH},	{14, END_DEPTH},	{16, END_UNKNOWN_ROOT},
		{17, END_UNKNOWN_ROOT}, {18, END_WALKED},	{19, END_WALKED},
		{20, END_UNKNOWN_ROOT}, {21, END_UNKNOWN_ROOT}, {23, END_UNKNOWN_ROOT},
	};
	struct profile *p = scene_profile();

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_msg(profile_stack_end(p, stack_of(p, expected[i].stack)) ==
				      expected[i].end,
			      "stack %llu", (unsigned long long)expected[i].stack);
	ck_assert_int_eq(profile_stack_end(p, PROFILE_NONE), END_UNKNOWN_ROOT);
	profile_free(p);
}
END_TEST

START_TEST(names_of_frames)
{
	struct profile *p = scene_profile();
	char buf[64];

	ck_assert_str_eq(profile_frame_name(p, 1, buf, sizeof(buf)), "main");
	ck_assert_str_eq(profile_frame_name(p, 11, buf, sizeof(buf)), "[libc.so.6+0x2340]");
	ck_assert_str_eq(profile_frame_name(p, 12, buf, sizeof(buf)), "[unknown]");
	ck_assert_str_eq(profile_frame_name(p, 13, buf, sizeof(buf)), "[truncated: too deep]");
	ck_assert_str_eq(profile_frame_name(p, PROFILE_NONE, buf, sizeof(buf)), "[unknown]");
	profile_free(p);
}
END_TEST

/* A live source: names come late, entities come again. A cycle of stacks needs a crafted trace. */
static void late_build(struct scene *s, const void *unused)
{
	(void)unused;
	scene_stack(s, 1, 0, 1);
	scene_stack(s, 2, 1, 2);
	scene_sum(s, 1, 1, 2, 3, 30, 0, 0);
	scene_stack(s, 3, 3, 1);
	scene_frame(s, 2, FRAME_NATIVE, 1, 2, 0, 0, 0);
	scene_thread(s, 1, 1, 7, 0, 0, "old", 0, 0, "");
	scene_account(s, .event = 1, .due = 1);
	scene_frame(s, 1, FRAME_NATIVE, 1, 1, 1, 0, FRAME_FLAG_START);
	scene_function(s, 1, 1, "late", NULL, NULL, 0, 0);
	scene_thread(s, 1, 1, 7, 0, 0, "new", 0, 0, "");
	scene_account(s, .event = 1, .due = 9);
}

START_TEST(any_order)
{
	struct scene_source late = SCENE_OF(late_build, NULL);
	struct profile *p = NULL;
	struct error err = {""};
	char buf[64];
	const struct profile_stack *leaf;

	ck_assert_int_eq(profile_read(&p, &late.source, NULL, &err), 0);
	leaf = &p->stacks[p->sums[0].stack];
	ck_assert_int_eq(profile_stack_end(p, p->sums[0].stack), END_WALKED);
	ck_assert_str_eq(profile_frame_name(p, p->stacks[leaf->parent].frame, buf, sizeof(buf)),
			 "late");
	ck_assert_str_eq(p->threads[p->sums[0].thread].t.comm, "new");
	ck_assert_uint_eq(p->count.threads, 1);
	ck_assert_uint_eq(p->count.accounts, 1);
	ck_assert_uint_eq(p->accounts[0].due, 9);
	ck_assert_uint_eq(p->stacks[stack_of(p, 3)].parent, PROFILE_NONE);
	/* the event, the process and the mapping are missing */
	ck_assert_uint_eq(p->missing, 3);
	profile_free(p);
}
END_TEST

static void of_no_event_build(struct scene *s, const void *unused)
{
	(void)unused;
	scene_sum(s, .count = 3, .weight = 30);
}

/* A trace may lack the event of a sum; the sum gets one all the same. */
START_TEST(sums_have_an_event)
{
	struct scene_source of_no_event = SCENE_OF(of_no_event_build, NULL);
	struct profile *p = NULL;
	struct error err = {""};
	uint64_t count, weight;

	ck_assert_int_eq(profile_read(&p, &of_no_event.source, NULL, &err), 0);
	ck_assert_uint_eq(p->count.sums, 1);
	ck_assert_uint_lt(p->sums[0].event, p->count.events);
	ck_assert_uint_eq(p->missing, 1);
	profile_event_total(p, p->sums[0].event, &count, &weight);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(weight, 30);
	profile_free(p);
}
END_TEST

static const struct function_cost *cost_of(const struct functions *f, const struct symbols *s,
					   const char *name)
{
	for (size_t i = 0; i < f->list.count; i++)
		if (!strcmp(symbol_name(s, f->list.items[i].symbol), name))
			return &f->list.items[i];
	ck_abort_msg("no function %s", name);
}

START_TEST(functions_count_recursion_once)
{
	struct profile *p = scene_profile();
	struct symbols s;
	struct tree t;
	struct functions f;
	struct tree_view view = {0};
	const struct function_cost *cost;

	ck_assert_int_eq(symbols_of(&s, p), 0);
	view.frame_labels = s.of_frame;
	view.unknown_label = s.unknown;
	ck_assert_int_eq(tree_build(&t, p, 0, &view), 0);
	ck_assert_uint_eq(t.nodes.items[0].count, SCENE_SAMPLES);
	ck_assert_int_eq(functions_of(&f, &t, &s), 0);
	cost = cost_of(&f, &s, "fib");
	ck_assert_uint_eq(cost->self_count, 20);
	ck_assert_uint_eq(cost->total_count, 30);
	/* two mappings of one path belong to one module */
	cost = cost_of(&f, &s, "main");
	ck_assert_uint_eq(cost->self_count, 13);
	ck_assert_uint_eq(cost->total_count, 57);
	ck_assert_uint_eq(cost_of(&f, &s, "[libc.so.6+0x2340]")->total_count, 5);
	for (size_t i = 1; i < f.list.count; i++)
		ck_assert_uint_ge(f.list.items[i - 1].self_weight, f.list.items[i].self_weight);
	functions_free(&f);
	tree_free(&t);
	symbols_free(&s);
	profile_free(p);
}
END_TEST

static void functions_are_as_in_a_tree(const struct profile *p)
{
	struct functions merged, plain;
	struct tree_view view = {0};
	struct symbols s;
	struct tree t;

	ck_assert_int_eq(symbols_of(&s, p), 0);
	view.frame_labels = s.of_frame;
	view.unknown_label = s.unknown;
	ck_assert_int_eq(tree_build(&t, p, 0, &view), 0);
	ck_assert_int_eq(functions_of(&merged, &t, &s), 0);
	ck_assert_int_eq(functions_of_stacks(&plain, p, 0, &s), 0);
	ck_assert_uint_eq(plain.list.count, merged.list.count);
	for (size_t i = 0; i < merged.list.count; i++) {
		const char *name = symbol_name(&s, merged.list.items[i].symbol);
		const struct function_cost *m = cost_of(&merged, &s, name);
		const struct function_cost *q = cost_of(&plain, &s, name);

		ck_assert_uint_eq(m->self_count, q->self_count);
		ck_assert_uint_eq(m->self_weight, q->self_weight);
		ck_assert_uint_eq(m->total_count, q->total_count);
		ck_assert_uint_eq(m->total_weight, q->total_weight);
	}
	functions_free(&merged);
	functions_free(&plain);
	tree_free(&t);
	symbols_free(&s);
}

START_TEST(functions_need_no_tree)
{
	struct profile *p = scene_profile();

	functions_are_as_in_a_tree(p);
	profile_free(p);
}
END_TEST

#define FUNCTIONS 6
#define STACKS 500

/*
 * A source with marks and missing frames at random places, indirect recursion, and samples in all
 * stacks.
 */
static void random_build(struct scene *s, const void *unused)
{
	static const char *const names[FUNCTIONS] = {"a", "b", "c", "d", "e", "f"};

	(void)unused;
	srand(1);
	scene_event(s, .id = 1, .name = "cpu-clock", .unit = "ns");
	for (uint64_t i = 1; i <= FUNCTIONS; i++) {
		scene_function(s, .id = i, .name = names[i - 1]);
		scene_frame(s, .id = i, .function = i, .kind = FRAME_NATIVE);
	}
	scene_frame(s, .id = FUNCTIONS + 1, .kind = FRAME_END, .address = END_DEPTH);
	for (uint64_t i = 1; i <= STACKS; i++) {
		uint64_t parent = rand() % 8 ? i - 1 : (uint64_t)rand() % i;

		scene_stack(s, i, parent, (uint64_t)rand() % (FUNCTIONS + 3));
		scene_sum(s, .event = 1 + !(rand() % 5), .stack = (uint64_t)rand() % (i + 1),
			  .count = 1 + (uint64_t)rand() % 3, .weight = (uint64_t)rand());
	}
}

START_TEST(functions_need_no_tree_of_anything)
{
	struct scene_source random = SCENE_OF(random_build, NULL);
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_int_eq(profile_read(&p, &random.source, NULL, &err), 0);
	ck_assert_uint_eq(p->count.sums, STACKS);
	functions_are_as_in_a_tree(p);
	profile_free(p);
}
END_TEST

START_TEST(groups_add_up)
{
	struct profile *p = scene_profile();

	for (int by = 0; by < GROUP_KIND_COUNT; by++) {
		struct groups g;
		uint64_t count = 0;

		ck_assert_int_eq(groups_of(&g, p, 0, by), 0);
		for (size_t i = 0; i < g.list.count; i++)
			count += g.list.items[i].count;
		ck_assert_uint_eq(count, SCENE_SAMPLES);
		if (by == GROUP_PROGRAM) {
			ck_assert_str_eq(g.list.items[0].name, "worker 3");
			ck_assert_uint_eq(g.list.items[0].processes, 2);
			ck_assert_uint_eq(g.list.items[0].count, 54);
		}
		if (by == GROUP_PROCESS)
			ck_assert_uint_eq(g.list.items[0].count, 50);
		groups_free(&g);
	}
	profile_free(p);
}
END_TEST

/* Compare two profiles by all members that refer to others, and by those referred to. */
static void same_profile(const struct profile *a, const struct profile *b)
{
	ck_assert_uint_eq(a->missing, b->missing);
	ck_assert_uint_eq(a->count.events, b->count.events);
	ck_assert_uint_eq(a->count.threads, b->count.threads);
	ck_assert_uint_eq(a->count.frames, b->count.frames);
	ck_assert_uint_eq(a->count.stacks, b->count.stacks);
	ck_assert_uint_eq(a->count.sums, b->count.sums);
	ck_assert_uint_eq(a->count.losses, b->count.losses);
	ck_assert_uint_eq(totals_of(a).weight, totals_of(b).weight);
	for (uint32_t i = 0; i < a->count.events; i++)
		ck_assert_uint_eq(a->events[i].id, b->events[i].id);
	for (uint32_t i = 0; i < a->count.threads; i++)
		ck_assert_uint_eq(a->threads[i].t.id, b->threads[i].t.id);
	for (uint32_t i = 0; i < a->count.frames; i++) {
		ck_assert_mem_eq(&a->frames[i].f, &b->frames[i].f, sizeof(a->frames[i].f));
		ck_assert_uint_eq(a->frames[i].mapping, b->frames[i].mapping);
		ck_assert_uint_eq(a->frames[i].function, b->frames[i].function);
	}
	ck_assert_mem_eq(a->stacks, b->stacks, a->count.stacks * sizeof(*a->stacks));
	ck_assert_mem_eq(a->ends, b->ends, a->count.stacks * sizeof(*a->ends));
	ck_assert_mem_eq(a->roots, b->roots, a->count.stacks * sizeof(*a->roots));
	ck_assert_mem_eq(a->sums, b->sums, a->count.sums * sizeof(*a->sums));
	for (uint64_t id = 0; id < 200; id++)
		ck_assert_uint_eq(profile_stack_by_id(a, id), profile_stack_by_id(b, id));
}

/* Parts may refer to entities of other parts, or to missing ones. */
START_TEST(parts_make_the_same)
{
	struct scene_source first = SCENE_OF(scene_build, NULL), second = first, third = first;
	const struct profile_sources from = {&first.source, &second.source, &third.source};
	struct profile *whole = scene_profile(), *p = NULL;
	struct error err = {""};

	ck_assert_msg(!profile_read_parts(&p, &from, NULL, &err), "%s", err.text);
	same_profile(whole, p);
	profile_free(whole);
	profile_free(p);
}
END_TEST

static void failing_build(struct scene *s, const void *unused)
{
	(void)unused;
	if (s->to->wants & (WANT(SUM) | WANT(STACK)))
		s->ret = error_set(s->err, -EIO, "no stacks here");
}

START_TEST(any_part_may_fail)
{
	struct source *good = scene_source();
	struct scene_source bad = SCENE_OF(failing_build, NULL);
	const struct profile_sources no_stacks = {good, &bad.source, good};
	const struct profile_sources no_sums = {good, good, &bad.source};
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_int_eq(profile_read_parts(&p, &no_stacks, NULL, &err), -EIO);
	ck_assert_str_eq(err.text, "no stacks here");
	ck_assert_int_eq(profile_read_parts(&p, &no_sums, NULL, &err), -EIO);
	ck_assert_ptr_null(p);
}
END_TEST

SUITE("profile", parts_make_the_same, any_part_may_fail, everything_is_taken, ends_of_stacks,
      names_of_frames, any_order, sums_have_an_event, functions_count_recursion_once,
      functions_need_no_tree, functions_need_no_tree_of_anything, groups_add_up)
