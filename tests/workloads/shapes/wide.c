// SPDX-License-Identifier: Apache-2.0
/*
 * wide FOLDER LIBRARIES SECONDS: maps FOLDER/lib-0.so and so on, and calls into all of them in turn
 * until that much CPU time is used, below a frame that is larger than the part of a stack that is
 * copied while its table is made.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 1024
#define LARGE (300 << 10)

typedef uint64_t enter(uint64_t x);

static enter *all[MOST];

static double used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static enter *map(const char *folder, int number)
{
	char path[4096];
	enter *found;
	void *library;

	snprintf(path, sizeof(path), "%s/lib-%d.so", folder, number);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	found = library ? (enter *)dlsym(library, "wide_enter") : NULL;
	if (!found) {
		fprintf(stderr, "%s: %s\n", path, dlerror());
		exit(1);
	}
	return found;
}

static __attribute__((noinline)) uint64_t wide_round(int libraries, double until)
{
	volatile char large[LARGE];
	uint64_t x = 1;

	large[0] = large[LARGE - 1] = 1;
	while (used() < until)
		for (int i = 0; i < libraries; i++)
			x += all[i](x + (uint64_t)large[0]);
	return x + (uint64_t)large[LARGE - 1];
}

int main(int argc, char **argv)
{
	int libraries = argc > 3 ? atoi(argv[2]) : 0;

	if (libraries < 1 || libraries > MOST)
		return 2;
	for (int i = 0; i < libraries; i++)
		all[i] = map(argv[1], i);
	return wide_round(libraries, used() + atof(argv[3])) == 0;
}
