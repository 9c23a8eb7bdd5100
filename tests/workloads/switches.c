// SPDX-License-Identifier: Apache-2.0
/*
 * Count the machine's context switches and wakings while a command runs, by
 * the kernel's own tracepoint counters, apart from whoever else counts them.
 *
 *   switches SETTLE-SECONDS COMMAND ARGS...
 *
 * Prints, of each CPU, the counts and the two pairs of times (CLOCK_BOOTTIME) between which they
 * were read: before the command, with SETTLE-SECONDS around that, and after it.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static const char *const events[] = { "sched_switch", "sched_waking", "sched_wakeup_new" };

#define EVENTS (sizeof(events) / sizeof(events[0]))
#define CPUS 64

struct reading {
	uint64_t before, after; /* boot_ns() */
	uint64_t counts[CPUS][EVENTS];
};

static int counters[CPUS][EVENTS];
static long cpus;

static uint64_t event_id(const char *name)
{
	char path[128], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/sched/%s/id", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0) {
		printf("{\"skipped\": \"%s cannot be read\"}\n", path);
		exit(0);
	}
	close(fd);
	return strtoull(text, NULL, 10);
}

static void open_counters(unsigned int event)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
					.config = event_id(events[event]) };

	for (int cpu = 0; cpu < cpus; cpu++) {
		counters[cpu][event] = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
						    PERF_FLAG_FD_CLOEXEC);
		if (counters[cpu][event] < 0) {
			printf("{\"skipped\": \"no counter of %s on CPU %d\"}\n", events[event],
			       cpu);
			exit(0);
		}
	}
}

static void read_counters(struct reading *r)
{
	r->before = boot_ns();
	for (int cpu = 0; cpu < cpus; cpu++)
		for (unsigned int i = 0; i < EVENTS; i++)
			if (read(counters[cpu][i], &r->counts[cpu][i], sizeof(uint64_t)) !=
			    sizeof(uint64_t))
				exit(1);
	r->after = boot_ns();
}

static void settle(const char *seconds)
{
	usleep((useconds_t)(atof(seconds) * 1e6));
}

static int run(char **command)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		dup2(2, 1);
		execvp(command[0], command);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && !status ? 0 : 1;
}

static void print(const struct reading *r)
{
	printf("{\"before\": %lu, \"after\": %lu, \"counts\": [", r->before, r->after);
	for (int cpu = 0; cpu < cpus; cpu++)
		printf("%s{\"switches\": %lu, \"wakings\": %lu, \"forks\": %lu}", cpu ? ", " : "",
		       r->counts[cpu][0], r->counts[cpu][1], r->counts[cpu][2]);
	printf("]}");
}

int main(int argc, char **argv)
{
	static struct reading first, last;
	int ret;

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (argc < 3 || cpus < 1 || cpus > CPUS)
		return 2;
	for (unsigned int i = 0; i < EVENTS; i++)
		open_counters(i);
	settle(argv[1]);
	read_counters(&first);
	settle(argv[1]);
	ret = run(argv + 2);
	settle(argv[1]);
	read_counters(&last);
	settle(argv[1]);
	printf("{\"first\": ");
	print(&first);
	printf(", \"last\": ");
	print(&last);
	printf("}\n");
	return ret;
}
