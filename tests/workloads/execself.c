// SPDX-License-Identifier: Apache-2.0
/*
 * Burns CPU time, then executes another program in place: same pid, other mappings.
 *
 *   execself SECONDS-OF-CPU PROGRAM [ARGS]
 */
#include <stdlib.h>
#include <unistd.h>

#include "burn.h"

BURNER(before_exec)

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	before_exec((uint64_t)(atof(argv[1]) * 1e9));
	execv(argv[2], argv + 2);
	return 1;
}
