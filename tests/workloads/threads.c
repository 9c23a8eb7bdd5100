// SPDX-License-Identifier: Apache-2.0
/*
 * A process that grows while it is recorded: threads with names of their own and a child process,
 * each started a while after the beginning. Prints the pids and the tids.
 *
 *   threads SECONDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static uint64_t finish; /* boot_ns() when all threads stop */

static void main_work(void)
{
	while (boot_ns() < finish)
		BURN_HERE(2 * MS);
}

static void thread_work(void)
{
	while (boot_ns() < finish)
		BURN_HERE(2 * MS);
}

static void child_work(void)
{
	while (boot_ns() < finish)
		BURN_HERE(2 * MS);
}

static void *worker(void *name)
{
	prctl(PR_SET_NAME, name);
	printf("%s %ld\n", (char *)name, syscall(SYS_gettid));
	fflush(stdout);
	thread_work();
	return NULL;
}

static void nap(void)
{
	usleep(150000);
}

int main(int argc, char **argv)
{
	pthread_t first, late;
	pid_t child;

	finish = boot_ns() + (argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 2000 * MS);
	printf("main %d\n", getpid());
	fflush(stdout);
	if (pthread_create(&first, NULL, worker, "early-worker"))
		return 1;
	nap();
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, "born-later");
		child_work();
		return 0;
	}
	printf("child %d\n", child);
	fflush(stdout);
	nap();
	if (pthread_create(&late, NULL, worker, "late-worker"))
		return 1;
	main_work();
	pthread_join(first, NULL);
	pthread_join(late, NULL);
	waitpid(child, NULL, 0);
	return 0;
}
