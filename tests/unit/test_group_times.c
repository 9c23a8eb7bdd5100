// SPDX-License-Identifier: Apache-2.0
/*
 * Sums of control groups on their way: group_totals.c adds up rows of the kernel, window_groups.c
 * divides them among windows, sequence.c and merge.c add them up, group_times.c by service.
 */
#include <stdio.h>
#include <string.h>

#include "analyze/group_times.h"
#include "capture/group_totals.h"
#include "capture/waits.h"
#include "files.h"
#include "serve/window_groups.h"
#include "suite.h"
#include "trace/merge.h"
#include "trace/sequence.h"
#include "trace/trace.h"

static struct error err;

/* A sink that remembers what it gets. */
struct kept {
	struct sink sink;
	struct names texts;
	VECTOR(struct group_time) list;
};

static int keep_record(struct sink *s, enum record_kind kind, const void *record, struct error *e)
{
	struct kept *k = (struct kept *)s;
	struct group_time r = *(const struct group_time *)record;

	(void)e;
	ck_assert_int_eq(kind, KIND_GROUP_TIME);
	r.cgroup = names_keep(&k->texts, r.cgroup, strlen(r.cgroup));
	return vector_push(&k->list, r);
}

static void free_kept(struct kept *k)
{
	names_free(&k->texts);
	vector_free(&k->list);
}

static const struct sink_ops keep_ops = {.put = keep_record};

static struct kept keep(void)
{
	return (struct kept){.sink = {&keep_ops, WANT(GROUP_TIME)}};
}

/* Check the number of records since the last check, and what the last one of a state has. */
static void check_kept(struct kept *k, size_t count, const char *path, uint64_t state, uint64_t ns)
{
	const struct group_time *last = NULL;

	ck_assert_uint_eq(k->list.count, count);
	for (size_t i = 0; i < k->list.count; i++)
		if (k->list.items[i].state == state && !strcmp(k->list.items[i].cgroup, path))
			last = &k->list.items[i];
	if (count) {
		ck_assert_ptr_nonnull(last);
		ck_assert_uint_eq(last->ns, ns);
	}
	k->list.count = 0;
}

static void begin_row(struct group_totals *t, uint32_t row, uint64_t id, const char *path)
{
	const struct group_row begun = {.id = id};

	ck_assert_int_eq(group_totals_begin(t, row, &begun, path, "shop"), 0);
}

static void take_run(struct group_totals *t, uint32_t row, uint64_t ns, uint64_t count)
{
	struct group_sum sums[GROUP_COLUMN_COUNT] = {[GROUP_RUNS] = {ns, count}};

	group_totals_take(t, row, sums, 1000);
}

START_TEST(rows_become_groups)
{
	struct group_totals t = {0};
	struct kept k = keep();

	begin_row(&t, 3, 77, "/a");
	take_run(&t, 3, 100, 1);
	ck_assert_int_eq(group_totals_put(&t, 1, &k.sink, &err), 0);
	check_kept(&k, 1, "/a", STATE_RUNNING, 100);
	/* nothing has grown */
	take_run(&t, 3, 100, 1);
	ck_assert_int_eq(group_totals_put(&t, 1, &k.sink, &err), 0);
	check_kept(&k, 0, "", 0, 0);
	/* what a running thread had run so far was that of another group: no sum goes back */
	take_run(&t, 3, 300, 1);
	take_run(&t, 3, 120, 2);
	take_run(&t, 3, 310, 2);
	ck_assert_int_eq(group_totals_put(&t, 1, &k.sink, &err), 0);
	check_kept(&k, 1, "/a", STATE_RUNNING, 310);
	/* a group that was made anew under its path goes on, in another row */
	begin_row(&t, 9, 78, "/a");
	take_run(&t, 9, 5, 1);
	group_totals_end(&t, 3);
	ck_assert_int_eq(group_totals_put(&t, 1, &k.sink, &err), 0);
	check_kept(&k, 1, "/a", STATE_RUNNING, 315);
	/* without a row it is put as 0, and then forgotten */
	group_totals_end(&t, 9);
	ck_assert_int_eq(group_totals_put(&t, 1, &k.sink, &err), 0);
	check_kept(&k, 1, "/a", STATE_RUNNING, 0);
	ck_assert_uint_eq(t.list.count, 0);
	group_totals_free(&t);
	free_kept(&k);
}
END_TEST

