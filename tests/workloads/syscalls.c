// SPDX-License-Identifier: Apache-2.0
/*
 * Burns CPU time in the kernel: clears memory by reading /dev/zero.
 *
 *   syscalls SECONDS-OF-CPU
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "burn.h"

static char buffer[1 << 20];

/*
 * Read into the buffer. This function's frame may be skipped when libc's read() has none: see
 * burn.h.
 */
static long fill(int fd)
{
	return read(fd, buffer, sizeof(buffer));
}

static int kernel_work(uint64_t ns)
{
	int fd = open("/dev/zero", O_RDONLY);

	for (uint64_t end = thread_ns() + ns; thread_ns() < end;)
		if (fill(fd) < 0)
			return 1;
	return close(fd);
}

int main(int argc, char **argv)
{
	return kernel_work(argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 500 * MS);
}
