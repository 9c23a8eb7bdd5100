// SPDX-License-Identifier: Apache-2.0
/*
 * Spends half of its CPU time in bpf() map updates. The kernel runs no perf event program on a CPU
 * that is inside such a call, and does not report the omission. Prints both CPU times, and how
 * often each kind of work began: when the thread switched to it, and when the thread got the CPU
 * back.
 *
 *   bpfmaps SECONDS-OF-CPU
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

#define VALUE 32768 /* bytes: a long copy makes a long call */

static char value[VALUE];

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int new_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_HASH;
	attr.key_size = 4;
	attr.value_size = VALUE;
	attr.max_entries = 16;
	return bpf(BPF_MAP_CREATE, &attr);
}

static void update_maps(int map, uint64_t ns)
{
	union bpf_attr attr;
	unsigned int key = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (unsigned int)map;
	attr.key = (__u64)(unsigned long)&key;
	attr.value = (__u64)(unsigned long)value;
	for (uint64_t end = thread_ns() + ns; thread_ns() < end; key = (key + 1) % 16)
		for (int i = 0; i < 20; i++)
			bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

BURNER(plain_half)

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 1000 * MS;
	uint64_t in_maps = 0;
	long halves = 0;
	int map = new_map();

	if (map < 0) {
		perror("bpf");
		return 1;
	}
	while (thread_ns() < wanted) {
		uint64_t before = thread_ns();

		update_maps(map, 5 * MS);
		in_maps += thread_ns() - before;
		plain_half(5 * MS);
		halves += 2;
	}
	printf("{\"cpu\": %.6f, \"maps\": %.6f, \"turns\": %ld}\n", thread_ns() / 1e9,
	       in_maps / 1e9, halves + turns());
	return 0;
}
