// SPDX-License-Identifier: Apache-2.0
/*
 * Sleeps nine tenths of its time. Prints the CPU time that it used, in seconds: a profile may
 * attribute no more than that to it.
 *
 *   sleeper SECONDS
 */
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

BURNER(awake)

int main(int argc, char **argv)
{
	uint64_t end = boot_ns() + (argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 1000 * MS);
	unsigned int seed = 7;

	while (boot_ns() < end) {
		uint64_t work = 3 * MS + rand_r(&seed) % (4 * MS);
		struct timespec rest = {0, (long)(9 * work)};

		awake(work);
		nanosleep(&rest, NULL);
	}
	printf("{\"cpu\": %.6f, \"turns\": %ld}\n", thread_ns() / 1e9, turns());
	return 0;
}
