// SPDX-License-Identifier: Apache-2.0
/* Stacks of hits of probes count by their weights, and are not merged with samples of time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "sample_scene.h"
#include "shown.h"
#include "suite.h"

#define EXCEPTIONS 2
#define ALLOCATIONS 3

static const struct event hit_events[] = {
	{EXCEPTIONS, 1, EVENT_EXCEPTIONS, "count", 1, 0},
	{ALLOCATIONS, 1, EVENT_ALLOCATIONS, "count", 1, 0},
};

/* Stacks 1 and 2 are "_start" and "_start;main". */
static const struct sum hit_sums[] = {
	{EXCEPTIONS, 1, 2, 2, 65, 0, 0},
	{EXCEPTIONS, 1, 1, 1, 1, 0, 0},
	{ALLOCATIONS, 1, 2, 1, 1024, 0, 0},
};

static void build_hits(struct scene *s, const void *unused)
{
	scene_build(s, unused);
	SCENE_PUT_ALL(s, EVENT, hit_events);
	SCENE_PUT_ALL(s, SUM, hit_sums);
}

DEFINE_SCENE(hits_source, build_hits)

/* Return an export of the part of the recording with an event, or of all if that is NULL. */
static char *shown_of(const char *format, struct source *of, const char *event)
{
	const struct filter f = {.event = event};
	struct source *source = NULL;
	struct error err = {""};
	size_t size;
	char *text;

	ck_assert_int_eq(filter_source(&source, of, &f, &err), 0);
	text = exported(format, &(struct export_options){0}, source, &size);
	source_free(source);
	return text;
}

START_TEST(numbers_are_hits)
{
	char *text = shown_of("folded", hits_source(), EVENT_EXCEPTIONS);

	ck_assert_str_eq(text, "worker_3;_start 1\nworker_3;_start;main 65\n");
	free(text);
}
END_TEST

START_TEST(times_are_shown_without_hits)
{
	char *text = shown_of("folded", hits_source(), NULL);
	char *plain = shown_of("folded", scene_source(), NULL);

	ck_assert_str_eq(text, plain);
	free(text);
	free(plain);
}
END_TEST

START_TEST(a_picture_names_the_event)
{
	char *text = shown_of("svg", hits_source(), EVENT_EXCEPTIONS);

	ck_assert_ptr_nonnull(strstr(text, "3 samples of exceptions, for 66"));
	ck_assert_ptr_nonnull(strstr(text, "65 times"));
	free(text);
}
END_TEST

START_TEST(an_event_that_was_not_recorded_is_an_error)
{
	const struct filter f = {.event = EVENT_ALLOCATIONS};
	struct source *source = NULL;
	struct sink *sink = NULL;
	struct error err = {""};

	ck_assert_int_eq(filter_source(&source, scene_source(), &f, &err), 0);
	ck_assert_int_eq(export_format_named("folded")->sink(&sink, stdout,
							     &(struct export_options){0}, &err),
			 0);
	ck_assert_int_eq(pipe_join(source, sink, &err), -ENOENT);
	ck_assert_str_eq(err.text, "the trace has no stacks of allocations: record with 'skein "
				   "record -e alloc'");
	sink_free(sink);
	source_free(source);
}
END_TEST

SUITE("hits shown", numbers_are_hits, times_are_shown_without_hits, a_picture_names_the_event,
      an_event_that_was_not_recorded_is_an_error)
