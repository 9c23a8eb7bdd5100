// SPDX-License-Identifier: Apache-2.0
/* Test helper processes: their deadline, their restarts, and the cost of killed ones. */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/helper.h"
#include "suite.h"

#define SECOND 1000000000ULL
#define BALLAST (64u << 20)

static uint64_t skipped; /* ns that appear to have passed for the helper */

static uint64_t clock_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	return clock_of(CLOCK_MONOTONIC) + skipped;
}

/* Run the child: echo 'e', end at 'q', use CPU without a reply at 'r', allocate memory at 'm'. */
static __attribute__((noreturn)) void obey(void *context, int socket, pid_t parent)
{
	volatile unsigned int *turns = context;
	char word = 0;

	(void)parent;
	for (;;) {
		if (recv(socket, &word, 1, 0) != 1 || word == 'q')
			_exit(0);
		if (word == 'r')
			(void)send(socket, &word, 1, MSG_NOSIGNAL);
		while (word == 'r')
			(*turns)++;
		if (word == 'm')
			memset(malloc(BALLAST), 1, BALLAST);
		if (send(socket, &word, 1, MSG_NOSIGNAL) != 1)
			_exit(0);
	}
}

static __attribute__((noreturn)) void die_at_once(void *context, int socket, pid_t parent)
{
	(void)context;
	(void)socket;
	(void)parent;
	_exit(1);
}

static unsigned int turns;

static void open_helper(struct helper *h, unsigned int attempts)
{
	const struct helper_kind kind = {
		.name = "the test's helper",
		.run = obey,
		.context = &turns,
		.attempts = attempts,
	};

	ck_assert_int_eq(helper_open(h, &kind, NULL), 0);
	ck_assert(helper_is_running(h));
	helper_begin_poll(h, now());
}

static void say(struct helper *h, char word)
{
	ck_assert_int_eq(send(h->socket, &word, 1, MSG_NOSIGNAL), 1);
	helper_expect(h, true, false);
}

/* Return the next message of the child; 0 if it is dead. */
static char hear(struct helper *h)
{
	struct pollfd p = {.fd = h->poll, .events = POLLIN};
	char word = 0;

	ck_assert_int_eq(poll(&p, 1, 60000), 1);
	helper_begin_poll(h, now());
	if (recv(h->socket, &word, 1, MSG_DONTWAIT) == 1)
		helper_received(h, true);
	helper_expect(h, false, false);
	return word;
}

/* Let the child be silent for that long, in steps that are not taken for pauses of our own. */
static void be_patient(struct helper *h, uint64_t ns)
{
	for (uint64_t step = SECOND / 2; ns; ns -= step) {
		skipped += step;
		helper_begin_poll(h, now());
		(void)helper_is_stuck(h);
	}
}

static void await_child(struct helper *h)
{
	struct pollfd p = {.fd = h->poll, .events = POLLIN};

	while (!helper_is_running(h)) {
		ck_assert_int_eq(poll(&p, 1, 60000), 1);
		helper_begin_poll(h, now());
		ck_assert_int_eq(helper_restart(h, NULL), 0);
	}
}

START_TEST(one_that_does_not_run_has_two_seconds)
{
	struct helper h;

	open_helper(&h, 0);
	kill(h.pid, SIGSTOP);
	ck_assert_int_eq(waitpid(h.pid, NULL, WUNTRACED), h.pid);
	be_patient(&h, 10 * SECOND);
	ck_assert(!helper_is_stuck(&h)); /* no reply was pending */
	say(&h, 'e');
	be_patient(&h, SECOND);
	ck_assert(!helper_is_stuck(&h));
	skipped += 100 * SECOND; /* a pause of our own */
	helper_begin_poll(&h, now());
	ck_assert_uint_le(h.silence, 5 * SECOND / 2);
	be_patient(&h, SECOND);
	ck_assert(helper_is_stuck(&h));
	kill(h.pid, SIGCONT);
	ck_assert_int_eq(hear(&h), 'e');
	ck_assert(!helper_is_stuck(&h));
	helper_close(&h);
}
END_TEST

