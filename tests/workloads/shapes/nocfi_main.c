// SPDX-License-Identifier: Apache-2.0
/* Calls code without CFI (nocfi.c). Usage: nocfi SECONDS-OF-CPU */
#include "../burn.h"

#include <stdlib.h>

void nocfi_outer(void (*leaf)(uint64_t ns), uint64_t ns);
void described_leaf(uint64_t ns);
void described_main(uint64_t ns);

static volatile int after;

__attribute__((noinline)) void described_leaf(uint64_t ns)
{
	BURN_HERE(ns);
	after++;
}

__attribute__((noinline)) void described_main(uint64_t ns)
{
	nocfi_outer(described_leaf, ns);
	after++;
}

int main(int argc, char **argv)
{
	described_main(argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 300 * MS);
	return 0;
}