/* Each column has a state and a class of its own, so that no sum is put twice. */
START_TEST(columns_differ)
{
	struct group_totals t = {0};
	struct group_sum sums[GROUP_COLUMN_COUNT];
	struct group_times distinct = {0};
	struct kept k = keep();

	for (int i = 0; i < GROUP_COLUMN_COUNT; i++)
		sums[i] = (struct group_sum){(__u64)i + 1, 1};
	begin_row(&t, 1, 5, "/a");
	group_totals_take(&t, 1, sums, 1);
	ck_assert_int_eq(group_totals_put(&t, 1, &k.sink, &err), 0);
	ck_assert_uint_eq(k.list.count, GROUP_COLUMN_COUNT);
	for (size_t i = 0; i < k.list.count; i++)
		ck_assert_int_eq(group_times_add(&distinct, &k.list.items[i]), 0);
	ck_assert_uint_eq(distinct.rows.count, GROUP_COLUMN_COUNT);
	group_times_free(&distinct);
	group_totals_free(&t);
	free_kept(&k);
}
END_TEST

static void take_window(struct window_groups *w, const char *path, uint64_t ns, uint64_t count)
{
	const struct group_time r = {
		.host = 1, .cgroup = path, .state = STATE_RUNNING, .ns = ns, .count = count};

	ck_assert_int_eq(window_groups_take(w, &r), 0);
}

START_TEST(windows_have_what_grew)
{
	struct window_groups w = {0};
	struct kept k = keep();

	take_window(&w, "/a", 100, 10);
	ck_assert_int_eq(window_groups_put(&w, &k.sink, &err), 0);
	check_kept(&k, 1, "/a", STATE_RUNNING, 100);
	take_window(&w, "/a", 150, 11);
	take_window(&w, "/b", 1, 1);
	ck_assert_int_eq(window_groups_put(&w, &k.sink, &err), 0);
	check_kept(&k, 2, "/a", STATE_RUNNING, 150);
	/* its file could not be written: another one has all of it */
	window_groups_again(&w);
	ck_assert_int_eq(window_groups_put(&w, &k.sink, &err), 0);
	check_kept(&k, 2, "/a", STATE_RUNNING, 150);
	window_groups_next(&w);
	ck_assert_int_eq(window_groups_put(&w, &k.sink, &err), 0);
	check_kept(&k, 0, "", 0, 0);
	take_window(&w, "/a", 157, 12);
	/* the source has forgotten it, and counts again: both parts belong to this window */
	take_window(&w, "/a", 0, 0);
	take_window(&w, "/a", 3, 1);
	ck_assert_int_eq(window_groups_put(&w, &k.sink, &err), 0);
	check_kept(&k, 1, "/a", STATE_RUNNING, 10);
	/* what is forgotten takes no memory after its window */
	take_window(&w, "/b", 0, 0);
	window_groups_next(&w);
	ck_assert_uint_eq(w.window.rows.count, 1);
	window_groups_free(&w);
	free_kept(&k);
}
END_TEST

#define PUT(s, kind, ...) ck_assert_int_eq(put_##kind(s, &(struct kind){__VA_ARGS__}, &err), 0)

