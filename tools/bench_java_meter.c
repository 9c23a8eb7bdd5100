// SPDX-License-Identifier: Apache-2.0
/*
 * What a recorder's program takes for a stack of tools/BenchLoad.java: runs it at a breakpoint in
 * the innermost function, and reads from FILE how long the program took for each call of that
 * function; so it does with a breakpoint without a program, in turns.
 *
 *   bench_java_meter TID ADDRESS FILE CALLS BATCHES ID...    IDs of BPF programs
 *
 * Prints for each batch the medians of its CALLS calls, in ns: without a program, and with the
 * program among IDs that is called "sample".
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES (1 << 16) /* as in BenchLoad.java */
#define CALLS_MAX 1000

static int fail(const char *what)
{
	fprintf(stderr, "bench_java_meter: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int find_sample(char **ids)
{
	for (; *ids; ids++) {
		struct bpf_prog_info info = {0};
		__u32 size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id((__u32)atoi(*ids));

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
			fail("bpf");
		if (!strcmp(info.name, "sample"))
			return fd;
		close(fd);
	}
	errno = ENOENT;
	return fail("no program is called sample");
}

static int open_breakpoint(int tid, uint64_t address)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(a),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = address,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, tid, -1, -1, 0);

	return fd < 0 ? fail("breakpoint") : fd;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Return the median of the next calls with the breakpoint. */
static uint64_t batch(int breakpoint, const volatile uint64_t *file, unsigned int calls)
{
	uint64_t times[CALLS_MAX], from;

	ioctl(breakpoint, PERF_EVENT_IOC_ENABLE, 0);
	usleep(100);
	from = file[0] + 2;
	while (file[0] < from + calls)
		usleep(500);
	ioctl(breakpoint, PERF_EVENT_IOC_DISABLE, 0);
	for (unsigned int i = 0; i < calls; i++)
		times[i] = file[1 + ((from + i) & (ENTRIES - 1))];
	qsort(times, calls, sizeof(*times), by_value);
	return times[calls / 2];
}

int main(int argc, char **argv)
{
	unsigned int calls = argc > 6 ? (unsigned int)atoi(argv[4]) : 0;
	volatile uint64_t *file;
	int fd[2];

	if (!calls || calls > CALLS_MAX)
		return 2;
	file = mmap(NULL, 8 + 8L * ENTRIES, PROT_READ, MAP_SHARED, open(argv[3], O_RDONLY), 0);
	if (file == MAP_FAILED)
		fail(argv[3]);
	for (int i = 0; i < 2; i++)
		fd[i] = open_breakpoint(atoi(argv[1]), strtoull(argv[2], NULL, 0));
	if (ioctl(fd[1], PERF_EVENT_IOC_SET_BPF, find_sample(argv + 6)))
		fail("attaching");
	for (int n = -2; n < atoi(argv[5]); n++) {
		uint64_t ns[2];

		for (int k = 0; k < 2; k++)
			ns[k ^ (n & 1)] = batch(fd[k ^ (n & 1)], file, calls);
		if (n >= 0) /* the others warm up */
			printf("%llu %llu\n", (unsigned long long)ns[0], (unsigned long long)ns[1]);
	}
	return 0;
}
