// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that takes another name for each phase; the last name attacks programs that print it.
 *
 *   renamer SECONDS-OF-CPU-PER-PHASE
 */
#include <stdlib.h>
#include <sys/prctl.h>

#include "burn.h"

BURNER(phase_one)
BURNER(phase_two)
BURNER(phase_three)

int main(int argc, char **argv)
{
	uint64_t ns = argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 300 * MS;

	prctl(PR_SET_NAME, "one");
	phase_one(ns);
	prctl(PR_SET_NAME, "name two");
	phase_two(ns);
	prctl(PR_SET_NAME, "e;v\"<\n\033[1m\377");
	phase_three(ns);
	return 0;
}
