// SPDX-License-Identifier: Apache-2.0
/*
 * Prints how long the children of each process named COMM ran, in ns, and in how many turns. Writes
 * a line when it has begun, and measures until its standard input ends.
 *
 *   slices COMM
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "slices.h"
#include "tests/meters/slices.skel.h"

static int print(struct slices_bpf *s)
{
	int cpus = libbpf_num_possible_cpus(), map = bpf_map__fd(s->maps.ran);
	struct slices *each = calloc((size_t)cpus, sizeof(*each));
	__u32 parent, *at = NULL;

	if (!each)
		return 1;
	while (!bpf_map_get_next_key(map, at, &parent)) {
		struct slices sum = {0};

		if (bpf_map_lookup_elem(map, &parent, each))
			return 1;
		for (int i = 0; i < cpus; i++) {
			sum.ns += each[i].ns;
			sum.count += each[i].count;
		}
		printf("{\"parent\": %u, \"ns\": %llu, \"turns\": %llu}\n", parent, sum.ns,
		       sum.count);
		at = &parent;
	}
	free(each);
	return 0;
}

int main(int argc, char **argv)
{
	struct slices_bpf *s = argc == 2 ? slices_bpf__open() : NULL;
	char end;
	int ret;

	if (!s)
		return 2;
	strncpy((char *)s->rodata->parent_comm, argv[1], sizeof(s->rodata->parent_comm) - 1);
	if (slices_bpf__load(s) || slices_bpf__attach(s))
		return 1;
	puts("measures");
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	ret = print(s);
	slices_bpf__destroy(s);
	return ret;
}
