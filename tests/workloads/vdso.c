// SPDX-License-Identifier: Apache-2.0
/*
 * Burns CPU time in the vDSO: reads the clock in a loop.
 *
 *   vdso SECONDS-OF-CPU
 */
#include <stdlib.h>

#include "burn.h"

static void ask_the_time(uint64_t ns)
{
	for (uint64_t end = thread_ns() + ns; thread_ns() < end;)
		for (int i = 0; i < 1000; i++)
			read_clock(CLOCK_MONOTONIC);
}

int main(int argc, char **argv)
{
	ask_the_time(argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 500 * MS);
	return 0;
}
