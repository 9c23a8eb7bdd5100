// SPDX-License-Identifier: Apache-2.0
/* Start and end the command to be profiled. */
#include "cmd/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOMENT_STEPS 200 /* steps of 10 ms */

int launch_failure_status(int code)
{
	return code == -ENOENT ? 127 : 126;
}

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -ENOENT;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

int launch_find(const char *program)
{
	const char *folder = getenv("PATH");
	int ret = -ENOENT;

	if (strchr(program, '/'))
		return check_executable(program);
	folder = folder ? folder : "/bin:/usr/bin"; /* execvp(3) uses this default, too */
	for (;; folder++) {
		size_t length = strcspn(folder, ":");
		char path[PATH_MAX];
		int found;

		snprintf(path, sizeof(path), "%.*s/%s", length ? (int)length : 1,
			 length ? folder : ".", program);
		found = check_executable(path);
		if (!found)
			return 0;
		if (found == -EACCES)
			ret = found;
		folder += length;
		if (!*folder)
			return ret;
	}
}

static void run_command_child(int fd, char **argv)
{
	sigset_t none;
	char byte;

	if (read(fd, &byte, 1) != 1)
		_exit(125); /* the recorder gave up */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	execvp(argv[0], argv);
	fprintf(stderr, "skein: cannot run '%s': %s\n", argv[0], strerror(errno));
	_exit(launch_failure_status(-errno));
}

int launch_command(struct launch *out, char **argv, struct error *err)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "starting '%s'", argv[0]);
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return error_errno(err, -errno, "starting '%s'", argv[0]);
	}
	if (!pid) {
		close(fds[1]);
		run_command_child(fds[0], argv);
	}
	close(fds[0]);
	*out = (struct launch){.pid = pid, .release_fd = fds[1], .program = basename(argv[0])};
	while (argv[out->arguments + 1])
		out->arguments++;
	return 0;
}

char *launch_line(char **argv)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	for (char **word = argv; out && *word; word++)
		fprintf(out, "%s%s", word == argv ? "" : " ", *word);
	if (out && fclose(out) == EOF) {
		free(line);
		line = NULL;
	}
	return line;
}

static void set_exit_status(struct launch *l, int status)
{
	l->ended = true;
	l->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void launch_poll(struct launch *l)
{
	int status;

	if (l->pid && !l->ended && waitpid(l->pid, &status, WNOHANG) == l->pid)
		set_exit_status(l, status);
}

static void wait_briefly(struct launch *l)
{
	const struct timespec step = {.tv_nsec = 10000000};

	for (int i = 0; i < MOMENT_STEPS && !l->ended; i++) {
		nanosleep(&step, NULL);
		launch_poll(l);
	}
}

bool launch_finish(struct launch *l, bool signaled)
{
	int status;

	if (!l->pid)
		return false;
	if (l->release_fd >= 0)
		close(l->release_fd);
	l->release_fd = -1;
	launch_poll(l);
	if (signaled)
		wait_briefly(l);
	if (l->ended)
		return true;
	kill(l->pid, SIGTERM);
	if (waitpid(l->pid, &status, 0) == l->pid)
		set_exit_status(l, status);
	return false;
}
