// SPDX-License-Identifier: Apache-2.0
/*
 * A stack of FRAMES frames and a few more, in the main thread, or with "thread" in another, or with
 * "clone" in a thread that libc does not know.
 *
 *   depth SECONDS-OF-CPU FRAMES [thread|clone]
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "shape.h"

#define STACK (1 << 20)

LEAF(depth_leaf)

OWN int depth_descend(int more, uint64_t ns);
OWN int depth_thread(void *argv);
OWN void *depth_pthread(void *argv);

OWN int depth_descend(int more, uint64_t ns)
{
	volatile int below = more;

	if (more)
		return depth_descend(more - 1, ns) + below;
	depth_leaf(ns);
	return below;
}

OWN int depth_thread(void *argv)
{
	char **args = argv;
	int made = depth_descend(atoi(args[2]), (uint64_t)(atof(args[1]) * 1e9));

	shape_after += made;
	return 0;
}

OWN void *depth_pthread(void *argv)
{
	shape_after += depth_thread(argv);
	return NULL;
}

static int in_pthread(char **argv)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, depth_pthread, argv) || pthread_join(thread, NULL);
}

/*
 * Run in a clone that shares the memory but is a process of its own, like a thread made by
 * CLONE_THREAD without TLS of its own.
 */
static int in_clone(char **argv)
{
	char *stack = malloc(STACK);
	int pid = clone(depth_thread, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD,
			argv);

	return pid < 0 || waitpid(pid, NULL, 0) != pid;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (argc > 3 && !strcmp(argv[3], "thread"))
		return in_pthread(argv);
	if (argc > 3 && !strcmp(argv[3], "clone"))
		return in_clone(argv);
	return depth_thread(argv);
}
