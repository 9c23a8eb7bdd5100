// SPDX-License-Identifier: Apache-2.0
/*
 * Burns CPU time in functions that libc exports: random() and random_r().
 *
 *   libcuser SECONDS-OF-CPU
 */
#include <stdlib.h>

#include "burn.h"

static long draw(void)
{
	long sum = 0;

	for (int i = 0; i < 10000; i++)
		sum += random();
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t ns = argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 500 * MS;
	volatile long sum = 0;

	for (uint64_t end = thread_ns() + ns; thread_ns() < end;)
		sum += draw();
	return 0;
}