/* Write a trace of a host with two groups of a service, and one of none. */
static void write_groups(const char *path, uint64_t start, uint64_t ns)
{
	struct sink *s;

	ck_assert_int_eq(trace_writer(&s, path, &err), 0);
	PUT(s, host, .id = 1, .hostname = "h", .machine_id = "m", .boot_id = "b", .start = start,
	    .end = start + 1000);
	for (int i = 0; i < 3; i++) {
		static const char *const paths[] = {"/shop/1", "/shop/2", "/\x1b[31m"};
		static const char *const services[] = {"shop", "shop", ""};

		PUT(s, group_time, .host = 1, .cgroup = paths[i], .state = STATE_RUNNING,
		    .service = services[i], .ns = ns, .count = 1);
		PUT(s, group_time, .host = 1, .cgroup = paths[i], .state = STATE_SLEEPING,
		    .wait = WAIT_PIPE, .service = services[i], .ns = 10 * ns, .count = 2);
	}
	PUT(s, group_time, .host = 1, .cgroup = "/shop/1", .state = STATE_DISK, .wait = WAIT_IO,
	    .service = "shop", .ns = 7, .count = 1);
	PUT(s, group_time, .host = 1, .cgroup = "/shop/1", .state = STATE_PREEMPTED,
	    .service = "shop", .ns = 4, .count = 1);
	ck_assert_int_eq(s->ops->finish(s, &err), 0);
	sink_free(s);
}

/* Check the sums of the two traces of write_groups() together. */
static void check_added(struct source *source)
{
	struct service_times *t;

	ck_assert_msg(service_times_read(&t, source, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(t->rows.count, 2);
	ck_assert_uint_eq(t->groups.rows.count, 8);
	ck_assert_uint_eq(t->ran, 3 * 120);
	ck_assert_str_eq(t->rows.items[0].name, "shop");
	ck_assert(!t->rows.items[0].group && t->rows.items[1].group);
	ck_assert_uint_eq(t->rows.items[0].ns[STATE_RUNNING][WAIT_NONE], 2 * 120);
	ck_assert_uint_eq(t->rows.items[0].count[STATE_SLEEPING][WAIT_PIPE], 8);
	ck_assert_uint_eq(service_time_blocked(&t->rows.items[0], WAIT_PIPE), 2 * 1200);
	ck_assert_uint_eq(service_time_blocked(&t->rows.items[0], WAIT_IO), 14);
	ck_assert_uint_eq(service_time_queued(&t->rows.items[0]), 8);
	service_times_free(t);
}

START_TEST(traces_add_up)
{
	const char *const paths[] = {"a.skein", "b.skein"};
	struct merge_part parts[2];
	struct source *source;
	struct trace *t;
	struct sink *s;

	files_begin();
	write_groups("a.skein", 1000000, 100);
	write_groups("b.skein", 2000000, 20);
	ck_assert_int_eq(sequence_source(&source, paths, 2, &err), 0);
	check_added(source);
	source_free(source);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(trace_open(&parts[i].trace, paths[i], &err), 0);
		parts[i].name = paths[i];
	}
	ck_assert_int_eq(merge_source(&source, parts, 2, NULL, &err), 0);
	ck_assert_int_eq(trace_writer(&s, "all.skein", &err), 0);
	ck_assert_msg(pipe_join(source, s, &err) == 0, "%s", err.text);
	source_free(source);
	sink_free(s);
	for (int i = 0; i < 2; i++)
		trace_close(parts[i].trace);
	ck_assert_int_eq(trace_open(&t, "all.skein", &err), 0);
	ck_assert_int_eq(trace_source(&source, t, &err), 0);
	check_added(source);
	source_free(source);
	trace_close(t);
}
END_TEST

START_TEST(none)
{
	struct service_times *t = (struct service_times *)1;
	struct source *source;
	struct trace *trace;
	struct sink *s;

	files_begin();
	ck_assert_int_eq(trace_writer(&s, "none.skein", &err), 0);
	ck_assert_int_eq(s->ops->finish(s, &err), 0);
	sink_free(s);
	ck_assert_int_eq(trace_open(&trace, "none.skein", &err), 0);
	ck_assert_int_eq(trace_source(&source, trace, &err), 0);
	ck_assert_int_eq(service_times_read(&t, source, &err), 0);
	ck_assert_ptr_null(t);
	source_free(source);
	trace_close(trace);
}
END_TEST

SUITE("group_times", rows_become_groups, columns_differ, windows_have_what_grew, traces_add_up,
      none)
