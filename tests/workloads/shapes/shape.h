/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shapes share. Each is built as programs are shipped, optimized and
 * without frame pointers; what must stay a function of its own says so.
 */
#ifndef SKEIN_TESTS_SHAPE_H
#define SKEIN_TESTS_SHAPE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../burn.h"

#define OWN __attribute__((noinline, noclone))

/* A caller that has still something to do is no tail call's victim. */
extern volatile int shape_after;
volatile int shape_after;

/* A function NAME(ns) that burns, and is the innermost one. */
#define LEAF(name) \
	OWN void name(uint64_t ns); \
	OWN void name(uint64_t ns) \
	{ \
		BURN_HERE(ns); \
		shape_after++; \
	}

/* SECONDS-OF-CPU as ns. */
static __attribute__((unused)) uint64_t shape_ns(int argc, char **argv)
{
	return argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 300 * MS;
}

#endif
