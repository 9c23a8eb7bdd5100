/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common code of the shapes. Each is built like shipped programs, optimized and without frame
 * pointers; functions that must not be inlined are marked OWN.
 */
#ifndef SKEIN_TESTS_SHAPE_H
#define SKEIN_TESTS_SHAPE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../burn.h"

#define OWN __attribute__((noinline, noclone))

/* Written after a call, so that the compiler does not make the call a tail call. */
extern volatile int shape_after;
volatile int shape_after;

/* Define a function NAME(ns) that burns CPU time as the innermost frame. */
#define LEAF(name) \
	OWN void name(uint64_t ns); \
	OWN void name(uint64_t ns) \
	{ \
		BURN_HERE(ns); \
		shape_after++; \
	}

/* Return the argument SECONDS-OF-CPU in ns. */
static __attribute__((unused)) uint64_t shape_ns(int argc, char **argv)
{
	return argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 300 * MS;
}

#endif
