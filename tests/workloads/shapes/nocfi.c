// SPDX-License-Identifier: Apache-2.0
/*
 * Code without CFI, as in hand-written assembly and some languages, in the middle of code with CFI.
 * Built with and without frame pointers; nocfi_main.c calls it and is called by it.
 */
#include "shape.h"

void nocfi_outer(void (*leaf)(uint64_t ns), uint64_t ns);
OWN void nocfi_inner(void (*leaf)(uint64_t ns), uint64_t ns);

OWN void nocfi_inner(void (*leaf)(uint64_t ns), uint64_t ns)
{
	volatile char locals[40] = {0};

	leaf(ns / 2);
	BURN_HERE(ns / 2);
	shape_after += locals[3];
}

void nocfi_outer(void (*leaf)(uint64_t ns), uint64_t ns)
{
	volatile char locals[200] = {0};

	nocfi_inner(leaf, ns);
	shape_after += locals[3];
}
