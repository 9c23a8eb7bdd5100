// SPDX-License-Identifier: Apache-2.0
/* Entities that wait for the commit: one row per id, with the last state put. */
#include <errno.h>
#include <string.h>

#include "suite.h"
#include "trace/pending_rows.h"

static struct pending_rows pending;
static unsigned int rows;
static struct process last;
static char comm[32];
static int answer;

static int take(void *context, enum record_kind kind, const void *record, struct error *err)
{
	(void)context;
	(void)err;
	ck_assert_int_eq(kind, KIND_PROCESS);
	last = *(const struct process *)record;
	strcpy(comm, last.comm);
	rows++;
	return answer;
}

static int put(uint64_t id, const char *name)
{
	struct process p = {
		.id = id, .comm = name, .exe = "", .cgroup = "", .container = "", .service = ""};

	return pending_rows_put(&pending, KIND_PROCESS, &p, NULL);
}

START_TEST(the_last_record_of_an_id_is_the_row)
{
	char name[8] = "first";

	pending_rows_init(&pending);
	rows = 0;
	answer = 0;
	ck_assert_int_eq(put(7, name), 0);
	strcpy(name, "second");
	ck_assert_int_eq(put(7, name), 0);
	strcpy(name, "gone"); /* the row has a copy of the text */
	ck_assert_int_eq(pending_rows_write(&pending, take, NULL, NULL), 0);
	ck_assert_uint_eq(rows, 1);
	ck_assert_str_eq(comm, "second");
	ck_assert_int_eq(pending_rows_write(&pending, take, NULL, NULL), 0);
	ck_assert_uint_eq(rows, 1);
}
END_TEST

START_TEST(not_more_wait_than_may)
{
	pending_rows_init(&pending);
	for (uint64_t id = 1; id < PENDING_ROWS_MAX; id++)
		ck_assert_int_eq(put(id, "x"), 0);
	ck_assert_int_eq(put(PENDING_ROWS_MAX, "x"), 1);
	rows = 0;
	answer = 0;
	ck_assert_int_eq(pending_rows_write(&pending, take, NULL, NULL), 0);
	ck_assert_uint_eq(rows, PENDING_ROWS_MAX);
	ck_assert_uint_eq(last.id, PENDING_ROWS_MAX);
}
END_TEST

/* After a full disk, rows that could not be stored are not retried in the next transaction. */
START_TEST(none_waits_after_an_error)
{
	pending_rows_init(&pending);
	ck_assert_int_eq(put(1, "x"), 0);
	ck_assert_int_eq(put(2, "y"), 0);
	rows = 0;
	answer = -ENOSPC;
	ck_assert_int_eq(pending_rows_write(&pending, take, NULL, NULL), -ENOSPC);
	ck_assert_uint_eq(rows, 1);
	answer = 0;
	ck_assert_int_eq(pending_rows_write(&pending, take, NULL, NULL), 0);
	ck_assert_uint_eq(rows, 1);
}
END_TEST

START_TEST(accounts_and_losses_cannot_wait)
{
	ck_assert(pending_rows_can_hold(KIND_THREAD));
	ck_assert(!pending_rows_can_hold(KIND_LOSS)); /* may have no id of its own */
	ck_assert(!pending_rows_can_hold(KIND_INFO));
	ck_assert(!pending_rows_can_hold(KIND_ACCOUNT)); /* one per CPU and event */
	ck_assert(!pending_rows_can_hold(KIND_SAMPLE));
}
END_TEST

SUITE("waiting", the_last_record_of_an_id_is_the_row, not_more_wait_than_may,
      none_waits_after_an_error, accounts_and_losses_cannot_wait)
