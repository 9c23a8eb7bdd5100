// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that wait for times of three sizes, each in a function of its own, in an order by chance.
 * Prints for each function how often it waited, and how long in all by its own clock.
 *
 *   bimodal SECONDS [THREADS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

#define THREADS_MAX 64

struct log {
	uint64_t count, ns;
};

struct sleeper {
	pthread_t thread;
	uint64_t random;
	struct log logs[3];
};

static uint64_t finish; /* boot_ns() when all threads stop */

static void wait_for(uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
			     .tv_nsec = (long)(ns % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Not a tail call: the functions must be on the stack. */
#define WAIT_IN(name, ns) \
	static __attribute__((noinline)) void name(void) \
	{ \
		wait_for(ns); \
		__asm__ volatile(""); \
	}

WAIT_IN(wait_short, 50000)
WAIT_IN(wait_middle, 100 * MS)
WAIT_IN(wait_long, 1000 * MS)

static void wait_once(struct sleeper *s)
{
	static void (*const waits[])(void) = {wait_short, wait_middle, wait_long};
	unsigned int which;
	uint64_t begin;

	s->random = s->random * 6364136223846793005ULL + 1442695040888963407ULL;
	which = s->random >> 33 & 255;
	which = which < 2 ? 2 : which < 26 ? 1 : 0;
	begin = boot_ns();
	waits[which]();
	s->logs[which].count++;
	s->logs[which].ns += boot_ns() - begin;
}

static void *sleep_often(void *sleeper)
{
	while (boot_ns() < finish)
		wait_once(sleeper);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct sleeper sleepers[THREADS_MAX];
	static const char *const names[] = {"wait_short", "wait_middle", "wait_long"};
	int count = argc > 2 ? atoi(argv[2]) : 8;

	count = count < THREADS_MAX ? count : THREADS_MAX;
	finish = boot_ns() + (argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 2000 * MS);
	for (int i = 0; i < count; i++) {
		sleepers[i].random = (uint64_t)i * 7919 + 1;
		if (pthread_create(&sleepers[i].thread, NULL, sleep_often, &sleepers[i]))
			return 1;
	}
	for (int i = 0; i < count; i++)
		pthread_join(sleepers[i].thread, NULL);
	printf("{");
	for (int w = 0; w < 3; w++) {
		struct log sum = {0};

		for (int i = 0; i < count; i++) {
			sum.count += sleepers[i].logs[w].count;
			sum.ns += sleepers[i].logs[w].ns;
		}
		printf("%s\"%s\": {\"count\": %lu, \"seconds\": %.6f}", w ? ", " : "", names[w],
		       (unsigned long)sum.count, (double)sum.ns / 1e9);
	}
	printf("}\n");
	return 0;
}
