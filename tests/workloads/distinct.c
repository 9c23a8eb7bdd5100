// SPDX-License-Identifier: Apache-2.0
/*
 * Almost never has the same stack twice: walks down a random path of left and right calls, 24 deep,
 * burns CPU time there for some microseconds, and starts again.
 *
 *   distinct SECONDS
 */
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

#define DEPTH 24

typedef void step(unsigned int path, unsigned int depth);

static void left(unsigned int path, unsigned int depth);
static void right(unsigned int path, unsigned int depth);

static void leaf(void)
{
	for (volatile unsigned int i = 0; i < 10000; i++)
		;
}

static void down(unsigned int path, unsigned int depth)
{
	step *next = path & 1 ? right : left;

	if (depth)
		next(path >> 1, depth - 1);
	else
		leaf();
}

static void left(unsigned int path, unsigned int depth)
{
	down(path, depth);
}

static void right(unsigned int path, unsigned int depth)
{
	down(path, depth);
}

int main(int argc, char **argv)
{
	uint64_t end = boot_ns() + (argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 1000 * MS);
	uint64_t state = boot_ns() | 1;

	while (boot_ns() < end)
		for (int i = 0; i < 100; i++) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			down((unsigned int)(state >> 33), DEPTH);
		}
	return 0;
}
