// SPDX-License-Identifier: Apache-2.0
/*
 * A program that lives for a few milliseconds; with COPIES, that many of them one after the other.
 * Prints its own pid, the CPU seconds of the copies, the number of stretches in which they ran, and
 * the number of copies.
 *
 *   brief MS [COPIES]
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

extern char **environ;

BURNER(brief_life)

static int copies(char *ms, int count)
{
	char *args[] = {"brief", ms, NULL};
	struct rusage used;
	pid_t pid;

	for (int i = 0; i < count; i++) {
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ))
			return 1;
		waitpid(pid, NULL, 0);
	}
	getrusage(RUSAGE_CHILDREN, &used);
	printf("{\"pid\": %d, \"cpu\": %.6f, \"turns\": %ld, \"lives\": %d}\n", getpid(),
	       used.ru_utime.tv_sec + used.ru_stime.tv_sec +
		       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
	       count + used.ru_nvcsw + used.ru_nivcsw, count);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (argc > 2)
		return copies(argv[1], atoi(argv[2]));
	brief_life((uint64_t)(atof(argv[1]) * MS));
	return 0;
}
