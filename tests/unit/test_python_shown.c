// SPDX-License-Identifier: Apache-2.0
/*
 * Python stacks as they are shown: which frames and names each has, and that no other frame is left
 * out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "analyze/functions.h"
#include "analyze/python.h"
#include "python_scene.h"
#include "suite.h"
#include "synthetic.h"
#include "totals.h"

static struct profile *read_profile(struct source *s, struct profile_view view)
{
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_msg(!profile_read(&p, s, &view, &err), "%s", err.text);
	return p;
}

static struct profile *scene(bool native, bool lines)
{
	return read_profile(python_scene_source(),
			    (struct profile_view){.native = native, .lines = lines});
}

/* Return "root;...;leaf" for the stack with this id. */
static const char *path_of(const struct profile *p, uint64_t id)
{
	static char path[8192];
	uint32_t at = profile_stack_by_id(p, id);

	*path = '\0';
	ck_assert_uint_lt(at, p->count.stacks);
	for (; at != PROFILE_NONE; at = p->stacks[at].parent) {
		char buf[256], rest[8192];
		const char *name = profile_frame_name(p, p->stacks[at].frame, buf, sizeof(buf));

		strcpy(rest, path);
		snprintf(path, sizeof(path), "%s%s%.4000s", name, *rest ? ";" : "", rest);
	}
	return path;
}

#define LOOP "_PyEval_EvalFrameDefault"
#define ENTER "_PyEval_Vector.lto_priv.0"
#define MAIN "_start;main;"
#define MODULE MAIN "<module> (main.py:1);"
#define GET MODULE "Handler.get (main.py:10)"

START_TEST(loops_stand_for_nothing_where_their_frames_are_known)
{
	static const struct {
		uint64_t stack;
		const char *path;
	} expected[] = {
		{6, MAIN "<module> (main.py:1)"},
		{7, GET},
		{8, GET ";_PyFunction_Vectorcall"},
		{9, GET ";_PyFunction_Vectorcall;" ENTER},
		{10, GET ";_PyFunction_Vectorcall;" ENTER ";" LOOP},
		{11, GET ";helper (/srv/app/a/util.py:5)"},
		{12, GET ";list_sort_impl"},
		{16, GET ";list_sort_impl;<lambda> (<string>)"},
		{19, GET ";scanner_call"},
		{22, GET ";scanner_call;_PyFunction_Vectorcall;helper (/srv/app/b/util.py:5)"},
		{23, GET ";_PyFunction_Vectorcall;[libpython3.11.so.1.0]"},
		{27, GET ";gen_iternext"},
		{30, GET ";_find_and_load (<frozen importlib._bootstrap>:1165)"
			 ";[python]"},
		{5, MAIN "PyEval_EvalCode;" ENTER ";" LOOP},
		{26, MAIN "PyEval_EvalCode;" ENTER ";" LOOP ";scanner_call"},
		{33, MAIN "Handler.get (main.py:10)"},
		{36, "[truncated: Python frames unreadable];Handler.get (main.py:10)"},
	};
	struct profile *p = scene(false, false);

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_str_eq(path_of(p, expected[i].stack), expected[i].path);
	profile_free(p);
}
END_TEST

START_TEST(native_shows_all)
{
	struct profile *p = scene(true, false);

	ck_assert_str_eq(path_of(p, 11),
			 MAIN "PyEval_EvalCode;" ENTER ";" LOOP ";<module> (main.py:1);"
			      "Handler.get (main.py:10);_PyFunction_Vectorcall;" ENTER ";" LOOP
			      ";helper (/srv/app/a/util.py:5)");
	profile_free(p);
}
END_TEST

START_TEST(nothing_but_python_where_there_is_some)
{
	static const struct {
		uint64_t stack;
		const char *path;
	} expected[] = {
		{6, "<module> (main.py:1)"},
		{10, "<module> (main.py:1);Handler.get (main.py:10)"},
		{12, "<module> (main.py:1);Handler.get (main.py:10)"},
		{22, "<module> (main.py:1);Handler.get (main.py:10);helper (/srv/app/b/util.py:5)"},
		{5, MAIN "PyEval_EvalCode;" ENTER ";" LOOP},
		{26, MAIN "PyEval_EvalCode;" ENTER ";" LOOP ";scanner_call"},
		{36, "[truncated: Python frames unreadable];Handler.get (main.py:10)"},
	};
	struct profile *p = read_profile(python_scene_source(),
					 (struct profile_view){.python = true, .native = true});

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_str_eq(path_of(p, expected[i].stack), expected[i].path);
	profile_free(p);
}
END_TEST

