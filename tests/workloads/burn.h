/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common code of the workloads: burns CPU time inside a function whose name the tests search for,
 * measured by the thread's CPU clock.
 */
#ifndef SKEIN_TESTS_BURN_H
#define SKEIN_TESTS_BURN_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#define MS 1000000ULL

/*
 * Read a clock, in a function with a frame of its own: libc's clock_gettime() has none, so a
 * frame-pointer walk that starts inside it skips its caller. The skipped caller is then this
 * function, not the function that the tests search for.
 */
static __attribute__((unused)) uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/*
 * Return how often this process gave its CPU away or lost it: the number of its stretches on a CPU,
 * less one.
 */
static __attribute__((unused)) long turns(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_nvcsw + used.ru_nivcsw;
}

#define thread_ns() read_clock(CLOCK_THREAD_CPUTIME_ID)
/* CLOCK_BOOTTIME, the clock of all time stamps in a trace. */
#define boot_ns() read_clock(CLOCK_BOOTTIME)

/* Iterations between two readings of the clock, so that reading takes less than 1 % of the time. */
#define BURN_LOOP 50000

/*
 * Burn ns of this thread's CPU time in place, not in a callee: the loop must belong to the function
 * that the test measures.
 */
#define BURN_HERE(ns) \
	do { \
		uint64_t burn_end = thread_ns() + (ns); \
		while (thread_ns() < burn_end) \
			for (volatile unsigned int burn_i = 0; burn_i < BURN_LOOP; burn_i++) \
				; \
	} while (0)

/* Define a function NAME(ns) that burns CPU time. */
#define BURNER(name) \
	void name(uint64_t ns); \
	void name(uint64_t ns) \
	{ \
		BURN_HERE(ns); \
	}

#endif
