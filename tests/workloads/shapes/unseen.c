// SPDX-License-Identifier: Apache-2.0
/*
 * The template of a thousand executables, each with another number in it and another build-id: some
 * frames of its own, with libc's between them, and a few milliseconds of CPU time.
 *
 *   unseen MS
 */
#include <stdlib.h>

#include "../burn.h"

#define DEPTH 20

/* The test changes this number in every copy. */
const char unseen_number[] = "number 00000000";

static uint64_t unseen_ns;

int unseen_compare(const void *a, const void *b);
int unseen_descend(int depth);

int unseen_compare(const void *a, const void *b)
{
	if (unseen_ns)
		BURN_HERE(unseen_ns);
	unseen_ns = 0;
	return *(const char *)a - *(const char *)b;
}

__attribute__((noinline)) int unseen_descend(int depth)
{
	char digits[sizeof(unseen_number)];
	volatile int below = depth;

	if (depth)
		return unseen_descend(depth - 1) + below;
	for (unsigned int i = 0; i < sizeof(digits); i++)
		digits[i] = ((const volatile char *)unseen_number)[i];
	qsort(digits, sizeof(digits), 1, unseen_compare);
	return digits[0];
}

int main(int argc, char **argv)
{
	unseen_ns = argc > 1 ? (uint64_t)(atof(argv[1]) * MS) : 5 * MS;
	return unseen_descend(DEPTH) < 0;
}
