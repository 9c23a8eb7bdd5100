// SPDX-License-Identifier: Apache-2.0
/*
 * A large number of code mappings, threads, or sleeping processes. When all exist, prints a line
 * and burns CPU time; with threads, each burns a part.
 *
 *   crowd SECONDS-OF-CPU mappings|threads|processes COUNT
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shape.h"

#define PAGE 4096
#define SMALL_STACK (64 << 10)

LEAF(crowd_leaf)

static pthread_barrier_t all_there;
static uint64_t share;

OWN void crowd_outer(uint64_t ns);
OWN void *crowd_thread(void *unused);

OWN void crowd_outer(uint64_t ns)
{
	puts("there");
	fflush(stdout);
	crowd_leaf(ns);
	shape_after++;
}

/* Map every other page, so that the kernel does not merge mappings. */
static int mappings(int count, uint64_t ns)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char *place = mmap(NULL, 2UL * PAGE * count, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < count; i++)
		if (mmap(place + 2UL * PAGE * i, PAGE, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
			return 1;
	crowd_outer(ns);
	return 0;
}

OWN void *crowd_thread(void *unused)
{
	pthread_barrier_wait(&all_there);
	crowd_leaf(share);
	shape_after++;
	return unused;
}

static int threads(int count, uint64_t ns)
{
	pthread_t *made = calloc(count, sizeof(*made));
	pthread_attr_t small;

	share = ns / count;
	pthread_barrier_init(&all_there, NULL, count);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, SMALL_STACK);
	for (int i = 0; i < count; i++)
		if (pthread_create(&made[i], &small, crowd_thread, NULL))
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(made[i], NULL);
	puts("there");
	return 0;
}

/* The children die with this process, however it ends. */
static int processes(int count, uint64_t ns)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			crowd_leaf(MS / 10);
			for (;;)
				pause();
		}
	}
	crowd_outer(ns);
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t ns = shape_ns(argc, argv);
	int count = argc > 3 ? atoi(argv[3]) : 0;

	if (count <= 0)
		return 2;
	if (!strcmp(argv[2], "mappings"))
		return mappings(count, ns);
	if (!strcmp(argv[2], "threads"))
		return threads(count, ns);
	if (!strcmp(argv[2], "processes") && !setpgid(0, 0))
		return processes(count, ns);
	return 2;
}
