// SPDX-License-Identifier: Apache-2.0
/* monitor_classes.c: ids and texts of names, whose texts come late or never. */
#include <errno.h>
#include <string.h>

#include "capture/monitor_classes.h"
#include "suite.h"

#define MOST 5000

static struct {
	struct sink sink;
	char names[MOST][64]; /* by name.id; "": not emitted */
	unsigned int requests;
	int refuse; /* result of requests */
	uint64_t last_name;
	struct monitor_classes *classes;
} run;

static int keep(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	const struct name *n = record;

	(void)s;
	(void)err;
	ck_assert_int_eq(kind, KIND_NAME);
	ck_assert_uint_lt(n->id, MOST);
	ck_assert_str_eq(run.names[n->id], "");
	strcpy(run.names[n->id], n->text);
	return 0;
}

static const struct sink_ops keep_ops = {.put = keep};

static int request(void *context, uint64_t jvm, uint64_t class)
{
	(void)context;
	ck_assert(jvm && class);
	run.requests++;
	return run.refuse;
}

static void begin(void)
{
	const struct monitor_classes_context c = {
		.sink = &run.sink,
		.last_name = &run.last_name,
		.request = request,
	};

	memset(&run, 0, sizeof(run));
	run.sink = (struct sink){&keep_ops, WANT_ALL};
	run.classes = monitor_classes_new(&c);
	ck_assert_ptr_nonnull(run.classes);
}

static uint64_t find(uint64_t jvm, uint64_t class)
{
	uint64_t name = 0;

	ck_assert_int_eq(monitor_classes_find(run.classes, jvm, class, &name, NULL), 0);
	ck_assert_uint_gt(name, 0);
	return name;
}

static void reply(uint64_t jvm, uint64_t class, const char *text)
{
	ck_assert_int_eq(monitor_classes_reply(run.classes, jvm, class, text, NULL), 0);
}

START_TEST(a_class_has_one_name_whose_text_comes_later)
{
	uint64_t name;

	begin();
	name = find(1, 100);
	ck_assert_uint_eq(find(1, 100), name);
	ck_assert_uint_ne(find(1, 101), name);
	ck_assert_uint_ne(find(2, 100), name);
	ck_assert_uint_eq(run.requests, 3);
	ck_assert_str_eq(run.names[name], "");
	reply(1, 100, "a.Class");
	reply(1, 100, "another"); /* to no request */
	reply(3, 100, "another");
	ck_assert_str_eq(run.names[name], "a.Class");
	ck_assert_uint_eq(find(1, 100), name);
	ck_assert_uint_eq(run.requests, 3);
	monitor_classes_free(run.classes);
}
END_TEST

START_TEST(what_has_no_text_is_not_known)
{
	uint64_t none, name;

	begin();
	none = find(1, 0);
	ck_assert_str_eq(run.names[none], MONITOR_CLASS_UNKNOWN);
	ck_assert_uint_eq(find(2, 0), none);
	name = find(1, 100);
	reply(1, 100, NULL);
	ck_assert_str_eq(run.names[name], MONITOR_CLASS_UNKNOWN);
	run.refuse = -ENOENT;
	ck_assert_uint_eq(find(1, 101), none);
	run.refuse = 0;
	name = find(1, 101);
	ck_assert_uint_ne(name, none);
	ck_assert_int_eq(monitor_classes_end(run.classes, NULL), 0);
	ck_assert_int_eq(monitor_classes_end(run.classes, NULL), 0);
	ck_assert_str_eq(run.names[name], MONITOR_CLASS_UNKNOWN);
	monitor_classes_free(run.classes);
}
END_TEST

START_TEST(the_number_of_classes_is_bounded)
{
	begin();
	for (uint64_t i = 1; i <= 4096; i++)
		find(1, i);
	ck_assert_str_eq(run.names[find(1, 5000)], MONITOR_CLASS_UNKNOWN);
	ck_assert_uint_eq(run.requests, 4096);
	monitor_classes_free(run.classes);
}
END_TEST

START_TEST(forgotten_names_are_emitted_again)
{
	uint64_t known, pending, none;

	begin();
	known = find(1, 100);
	reply(1, 100, "a.Class");
	pending = find(1, 101);
	none = find(1, 0);
	monitor_classes_forget(run.classes);
	ck_assert_uint_ne(find(1, 100), known);
	ck_assert_uint_eq(find(1, 101), pending);
	ck_assert_uint_ne(find(1, 0), none);
	reply(1, 101, "another.Class");
	ck_assert_str_eq(run.names[pending], "another.Class");
	monitor_classes_free(run.classes);
}
END_TEST

SUITE("monitor_classes", a_class_has_one_name_whose_text_comes_later, what_has_no_text_is_not_known,
      the_number_of_classes_is_bounded, forgotten_names_are_emitted_again)