START_TEST(how_stacks_ended_goes_by_all_frames)
{
	struct profile *folded = scene(false, false), *native = scene(true, false);

	for (uint32_t i = 0; i < folded->count.stacks; i++) {
		ck_assert_int_eq(folded->ends[i], native->ends[i]);
		ck_assert_uint_eq(folded->roots[i], native->roots[i]);
	}
	profile_free(folded);
	profile_free(native);
}
END_TEST

START_TEST(lines_are_those_of_frames)
{
	struct profile *p = scene(false, true);
	char buf[64];

	ck_assert_str_eq(path_of(p, 18), MAIN "<module> (main.py:40);Handler.get (main.py:14)");
	ck_assert_str_eq(path_of(p, 22),
			 MAIN "<module> (main.py:40);Handler.get (main.py:14);scanner_call;"
			      "_PyFunction_Vectorcall;helper (/srv/app/b/util.py:6)");
	for (uint32_t i = 0; i < p->count.frames; i++)
		if (p->frames[i].f.address == python_frames[15].address &&
		    p->frames[i].f.line == python_frames[15].line)
			ck_assert_str_eq(profile_function_name(p, i), "Handler.get (main.py:10)");
		else if (p->frames[i].f.address == python_frames[24].address)
			ck_assert_str_eq(profile_frame_name(p, i, buf, sizeof(buf)), "nameless");
	profile_free(p);
}
END_TEST

/* Return a function's row of the table. */
static struct function_cost cost_of(const struct profile *p, const char *name)
{
	struct function_cost found = {0};
	struct symbols s;
	struct functions f;
	struct tree t;
	struct tree_view view = {0};

	ck_assert_int_eq(symbols_of(&s, p), 0);
	view.frame_labels = s.of_frame;
	view.unknown_label = s.unknown;
	ck_assert_int_eq(tree_build(&t, p, 0, &view), 0);
	ck_assert_uint_eq(t.nodes.items[0].count, 100);
	ck_assert_int_eq(functions_of(&f, &t, &s), 0);
	for (size_t i = 0; i < f.list.count; i++)
		if (!strcmp(symbol_name(&s, f.list.items[i].symbol), name)) {
			ck_assert_uint_eq(found.total_count, 0);
			found = f.list.items[i];
			ck_assert_str_eq(symbol_module(&s, found.symbol), "[python]");
		}
	functions_free(&f);
	tree_free(&t);
	symbols_free(&s);
	return found;
}

START_TEST(one_function_in_two_processes_is_one)
{
	struct profile *p = scene(false, false);

	ck_assert_uint_eq(cost_of(p, "Handler.get (main.py:10)").self_count, 35);
	ck_assert_uint_eq(cost_of(p, "Handler.get (main.py:10)").total_count, 86);
	ck_assert_uint_eq(cost_of(p, "helper (/srv/app/a/util.py:5)").self_count, 15);
	ck_assert_uint_eq(cost_of(p, "helper (/srv/app/b/util.py:5)").self_count, 4);
	ck_assert_uint_eq(cost_of(p, "[python]").self_count, 2);
	profile_free(p);
}
END_TEST

START_TEST(what_interpreters_did_is_counted)
{
	struct profile *p = scene(false, false);
	struct python_share share;

	ck_assert_int_eq(python_share_of(&share, p, 0), 0);
	ck_assert_uint_eq(share.samples, 96);
	ck_assert_uint_eq(share.gil, 84);
	ck_assert_uint_eq(share.no_gil, 10);
	ck_assert_uint_eq(share.collecting, 5);
	ck_assert_uint_eq(share.unread, 2);
	ck_assert_uint_eq(share.frames - share.named, 2);
	profile_free(p);
}
END_TEST

