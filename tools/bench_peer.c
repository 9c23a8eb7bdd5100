// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a program of bench_peer.bpf.c on the cpu-clock of every CPU until it is
 * killed, and throws away what it sends:
 *
 *   bench_peer FILE.o PROGRAM HZ
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INTERVAL 50 /* ms between looks at the ring */

static int ignore(void *context, void *data, size_t size)
{
	(void)context, (void)data, (void)size;
	return 0;
}

/* 0 also for a CPU that is offline. */
static int sample_cpu(const struct bpf_program *program, int cpu, unsigned long rate)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = rate,
		.freq = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return 0;
	return bpf_program__attach_perf_event(program, fd) ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc == 4 ? bpf_object__open_file(argv[1], NULL) : NULL;
	const struct bpf_program *program;
	struct ring_buffer *ring;

	if (!object || bpf_object__load(object))
		return 1;
	program = bpf_object__find_program_by_name(object, argv[2]);
	ring = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "ring"), ignore, NULL,
				NULL);
	if (!program || !ring)
		return 1;
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++)
		if (sample_cpu(program, cpu, strtoul(argv[3], NULL, 10)))
			return 1;
	for (;;) {
		ring_buffer__consume(ring);
		usleep(INTERVAL * 1000);
	}
}
