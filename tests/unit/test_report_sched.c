// SPDX-License-Identifier: Apache-2.0
/* The scheduler's tables at many screen widths, with numbers of all sizes. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/report_sched.h"
#include "sched_scene.h"
#include "shown.h"
#include "suite.h"

/* Factor by which the scene's times are longer. */
static uint64_t slower = 1;

static uint64_t later(uint64_t time)
{
	return time ? SCHED_START + (time - SCHED_START) * slower : 0;
}

struct slow_sink {
	struct sink sink;
	struct sink *to;
};

static int slow_put(struct sink *sink, enum record_kind kind, const void *record, struct error *err)
{
	struct sink *to = ((struct slow_sink *)sink)->to;
	struct host h = kind == KIND_HOST ? *(const struct host *)record : (struct host){0};
	struct slice s = kind == KIND_SLICE ? *(const struct slice *)record : (struct slice){0};
	struct edge e = kind == KIND_EDGE ? *(const struct edge *)record : (struct edge){0};

	h.end = later(h.end);
	s.time = later(s.time);
	s.end = later(s.end);
	e.time = e.end = later(e.time);
	return sink_put(to, kind,
			kind == KIND_HOST    ? (const void *)&h
			: kind == KIND_SLICE ? (const void *)&s
			: kind == KIND_EDGE  ? (const void *)&e
					     : record,
			err);
}

static int slow_run(struct source *s, struct sink *to, struct error *err)
{
	static const struct sink_ops ops = {.put = slow_put};
	struct slow_sink between = {.sink = {.ops = &ops, .wants = WANT_ALL}, .to = to};

	(void)s;
	return sched_scene_source()->ops->run(sched_scene_source(), &between.sink, err);
}

static struct source *slow_source(void)
{
	static const struct source_ops ops = {.run = slow_run};
	static struct source s = {.ops = &ops};

	return &s;
}

/* Multiply the counts: a large machine has such counts in a day. */
static void inflate(struct report_sched *s, uint64_t by)
{
	s->switches *= by;
	s->all->counts.wakeups *= by;
	for (int group = 0; group < SCHED_GROUPS; group++) {
		for (size_t i = 0; i < s->rows[group].list.count; i++) {
			struct sched_counts *c = &s->rows[group].list.items[i].counts;

			c->wakeups *= by;
			c->switches[SWITCH_VOLUNTARY] *= by;
			c->switches[SWITCH_INVOLUNTARY] *= by;
		}
		for (size_t i = 0; i < s->rows[group].wakes.count; i++)
			s->rows[group].wakes.items[i].count *= by;
	}
}

static bool chosen; /* only the threads of some process are recorded */

static char *shown(const struct report_options *o, unsigned int width, bool color, uint64_t by)
{
	struct info choice = {.key = "option.pids", .value = "12"};
	char *text = NULL;
	size_t size = 0;
	struct screen s = {.out = open_memstream(&text, &size), .width = width, .color = color};
	struct profile *p = NULL;
	struct report r;
	struct error err = {""};

	struct info *infos;

	ck_assert_int_eq(profile_read(&p, slow_source(), NULL, &err), 0);
	infos = p->infos;
	if (chosen) {
		p->infos = &choice;
		p->count.infos = 1;
	}
	ck_assert_int_eq(report_make(&r, "x.skein", p, o, &err), 0);
	ck_assert_int_eq(report_sched_make(&r, slow_source(), NULL, &err), 0);
	ck_assert_ptr_nonnull(r.sched);
	inflate(r.sched, by);
	ck_assert_int_eq(o->json ? report_json(&r, s.out, &err) : report_text(&r, &s, &err), 0);
	fclose(s.out);
	report_free(&r);
	p->infos = infos;
	profile_free(p);
	return text;
}