/* With a time range, a filter computes sums from samples itself. */
START_TEST(sums_are_told_apart_by_what_the_interpreter_did)
{
	struct source *ranged = NULL;
	struct error err = {""};
	struct filter all = {.from = 1};
	struct python_share whole, added;
	struct profile *p = scene(false, false);

	ck_assert_int_eq(python_share_of(&whole, p, 0), 0);
	profile_free(p);
	ck_assert_int_eq(filter_source(&ranged, python_scene_source(), &all, &err), 0);
	p = read_profile(ranged, (struct profile_view){0});
	ck_assert_int_eq(python_share_of(&added, p, 0), 0);
	/* the first sample is before the range; LATE does not separate sums */
	ck_assert_uint_eq(added.samples, whole.samples - 1);
	ck_assert_uint_eq(added.gil, whole.gil - 1);
	ck_assert_uint_eq(added.collecting, whole.collecting);
	ck_assert_uint_eq(added.unread, whole.unread);
	ck_assert_uint_eq(p->count.sums, SCENE_COUNT(python_runs));
	for (uint32_t i = 0; i < p->count.sums; i++)
		ck_assert_uint_eq(p->sums[i].flags & ~(uint64_t)SAMPLE_FLAGS_OF_RUNTIME, 0);
	profile_free(p);
	source_free(ranged);
}
END_TEST

START_TEST(filters_by_what_the_interpreter_did)
{
	static const struct {
		const char *python;
		uint64_t samples;
	} expected[] = {{"any", 96}, {"gil", 84}, {"no-gil", 10}, {"gc", 5}, {"unread", 2}};
	struct error err = {""};

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]) * 2; i++) {
		/* first from sums, then from samples */
		struct filter f = {.python = expected[i / 2].python, .to = i % 2 ? UINT64_MAX : 0};
		struct source *filtered = NULL;
		struct profile *p;

		ck_assert_int_eq(filter_source(&filtered, python_scene_source(), &f, &err), 0);
		p = read_profile(filtered, (struct profile_view){0});
		ck_assert_uint_eq(totals_of(p).count, expected[i / 2].samples);
		profile_free(p);
		source_free(filtered);
	}
	ck_assert_int_eq(filter_check(&(struct filter){.python = "g"}, &err), -EINVAL);
}
END_TEST

/* Random paths of few kinds of frames, compared with the documented rules. */
enum { KINDS = 8, PATHS = 4000, LONGEST = 12 };
enum { SORT, LOOP_A, LOOP_B, TRAMPOLINE, FOREIGN, NAMELESS, PYTHON_A, PYTHON_B };

static const struct function random_functions[] = {
	{1, 1, "list_sort", "", "", 0, 0},
	{2, 1, LOOP, "", "", 0, 0},
	{3, 1, "method_vectorcall", "", "", 0, 0},
	{4, 3, "method_vectorcall", "", "", 0, 0},
	{5, 2, "a", "", "a.py", 1, 0},
	{6, 2, "b", "", "a.py", 2, 0},
};
static const struct frame random_frames[KINDS] = {
	{1, FRAME_NATIVE, 1, 1, 1, 0, 0},
	{2, FRAME_NATIVE, 1, 2, 2, 0, FRAME_FLAG_INTERPRETER},
	{3, FRAME_NATIVE, 1, 3, 2, 0, FRAME_FLAG_INTERPRETER},
	{4, FRAME_NATIVE, 1, 4, 3, 0, 0},
	{5, FRAME_NATIVE, 3, 4, 4, 0, 0},
	{6, FRAME_NATIVE, 1, 6, 0, 0, FRAME_FLAG_LOOKED_UP},
	{7, FRAME_PYTHON, 2, 7, 5, 0, 0},
	{8, FRAME_PYTHON, 2, 8, 6, 0, 0},
};

struct random_path {
	unsigned int length, kinds[LONGEST];
	uint64_t leaf; /* stack.id */
};

static struct random_path random_paths[PATHS];

static void random_build(struct scene *s, const void *unused)
{
	uint64_t state = 4711, stack = 0;

	(void)unused;
	scene_put_all(s, KIND_MAPPING, python_mappings, 2);
	scene_mapping(s, .id = 3, .kind = MAPPING_FILE, .path = "/other");
	SCENE_PUT_ALL(s, FUNCTION, random_functions);
	SCENE_PUT_ALL(s, FRAME, random_frames);
	for (size_t i = 0; i < PATHS; i++) {
		struct random_path *r = &random_paths[i];
		uint64_t parent = 0;

		r->length = 1 + synthetic_random(&state) % LONGEST;
		for (unsigned int k = 0; k < r->length; k++) {
			r->kinds[k] = synthetic_random(&state) % KINDS;
			scene_stack(s, ++stack, parent, r->kinds[k] + 1);
			parent = stack;
		}
		r->leaf = stack;
		scene_sum(s, .event = 1, .stack = stack, .count = 1);
	}
}

