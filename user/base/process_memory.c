// SPDX-License-Identifier: Apache-2.0
/* Read the memory of a process from /proc (process_memory.h). */
#include "base/process_memory.h"

#include <stdio.h>
#include <string.h>

/* Add up two lines of a file of /proc that give kB. */
static uint64_t sum_of_lines(pid_t pid, const char *file, const char *first, const char *second)
{
	char path[64], line[256];
	unsigned long long kilobytes;
	uint64_t sum = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in))
		if ((!strncmp(line, first, strlen(first)) ||
		     !strncmp(line, second, strlen(second))) &&
		    sscanf(strchr(line, ':'), ": %llu", &kilobytes) == 1)
			sum += kilobytes * 1024;
	if (in)
		fclose(in);
	return sum;
}

uint64_t process_memory(pid_t pid)
{
	return sum_of_lines(pid, "status", "RssAnon:", "RssShmem:");
}

uint64_t process_memory_share(pid_t pid)
{
	return sum_of_lines(pid, "smaps_rollup", "Pss_Anon:", "Pss_Shmem:");
}
