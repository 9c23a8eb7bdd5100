// SPDX-License-Identifier: Apache-2.0
/*
 * Test inlined functions in profiles: with frames of their own, or without, and the same sums in
 * both cases.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/profile.h"
#include "files.h"
#include "scene.h"
#include "shown.h"
#include "suite.h"
#include "totals.h"
#include "trace_file.h"

static const struct event events[] = {{1, 1, "cpu-clock", "ns", 10, 100}};
static const struct process processes[] = {{.id = 1,
					    .pid = 7,
					    .comm = "p",
					    .exe = "/bin/p",
					    .cgroup = "",
					    .container = "",
					    .service = ""}};
static const struct thread threads[] = {{.id = 1, .process = 1, .tid = 7, .comm = "p"}};
static const struct mapping mappings[] = {
	{1, 1, MAPPING_FILE, 0, 100000, "/bin/p", ""},
	{2, 1, MAPPING_KERNEL, 0, 0, "[kernel.kallsyms]", ""},
};
static const struct function functions[] = {
	{1, 1, "main", "", "/src/p.c", 40, 0},
	{2, 1, "outer", "", "/src/p.c", 30, 0},
	{3, 1, "middle", "", "/src/p.h", 20, 0},
	{4, 1, "inner", "", "/src/p.h", 10, 0},
	{5, 1, "leaf", "", "", 0, 0},
	{6, 2, "entry", "", "", 0, 0},
};
static const struct frame frames[] = {
	{1, FRAME_NATIVE, 1, 0x100, 1, 42, FRAME_FLAG_START},
	{2, FRAME_NATIVE, 1, 0x200, 2, 31, 0},
	{3, FRAME_JAVA, 1, 0x210, 2, 32, 0},
	{4, FRAME_NATIVE, 1, 0x300, 5, 0, 0},
	{5, FRAME_KERNEL, 2, 0x400, 6, 0, 0},
	{6, FRAME_NATIVE, 1, 0x220, 2, 33, 0},
};
static const struct inlined inlined[] = {
	/* in no particular order */
	{2, 2, 2, "/src/p.c", 31},
	{2, 0, 4, "/src/p.h", 11},
	{2, 1, 3, "/src/p.h", 21},
	{3, 0, 3, "/src/p.h", 22},
	{3, 1, 2, "/src/p.c", 32},
	/* A kernel frame has no inlined functions, even if the file lists some. */
	{5, 0, 4, "", 1},
	{5, 1, 6, "", 1},
	/* One depth is missing, and one frame does not exist. */
	{6, 0, 4, "", 1},
	{6, 2, 2, "", 1},
	{77, 0, 4, "", 1},
};
static const struct stack stacks[] = {
	{1, 0, 1}, {2, 1, 2}, {3, 1, 3}, {4, 2, 4}, {5, 2, 5}, {6, 1, 6},
};
static const struct sum sums[] = {
	{1, 1, 1, 1, 10, 0, 0}, {1, 1, 2, 10, 100, 0, 0}, {1, 1, 3, 5, 50, 0, 0},
	{1, 1, 4, 3, 30, 0, 0}, {1, 1, 5, 2, 20, 0, 0},	  {1, 1, 6, 4, 40, 0, 0},
};

static void put_entities(struct scene *s)
{
	SCENE_PUT_ALL(s, EVENT, events);
	SCENE_PUT_ALL(s, PROCESS, processes);
	SCENE_PUT_ALL(s, THREAD, threads);
	SCENE_PUT_ALL(s, MAPPING, mappings);
	SCENE_PUT_ALL(s, FUNCTION, functions);
	SCENE_PUT_ALL(s, FRAME, frames);
	SCENE_PUT_ALL(s, INLINED, inlined);
	SCENE_PUT_ALL(s, STACK, stacks);
}

static void build(struct scene *s, const void *unused)
{
	(void)unused;
	put_entities(s);
	SCENE_PUT_ALL(s, SUM, sums);
}

DEFINE_SCENE(scene, build)