START_TEST(one_that_runs_has_more)
{
	struct helper h;

	open_helper(&h, 0);
	say(&h, 'r');
	ck_assert_int_eq(hear(&h), 'r'); /* reports that it runs now */
	helper_expect(&h, true, false);
	be_patient(&h, 3 * SECOND);
	ck_assert(!helper_is_stuck(&h));
	be_patient(&h, 28 * SECOND);
	ck_assert(helper_is_stuck(&h));
	helper_close(&h);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

START_TEST(restarts_come_ever_later)
{
	uint64_t before = 0;
	struct helper h;

	open_helper(&h, 0);
	for (int i = 0; i < 5; i++) {
		uint64_t delay;

		say(&h, 'q');
		ck_assert_int_eq(hear(&h), 0);
		helper_kill(&h);
		ck_assert(!helper_is_running(&h));
		delay = h.restart_at - h.now;
		ck_assert_uint_gt(delay, before);
		before = delay;
		await_child(&h);
	}
	ck_assert_uint_eq(h.restarts, 5);
	ck_assert_uint_eq(h.generation, 6);
	say(&h, 'e');
	ck_assert_int_eq(hear(&h), 'e');
	helper_kill(&h);
	ck_assert_uint_lt(h.restart_at - h.now, before); /* the child was useful */
	helper_close(&h);
}
END_TEST

START_TEST(attempts_have_an_end)
{
	const struct helper_kind kind = {.name = "a stillborn", .run = die_at_once, .attempts = 3};
	struct error err = {0};
	struct helper h;
	int rc = 0;

	ck_assert_int_eq(helper_open(&h, &kind, NULL), 0);
	while (!rc) {
		helper_begin_poll(&h, now());
		helper_kill(&h);
		skipped += SECOND;
		helper_begin_poll(&h, now());
		rc = helper_restart(&h, &err);
	}
	ck_assert_int_eq(rc, -EIO);
	ck_assert_str_eq(err.text, "a stillborn died 4 times in a row");
	helper_close(&h);
}
END_TEST

/* The cost of a killed child still counts. */
START_TEST(killed_ones_count)
{
	struct helper_cost alive = {0}, dead = {0};
	struct helper h;

	open_helper(&h, 0);
	say(&h, 'm');
	ck_assert_int_eq(hear(&h), 'm');
	say(&h, 'r');
	while (alive.cpu < SECOND / 5) {
		alive = (struct helper_cost){0};
		helper_add_cost(&h, &alive);
	}
	ck_assert_uint_ge(alive.memory, BALLAST);
	helper_kill(&h);
	while (h.killed.count) { /* its cost is the same before and after it is waited for */
		dead = (struct helper_cost){0};
		helper_add_cost(&h, &dead);
		ck_assert_uint_ge(dead.cpu, SECOND / 5);
	}
	dead = (struct helper_cost){0};
	helper_add_cost(&h, &dead);
	ck_assert_uint_ge(dead.cpu, SECOND / 5);
	ck_assert_uint_ge(dead.memory, BALLAST);
	helper_close(&h);
}
END_TEST

/* A hijacked child sends two descriptors where the owner has room for one, which is padded. */
START_TEST(descriptors_that_are_not_expected_are_closed)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} sent = {.header = {.cmsg_len = CMSG_LEN(2 * sizeof(int)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	char got[CMSG_SPACE(sizeof(int))], byte = 'x';
	struct iovec part = {&byte, 1};
	struct msghdr out = {.msg_iov = &part,
			     .msg_iovlen = 1,
			     .msg_control = &sent,
			     .msg_controllen = sizeof(sent)};
	struct msghdr in = {.msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = got,
			    .msg_controllen = sizeof(got)};
	int pair[2], fds[2] = {0, 1}, fd, next;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	memcpy(CMSG_DATA(&sent.header), fds, sizeof(fds));
	ck_assert_int_eq(sendmsg(pair[0], &out, 0), 1);
	ck_assert_int_eq(recvmsg(pair[1], &in, 0), 1);
	fd = helper_received_fd(&in);
	ck_assert_int_gt(fd, pair[1]);
	next = dup(0);
	ck_assert_int_eq(next, fd + 1); /* the other one is closed */
	close(next);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

SUITE("helper", descriptors_that_are_not_expected_are_closed, one_that_does_not_run_has_two_seconds,
      one_that_runs_has_more, restarts_come_ever_later, attempts_have_an_end, killed_ones_count)
