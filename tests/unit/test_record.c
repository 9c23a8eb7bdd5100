// SPDX-License-Identifier: Apache-2.0
/* record.c: its tables match the structs made from the same lists; pipe.c. */
#include <errno.h>
#include <string.h>

#include "base/pipe.h"
#include "base/record.h"
#include "suite.h"

START_TEST(every_kind_is_described)
{
	for (unsigned int k = 0; k < KIND_COUNT; k++) {
		ck_assert_str_ne(kinds[k].name, "");
		ck_assert_str_ne(kinds[k].doc, "");
		ck_assert_uint_gt(kinds[k].field_count, 1);
		for (unsigned int f = 0; f < kinds[k].field_count; f++)
			ck_assert_uint_eq(kinds[k].fields[f].offset, 8 * f);
		ck_assert_uint_eq(kinds[k].size, 8 * kinds[k].field_count);
	}
	ck_assert_str_eq(kinds[KIND_HOST].name, "host");
	ck_assert_str_eq(kinds[KIND_LOSS].name, "loss");
	ck_assert_int_eq(kinds[KIND_HOST].storage, STORAGE_TABLE);
	ck_assert_int_eq(kinds[KIND_STACK].storage, STORAGE_STREAM);
	ck_assert_int_eq(kinds[KIND_SUM].storage, STORAGE_DERIVED);
}
END_TEST

static const struct field *field_named(enum record_kind kind, const char *name)
{
	for (unsigned int f = 0; f < kinds[kind].field_count; f++)
		if (!strcmp(kinds[kind].fields[f].name, name))
			return &kinds[kind].fields[f];
	ck_abort_msg("%s has no %s", kinds[kind].name, name);
}

START_TEST(fields_are_read_where_they_are)
{
	struct host h = {.hostname = "box", .cpus = 4, .realtime_offset = -5, .end = 9};
	struct sample s = {.weight = 10101010, .flags = SAMPLE_FLAG_LATE};

	ck_assert_str_eq(field_text(field_named(KIND_HOST, "hostname"), &h), "box");
	ck_assert_str_eq(field_text(field_named(KIND_HOST, "arch"), &h), "");
	ck_assert_uint_eq(field_int(field_named(KIND_HOST, "cpus"), &h), 4);
	ck_assert_int_eq((int64_t)field_int(field_named(KIND_HOST, "realtime_offset"), &h), -5);
	ck_assert_uint_eq(field_int(field_named(KIND_SAMPLE, "weight"), &s), 10101010);
	ck_assert_uint_eq(field_int(field_named(KIND_SAMPLE, "flags"), &s), 4);
	ck_assert_int_eq(field_named(KIND_HOST, "hostname")->type, FIELD_TEXT);
	ck_assert_int_eq(field_named(KIND_HOST, "realtime_offset")->type, FIELD_SIGNED);
	ck_assert_int_eq(field_named(KIND_HOST, "cpus")->type, FIELD_INT);
}
END_TEST

START_TEST(words_for_all_values_and_no_others)
{
	ck_assert_str_eq(frame_kind_word(FRAME_NONE), "?");
	ck_assert_str_eq(frame_kind_word(FRAME_PYTHON), "python");
	ck_assert_str_eq(frame_kind_word(FRAME_END), "end");
	ck_assert_str_eq(stack_end_word(END_WALKED), "walked");
	ck_assert_str_eq(stack_end_word(END_COUNT), "?");
	ck_assert_str_eq(loss_reason_word(LOSS_RING_FULL), "ring full");
	ck_assert_str_eq(loss_reason_word(UINT64_MAX), "?");
	for (uint64_t reason = 1; reason < LOSS_COUNT; reason++) {
		ck_assert_str_ne(loss_reason_word(reason), "?");
		ck_assert_uint_gt(strlen(loss_reason_text(reason)), 10);
	}
}
END_TEST

struct counting_sink {
	struct sink sink;
	unsigned int put, finished, freed;
	int fail;
};

static int count_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	struct counting_sink *c = (struct counting_sink *)s;

	ck_assert_int_eq(kind, KIND_LOSS);
	ck_assert_uint_eq(((const struct loss *)record)->count, 3);
	c->put++;
	return c->fail ? error_set(err, c->fail, "full") : 0;
}

static int count_finish(struct sink *s, struct error *err)
{
	(void)err;
	((struct counting_sink *)s)->finished++;
	return 0;
}

static void count_free(struct sink *s)
{
	((struct counting_sink *)s)->freed++;
}

static const struct sink_ops counting_ops = {
	.put = count_put,
	.finish = count_finish,
	.free = count_free,
};

static int run_two(struct source *source, struct sink *sink, struct error *err)
{
	struct sample unwanted = {.time = 1};
	struct loss loss = {.count = 3};
	int r = put_sample(sink, &unwanted, err);

	(void)source;
	if (!r)
		r = put_loss(sink, &loss, err);
	if (!r)
		r = sink_tick(sink, 1, err);
	return r;
}

static const struct source_ops two_ops = {.run = run_two};

START_TEST(a_join_finishes_unless_it_fails)
{
	struct counting_sink c = {.sink = {&counting_ops, WANTS(0)}};
	struct source source = {&two_ops};
	struct error err = {""};

	ck_assert_int_eq(pipe_join(&source, &c.sink, &err), 0);
	ck_assert_uint_eq(c.put, 1);
	ck_assert_uint_eq(c.finished, 1);
	c.fail = -ENOSPC;
	ck_assert_int_eq(pipe_join(&source, &c.sink, &err), -ENOSPC);
	ck_assert_str_eq(err.text, "full");
	ck_assert_uint_eq(c.finished, 1);
	sink_free(&c.sink);
	ck_assert_uint_eq(c.freed, 1);
	sink_free(NULL);
	source_free(NULL);
}
END_TEST

SUITE("record", every_kind_is_described, fields_are_read_where_they_are,
      words_for_all_values_and_no_others, a_join_finishes_unless_it_fails)
