// SPDX-License-Identifier: Apache-2.0
/*
 * Starts programs at a steady rate; each burns some CPU time. Prints the number of programs and
 * their CPU seconds.
 *
 *   storm SECONDS PER-SECOND [MICROSECONDS-EACH [AT-MOST]]
 *
 * It ends after SECONDS, or after AT-MOST programs.
 */
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "burn.h"

extern char **environ;

/* Read the clock at every turn, so that the child burns hardly more than ns. */
void storm_child(uint64_t ns);
void storm_child(uint64_t ns)
{
	for (uint64_t end = thread_ns() + ns; thread_ns() < end;)
		for (volatile unsigned int i = 0; i < 5000; i++)
			;
}

static void reap(int options, unsigned long *alive)
{
	while (*alive && waitpid(-1, NULL, options) > 0)
		--*alive;
}

static void pause_until(uint64_t when)
{
	uint64_t now = boot_ns();
	struct timespec rest = {0, when > now ? (long)((when - now) % (1000 * MS)) : 0};

	if (rest.tv_nsec)
		nanosleep(&rest, NULL);
}

static unsigned long storm(uint64_t ns, uint64_t interval, char *micros, unsigned long most)
{
	char *args[] = {"storm", "child", micros, NULL};
	uint64_t start = boot_ns();
	unsigned long count = 0, alive = 0;
	pid_t pid;

	while (boot_ns() < start + ns && count < most) {
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ))
			break;
		count++;
		alive++;
		reap(WNOHANG, &alive);
		pause_until(start + count * interval);
	}
	reap(0, &alive);
	return count;
}

int main(int argc, char **argv)
{
	struct rusage used;
	unsigned long count;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "child"))
		return storm_child(strtoul(argv[2], NULL, 10) * 1000), 0;
	count = storm((uint64_t)(atof(argv[1]) * 1e9), (uint64_t)(1e9 / atof(argv[2])),
		      argc > 3 ? argv[3] : "300",
		      argc > 4 ? strtoul(argv[4], NULL, 10) : ULONG_MAX);
	getrusage(RUSAGE_CHILDREN, &used);
	printf("{\"count\": %lu, \"cpu\": %.6f}\n", count,
	       used.ru_utime.tv_sec + used.ru_stime.tv_sec +
		       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
	return 0;
}
