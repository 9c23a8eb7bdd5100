// SPDX-License-Identifier: Apache-2.0
/*
 * How long the unwind table of a file takes to make: the median of some turns
 * in ns and the table's size, as a line of two numbers.
 *
 *   bench_tables FILE TURNS
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "symbolizers/unwind/table.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int turns = argc == 3 ? atoi(argv[2]) : 0, fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	uint64_t *took = turns > 0 ? calloc((size_t)turns, sizeof(*took)) : NULL;
	struct stamp stamp;
	size_t size = 0;

	if (!took || fd < 0 || stamp_of(fd, &stamp))
		return 1;
	for (int i = 0; i < turns; i++) {
		uint64_t begun = now_ns();
		struct unwind_key key;
		void *table;

		if (unwind_table_make(&table, &size, &key,
				      &(struct stamped_file){.fd = fd, .stamp = stamp}))
			return 1;
		took[i] = now_ns() - begun;
		free(table);
	}
	qsort(took, (size_t)turns, sizeof(*took), ascending);
	printf("%llu %zu\n", (unsigned long long)took[turns / 2], size);
	return 0;
}
