/* SPDX-License-Identifier: Apache-2.0 */
/* Find and run the installed CPythons of versions with known layouts. */
#ifndef SKEIN_TESTS_PYTHONS_H
#define SKEIN_TESTS_PYTHONS_H

#include <check.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const python_places[] = {
	"/usr/bin/python3.[0-9]",
	"/usr/bin/python3.[0-9][0-9]",
	"/usr/local/bin/python3.[0-9][0-9]",
	"/root/.pyenv/versions/3.*/bin/python3",
};

/* Find the paths of all CPythons, of any version. Free with globfree(). */
static inline void pythons_find(glob_t *ret)
{
	*ret = (glob_t){0};
	for (size_t i = 0; i < sizeof(python_places) / sizeof(*python_places); i++)
		(void)glob(python_places[i], i ? GLOB_APPEND : 0, NULL, ret);
}

/* A running interpreter with a script, whose first line of output is "MAJOR MINOR". */
struct python {
	pid_t pid;
	FILE *out; /* its stdout */
	int in;
	int minor;
};

/* Close the interpreter's stdin, wait until it exits, and return its wait status. */
static inline int python_end(struct python *p)
{
	int status;

	close(p->in);
	while (getc(p->out) != EOF)
		;
	fclose(p->out);
	ck_assert_int_eq(waitpid(p->pid, &status, 0), p->pid);
	return status;
}

/*
 * Start an interpreter. Return false if the layout of its version is not known; it has then exited.
 */
static inline bool python_start(struct python *ret, const char *path, const char *script)
{
	int in[2], out[2], major;

	ck_assert_int_eq(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	ret->pid = fork();
	if (!ret->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, "-I", script, NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	ret->in = in[1];
	ret->out = fdopen(out[0], "re");
	ck_assert_msg(fscanf(ret->out, "%d %d\n", &major, &ret->minor) == 2, "%s", path);
	if (major == 3 && ret->minor >= 8)
		return true;
	ck_assert_int_eq(python_end(ret), 0);
	return false;
}

#endif
