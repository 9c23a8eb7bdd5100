// SPDX-License-Identifier: Apache-2.0
/*
 * A program that does what each letter of its input says, and then prints the letter:
 *
 *   b, e, m  calls warm_up_is_over(), work_is_done(), mark_here()
 *   w, i     computes for 0.1 s, in wanted() or ignored()
 */
#include <stdio.h>
#include <time.h>

#define LONG 100000000L /* ns of CPU time */

static long cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

#define FUNCTION(name, body) \
	__attribute__((noinline)) void name(void) \
	{ \
		__asm__ volatile(""); \
		body; \
		__asm__ volatile(""); \
	}

static void compute(void)
{
	long end = cpu_time() + LONG;

	while (cpu_time() < end)
		;
}

FUNCTION(warm_up_is_over, )
FUNCTION(work_is_done, )
FUNCTION(mark_here, )
FUNCTION(wanted, compute())
FUNCTION(ignored, compute())

int main(void)
{
	int letter;

	while ((letter = getchar()) != EOF) {
		switch (letter) {
		case 'b':
			warm_up_is_over();
			break;
		case 'e':
			work_is_done();
			break;
		case 'm':
			mark_here();
			break;
		case 'w':
			wanted();
			break;
		default:
			ignored();
		}
		putchar(letter);
		fflush(stdout);
	}
	return 0;
}
