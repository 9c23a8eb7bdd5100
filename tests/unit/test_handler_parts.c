// SPDX-License-Identifier: Apache-2.0
/* Test how sums of what served interrupts are added up, for windows and for flights. */
#include <string.h>

#include "analyze/handler_parts.h"
#include "serve/handler_recent.h"
#include "suite.h"

static struct handler handler_of(uint64_t lane, uint64_t number, uint64_t count, uint64_t longest)
{
	char name[] = "local timer";
	struct handler h = {lane, number, NULL, SPAN_INTERRUPT, count, 10 * count, longest, 1};

	/* the text of a record is valid during the call alone */
	h.name = strcpy(malloc(sizeof(name)), name);
	return h;
}

static void take(struct handler_parts *p, struct handler h)
{
	ck_assert_int_eq(handler_parts_take(p, &h), 0);
	free((char *)(uintptr_t)h.name);
}

static size_t changed(struct handler_parts *p)
{
	size_t count = 0;

	for (size_t i = 0; i < p->list.count; i++)
		count += handler_parts_changed(p, i) != NULL;
	return count;
}

START_TEST(windows)
{
	struct handler_parts p = {0};

	take(&p, handler_of(3, 16, 5, 70));
	take(&p, handler_of(4, 16, 1, 10));
	take(&p, handler_of(3, 17, 2, 20));
	take(&p, handler_of(3, 16, 6, 60));
	ck_assert_uint_eq(p.list.count, 3);
	ck_assert_str_eq(p.list.items[0].sum.name, "local timer");
	ck_assert_uint_eq(p.list.items[0].sum.count, 11);
	ck_assert_uint_eq(p.list.items[0].sum.time, 110);
	ck_assert_uint_eq(p.list.items[0].sum.longest, 70);
	ck_assert_uint_eq(p.list.items[0].sum.without, 2);
	ck_assert_uint_eq(changed(&p), 3);
	ck_assert_uint_eq(changed(&p), 0);
	/* the file of the window is begun again */
	handler_parts_again(&p);
	ck_assert_uint_eq(changed(&p), 3);
	handler_parts_next(&p);
	take(&p, handler_of(4, 16, 2, 5));
	ck_assert_uint_eq(changed(&p), 1);
	ck_assert_uint_eq(p.list.items[1].sum.count, 2);
	ck_assert_uint_eq(p.list.items[1].sum.longest, 5);
	handler_parts_again(&p);
	ck_assert_uint_eq(changed(&p), 1);
	handler_parts_free(&p);
}
END_TEST

/* A number beyond those of handlers, and a record without a name, harm nothing. */
START_TEST(hostile)
{
	struct handler_parts p = {0};
	const struct handler h = {UINT64_MAX, UINT64_MAX, NULL, 255, 1, 1, UINT64_MAX, 0};

	ck_assert_int_eq(handler_parts_take(&p, &h), 0);
	ck_assert_int_eq(handler_parts_take(&p, &h), 0);
	ck_assert_uint_eq(p.list.count, 1);
	ck_assert_str_eq(p.list.items[0].sum.name, "");
	handler_parts_free(&p);
}
END_TEST

struct last_handlers {
	struct sink sink;
	uint64_t counts[8], longest; /* counts by lane */
};

static int keep_handler(struct sink *s, enum record_kind kind, const void *record,
			struct error *err)
{
	struct last_handlers *l = (struct last_handlers *)s;
	const struct handler *h = record;

	(void)err;
	ck_assert_int_eq(kind, KIND_HANDLER);
	l->counts[h->lane] = h->count;
	l->longest = h->longest;
	return 0;
}

static void take_recent(struct handler_recent *r, uint64_t time, struct handler h)
{
	ck_assert_int_eq(handler_recent_take(r, &h, time), 0);
	free((char *)(uintptr_t)h.name);
}

START_TEST(flights)
{
	static const struct sink_ops ops = {.put = keep_handler};
	struct last_handlers last = {.sink = {&ops, WANT(HANDLER)}};
	struct handler_recent r = {0};
	struct error err;

	for (uint64_t time = 1; time <= 100; time++) {
		take_recent(&r, time, handler_of(1, 16, 1, time));
		if (time <= 50)
			take_recent(&r, time, handler_of(2, 16, 1, 1000));
		handler_recent_trim(&r, time > 60 ? time - 60 : 0);
		ck_assert_uint_le(r.list.count, 200);
	}
	ck_assert_int_eq(handler_recent_put(&r, 45, &last.sink, &err), 0);
	ck_assert_uint_eq(last.counts[1], 56);
	ck_assert_uint_eq(last.counts[2], 6);
	/* what the sink may have from before is replaced */
	ck_assert_int_eq(handler_recent_put(&r, 91, &last.sink, &err), 0);
	ck_assert_uint_eq(last.counts[1], 10);
	ck_assert_uint_eq(last.counts[2], 0);
	ck_assert_uint_eq(last.longest, 0);
	handler_recent_trim(&r, 200);
	ck_assert_uint_eq(r.list.count, 0);
	handler_recent_free(&r);
}
END_TEST

SUITE("handler_parts", windows, hostile, flights)
