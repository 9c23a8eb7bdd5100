// SPDX-License-Identifier: Apache-2.0
/* Test filters: the number of samples of the scene that pass each condition. */
#include <errno.h>
#include <string.h>

#include "analyze/filter.h"
#include "analyze/profile.h"
#include "base/vector.h"
#include "sample_scene.h"
#include "suite.h"
#include "totals.h"

/* A sink that puts the sums of the scene as one array, like a trace does. */
struct in_a_row {
	struct sink sink;
	struct sink *to;
	VECTOR(struct sum) sums;
};

static int row_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	struct in_a_row *r = (struct in_a_row *)s;
	int rc = 0;

	if (kind == KIND_SUM)
		return vector_push(&r->sums, *(const struct sum *)record);
	if (kind > KIND_SUM)
		rc = sink_put_many(r->to, KIND_SUM, r->sums.items, r->sums.count, err);
	if (kind > KIND_SUM)
		r->sums.count = 0;
	return rc ? rc : sink_put(r->to, kind, record, err);
}

static int row_run(struct source *s, struct sink *to, struct error *err)
{
	static const struct sink_ops ops = {.put = row_put};
	struct in_a_row r = {.sink = {.ops = &ops, .wants = to->wants}, .to = to};
	int rc = scene_source()->ops->run(scene_source(), &r.sink, err);

	(void)s;
	ck_assert_uint_eq(r.sums.count, 0);
	vector_free(&r.sums);
	return rc;
}

static int count(struct filter f, bool in_a_row, uint64_t *ret, struct error *err)
{
	static const struct source_ops row_ops = {.run = row_run, .free = scene_source_free};
	static struct source rows = {.ops = &row_ops};
	struct source *s = NULL;
	struct profile *p = NULL;
	int rc = filter_source(&s, in_a_row ? &rows : scene_source(), &f, err);

	if (!rc)
		rc = profile_read(&p, s, NULL, err);
	if (!rc) {
		*ret = totals_of(p).count;
		ck_assert_uint_eq(totals_of(p).weight, totals_of(p).count * SCENE_PERIOD);
		ck_assert_uint_eq(p->count.losses, 3);
	}
	profile_free(p);
	source_free(s);
	return rc;
}

static void expect(uint64_t expected, struct filter f)
{
	struct error err = {""};
	uint64_t samples = 0;

	ck_assert_msg(!count(f, false, &samples, &err), "%s", err.text);
	ck_assert_uint_eq(samples, expected);
	ck_assert_msg(!count(f, true, &samples, &err), "%s", err.text);
	ck_assert_uint_eq(samples, expected);
}

START_TEST(every_condition)
{
	expect(95, (struct filter){0});
	expect(100, (struct filter){.idle = true});
	expect(54, (struct filter){.pids = "100"});
	expect(69, (struct filter){.pids = "101,100"});
	expect(0, (struct filter){.pids = "0"});
	expect(5, (struct filter){.pids = "0", .idle = true});
	expect(10, (struct filter){.tids = "110"});
	expect(54, (struct filter){.comm = "worker*"});
	expect(10, (struct filter){.comm = "pool ?2"});
	expect(54, (struct filter){.cgroup = "/system.slice"});
	expect(54, (struct filter){.cgroup = "/sys/fs/cgroup/system.slice/"});
	expect(54, (struct filter){.cgroup = "*w.service"});
	/* all but the thread that the trace has lost */
	expect(93, (struct filter){.cgroup = "/"});
	expect(15, (struct filter){.container = "0123"});
	expect(95, (struct filter){.event = "cpu-clock"});
	expect(0, (struct filter){.pids = "100", .container = "0123"});
}
END_TEST

START_TEST(time_ranges)
{
	/* There is a sample every 20 ms from 0 on; both ends belong to the range. */
	expect(1, (struct filter){.to = 1});
	expect(11, (struct filter){.to = 200000000});
	expect(5, (struct filter){.from = 20 * SCENE_STEP, .to = 24 * SCENE_STEP});
	expect(0, (struct filter){.from = 60000000000});
	expect(95, (struct filter){.from = 0, .to = UINT64_MAX});
}
END_TEST

static void refuse(int code, const char *words, struct filter f)
{
	struct error err = {""};
	uint64_t samples;

	ck_assert_int_eq(count(f, false, &samples, &err), code);
	ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
}

START_TEST(mistakes_are_named)
{
	refuse(-ENOENT, "'4711'", (struct filter){.pids = "4711"});
	refuse(-ENOENT, "'nobody*'", (struct filter){.comm = "nobody*"});
	refuse(-ENOENT, "'/system.slic'", (struct filter){.cgroup = "/system.slic"});
	/* a name that only begins like the mount point */
	refuse(-ENOENT, "'/sys/fs/cgroups", (struct filter){.cgroup = "/sys/fs/cgroups"});
	refuse(-ENOENT, "'ff'", (struct filter){.container = "ff"});
	refuse(-ENOENT, "'cycles'", (struct filter){.event = "cycles"});
	refuse(-EINVAL, "'12x'", (struct filter){.pids = "12x"});
	refuse(-EINVAL, "''", (struct filter){.tids = ""});
	refuse(-EINVAL, "'1,'", (struct filter){.tids = "1,"});
	refuse(-EINVAL, "'99999999999999999999'", (struct filter){.pids = "99999999999999999999"});
	refuse(-EINVAL, "--from", (struct filter){.from = 2, .to = 1});
}
END_TEST

static unsigned int held(struct filter f)
{
	struct source *s = NULL;
	struct error err = {""};
	unsigned int held = 0;

	ck_assert_int_eq(filter_source(&s, NULL, &f, &err), 0);
	for (size_t i = 0; i < sizeof(scene_threads) / sizeof(scene_threads[0]); i++) {
		const struct thread *t = &scene_threads[i];

		if (filter_selects(s, &scene_processes[t->process - 1], t))
			held |= 1u << t->id;
	}
	source_free(s);
	return held;
}

START_TEST(threads_without_samples)
{
	ck_assert_uint_eq(held((struct filter){0}), 0xbe); /* all except the idle thread, 6 */
	ck_assert_uint_eq(held((struct filter){.idle = true}), 0xfe);
	ck_assert_uint_eq(held((struct filter){.pids = "100"}), 0x26);
	ck_assert_uint_eq(held((struct filter){.tids = "110"}), 0x04);
	ck_assert_uint_eq(held((struct filter){.pids = "100", .comm = "pool*"}), 0x04);
	ck_assert_uint_eq(held((struct filter){.event = "cycles", .tids = "2"}), 0x10);
}
END_TEST

SUITE("filter", every_condition, time_ranges, mistakes_are_named, threads_without_samples)
