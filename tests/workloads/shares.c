// SPDX-License-Identifier: Apache-2.0
/*
 * Four functions burn 50, 30, 15 and 5 % of the CPU, in slices of a few
 * milliseconds of random length. Prints the truth, which is what the thread's
 * CPU clock says went by in each, not what was intended.
 *
 *   shares SECONDS-OF-CPU [SEED [OTHER PERCENTAGES, IN THAT ORDER]]
 */
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
	unsigned int percent;
	uint64_t used; /* ns */
};

static struct part parts[] = {
	{ "burn_50", burn_50, 50, 0 },
	{ "burn_30", burn_30, 30, 0 },
	{ "burn_15", burn_15, 15, 0 },
	{ "burn_5", burn_5, 5, 0 },
};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* Random slices, or the sampling clock could fall into step with the cycle. */
static void cycle(unsigned int *seed)
{
	for (unsigned int i = 0; i < PARTS; i++) {
		uint64_t mean = CYCLE * parts[i].percent / 100;
		uint64_t before = thread_ns();

		parts[i].burn(mean / 2 + mean * (rand_r(seed) % 1000) / 1000);
		parts[i].used += thread_ns() - before;
	}
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 1000 * MS;
	unsigned int seed = argc > 2 ? (unsigned int)atoi(argv[2]) : 1;
	uint64_t total = 0;

	for (int i = 3; i < argc && i < 3 + (int)PARTS; i++)
		parts[i - 3].percent = (unsigned int)atoi(argv[i]);
	while (thread_ns() < wanted)
		cycle(&seed);
	for (unsigned int i = 0; i < PARTS; i++)
		total += parts[i].used;
	printf("{\"seconds\": %.6f, \"shares\": {", total / 1e9);
	for (unsigned int i = 0; i < PARTS; i++)
		printf("%s\"%s\": %.6f", i ? ", " : "", parts[i].name,
		       (double)parts[i].used / total);
	printf("}}\n");
	return 0;
}
