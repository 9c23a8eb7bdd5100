// SPDX-License-Identifier: Apache-2.0
/* Start the user's browser, without the privileges of sudo. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/launch.h"
#include "cmd/open.h"

#define BROWSER_WORDS 16 /* most words of a command in $BROWSER */
#define BROWSER_PATIENCE 100 /* looks, one in 20 ms, at whether a browser failed at once */

/* Become the user, with the user's folders in the environment. Return whether that worked. */
static bool become_user(const struct open_user *user)
{
	const struct passwd *of = getpwuid(user->uid);
	char runtime[64];

	if (!user->by_sudo)
		return true;
	snprintf(runtime, sizeof(runtime), "/run/user/%u", (unsigned int)user->uid);
	if (of && (setenv("HOME", of->pw_dir, 1) || setenv("USER", of->pw_name, 1) ||
		   setenv("LOGNAME", of->pw_name, 1)))
		return false;
	if (setenv("XDG_RUNTIME_DIR", runtime, 1))
		return false;
	return !(of ? initgroups(of->pw_name, user->gid) : setgroups(0, NULL)) &&
	       !setgid(user->gid) && !setuid(user->uid);
}

/* Run in the child. A browser's own messages are of no use to the user of this command. */
static void run_browser(const struct open_user *user, char **argv)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(126);
	signal(SIGXFSZ, SIG_DFL);
	if (become_user(user))
		execvp(argv[0], argv);
	_exit(127);
}

/* Start a browser. Return 0 unless it fails within two seconds. */
static int start_browser(const struct open_user *user, char **argv)
{
	const struct timespec step = {.tv_nsec = 20000000};
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		run_browser(user, argv);
	for (int i = 0; i < BROWSER_PATIENCE; i++) {
		pid_t ended = waitpid(pid, &status, WNOHANG);

		if (ended)
			return ended == pid && WIFEXITED(status) && !WEXITSTATUS(status) ? 0
											 : -ECHILD;
		nanosleep(&step, NULL);
	}
	return 0;
}

/*
 * Start one of the commands of $BROWSER: words, of which %s is the address; without it the address
 * follows. No shell reads them. The text is changed.
 */
static int start_browser_command(const struct open_user *user, char *command, const char *address)
{
	char *argv[BROWSER_WORDS + 2], *rest = NULL, *copy = strdup(address);
	bool placed = false;
	int n = 0, ret;

	for (char *word = strtok_r(command, " ", &rest); word && copy && n < BROWSER_WORDS;
	     word = strtok_r(NULL, " ", &rest)) {
		bool here = !strcmp(word, "%s");

		placed = placed || here;
		argv[n++] = here ? copy : word;
	}
	if (!placed)
		argv[n++] = copy;
	argv[n] = NULL;
	ret = !copy ? -ENOMEM : n < 1 || argv[0] == copy ? -ENOENT : launch_find(argv[0]);
	if (!ret)
		ret = start_browser(user, argv);
	free(copy);
	return ret;
}

int open_browser(const struct open_user *user, const char *address)
{
	const char *chosen = getenv("BROWSER");
	bool display = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
	char usual[] = "xdg-open", *list, *rest = NULL;
	int ret = -ENOENT;

	if (!chosen || !*chosen)
		return display ? start_browser_command(user, usual, address) : -ENOENT;
	list = strdup(chosen);
	if (!list)
		return -ENOMEM;
	for (char *command = strtok_r(list, ":", &rest); command && ret;
	     command = strtok_r(NULL, ":", &rest))
		ret = start_browser_command(user, command, address);
	free(list);
	return ret;
}
