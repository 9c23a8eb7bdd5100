/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the workloads share: burning CPU time inside a function whose name the
 * tests look for, by the clock that only runs while the thread does.
 */
#ifndef SKEIN_TESTS_BURN_H
#define SKEIN_TESTS_BURN_H

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#define MS 1000000ULL

/*
 * A function of its own, with a frame: libc's clock_gettime() has none, so a
 * frame-pointer walk that starts inside it skips its caller. That caller shall
 * be this one and not the function that the tests look for.
 */
static __attribute__((unused)) uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* How often this process gave its CPU away or had to: stretches of its time, but one. */
static __attribute__((unused)) long turns(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_nvcsw + used.ru_nivcsw;
}

#define thread_ns() read_clock(CLOCK_THREAD_CPUTIME_ID)
/* The clock of every stamp in a trace. */
#define boot_ns() read_clock(CLOCK_BOOTTIME)

/* Long enough that reading the clock stays below a hundredth of the burning. */
#define BURN_LOOP 50000

/*
 * Burn ns of this thread's CPU time right here, not in a callee: the loop must
 * belong to the function that is asked about.
 */
#define BURN_HERE(ns) \
	do { \
		uint64_t burn_end = thread_ns() + (ns); \
		while (thread_ns() < burn_end) \
			for (volatile unsigned int burn_i = 0; burn_i < BURN_LOOP; burn_i++) \
				; \
	} while (0)

/* A function NAME(ns) that burns. */
#define BURNER(name) \
	void name(uint64_t ns); \
	void name(uint64_t ns) \
	{ \
		BURN_HERE(ns); \
	}

#endif
