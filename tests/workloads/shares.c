// SPDX-License-Identifier: Apache-2.0
/*
 * Four functions burn 50, 30, 15 and 5 % of the CPU, in slices of a few milliseconds of random
 * length; with seed 0, always of the same length, so that every run is the same by the CPU's clock.
 * Prints the true shares, measured in each function by the thread's CPU clock, not the intended
 * ones.
 *
 *   shares SECONDS-OF-CPU [SEED [OTHER PERCENTAGES, IN THAT ORDER]]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

#define CYCLE (10 * MS)

BURNER(burn_50)
BURNER(burn_30)
BURNER(burn_15)
BURNER(burn_5)

struct part {
	const char *name;
	void (*burn)(uint64_t ns);
	double percent;
	uint64_t used; /* ns */
};

static struct part parts[] = {
	{"burn_50", burn_50, 50, 0},
	{"burn_30", burn_30, 30, 0},
	{"burn_15", burn_15, 15, 0},
	{"burn_5", burn_5, 5, 0},
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static uint64_t slice_of(const struct part *p, unsigned int *seed)
{
	uint64_t mean = (uint64_t)((double)CYCLE * p->percent / 100);

	return seed ? mean / 2 + mean * (rand_r(seed) % 1000) / 1000 : mean;
}

/*
 * Run one cycle of slices. Their length is random, so that the sampling clock cannot fall into step
 * with the cycle. Each slice ends when all slices up to it should have ended, by the thread's CPU
 * clock, so that overruns do not add up.
 */
static void cycle(unsigned int *seed, uint64_t *end)
{
	for (unsigned int i = 0; i < PARTS; i++) {
		uint64_t before = thread_ns();

		*end += slice_of(&parts[i], seed);
		if (*end > before)
			parts[i].burn(*end - before);
		parts[i].used += thread_ns() - before;
	}
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 1000 * MS;
	unsigned int seed = argc > 2 ? (unsigned int)atoi(argv[2]) : 1;
	bool fixed = seed == 0;
	uint64_t total = 0, end = thread_ns();

	for (int i = 3; i < argc && i < 3 + (int)PARTS; i++)
		parts[i - 3].percent = atof(argv[i]);
	while (thread_ns() < wanted)
		cycle(fixed ? NULL : &seed, &end);
	for (unsigned int i = 0; i < PARTS; i++)
		total += parts[i].used;
	printf("{\"seconds\": %.6f, \"shares\": {", total / 1e9);
	for (unsigned int i = 0; i < PARTS; i++)
		printf("%s\"%s\": %.6f", i ? ", " : "", parts[i].name,
		       (double)parts[i].used / total);
	printf("}}\n");
	return 0;
}
