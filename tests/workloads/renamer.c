// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that takes another name for each phase; the last name attacks programs that print it. It
 * sleeps for a moment under each name: a thread that is never switched meanwhile has no record of
 * it.
 *
 *   renamer SECONDS-OF-CPU-PER-PHASE
 */
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "burn.h"

BURNER(phase_one)
BURNER(phase_two)
BURNER(phase_three)

static void take_name(const char *name)
{
	prctl(PR_SET_NAME, name);
	usleep(1000);
}

int main(int argc, char **argv)
{
	uint64_t ns = argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 300 * MS;

	take_name("one");
	phase_one(ns);
	take_name("name two");
	phase_two(ns);
	take_name("e;v\"<\n\033[1m\377");
	phase_three(ns);
	return 0;
}
