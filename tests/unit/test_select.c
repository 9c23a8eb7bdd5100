// SPDX-License-Identifier: Apache-2.0
/* select.c: selection of processes and threads by number. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/select.h"
#include "suite.h"

static struct {
	uint32_t tid;
	int ready[2], done[2];
} other;

static void *wait_for_end(void *context)
{
	char byte = 0;

	other.tid = (uint32_t)gettid();
	ck_assert_int_eq(write(other.ready[1], &byte, 1), 1);
	ck_assert_int_eq(read(other.done[0], &byte, 1), 1);
	return context;
}

static int check(const uint32_t *pid, const uint32_t *tid, struct error *err)
{
	const struct capture_targets o = {
		.pids = pid, .pid_count = pid ? 1 : 0, .tids = tid, .tid_count = tid ? 1 : 0};

	*err = (struct error){""};
	return select_check(&o, err);
}

START_TEST(a_thread_is_no_process)
{
	uint32_t self = (uint32_t)getpid();
	pthread_t thread;
	struct error err;
	char byte = 0;

	ck_assert_int_eq(pipe(other.ready) | pipe(other.done), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_end, NULL), 0);
	ck_assert_int_eq(read(other.ready[0], &byte, 1), 1);
	ck_assert_int_eq(check(&self, NULL, &err), 0);
	ck_assert_int_eq(check(NULL, &self, &err), 0);
	ck_assert_int_eq(check(NULL, &other.tid, &err), 0);
	ck_assert_int_eq(check(&other.tid, NULL, &err), -ESRCH);
	ck_assert_ptr_nonnull(strstr(err.text, "use -t"));
	ck_assert_int_eq(write(other.done[1], &byte, 1), 1);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(who_is_not_there_is_named)
{
	const uint32_t nobody = 1U << 30; /* above every pid_max */
	struct error err;

	ck_assert_int_eq(check(&nobody, NULL, &err), -ESRCH);
	ck_assert_str_eq(err.text, "there is no process 1073741824");
	ck_assert_int_eq(check(NULL, &nobody, &err), -ESRCH);
	ck_assert_str_eq(err.text, "there is no thread 1073741824");
}
END_TEST

SUITE("select", a_thread_is_no_process, who_is_not_there_is_named)
