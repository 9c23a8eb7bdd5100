// SPDX-License-Identifier: Apache-2.0
/* Test diff.c and diff_names.c with two made-up recordings, and the properties of any two. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "analyze/diff_names.h"
#include "diff_scene.h"
#include "sample_scene.h"
#include "suite.h"

static struct profile *profile_of(struct source *source)
{
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_msg(!profile_read(&p, source, NULL, &err), "%s", err.text);
	return p;
}

static struct diff_run run_of(struct profile *p)
{
	return (struct diff_run){.profile = p, .time = p->host.end - p->host.start};
}

static struct diff compare(struct profile *before, struct profile *after, unsigned int by,
			   enum diff_measure measure)
{
	struct diff_run runs[2] = {run_of(before), run_of(after)};
	struct diff_side sides[2] = {{&runs[0], 1}, {&runs[1], 1}};
	struct diff d = {0};

	ck_assert_int_eq(diff_make(&d, sides, &(struct diff_criteria){by, measure, 0}), 0);
	return d;
}

static struct diff compare_scenes(unsigned int by, enum diff_measure measure)
{
	struct profile *before = profile_of(diff_source(false));
	struct profile *after = profile_of(diff_source(true));
	struct diff d = compare(before, after, by, measure);

	profile_free(before);
	profile_free(after);
	return d;
}

static const struct diff_row *row_of(const struct diff *d, const char *name)
{
	const struct diff_row *found = NULL;

	for (size_t i = 0; i < d->rows.count; i++) {
		if (strcmp(d->rows.items[i].name, name))
			continue;
		ck_assert_ptr_null(found); /* every name is in one row only */
		found = &d->rows.items[i];
	}
	ck_assert_msg(found != NULL, "%s", name);
	return found;
}

static void check_near(double is, double should)
{
	ck_assert_msg(fabs(is - should) <= 1e-9, "%.12g is not %.12g", is, should);
}

static void check_values(const struct diff *d, const char *name, enum diff_cost cost, double before,
			 double after)
{
	const struct diff_change *c = &row_of(d, name)->cost[cost];

	check_near(c->value[0], before);
	check_near(c->value[1], after);
	check_near(c->change, after - before);
	ck_assert(c->low <= c->change && c->change <= c->high);
}

/*
 * Rows are by name and module: different addresses, folders, suffixes or lines do not make two
 * rows.
 */
START_TEST(shares)
{
	struct diff d = compare_scenes(DIFF_BY_FUNCTION, DIFF_SHARE);

	ck_assert_uint_eq(d.rows.count, 8);
	check_values(&d, "_start", DIFF_TOTAL, 100, 100);
	check_values(&d, "parse", DIFF_SELF, 40, 25);
	check_values(&d, "parse", DIFF_TOTAL, 50, 50);
	check_values(&d, "read", DIFF_SELF, 10, 25);
	check_values(&d, "gone", DIFF_TOTAL, 10, 0);
	check_values(&d, "fresh", DIFF_SELF, 0, 10);
	check_values(&d, "render (a.py)", DIFF_SELF, 30, 30);
	check_values(&d, "[server]", DIFF_SELF, 10, 10);
	ck_assert_str_eq(row_of(&d, "parse")->more, "server");
	diff_free(&d);
}
END_TEST

START_TEST(other_measures)
{
	struct diff d = compare_scenes(DIFF_BY_FUNCTION, DIFF_NONE);

	check_values(&d, "read", DIFF_SELF, 1, 5); /* s */
	check_values(&d, "main", DIFF_TOTAL, 10, 20);
	ck_assert(diff_is_significant(&row_of(&d, "main")->cost[DIFF_TOTAL]));
	diff_free(&d);
	d = compare_scenes(DIFF_BY_FUNCTION, DIFF_TIME);
	check_values(&d, "main", DIFF_TOTAL, 50, 50); /* % of a CPU */
	check_values(&d, "parse", DIFF_SELF, 20, 12.5);
	ck_assert(!diff_is_significant(&row_of(&d, "main")->cost[DIFF_TOTAL]));
	diff_free(&d);
}
END_TEST

/* Rows whose self changed come first, largest change first, then the others. */
START_TEST(order_and_significance)
{
	static const char *const changed[] = {"parse", "read", "fresh", "gone"};
	struct diff d = compare_scenes(DIFF_BY_FUNCTION, DIFF_SHARE);

	for (int i = 0; i < 4; i++) {
		const struct diff_row *row = row_of(&d, changed[i]);

		ck_assert_str_eq(diff_stars(&row->cost[DIFF_SELF]), "***");
		ck_assert_ptr_eq(row, &d.rows.items[i]);
	}
	for (size_t i = 4; i < d.rows.count; i++)
		ck_assert_str_eq(diff_stars(&d.rows.items[i].cost[DIFF_SELF]), "");
	ck_assert_str_eq(diff_stars(&row_of(&d, "parse")->cost[DIFF_TOTAL]), "");
	diff_free(&d);
}
END_TEST

