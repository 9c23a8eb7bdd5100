// SPDX-License-Identifier: Apache-2.0
/*
 * Maps many tiny files as code and runs from one to the next: a profiler opens, reads and caches
 * each of them for the first time. Prints the number of files, then runs.
 *
 *   flood DIRECTORY FILES SECONDS-OF-CPU
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define PAGE 4096

/* mov $20000, %ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char code[] = {0xb9, 0x20, 0x4e, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

static void (*map_one(const char *directory, long number))(void)
{
	char path[256], page[PAGE] = {0};
	void *at;
	int fd;

	snprintf(path, sizeof(path), "%s/%d.%ld", directory, (int)getpid(), number);
	fd = open(path, O_RDWR | O_CREAT, 0755);
	memcpy(page, code, sizeof(code));
	if (fd < 0 || write(fd, page, sizeof(page)) != PAGE) {
		perror(path);
		exit(1);
	}
	at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return (void (*)(void))at;
}

int main(int argc, char **argv)
{
	long files = argc > 2 ? atol(argv[2]) : 1000;
	double seconds = argc > 3 ? atof(argv[3]) : 1;
	void (**codes)(void) = calloc((size_t)files, sizeof(*codes));

	if (argc < 2 || !codes)
		return 2;
	for (long i = 0; i < files; i++)
		codes[i] = map_one(argv[1], i);
	printf("%ld\n", files);
	fflush(stdout);
	for (long i = 0; thread_ns() < (uint64_t)(seconds * 1e9); i++)
		codes[i % files]();
	return 0;
}