DEFINE_SCENE(random_source, random_build)

static bool is_loop(unsigned int kind)
{
	return kind == LOOP_A || kind == LOOP_B;
}

/* Mark the frames of a path that are to be left out. */
static void leave_out(const struct random_path *r, bool *out)
{
	for (unsigned int i = 0; i < r->length; i++)
		out[i] = false;
	for (unsigned int i = 0; i + 1 < r->length; i++) {
		unsigned int at = i;

		if (!is_loop(r->kinds[i]) || r->kinds[i + 1] < PYTHON_A)
			continue;
		out[i] = true;
		if (at && r->kinds[at - 1] == NAMELESS)
			out[--at] = true;
		while (at && r->kinds[at - 1] == TRAMPOLINE)
			out[--at] = true;
	}
}

START_TEST(random_paths_are_as_the_rules_say)
{
	struct profile *p = read_profile(random_source(), (struct profile_view){0});

	ck_assert_uint_eq(p->count.sums, PATHS);
	for (size_t i = 0; i < PATHS; i++) {
		const struct random_path *r = &random_paths[i];
		uint32_t at = p->sums[i].stack;
		bool out[LONGEST];

		leave_out(r, out);
		for (unsigned int k = r->length; k-- > 0;) {
			if (out[k])
				continue;
			ck_assert_uint_ne(at, PROFILE_NONE);
			/* the others are unchanged */
			ck_assert_uint_eq(p->stacks[at].frame, r->kinds[k]);
			ck_assert(p->stacks[at].parent == PROFILE_NONE ||
				  p->stacks[at].parent < at);
			at = p->stacks[at].parent;
		}
		ck_assert_uint_eq(at, PROFILE_NONE);
	}
	profile_free(p);
}
END_TEST

/* Compare the table of Python functions made from full stacks with that made from Python stacks. */
static void same_functions(const struct functions *of_python, const struct functions *alone,
			   const struct symbols *s)
{
	size_t k = 0;

	for (size_t i = 0; i < alone->list.count; i++) {
		const struct function_cost *a = &alone->list.items[i], *b;

		if (strcmp(symbol_module(s, a->symbol), "[python]") != 0)
			continue;
		ck_assert_uint_lt(k, of_python->list.count);
		b = &of_python->list.items[k++];
		ck_assert_str_eq(symbol_name(s, a->symbol), symbol_name(s, b->symbol));
		ck_assert_uint_eq(a->self_count, b->self_count);
		ck_assert_uint_eq(a->self_weight, b->self_weight);
		ck_assert_uint_eq(a->total_count, b->total_count);
		ck_assert_uint_eq(a->total_weight, b->total_weight);
	}
	ck_assert_uint_eq(k, of_python->list.count);
	ck_assert_uint_gt(k, 0);
}

static void counts_as_if_alone(struct source *source, bool native)
{
	struct profile *p = read_profile(source, (struct profile_view){.native = native});
	struct functions all, of_python, alone;
	struct symbols s;

	ck_assert_int_eq(symbols_of(&s, p), 0);
	ck_assert_int_eq(functions_of_stacks(&all, p, 0, &s), 0);
	ck_assert_int_eq(functions_of_python(&of_python, &all, p, 0, &s), 0);
	ck_assert_int_eq(python_alone(p), 0);
	ck_assert_int_eq(functions_of_stacks(&alone, p, 0, &s), 0);
	same_functions(&of_python, &alone, &s);
	functions_free(&all);
	functions_free(&of_python);
	functions_free(&alone);
	symbols_free(&s);
	profile_free(p);
}

START_TEST(python_functions_count_what_they_call)
{
	counts_as_if_alone(python_scene_source(), false);
	counts_as_if_alone(python_scene_source(), true);
	counts_as_if_alone(random_source(), false);
	counts_as_if_alone(random_source(), true);
}
END_TEST

SUITE("python shown", python_functions_count_what_they_call,
      loops_stand_for_nothing_where_their_frames_are_known, native_shows_all,
      nothing_but_python_where_there_is_some, how_stacks_ended_goes_by_all_frames,
      lines_are_those_of_frames, one_function_in_two_processes_is_one,
      what_interpreters_did_is_counted, sums_are_told_apart_by_what_the_interpreter_did,
      filters_by_what_the_interpreter_did, random_paths_are_as_the_rules_say)