static void check(struct export_options o, const char *expected)
{
	char *text = exported("folded", &o, scene(), &(size_t){0});

	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(as_frames)
{
	check((struct export_options){0}, "p;main 1\n"
					  "p;main;outer 4\n"
					  "p;main;outer;middle 5\n"
					  "p;main;outer;middle;inner 10\n"
					  "p;main;outer;middle;inner;entry 2\n"
					  "p;main;outer;middle;inner;leaf 3\n");
}
END_TEST

START_TEST(as_the_function_around_them)
{
	check((struct export_options){.view = {.no_inlines = true}}, "p;main 1\n"
								     "p;main;outer 19\n"
								     "p;main;outer;entry 2\n"
								     "p;main;outer;leaf 3\n");
}
END_TEST

START_TEST(marked)
{
	check((struct export_options){.annotate = true},
	      "p;main 1\n"
	      "p;main;outer 4\n"
	      "p;main;outer;middle_[i];inner_[i] 10\n"
	      "p;main;outer;middle_[i];inner_[i];entry_[k] 2\n"
	      "p;main;outer;middle_[i];inner_[i];leaf 3\n"
	      "p;main;outer_[j];middle_[i] 5\n");
}
END_TEST

START_TEST(by_line)
{
	check((struct export_options){.view = {.lines = true}},
	      "p;main (p.c:42) 1\n"
	      "p;main (p.c:42);outer (p.c:31);middle (p.h:21);inner (p.h:11) 10\n"
	      "p;main (p.c:42);outer (p.c:31);middle (p.h:21);inner (p.h:11);entry 2\n"
	      "p;main (p.c:42);outer (p.c:31);middle (p.h:21);inner (p.h:11);leaf 3\n"
	      "p;main (p.c:42);outer (p.c:32);middle (p.h:22) 5\n"
	      "p;main (p.c:42);outer (p.c:33) 4\n");
	check((struct export_options){.view = {.lines = true, .no_inlines = true}},
	      "p;main (p.c:42) 1\n"
	      "p;main (p.c:42);outer (p.c:31) 10\n"
	      "p;main (p.c:42);outer (p.c:31);entry 2\n"
	      "p;main (p.c:42);outer (p.c:31);leaf 3\n"
	      "p;main (p.c:42);outer (p.c:32) 5\n"
	      "p;main (p.c:42);outer (p.c:33) 4\n");
}
END_TEST

START_TEST(a_profile_holds_together)
{
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_int_eq(profile_read(&p, scene(), NULL, &err), 0);
	ck_assert_uint_eq(totals_of(p).count, 25);
	/* frame 77 */
	ck_assert_uint_eq(p->missing, 1);
	for (uint32_t i = 0; i < p->count.stacks; i++) {
		ck_assert(p->stacks[i].parent == PROFILE_NONE || p->stacks[i].parent < i);
		ck_assert_int_eq(p->ends[i], END_WALKED);
	}
	/* The stacks of samples are in the trace. */
	for (uint32_t i = 0; i < p->count.sums; i++)
		ck_assert_uint_eq(p->sums[i].stack, profile_stack_by_id(p, i + 1));
	profile_free(p);
}
END_TEST

START_TEST(joined_for_those_who_show_several_in_one)
{
	const struct profile_view view = {.joined = true};
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_int_eq(profile_read(&p, scene(), &view, &err), 0);
	ck_assert_uint_eq(p->count.stacks, 6);
	ck_assert_uint_eq(p->frames[1].place_count, 3);
	ck_assert_uint_eq(p->inlined[p->frames[1].first_place].i.line, 11);
	ck_assert_uint_eq(p->frames[4].place_count, 0);
	ck_assert_uint_eq(p->frames[5].place_count, 0);
	profile_free(p);
}
END_TEST

static void build_inlined(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, INLINED, inlined);
}

/* A trace returns what was written, and only has the table if the table has rows. */
START_TEST(through_a_trace)
{
	struct scene_source from = SCENE_OF(build_inlined, NULL);
	struct source *source = NULL;
	struct profile *p = NULL;
	struct trace *t;
	struct error err = {""};
	uint64_t count;

	files_begin();
	trace_file_write("inlined.skein", &from.source);
	t = trace_file_open("inlined.skein");
	ck_assert_int_eq(trace_count(t, KIND_INLINED, &count, &err), 0);
	ck_assert_uint_eq(count, SCENE_COUNT(inlined));
	ck_assert_int_eq(trace_source(&source, t, &err), 0);
	ck_assert_int_eq(profile_read(&p, source, NULL, &err), 0);
	ck_assert_uint_eq(p->count.inlined, SCENE_COUNT(inlined));
	profile_free(p);
	source_free(source);
	trace_close(t);
}
END_TEST

/*
 * Put all but sums, which a trace makes from samples: one sample of each stack, with the weight
 * of its sum.
 */
static void build_samples(struct scene *s, const void *unused)
{
	(void)unused;
	put_entities(s);
	for (size_t i = 0; i < SCENE_COUNT(sums); i++)
		scene_sample(s, i + 1, 1, 1, 0, sums[i].stack, sums[i].weight, 0, 0, 0, 0, 0);
}

/* The view names the innermost function, like a report: incomplete rows do not count. */
START_TEST(hottest_is_the_innermost)
{
	struct scene_source from = SCENE_OF(build_samples, NULL);
	struct trace *t;
	char *text;

	files_begin();
	trace_file_write("inlined.skein", &from.source);
	t = trace_file_open("inlined.skein");
	text = trace_file_query(t, "SELECT function, weight FROM hottest");
	ck_assert_str_eq(text, "function,weight\ninner,100\nmiddle,50\nouter,40\n"
			       "leaf,30\nentry,20\nmain,10\n");
	free(text);
	trace_close(t);
}
END_TEST

SUITE("inlined", as_frames, as_the_function_around_them, marked, by_line, a_profile_holds_together,
      joined_for_those_who_show_several_in_one, through_a_trace, hottest_is_the_innermost)
