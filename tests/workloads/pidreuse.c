// SPDX-License-Identifier: Apache-2.0
/*
 * Runs two programs one after the other under the same pid, which needs
 * CAP_CHECKPOINT_RESTORE. Prints the pid.
 *
 *   pidreuse SECONDS FIRST SECOND
 */
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Start a program with the given pid, or any pid if 0, and wait for its end. */
static pid_t run(pid_t wanted, char *program, char *seconds)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = wanted ? (__u64)(unsigned long)&wanted : 0,
		.set_tid_size = wanted ? 1 : 0,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0) {
		execl(program, program, seconds, NULL);
		_exit(127);
	}
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return (pid_t)pid;
}

int main(int argc, char **argv)
{
	pid_t first, second;

	if (argc < 4)
		return 2;
	first = run(0, argv[2], argv[1]);
	second = run(first, argv[3], argv[1]);
	if (second < 0 || first != second) {
		perror("clone3");
		return 1;
	}
	printf("{\"pid\": %d}\n", first);
	return 0;
}
