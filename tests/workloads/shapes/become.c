// SPDX-License-Identifier: Apache-2.0
/*
 * Programs that execute others: a child of vfork() that burns CPU time on its parent's stack and
 * then executes, a chain of executions in place, a program in memory only, a program in a root
 * directory of its own; and programs whose file is deleted or replaced.
 *
 *   become SECONDS-OF-CPU vfork
 *   become SECONDS-OF-CPU exec
 *   become SECONDS-OF-CPU memfd
 *   become SECONDS-OF-CPU chroot DIRECTORY PROGRAM
 *   become SECONDS-OF-CPU run|stay|deleted
 *   become SECONDS-OF-CPU replaced FILE
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shape.h"

#define ROUNDS 20

extern char **environ;

LEAF(vfork_leaf)
LEAF(become_leaf)

OWN int vfork_shape(uint64_t ns, char *self);
OWN void become_outer(uint64_t ns);

OWN void become_outer(uint64_t ns)
{
	become_leaf(ns);
	shape_after++;
}

OWN int vfork_shape(uint64_t ns, char *self)
{
	char seconds[32], run[] = "run";
	char *args[] = {self, seconds, run, NULL};
	int status = 0;

	snprintf(seconds, sizeof(seconds), "%f", (double)ns / 2e9 / ROUNDS);
	for (int i = 0; i < ROUNDS && !status; i++) {
		pid_t pid = vfork();

		if (!pid) {
			vfork_leaf(ns / 2 / ROUNDS);
			execve("/proc/self/exe", args, environ);
			_exit(127);
		}
		waitpid(pid, &status, 0);
	}
	return status != 0;
}

static int exec_again(uint64_t ns, char *self, int left)
{
	char seconds[32], count[32], how[] = "exec";
	char *args[] = {self, seconds, how, count, NULL};

	become_outer(ns / ROUNDS);
	if (left <= 1)
		return 0;
	snprintf(seconds, sizeof(seconds), "%f", (double)ns / 1e9);
	snprintf(count, sizeof(count), "%d", left - 1);
	execv("/proc/self/exe", args);
	return 1;
}

static int exec_memory(char **argv)
{
	int from = open("/proc/self/exe", O_RDONLY), to = memfd_create("become", MFD_CLOEXEC);
	char run[] = "run", *args[] = {argv[0], argv[1], run, NULL};
	struct stat s;

	if (from < 0 || to < 0 || fstat(from, &s) < 0 ||
	    sendfile(to, from, NULL, (size_t)s.st_size) != s.st_size)
		return 1;
	fexecve(to, args, environ);
	return 1;
}

static int exec_inside(char **argv)
{
	char stay[] = "stay", *args[] = {argv[4], argv[1], stay, NULL};

	if (chroot(argv[3]) || chdir("/"))
		return 1;
	execv(argv[4], args);
	return 1;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	uint64_t ns = shape_ns(argc, argv);

	/* a program executed through a file descriptor is otherwise named after the descriptor */
	prctl(PR_SET_NAME, slash ? slash + 1 : argv[0]);
	if (argc < 3)
		return 2;
	if (!strcmp(argv[2], "vfork"))
		return vfork_shape(ns, argv[0]);
	if (!strcmp(argv[2], "exec"))
		return exec_again(ns, argv[0], argc > 3 ? atoi(argv[3]) : ROUNDS);
	if (!strcmp(argv[2], "memfd"))
		return exec_memory(argv);
	if (!strcmp(argv[2], "chroot") && argc > 4)
		return exec_inside(argv);
	if (!strcmp(argv[2], "deleted") && unlink(argv[0]))
		return 1;
	if (!strcmp(argv[2], "replaced") && (argc < 4 || rename(argv[3], argv[0])))
		return 1;
	become_outer(ns);
	/*
	 * a file without a path is gone with its process: on a busy machine before skein can open
	 * it
	 */
	if (!strcmp(argv[2], "deleted") || !strcmp(argv[2], "stay"))
		usleep(500000);
	return 0;
}
