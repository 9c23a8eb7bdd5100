// SPDX-License-Identifier: Apache-2.0
/*
 * Pairs of threads: one waits in a function, in an order by chance, and the other ends the wait.
 * The first notes the clock before it waits, the other before it wakes it: so the log has the time
 * for which each function waited, without the time in which the thread then waited for a CPU.
 * Prints it for each function.
 *
 *   handover SECONDS [PAIRS]
 *
 * All threads have a real-time priority, if they may, so that no other program comes between a
 * reading of the clock and the wait.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

#define PAIRS_MAX 64
#define FUNCTIONS 6
#define US 1000ULL

struct log {
	uint64_t count, ns;
	uint64_t none; /* the other thread was faster: there was no wait */
};

struct pair {
	pthread_t waiter, waker;
	uint64_t random;
	uint64_t length; /* ns, of the wait that the waiter has asked for; 0: the end */
	uint64_t ended; /* boot_ns() when the waker ended the wait */
	_Atomic unsigned int asked, woken; /* futexes */
	struct log logs[FUNCTIONS], requests;
};

static uint64_t finish; /* boot_ns() when all threads stop */

static uint64_t draw(struct pair *p)
{
	p->random = p->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return p->random >> 33;
}

/* Return whether the thread may have waited: the value was still 0. */
static bool wait_for_value(_Atomic unsigned int *value)
{
	bool waited = false;

	while (!atomic_load(value))
		waited |= !syscall(SYS_futex, value, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return waited;
}

static void set_value(_Atomic unsigned int *value)
{
	atomic_store(value, 1);
	syscall(SYS_futex, value, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Not a tail call: the functions must be on the stack. */
#define WAIT_IN(name) \
	static __attribute__((noinline)) bool name(_Atomic unsigned int *value) \
	{ \
		bool waited = wait_for_value(value); \
\
		__asm__ volatile(""); \
		return waited; \
	}

WAIT_IN(wait_brief)
WAIT_IN(wait_short)
WAIT_IN(wait_near)
WAIT_IN(wait_medium)
WAIT_IN(wait_long)
WAIT_IN(wait_any)
WAIT_IN(wait_for_request)

static const struct {
	const char *name;
	bool (*wait)(_Atomic unsigned int *value);
	unsigned int share; /* of 100 waits */
	uint64_t least; /* ns */
	unsigned int doublings; /* the longest is least * 2^doublings */
} functions[FUNCTIONS] = {
	{"wait_brief", wait_brief, 60, 60 * US, 1}, {"wait_short", wait_short, 20, 300 * US, 1},
	{"wait_near", wait_near, 8, MS, 2},	    {"wait_medium", wait_medium, 4, 5 * MS, 2},
	{"wait_long", wait_long, 1, 50 * MS, 1},    {"wait_any", wait_any, 7, 50 * US, 10},
};

static void note(struct log *log, bool waited, uint64_t begin, uint64_t end)
{
	if (!waited || end < begin) {
		log->none++;
		return;
	}
	log->count++;
	log->ns += end - begin;
}

static void wait_once(struct pair *p)
{
	unsigned int which = 0;
	uint64_t begin;
	bool waited;

	for (unsigned int left = draw(p) % 100; left >= functions[which].share; which++)
		left -= functions[which].share;
	p->length = functions[which].least << draw(p) % functions[which].doublings;
	p->length += p->length * (draw(p) % 65536) / 65536;
	atomic_store(&p->woken, 0);
	set_value(&p->asked);
	begin = boot_ns();
	waited = functions[which].wait(&p->woken);
	note(&p->logs[which], waited, begin, p->ended);
}

static void *wait_often(void *pair)
{
	struct pair *p = pair;

	while (boot_ns() < finish)
		wait_once(p);
	p->length = 0;
	set_value(&p->asked);
	return NULL;
}

static void *wake_often(void *pair)
{
	struct pair *p = pair;

	prctl(PR_SET_TIMERSLACK, 1);
	for (;;) {
		struct timespec rest;

		wait_for_request(&p->asked);
		atomic_store(&p->asked, 0);
		if (!p->length)
			return NULL;
		rest = (struct timespec){0, (long)p->length};
		clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
		p->ended = boot_ns();
		set_value(&p->woken);
	}
}

static void take_priority(void)
{
	const struct sched_param priority = {.sched_priority = 10};

	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		fprintf(stderr, "handover: no real-time priority\n");
}

static void print_logs(const struct pair *pairs, int count)
{
	for (int f = 0; f < FUNCTIONS; f++) {
		struct log sum = {0};

		for (int i = 0; i < count; i++) {
			sum.count += pairs[i].logs[f].count;
			sum.ns += pairs[i].logs[f].ns;
			sum.none += pairs[i].logs[f].none;
		}
		printf("%s\"%s\": {\"count\": %lu, \"none\": %lu, \"ns\": %lu}", f ? ", " : "{",
		       functions[f].name, (unsigned long)sum.count, (unsigned long)sum.none,
		       (unsigned long)sum.ns);
	}
	printf("}\n");
}

int main(int argc, char **argv)
{
	static struct pair pairs[PAIRS_MAX];
	int count = argc > 2 ? atoi(argv[2]) : 6;

	count = count < PAIRS_MAX ? count : PAIRS_MAX;
	take_priority();
	finish = boot_ns() + (argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 2000 * MS);
	for (int i = 0; i < count; i++) {
		pairs[i].random = boot_ns() * 7919 + (uint64_t)i;
		if (pthread_create(&pairs[i].waiter, NULL, wait_often, &pairs[i]) ||
		    pthread_create(&pairs[i].waker, NULL, wake_often, &pairs[i]))
			return 1;
	}
	for (int i = 0; i < count; i++) {
		pthread_join(pairs[i].waiter, NULL);
		pthread_join(pairs[i].waker, NULL);
	}
	print_logs(pairs, count);
	return 0;
}
