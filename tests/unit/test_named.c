// SPDX-License-Identifier: Apache-2.0
/* Test how much self time is named, and which modules the rest is in. */
#include <stdlib.h>
#include <string.h>

#include "analyze/named.h"
#include "scene.h"
#include "shown.h"
#include "suite.h"

enum { NAMED_MAIN = 1, NAMED_WORK, NAMED_AGAIN, NAMED_BARE, NAMED_KERNEL, NAMED_LOST, NAMED_END };

/* Weights of the samples of each innermost frame. */
#define OF_NAMED 500
#define OF_WORK 300
#define OF_AGAIN 40
#define OF_BARE 100
#define OF_KERNEL 7
#define OF_LOST 3

static void named_entities(struct scene *s)
{
	static const struct mapping mappings[] = {
		{1, 1, MAPPING_FILE, 0, 9, "/bin/named", "0123"},
		{2, 1, MAPPING_FILE, 0, 9, "/lib/libbare.so", "4567"},
		{3, 1, MAPPING_KERNEL, 0, 0, "[kernel]", ""},
		{4, 1, MAPPING_FILE, 0, 9, "/lib/libbare.so", "4567"}};
	static const struct function functions[] = {{1, 1, "main", "", "", 0, 16},
						    {2, 2, "", "", "", 0, 32}};
	static const struct frame frames[] = {
		{NAMED_MAIN, FRAME_NATIVE, 1, 20, 1, 0, FRAME_FLAG_START},
		/* only its begin is known; the same file, mapped later; not even that is known */
		{NAMED_WORK, FRAME_NATIVE, 2, 40, 2, 0, 0},
		{NAMED_AGAIN, FRAME_NATIVE, 4, 40, 0, 0, 0},
		{NAMED_BARE, FRAME_NATIVE, 1, 90, 0, 0, 0},
		{NAMED_KERNEL, FRAME_KERNEL, 3, 50, 0, 0, 0},
		{NAMED_LOST, FRAME_NATIVE, 0, 60, 0, 0, 0},
		{NAMED_END, FRAME_END, 0, END_UNREADABLE, 0, 0, 0}};

	scene_host(s, .id = 1, .hostname = "here");
	scene_event(s, 1, 1, "cpu-clock", "ns", 1, 100);
	scene_event(s, 2, 1, "cycles", "count", 1, 100);
	scene_process(s, .id = 1, .host = 1, .pid = 9, .comm = "named");
	scene_thread(s, 1, 1, 9, 0, 0, "named", 0, 0, "");
	SCENE_PUT_ALL(s, MAPPING, mappings);
	SCENE_PUT_ALL(s, FUNCTION, functions);
	SCENE_PUT_ALL(s, FRAME, frames);
}

static void named_build(struct scene *s, const void *more_named)
{
	static const struct {
		uint64_t frame, weight;
	} leaves[] = {{NAMED_WORK, OF_WORK},	 {NAMED_AGAIN, OF_AGAIN}, {NAMED_BARE, OF_BARE},
		      {NAMED_KERNEL, OF_KERNEL}, {NAMED_LOST, OF_LOST},	  {NAMED_END, 1000}};
	uint64_t stack = 1;

	named_entities(s);
	scene_stack(s, 1, 0, NAMED_MAIN);
	scene_sum(s, 1, 1, 1, 1, OF_NAMED * (more_named ? 100 : 1), 0, 0);
	for (size_t i = 0; i < SCENE_COUNT(leaves); i++) {
		scene_stack(s, ++stack, 1, leaves[i].frame);
		scene_sum(s, 1, 1, stack, 1, leaves[i].weight, 0, 0);
	}
	scene_sum(s, 1, 1, 0, 1, 2000, 0, 0); /* no stack */
}

static struct profile *named_profile(const char *more_named)
{
	struct scene_source scene = SCENE_OF(named_build, more_named);
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_msg(!profile_read(&p, &scene.source, NULL, &err), "%s", err.text);
	return p;
}

static void check_module(const struct nameless_share *m, const char *path, uint64_t weight)
{
	ck_assert_str_eq(m->path, path);
	ck_assert_uint_eq(m->weight, weight);
}

/* Marks of missing frames and samples without a stack have no self time. */
START_TEST(self_time_is_named_or_of_a_module)
{
	struct profile *p = named_profile(NULL);
	struct named_share n;
	char text[64];

	ck_assert_int_eq(named_share_of(&n, p, 0), 0);
	ck_assert_uint_eq(n.named, OF_NAMED);
	ck_assert_uint_eq(n.self, OF_NAMED + OF_WORK + OF_AGAIN + OF_BARE + OF_KERNEL + OF_LOST);
	ck_assert_uint_eq(n.modules.count, 3); /* the one of the two mappings is one module */
	check_module(&n.modules.items[0], "/lib/libbare.so", OF_WORK + OF_AGAIN);
	ck_assert_str_eq(n.modules.items[0].build_id, "4567");
	check_module(&n.modules.items[1], "/bin/named", OF_BARE);
	check_module(&n.modules.items[2], "[kernel]", OF_KERNEL);
	ck_assert(named_share_is_low(&n));
	ck_assert_str_eq(named_share_text(&n, text, sizeof(text)), "52.6 % of self time named");
	named_share_free(&n);
	profile_free(p);
}
END_TEST

START_TEST(a_share_is_low_below_its_bound)
{
	struct named_share n = {.self = 1000, .named = 10 * NAMED_ENOUGH};
	struct profile *p = named_profile("more");

	ck_assert(!named_share_is_low(&n));
	n.named--;
	ck_assert(named_share_is_low(&n));
	ck_assert_int_eq(named_share_of(&n, p, 0), 0);
	ck_assert(!named_share_is_low(&n));
	named_share_free(&n);
	profile_free(p);
}
END_TEST

START_TEST(an_event_without_samples_has_no_share)
{
	struct profile *p = named_profile(NULL);
	struct named_share n;
	char text[64] = "x";

	ck_assert_int_eq(named_share_of(&n, p, 1), 0);
	ck_assert_uint_eq(n.self, 0);
	ck_assert(!named_share_is_low(&n));
	ck_assert_str_eq(named_share_text(&n, text, sizeof(text)), "");
	named_share_free(&n);
	profile_free(p);
}
END_TEST

SUITE("named", self_time_is_named_or_of_a_module, a_share_is_low_below_its_bound,
      an_event_without_samples_has_no_share)