START_TEST(groups)
{
	static const struct {
		unsigned int by;
		const char *name;
	} kinds_of[] = {{GROUP_PROGRAM, "server"},
			{GROUP_THREAD, "server"},
			{GROUP_CONTAINER, "(none)"},
			{GROUP_CGROUP, "/"}};

	for (size_t i = 0; i < sizeof(kinds_of) / sizeof(kinds_of[0]); i++) {
		struct diff d = compare_scenes(kinds_of[i].by, DIFF_SHARE);

		ck_assert(!d.costs[DIFF_SELF]);
		ck_assert_uint_eq(d.rows.count, 1);
		check_values(&d, kinds_of[i].name, DIFF_TOTAL, 100, 100);
		diff_free(&d);
	}
	struct diff d = compare_scenes(GROUP_MODULE, DIFF_SHARE);

	check_values(&d, "server", DIFF_TOTAL, 70, 70);
	diff_free(&d);
	d = compare_scenes(GROUP_PROCESS, DIFF_SHARE); /* another pid is another process */
	ck_assert_uint_eq(d.rows.count, 2);
	diff_free(&d);
}
END_TEST

/* A trace compared with itself has no changes. */
START_TEST(the_same_twice)
{
	struct profile *p = profile_of(scene_source());

	for (unsigned int by = 0; by <= DIFF_BY_FUNCTION; by++) {
		for (int measure = 0; measure < DIFF_MEASURE_COUNT; measure++) {
			struct diff d = compare(p, p, by, measure);

			ck_assert_uint_gt(d.rows.count, 0);
			for (size_t i = 0; i < d.rows.count; i++) {
				check_near(d.rows.items[i].cost[DIFF_TOTAL].change, 0);
				check_near(d.rows.items[i].cost[DIFF_SELF].change, 0);
				check_near(d.rows.items[i].cost[DIFF_TOTAL].p, 1);
			}
			diff_free(&d);
		}
	}
	profile_free(p);
}
END_TEST

/* Exchanging before and after gives the same rows in the same order, with all changes reversed. */
START_TEST(turned_round)
{
	struct profile *a = profile_of(diff_source(true)), *b = profile_of(scene_source());

	for (unsigned int by = 0; by <= DIFF_BY_FUNCTION; by++) {
		struct diff d = compare(a, b, by, DIFF_SHARE), e = compare(b, a, by, DIFF_SHARE);

		ck_assert_uint_eq(d.rows.count, e.rows.count);
		for (size_t i = 0; i < d.rows.count; i++) {
			const struct diff_change *c = &d.rows.items[i].cost[DIFF_TOTAL];
			const struct diff_change *k = &e.rows.items[i].cost[DIFF_TOTAL];

			ck_assert_str_eq(d.rows.items[i].name, e.rows.items[i].name);
			check_near(c->change, -k->change);
			check_near(c->low, -k->high);
			check_near(c->q, k->q);
		}
		diff_free(&d);
		diff_free(&e);
	}
	profile_free(a);
	profile_free(b);
}
END_TEST

/* Several runs are added up, and runs without a time cannot be compared by time. */
START_TEST(several_runs)
{
	struct profile *p = profile_of(diff_source(false)), *q = profile_of(diff_source(true));
	struct diff_run runs[4] = {run_of(p), run_of(p), run_of(q), run_of(q)};
	struct diff_side sides[2] = {{runs, 2}, {runs + 2, 2}};
	struct diff_criteria shares_of = {DIFF_BY_FUNCTION, DIFF_SHARE, 0};
	struct diff_criteria times_of = {DIFF_BY_FUNCTION, DIFF_TIME, 0};
	struct diff d = {0};

	ck_assert_int_eq(diff_make(&d, sides, &shares_of), 0);
	check_values(&d, "read", DIFF_SELF, 10, 25);
	ck_assert_uint_eq(row_of(&d, "read")->cost[DIFF_SELF].count[1], 1000);
	ck_assert(diff_is_significant(&row_of(&d, "read")->cost[DIFF_SELF]));
	diff_free(&d);
	runs[1].time = 0;
	ck_assert_int_eq(diff_make(&d, sides, &times_of), -EINVAL);
	profile_free(p);
	profile_free(q);
}
END_TEST

/* Make a profile with one frame of this name, and check the name for comparisons. */
static void check_name(const char *raw, const char *should)
{
	struct profile_function function = {.f = {.name = raw, .file = ""}};
	struct profile_frame frame = {.f = {.kind = FRAME_NATIVE}, .mapping = PROFILE_NONE};
	struct profile p = {
		.frames = &frame, .count.frames = 1, .functions = &function, .count.functions = 1};
	char *name = diff_frame_name(&p, 0);

	ck_assert_str_eq(name, should);
	free(name);
}

START_TEST(names_in_common)
{
	check_name("f", "f");
	check_name("f.isra.0", "f");
	check_name("f.constprop.3.isra.0.cold", "f");
	check_name("f.cold.7", "f");
	check_name("f.part.0", "f");
	check_name("f.lto_priv.12", "f");
	check_name("a.b", "a.b");
	check_name("main.colder", "main.colder");
	check_name("main.run.isra", "main.run.isra");
	check_name(".isra.0", ".isra.0");
	check_name("read@GLIBC_2.2.5", "read");
	check_name("read@@GLIBC_2.17", "read");
	check_name("user@host", "user@host");
	check_name("@Annotation", "@Annotation");
	check_name("f@", "f@");
}
END_TEST

SUITE("diff", shares, other_measures, order_and_significance, groups, the_same_twice, turned_round,
      several_runs, names_in_common)
