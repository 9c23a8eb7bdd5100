// SPDX-License-Identifier: Apache-2.0
/*
 * The program that execself executes; its function has a name of its own.
 *
 *   execafter SECONDS-OF-CPU
 */
#include <stdlib.h>

#include "burn.h"

BURNER(after_exec)

int main(int argc, char **argv)
{
	after_exec(argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 1000 * MS);
	return 0;
}
