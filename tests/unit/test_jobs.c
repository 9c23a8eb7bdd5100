// SPDX-License-Identifier: Apache-2.0
/* Test jobs: all of them run, at the same time if possible, and the first failure is reported. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/jobs.h"
#include "suite.h"

struct task {
	int result, runs;
};

static int run(void *context, struct error *err)
{
	struct task *t = context;

	t->runs++;
	return t->result < 0 ? error_set(err, t->result, "failed with %d", t->result) : 0;
}

static void all_run(int first, int second, int third)
{
	struct task tasks[] = {{first, 0}, {second, 0}, {third, 0}};
	struct job jobs[] = {{run, &tasks[0]}, {run, &tasks[1]}, {run, &tasks[2]}};
	int expected = first ? first : second ? second : third;
	struct error err = {""};
	char text[64] = "";

	ck_assert_int_eq(jobs_run(jobs, 3, &err), expected);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(tasks[i].runs, 1);
	if (expected)
		snprintf(text, sizeof(text), "failed with %d", expected);
	ck_assert_str_eq(err.text, text);
	ck_assert_int_eq(jobs_run(jobs, 3, NULL), expected);
}

START_TEST(the_first_failure_counts)
{
	all_run(0, 0, 0);
	all_run(0, -EIO, 0);
	all_run(0, -EIO, -ENOMEM);
	all_run(-EPERM, -EIO, 0);
}
END_TEST

START_TEST(one_cpu_is_enough)
{
	cpu_set_t had, one;
	int cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(had), &had), 0);
	while (!CPU_ISSET(cpu, &had))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	ck_assert(!jobs_are_parallel());
	all_run(0, 0, 0);
	all_run(0, -EIO, -ENOMEM);
}
END_TEST

/* Write a byte to the other job, and wait for its byte. */
struct half {
	int say, hear;
};

static int meet(void *context, struct error *err)
{
	struct half *h = context;
	char byte = 0;

	if (write(h->say, &byte, 1) != 1 || read(h->hear, &byte, 1) != 1)
		return error_errno(err, -errno, "cannot meet");
	return 0;
}

/* One after the other, the jobs would wait forever; the suite's timeout would end that. */
START_TEST(they_run_at_the_same_time)
{
	struct error err = {""};
	int a[2], b[2];

	if (!jobs_are_parallel())
		return;
	ck_assert_int_eq(pipe(a), 0);
	ck_assert_int_eq(pipe(b), 0);
	struct half one = {a[1], b[0]}, other = {b[1], a[0]};
	struct job jobs[] = {{meet, &one}, {meet, &other}};

	ck_assert_msg(!jobs_run(jobs, 2, &err), "%s", err.text);
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
}
END_TEST

SUITE("jobs", the_first_failure_counts, one_cpu_is_enough, they_run_at_the_same_time)