START_TEST(fits_the_screen)
{
	const int bys[] = {GROUP_PROGRAM,   GROUP_PROCESS, GROUP_THREAD,
			   GROUP_CONTAINER, GROUP_CGROUP,  BY_NOTHING};

	for (unsigned int width = 80; width <= 200; width += 20)
		for (size_t i = 0; i < 2 * sizeof(bys) / sizeof(bys[0]); i++) {
			struct report_options o = {.by = bys[i / 2], .sched = i % 2};

			for (slower = 1; slower < 100000000000; slower *= 77) {
				char *text = shown(&o, width, false, slower);

				check_report_lines(text, width);
				free(text);
			}
		}
	slower = 1;
}
END_TEST

START_TEST(says_what_matters)
{
	struct report_options o = {.by = BY_NOTHING, .sched = true, .limit = LIMIT_UNSET};
	char *text = shown(&o, 200, false, 1);
	const char *const words[] = {
		"51.0 % busy (1.02 of 2 CPUs), 160 switches/s, 70 wake-ups/s",
		"0.43 threads waited for a CPU",
		"Unknown    8 ms of CPU time (4.0 %), for want of records: CPU 1 8 ms\n",
		"[block device]",
		"[timer]",
		"pipe or socket",
		"1,234 switches lost",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_msg(strstr(text, words[i]) != NULL, "no '%s' in\n%s", words[i], text);
	ck_assert_ptr_null(strstr(text, "Samples"));
	ck_assert_ptr_null(strstr(text, "Disorder"));
	free(text);
}
END_TEST

START_TEST(says_which_part_is_of_the_chosen_threads)
{
	struct report_options o = {.by = BY_NOTHING, .sched = true, .limit = LIMIT_UNSET};
	char *text;

	chosen = true;
	text = shown(&o, 200, false, 1);
	chosen = false;
	ck_assert_msg(strstr(text, " by the threads recorded)") != NULL, "%s", text);
	free(text);
	text = shown(&o, 200, false, 1);
	ck_assert_ptr_null(strstr(text, " by the threads recorded)"));
	free(text);
}
END_TEST

START_TEST(colour_only_when_asked_for)
{
	struct report_options o = {.by = BY_NOTHING, .sched = true, .limit = LIMIT_UNSET};
	char *plain = shown(&o, 80, false, 1), *colored = shown(&o, 80, true, 1);

	ck_assert_ptr_null(strchr(plain, '\033'));
	ck_assert_ptr_nonnull(strchr(colored, '\033'));
	free(plain);
	free(colored);
}
END_TEST

START_TEST(limits_rows)
{
	struct report_options o = {.by = GROUP_THREAD, .sched = true, .limit = 2};
	char *text = shown(&o, 100, false, 1);

	ck_assert_ptr_nonnull(strstr(text, "... and 3 more"));
	ck_assert_ptr_null(strstr(text, "kworker"));
	free(text);
}
END_TEST

START_TEST(a_range_without_anything)
{
	struct report_options o = {
		.by = BY_NOTHING, .sched = true, .filter.from = 3600 * 1000 * MS};
	char *text = shown(&o, 100, false, 1);

	ck_assert_ptr_nonnull(strstr(text, "the recording ended before this range begins"));
	ck_assert_ptr_null(strstr(text, "on CPU"));
	free(text);
}
END_TEST

/* A trace without slices: the report has no scheduler part. */
static void nothing_build(struct scene *s, const void *unused)
{
	(void)unused;
	SCENE_PUT_ALL(s, HOST, sched_scene_hosts);
}

START_TEST(nothing_recorded)
{
	struct report_options o = {.by = BY_NOTHING};
	struct scene_source nothing = SCENE_OF(nothing_build, NULL);
	struct profile *p = NULL;
	struct report r;
	struct error err;

	ck_assert_int_eq(profile_read(&p, &nothing.source, NULL, &err), 0);
	ck_assert_int_eq(report_make(&r, "x.skein", p, &o, &err), 0);
	ck_assert_int_eq(report_sched_make(&r, &nothing.source, NULL, &err), 0);
	ck_assert_ptr_null(r.sched);
	report_free(&r);
	profile_free(p);
}
END_TEST

SUITE("report_sched", fits_the_screen, says_what_matters, says_which_part_is_of_the_chosen_threads,
      colour_only_when_asked_for, limits_rows, a_range_without_anything, nothing_recorded)
