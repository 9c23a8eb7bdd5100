// SPDX-License-Identifier: Apache-2.0
/*
 * An ordinary busy loop. Its function is static and so only in .symtab: a stripped copy has its
 * name only in the debug file.
 *
 *   loop SECONDS-OF-CPU [EXIT-STATUS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

static void loop_inner(uint64_t ns)
{
	BURN_HERE(ns);
}

static void loop_outer(uint64_t ns)
{
	for (uint64_t end = thread_ns() + ns; thread_ns() < end;)
		loop_inner(20 * MS);
}

int main(int argc, char **argv)
{
	loop_outer(argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 1000 * MS);
	printf("{\"cpu\": %.6f, \"turns\": %ld}\n", thread_ns() / 1e9, turns());
	return argc > 2 ? atoi(argv[2]) : 0;
}
